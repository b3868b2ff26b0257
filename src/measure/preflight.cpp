#include "measure/preflight.hpp"

#include "measure/blas.hpp"
#include "measure/build_info.hpp"
#include "model/error.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

extern char** environ;

namespace shardline {

namespace {

std::string first_line_of(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Value of the first "key : value" or "key: value" line of a /proc file.
std::string field_of(const std::string& path, const std::string& key)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const auto value = line.find_first_not_of(" \t", line.find(':') + 1);
        return value == std::string::npos ? "" : line.substr(value);
    }
    return "";
}

int environment_number(const char* name)
{
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
}

/// Hardware threads and cores this process may use, as hwloc sees its binding.
void find_allowed_cores(RankFacts& facts)
{
    hwloc_topology_t topology;
    hwloc_topology_init(&topology);
    hwloc_topology_load(topology);
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_PROCESS) != 0)
        hwloc_bitmap_copy(mask, hwloc_topology_get_allowed_cpuset(topology));
    for (hwloc_obj_t pu = nullptr;
         (pu = hwloc_get_next_obj_inside_cpuset_by_type(topology, mask, HWLOC_OBJ_PU, pu)) != nullptr;) {
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
        facts.hardware_threads.push_back(static_cast<int>(pu->os_index));
        facts.cores.push_back(static_cast<int>(core != nullptr ? core->logical_index : pu->logical_index));
    }
    char* text = nullptr;
    hwloc_bitmap_list_asprintf(&text, mask);
    facts.info.allowed_cores = text == nullptr ? "" : text;
    std::free(text);
    hwloc_bitmap_free(mask);
    hwloc_topology_destroy(topology);
}

size_t distinct(std::vector<int> values)
{
    std::sort(values.begin(), values.end());
    return static_cast<size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

/// Flat text form for the way to rank 0: one field a line. Fields hold no line break.
std::string serialise(const RankFacts& f)
{
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", f.info.host, f.info.machine, f.info.cpu_model,
                       f.info.allowed_cores, f.info.blas_kernel, f.info.blas_threads, f.info.memory_available_bytes,
                       f.blas_threads_asked, fmt::join(f.hardware_threads, " "), fmt::join(f.cores, " "));
}

std::vector<int> numbers_in(const std::string& line)
{
    std::istringstream in(line);
    std::vector<int> numbers;
    for (int n; in >> n;) numbers.push_back(n);
    return numbers;
}

RankFacts deserialise(const std::string& text)
{
    std::istringstream in(text);
    auto next = [&in] {
        std::string line;
        std::getline(in, line);
        return line;
    };
    RankFacts f;
    f.info.host = next();
    f.info.machine = next();
    f.info.cpu_model = next();
    f.info.allowed_cores = next();
    f.info.blas_kernel = next();
    f.info.blas_threads = std::stoi(next());
    f.info.memory_available_bytes = std::stoll(next());
    f.blas_threads_asked = std::stoi(next());
    f.hardware_threads = numbers_in(next());
    f.cores = numbers_in(next());
    return f;
}

int64_t cgroup_memory_left()
{
    const std::string limit = first_line_of("/sys/fs/cgroup/memory.max");
    const std::string used = first_line_of("/sys/fs/cgroup/memory.current");
    if (limit.empty() || limit == "max" || used.empty()) return std::numeric_limits<int64_t>::max();
    return std::stoll(limit) - std::stoll(used);
}

} // namespace

void refuse_lonely_launch(const Session& session)
{
    if (session.size() > 1) return;
    // Each launcher says in the environment how many tasks it started; mpirun inside a larger allocation
    // may rightly start one, so its own word comes first.
    int launched = environment_number("OMPI_COMM_WORLD_SIZE");
    if (launched == 0) launched = environment_number("PMI_SIZE");
    if (launched == 0) launched = environment_number("SLURM_STEP_NUM_TASKS");
    if (launched == 0) launched = environment_number("SLURM_NTASKS");
    if (launched <= 1) return;
    throw InputError(fmt::format(
        "launched as {} tasks, MPI sees 1 (the launcher belongs to another MPI, or there is none): start with the mpirun "
        "of {}, or with srun --mpi=pmix",
        launched, mpi_version_text()));
}

RankFacts find_rank_facts(int64_t blas_threads)
{
    RankFacts facts;
    facts.info.host = host_name();
    facts.info.machine = first_line_of("/proc/sys/kernel/random/boot_id");
    facts.info.cpu_model = field_of("/proc/cpuinfo", "model name");
    find_allowed_cores(facts);
    facts.info.memory_available_bytes = memory_available_bytes();
    facts.blas_threads_asked =
        static_cast<int>(blas_threads > 0 ? blas_threads : std::max<int64_t>(1, static_cast<int64_t>(distinct(facts.cores))));
    facts.info.blas_threads = set_blas_threads(facts.blas_threads_asked);
    facts.info.blas_kernel = blas_kernel_name();
    return facts;
}

std::vector<RankFacts> gather_facts(const RankFacts& mine, MPI_Comm control)
{
    int rank = 0, P = 1;
    MPI_Comm_rank(control, &rank);
    MPI_Comm_size(control, &P);
    const std::string text = serialise(mine);
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<size_t>(P)), starts(static_cast<size_t>(P));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, control);
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
    std::string all(rank == 0 ? static_cast<size_t>(starts.back() + lengths.back()) : 0, ' ');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, control);
    std::vector<RankFacts> facts;
    for (size_t r = 0; rank == 0 && r < lengths.size(); ++r)
        facts.push_back(deserialise(all.substr(static_cast<size_t>(starts[r]), static_cast<size_t>(lengths[r]))));
    return facts;
}

std::vector<Finding> placement_findings(const std::vector<RankFacts>& ranks)
{
    std::vector<Finding> findings;
    // Two "hosts" with one boot id share their cores whatever their names say.
    std::map<std::string, std::vector<size_t>> ranks_of_machine;
    for (size_t r = 0; r < ranks.size(); ++r) ranks_of_machine[ranks[r].info.machine].push_back(r);

    for (const auto& [machine, members] : ranks_of_machine) {
        std::vector<int> cores;
        int threads = 0;
        for (size_t r : members) {
            cores.insert(cores.end(), ranks[r].cores.begin(), ranks[r].cores.end());
            threads += ranks[r].info.blas_threads;
        }
        const auto available = static_cast<int>(distinct(cores));
        if (threads <= available) continue;
        findings.push_back({"oversubscribed", Severity::warning, static_cast<int32_t>(members.front()),
                            fmt::format("{} BLAS threads of {} ranks share {} core{} on {}: compute times contain waiting for "
                                        "a core, and communication waits for ranks that do not run; use fewer ranks or "
                                        "threads, or bind each rank to cores of its own",
                                        threads, members.size(), available, available == 1 ? "" : "s",
                                        ranks[members.front()].info.host)});
    }
    for (size_t r = 0; r < ranks.size(); ++r) {
        const RankFacts& rank = ranks[r];
        if (rank.info.blas_threads != rank.blas_threads_asked)
            findings.push_back({"blas_threads", Severity::warning, static_cast<int32_t>(r),
                                fmt::format("asked the BLAS for {} threads, it uses {}: C is that of {} threads; check "
                                            "OPENBLAS_NUM_THREADS, OMP_NUM_THREADS and OMP_PROC_BIND",
                                            rank.blas_threads_asked, rank.info.blas_threads, rank.info.blas_threads)});
        const auto cores = static_cast<int>(distinct(rank.cores));
        if (rank.info.blas_threads > cores)
            findings.push_back({"threads_share_core", Severity::warning, static_cast<int32_t>(r),
                                fmt::format("{} BLAS threads may use only core{} {} of {}: they take turns and the matmul "
                                            "is slower than one thread would be; bind the rank to as many cores as threads "
                                            "(mpirun --map-by slot:PE={}) or lower blas_threads",
                                            rank.info.blas_threads, cores == 1 ? "" : "s", rank.info.allowed_cores,
                                            rank.info.host, rank.info.blas_threads)});
    }
    return findings;
}

Provenance find_provenance(int argc, char** argv)
{
    std::string command_line;
    for (int i = 0; i < argc; ++i) command_line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
    return {
        {"shardline_version", SHARDLINE_VERSION},
        {"git_state", SHARDLINE_GIT_STATE},
        {"compiler", SHARDLINE_COMPILER},
        {"build_type", SHARDLINE_BUILD_TYPE},
        {"mpi_version", mpi_version_text()},
        {"blas_version", blas_version_text()},
        {"command_line", command_line},
        {"started_utc", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
        {"kernel", first_line_of("/proc/sys/kernel/osrelease")},
        {"inputs", "integers in {-2 .. 2}"},
        {"clock", "CLOCK_MONOTONIC"},
        {"synchronisation", "MPI_Barrier"},
    };
}

std::vector<std::pair<std::string, std::string>> relevant_environment()
{
    constexpr const char* prefixes[] = {"OMPI_", "PMIX_", "SLURM_", "OPENBLAS_", "OMP_", "GOTO_", "UCX_", "HDF5_", "PBS_", "LSB_"};
    std::vector<std::pair<std::string, std::string>> found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        const bool relevant = std::any_of(std::begin(prefixes), std::end(prefixes),
                                          [&](const char* prefix) { return text.starts_with(prefix); });
        if (relevant && equals != std::string::npos) found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

int64_t memory_available_bytes()
{
    const std::string available = field_of("/proc/meminfo", "MemAvailable:");
    const int64_t machine = available.empty() ? std::numeric_limits<int64_t>::max() : std::stoll(available) * 1024;
    return std::min(machine, cgroup_memory_left());
}

std::string memory_shortage(int64_t bytes_per_rank, const Session& session)
{
    MPI_Comm node;
    MPI_Comm_split_type(session.control(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks_on_node = 1;
    MPI_Comm_size(node, &ranks_on_node);
    MPI_Comm_free(&node);

    const int64_t have = memory_available_bytes() / ranks_on_node;
    struct {
        double shortage;
        int rank;
    } worst{static_cast<double>(bytes_per_rank) - static_cast<double>(have), session.rank()};
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, session.control());
    if (worst.shortage <= 0) return "";
    int64_t numbers[] = {bytes_per_rank, have, ranks_on_node};
    MPI_Bcast(numbers, 3, MPI_INT64_T, worst.rank, session.control());
    return fmt::format("not enough memory (rank {} needs {:.1f} MB, its node has {:.1f} MB for each of its {} rank{}; "
                                 "1 MB = 10^6 bytes): lower B, F or D, or use more nodes or fewer ranks on each",
                                 worst.rank, static_cast<double>(numbers[0]) / 1e6, static_cast<double>(numbers[1]) / 1e6,
                                 numbers[2], numbers[2] == 1 ? "" : "s");
}

void require_memory(int64_t bytes_per_rank, const Session& session)
{
    if (const std::string shortage = memory_shortage(bytes_per_rank, session); !shortage.empty()) throw InputError(shortage);
}

} // namespace shardline
