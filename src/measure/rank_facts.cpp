#include "measure/rank_facts.hpp"

#include "measure/blas.hpp"
#include "measure/cgroup.hpp"
#include "measure/clock.hpp"
#include "measure/launch.hpp"
#include "measure/memory.hpp"
#include "measure/preflight.hpp"
#include "measure/proc_file.hpp"
#include "measure/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

namespace shardline {

namespace {

int environment_number(const char* name)
{
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
}

/// The largest of the levels: all caches of it together. A virtual machine is shown the host's, which it may not have to itself.
int64_t last_level_cache_bytes(hwloc_topology_t topology)
{
    int64_t largest = 0;
    for (const hwloc_obj_type_t level : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        int64_t of_level = 0;
        for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_type(topology, level, cache)) != nullptr;)
            of_level += static_cast<int64_t>(cache->attr->cache.size);
        largest = std::max(largest, of_level);
    }
    return largest;
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
        // hwloc's own numbers of cores count those a container shows, and differ between two containers.
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
        facts.hardware_threads.push_back(static_cast<int>(pu->os_index));
        facts.cores.push_back(core != nullptr ? hwloc_bitmap_first(core->complete_cpuset) : static_cast<int>(pu->os_index));
    }
    facts.machine_cores = std::max(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), 0);
    facts.info.cache_bytes = last_level_cache_bytes(topology);
    char* text = nullptr;
    hwloc_bitmap_list_asprintf(&text, mask);
    facts.info.allowed_cores = text == nullptr ? "" : text;
    std::free(text);
    hwloc_bitmap_free(mask);
    hwloc_topology_destroy(topology);
}

/// The variable the BLAS itself would obey: the first of these that holds a number.
void find_threads_in_environment(RankFacts& facts)
{
    for (const char* name : blas_thread_variables()) {
        if (environment_number(name) <= 0) continue;
        facts.threads_variable = name;
        facts.threads_in_environment = environment_number(name);
        return;
    }
}

std::string frequency_governor(const RankFacts& facts)
{
    if (facts.hardware_threads.empty()) return "";
    return first_line_of(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", facts.hardware_threads.front()));
}

RankFacts find_rank_facts()
{
    RankFacts facts;
    facts.info.host = host_name();
    facts.info.machine = first_line_of("/proc/sys/kernel/random/boot_id");
    if (facts.info.machine.empty()) facts.info.machine = facts.info.host;
    facts.info.cpu_model = field_of("/proc/cpuinfo", "model name");
    facts.info.memory_available_bytes = memory_available_bytes();
    facts.info.blas_kernel = blas_kernel_name();
    find_allowed_cores(facts);
    find_threads_in_environment(facts);
    const CpuQuota quota = cpu_quota();
    facts.quota_cores = quota.cores;
    facts.quota_group = quota.group;
    facts.slurm_cpus_per_task = environment_number("SLURM_CPUS_PER_TASK");
    facts.slurm_job_cpus = slurm_job_cpus([](const char* name) -> const char* { return std::getenv(name); });
    // hpc/measure asks Slurm, which may count cores or hardware threads.
    facts.node_cpus = environment_number("SHARDLINE_NODE_CPUS");
    if (facts.node_cpus <= 0) facts.node_cpus = cores_in("/sys/devices/system/cpu");
    facts.vector_unit = vector_unit_in(field_of("/proc/cpuinfo", "flags"));
    facts.frequency_governor = frequency_governor(facts);
    facts.clock = observe_clock(now_ns);
    facts.fabrics = fabrics_in("/sys/class");
    facts.transports = find_transports();
    return facts;
}

/// Visits what travels to rank 0, in the same order when it is written and when it is read.
template <class Facts, class Visit>
void for_each_field(Facts& f, Visit visit)
{
    visit(f.info.host);
    visit(f.info.machine);
    visit(f.info.cpu_model);
    visit(f.info.allowed_cores);
    visit(f.info.blas_kernel);
    visit(f.info.blas_threads);
    visit(f.info.memory_available_bytes);
    visit(f.info.cache_bytes);
    visit(f.hardware_threads);
    visit(f.cores);
    visit(f.machine_cores);
    visit(f.quota_cores);
    visit(f.quota_group);
    visit(f.blas_threads_asked);
    visit(f.threads_variable);
    visit(f.threads_in_environment);
    visit(f.slurm_cpus_per_task);
    visit(f.slurm_job_cpus);
    visit(f.node_cpus);
    visit(f.vector_unit);
    visit(f.frequency_governor);
    visit(f.clock.tick_ns);
    visit(f.clock.backwards_ns);
    visit(f.fabrics);
    visit(f.transports);
}

/// A field as one line; a list as its elements with blanks between.
struct FieldWriter {
    std::string& text;

    void operator()(const std::string& value) const { line(value); }
    void operator()(VectorUnit value) const { line(fmt::to_string(static_cast<int>(value))); }
    template <class Number>
    void operator()(Number value) const { line(fmt::to_string(value)); }
    template <class Element>
    void operator()(const std::vector<Element>& values) const { line(fmt::format("{}", fmt::join(values, " "))); }

private:
    void line(std::string value) const
    {
        std::replace(value.begin(), value.end(), '\n', ' ');
        text += value + '\n';
    }
};

struct FieldReader {
    std::istringstream& text;

    void operator()(std::string& value) const { value = line(); }
    void operator()(VectorUnit& value) const { value = static_cast<VectorUnit>(std::stoi(line())); }
    template <class Number>
    void operator()(Number& value) const { std::istringstream(line()) >> value; }
    template <class Element>
    void operator()(std::vector<Element>& values) const
    {
        std::istringstream in(line());
        for (Element value; in >> value;) values.push_back(value);
    }

private:
    std::string line() const
    {
        std::string value;
        std::getline(text, value);
        return value;
    }
};

std::string serialise(const RankFacts& facts)
{
    std::string text;
    for_each_field(facts, FieldWriter{text});
    return text;
}

RankFacts deserialise(const std::string& text)
{
    RankFacts facts;
    std::istringstream in(text);
    for_each_field(facts, FieldReader{in});
    return facts;
}

bool is_up(const std::filesystem::path& device)
{
    std::error_code none;
    for (const auto& port : std::filesystem::directory_iterator(device / "ports", none))
        if (first_line_of(port.path() / "state").find("ACTIVE") != std::string::npos) return true;
    return false;
}

/// Names in a selection like "tcp,self"; one that only excludes ("^openib") names nothing.
std::vector<std::string> selected(const std::string& framework)
{
    const char* selection = std::getenv(("OMPI_MCA_" + framework).c_str());
    std::vector<std::string> names;
    if (selection == nullptr || *selection == '^') return names;
    std::istringstream in(selection);
    for (std::string name; std::getline(in, name, ',');) names.push_back(framework + "/" + name);
    return names;
}

} // namespace

std::vector<RankFacts> survey_ranks(int64_t blas_threads, MPI_Comm control)
{
    RankFacts mine = find_rank_facts();
    // Only with the masks of all ranks is it known how many of them share the cores of a machine.
    const std::vector<int> threads = blas_threads_of(gather_facts(mine, control), blas_threads);
    MPI_Scatter(threads.data(), 1, MPI_INT, &mine.blas_threads_asked, 1, MPI_INT, 0, control);
    mine.info.blas_threads = set_blas_threads(mine.blas_threads_asked);
    return gather_facts(mine, control);
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

ClockFacts observe_clock(const std::function<int64_t()>& read)
{
    // A coarse clock stands still for thousands of readings: go on until it has moved once.
    constexpr int least = 4000, most = 1'000'000;
    ClockFacts facts;
    int64_t before = read();
    for (int i = 0; i < least || (facts.tick_ns == 0 && i < most); ++i) {
        const int64_t now = read();
        const int64_t step = now - before;
        before = now;
        if (step < 0) facts.backwards_ns = std::max(facts.backwards_ns, -step);
        if (step > 0 && (facts.tick_ns == 0 || step < facts.tick_ns)) facts.tick_ns = step;
    }
    return facts;
}

VectorUnit vector_unit_in(std::string_view cpu_flags)
{
    std::set<std::string> flags;
    std::istringstream in{std::string(cpu_flags)};
    for (std::string flag; in >> flag;) flags.insert(flag);
    // OpenBLAS has kernels for AVX-512 as servers have it; the first processors had the foundation alone.
    if (flags.contains("avx512f") && flags.contains("avx512vl")) return VectorUnit::avx512;
    if (flags.contains("avx2") && flags.contains("fma")) return VectorUnit::avx2;
    return VectorUnit::unknown;
}

int cores_in(const std::filesystem::path& cpus)
{
    std::set<std::string> cores;
    std::error_code none;
    for (const auto& cpu : std::filesystem::directory_iterator(cpus, none))
        if (const std::string siblings = first_line_of(cpu.path() / "topology" / "thread_siblings_list"); !siblings.empty())
            cores.insert(siblings);
    return static_cast<int>(cores.size());
}

std::vector<std::string> fabrics_in(const std::filesystem::path& device_classes)
{
    std::vector<std::string> fabrics;
    std::error_code none; // no such device class: nothing to iterate over
    for (const auto& device : std::filesystem::directory_iterator(device_classes / "infiniband", none))
        if (is_up(device.path())) fabrics.push_back(device.path().filename());
    for (const auto& device : std::filesystem::directory_iterator(device_classes / "cxi", none))
        fabrics.push_back(device.path().filename());
    std::sort(fabrics.begin(), fabrics.end());
    return fabrics;
}

std::vector<std::string> transports_in(const std::filesystem::path& maps)
{
    std::set<std::string> found;
    std::ifstream in(maps);
    for (std::string line; std::getline(in, line);) {
        const std::string name = line.substr(line.rfind('/') + 1);
        if (!name.starts_with("mca_") || !name.ends_with(".so")) continue;
        for (const std::string framework : {"pml", "btl", "mtl"})
            if (name.compare(4, 4, framework + "_") == 0) found.insert(framework + "/" + name.substr(8, name.size() - 8 - 3));
    }
    return {found.begin(), found.end()};
}

std::vector<std::string> find_transports()
{
    std::vector<std::string> transports = transports_in("/proc/self/maps");
    if (!transports.empty()) return transports;
    for (const char* framework : {"pml", "btl", "mtl"})
        for (std::string& name : selected(framework)) transports.push_back(std::move(name));
    return transports;
}

} // namespace shardline
