#include "measure/preflight.hpp"

#include "model/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace shardline {

namespace {

using Ranks = std::vector<RankFacts>;
using Members = std::vector<size_t>; ///< numbers of ranks, ascending

/// Before those of one kind are joined.
struct SingleFinding {
    const char* code;
    Severity severity;
    Members ranks;       ///< empty: of the run as a whole
    std::string text;
};
using SingleFindings = std::vector<SingleFinding>;

int count(size_t n) { return static_cast<int>(n); }

const char* plural(size_t n) { return n == 1 ? "" : "s"; }

std::set<int> distinct(const std::vector<int>& values) { return {values.begin(), values.end()}; }

/// "0-3, 8"
std::string ranges(const Members& members)
{
    std::vector<std::string> parts;
    for (size_t i = 0; i < members.size();) {
        size_t last = i;
        while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
        parts.push_back(i == last ? fmt::to_string(members[i]) : fmt::format("{}-{}", members[i], members[last]));
        i = last + 1;
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string named(const Members& members) { return fmt::format("rank{} {}", plural(members.size()), ranges(members)); }

Members all_of(const Ranks& ranks)
{
    Members members(ranks.size());
    std::iota(members.begin(), members.end(), size_t{0});
    return members;
}

/// Ranks by a property, in order of the property.
template <class Property>
auto grouped(const Ranks& ranks, const Members& members, Property property)
{
    std::map<std::decay_t<decltype(property(ranks.front()))>, Members> groups;
    for (size_t r : members) groups[property(ranks[r])].push_back(r);
    return groups;
}

/// Two hosts with one boot id share their cores whatever their names say.
auto by_machine(const Ranks& ranks)
{
    return grouped(ranks, all_of(ranks), [](const RankFacts& rank) { return rank.info.machine; });
}

auto by_host(const Ranks& ranks, const Members& members)
{
    return grouped(ranks, members, [](const RankFacts& rank) { return rank.info.host; });
}

std::set<int> cores_of(const Ranks& ranks, const Members& members)
{
    std::set<int> cores;
    for (size_t r : members) cores.insert(ranks[r].cores.begin(), ranks[r].cores.end());
    return cores;
}

int threads_of(const Ranks& ranks, const Members& members)
{
    return std::accumulate(members.begin(), members.end(), 0,
                           [&](int sum, size_t r) { return sum + ranks[r].info.blas_threads; });
}

// ---------------------------------------------------------------------------------------------------
// Placement

/// May two of them run on one and the same hardware thread?
bool overlap(const Ranks& ranks, const Members& members)
{
    std::set<int> seen;
    for (size_t r : members)
        for (int thread : ranks[r].hardware_threads)
            if (!seen.insert(thread).second) return true;
    return false;
}

/// More ranks confined to one core than a fair spread over the machine's cores would put there: then the binding is the cause, as
/// when Open MPI binds the first rank of every network namespace to core 0. Returns the crowds of a machine.
SingleFindings crowded_cores(const Ranks& ranks, const Members& members)
{
    size_t cores = cores_of(ranks, members).size();
    for (size_t r : members) cores = std::max(cores, static_cast<size_t>(std::max(0, ranks[r].machine_cores)));
    if (cores == 0) return {};
    const size_t fair = (members.size() + cores - 1) / cores;

    std::map<int, Members> confined;
    for (size_t r : members)
        if (const auto own = distinct(ranks[r].cores); own.size() == 1) confined[*own.begin()].push_back(r);
    SingleFindings crowds;
    for (const auto& [core, crowd] : confined) {
        if (crowd.size() <= fair) continue;
        const std::string seen = fmt::format("{} may run on core {} only, of {} core{} of the machine {}", named(crowd), core, cores,
                                             plural(cores), ranks[crowd.front()].info.host);
        if (overlap(ranks, crowd))
            crowds.push_back({"ranks_share_core", Severity::invalid, crowd,
                              fmt::format("{}: they take turns, so neither their compute times nor their communication times mean "
                                          "anything; bind each rank to a core of its own (mpirun --bind-to core, on a virtual "
                                          "cluster --bind-to none with each node pinned by taskset)",
                                          seen)});
        else
            crowds.push_back({"ranks_share_threads", Severity::warning, crowd,
                              fmt::format("{}, on hardware threads of their own: they share its arithmetic units, so C is about half "
                                          "that of a core; bind to cores (mpirun --bind-to core, srun --hint=nomultithread)",
                                          seen)});
    }
    return crowds;
}

/// All cores of these ranks, then every smaller set that some rank cannot leave, the largest first.
std::vector<std::set<int>> core_sets(const Ranks& ranks, const Members& members)
{
    std::set<std::set<int>> sets{cores_of(ranks, members)};
    for (size_t r : members) sets.insert(distinct(ranks[r].cores));
    std::vector<std::set<int>> ordered(sets.begin(), sets.end());
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return ordered;
}

Members confined_to(const std::set<int>& cores, const Ranks& ranks, const Members& members)
{
    Members confined;
    std::copy_if(members.begin(), members.end(), std::back_inserter(confined), [&](size_t r) {
        const auto own = distinct(ranks[r].cores);
        return std::includes(cores.begin(), cores.end(), own.begin(), own.end());
    });
    return confined;
}

/// About the set of cores with the most threads for each core.
SingleFindings oversubscribed(const Ranks& ranks, const Members& members)
{
    double worst = 1;
    SingleFindings observations;
    for (const std::set<int>& cores : core_sets(ranks, members)) {
        const Members inside = confined_to(cores, ranks, members);
        const int threads = threads_of(ranks, inside);
        const double threads_per_core = cores.empty() ? 0 : threads / static_cast<double>(cores.size());
        if (inside.size() < 2 || threads_per_core <= worst) continue; // a rank alone: threads_share_core
        worst = threads_per_core;
        observations = {{"oversubscribed", Severity::warning, inside,
                         fmt::format("{} BLAS threads of {} ranks share {} core{} on {}: compute times contain waiting for a core, and "
                                     "communication waits for ranks that do not run; use fewer ranks or threads, or bind each rank "
                                     "to cores of its own",
                                     threads, inside.size(), cores.size(), plural(cores.size()), ranks[inside.front()].info.host)}};
    }
    return observations;
}

SingleFindings placement(const Ranks& ranks)
{
    SingleFindings observations;
    for (const auto& [machine, members] : by_machine(ranks)) {
        SingleFindings found = crowded_cores(ranks, members);
        if (found.empty()) found = oversubscribed(ranks, members); // else the crowd says it, with the better advice
        observations.insert(observations.end(), found.begin(), found.end());
    }
    return observations;
}

SingleFindings shared_node(const RankFacts& rank, size_t r)
{
    if (rank.slurm_job_cpus <= 0 || rank.slurm_job_cpus >= rank.node_cpus) return {};
    return {{"shared_node", Severity::warning, {r},
             fmt::format("the job has {} of {} CPUs of {}: other jobs may run beside it and take their part of memory bandwidth, clock rate "
                         "and network, so times may change with them; ask for whole nodes (sbatch --exclusive)",
                         rank.slurm_job_cpus, rank.node_cpus, rank.info.host)}};
}

SingleFindings quotas(const Ranks& ranks)
{
    SingleFindings observations;
    const auto groups = grouped(ranks, all_of(ranks), [](const RankFacts& rank) {
        return std::tuple(rank.info.machine, rank.quota_group, rank.quota_cores);
    });
    for (const auto& [group, members] : groups) {
        const double cores = std::get<double>(group);
        const int threads = threads_of(ranks, members);
        if (cores <= 0 || threads <= cores) continue;
        observations.push_back({"quota", Severity::warning, members,
                                fmt::format("the control group allows {:.3g} cores' worth of CPU time to {} BLAS thread{} of {} on {}: "
                                            "the kernel halts them for the rest of every period (mostly 100 ms), so times come in steps "
                                            "of that size; raise the quota (docker --cpus, Kubernetes limits.cpu, systemd CPUQuota) "
                                            "or use fewer ranks or threads",
                                            cores, threads, plural(static_cast<size_t>(threads)), named(members),
                                            ranks[members.front()].info.host)});
    }
    return observations;
}

// ---------------------------------------------------------------------------------------------------
// Threads

SingleFindings blas_threads(const RankFacts& rank, size_t r)
{
    if (rank.info.blas_threads == rank.blas_threads_asked) return {};
    if (rank.info.blas_threads == 0)
        return {{"blas_threads", Severity::note, {r},
                 fmt::format("this BLAS cannot be asked for its threads ({} wanted): C is that of however many it uses; set them by its own "
                             "variable, mostly OMP_NUM_THREADS={}, or build with OpenBLAS, MKL or BLIS",
                             rank.blas_threads_asked, rank.blas_threads_asked)}};
    return {{"blas_threads", Severity::warning, {r},
             fmt::format("asked the BLAS for {} thread{}, it uses {}: C is that of {} thread{}; check OPENBLAS_NUM_THREADS, "
                         "OMP_NUM_THREADS, OMP_PROC_BIND and the number of threads the library was built for",
                         rank.blas_threads_asked, plural(static_cast<size_t>(rank.blas_threads_asked)), rank.info.blas_threads,
                         rank.info.blas_threads, plural(static_cast<size_t>(rank.info.blas_threads)))}};
}

SingleFindings threads_share_core(const RankFacts& rank, size_t r)
{
    const auto cores = distinct(rank.cores).size();
    if (cores == 0 || rank.info.blas_threads <= count(cores)) return {};
    return {{"threads_share_core", Severity::warning, {r},
             fmt::format("{} BLAS threads may use only {} core{} (CPUs {}) of {}: they take turns, and the matmul is slower than with one "
                         "thread for each core; bind the rank to as many cores as threads (mpirun --map-by slot:PE={}) or lower "
                         "blas_threads",
                         rank.info.blas_threads, cores, plural(cores), rank.info.allowed_cores, rank.info.host,
                         rank.info.blas_threads)}};
}

SingleFindings ignored_environment(const RankFacts& rank, size_t r)
{
    if (rank.threads_in_environment == 0 || rank.threads_in_environment == rank.blas_threads_asked) return {};
    return {{"blas_threads_environment", Severity::note, {r},
             fmt::format("{}={} is not obeyed, the experiment says blas_threads = {}: C is that of {} thread{}; set blas_threads = 0 to "
                         "let the environment decide",
                         rank.threads_variable, rank.threads_in_environment, rank.blas_threads_asked, rank.info.blas_threads,
                         plural(static_cast<size_t>(rank.info.blas_threads)))}};
}

/// Slurm counts cores or hardware threads, as the site chose: the mask agrees where either number does.
SingleFindings slurm_cpus_per_task(const RankFacts& rank, size_t r)
{
    const int asked = rank.slurm_cpus_per_task, have = count(rank.hardware_threads.size());
    if (asked == 0 || have == 0) return {};
    if (have < asked)
        return {{"slurm_cpus_per_task", Severity::warning, {r},
                 fmt::format("SLURM_CPUS_PER_TASK={}, but the rank may use {} CPU{} ({}): C is that of {} CPU{}; since Slurm 22.05 srun "
                             "does not inherit the number from sbatch: srun --cpus-per-task={}, or export SRUN_CPUS_PER_TASK={} (under "
                             "mpirun: --map-by slot:PE={})",
                             asked, have, plural(rank.hardware_threads.size()), rank.info.allowed_cores, have,
                             plural(rank.hardware_threads.size()), asked, asked, asked)}};
    if (rank.info.blas_threads > asked)
        return {{"slurm_cpus_per_task", Severity::warning, {r},
                 fmt::format("SLURM_CPUS_PER_TASK={}, but the rank may use {} CPUs ({}) and computes with {} BLAS threads: it may take "
                             "cores from other tasks, so C is not that of {} CPUs; ask with srun --cpus-per-task={} (or "
                             "SRUN_CPUS_PER_TASK), or set blas_threads = {}",
                             asked, have, rank.info.allowed_cores, rank.info.blas_threads, asked, rank.info.blas_threads, asked)}};
    return {};
}

// ---------------------------------------------------------------------------------------------------
// Processors

/// "A (ranks 0, 1), B (rank 2)"
std::string listed(const std::map<std::string, Members>& groups)
{
    std::vector<std::string> parts;
    for (const auto& [value, members] : groups)
        parts.push_back(fmt::format("{} ({})", value.empty() ? "unknown" : value, named(members)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

SingleFindings mixed_processors(const Ranks& ranks)
{
    SingleFindings observations;
    const auto models = grouped(ranks, all_of(ranks), [](const RankFacts& rank) { return rank.info.cpu_model; });
    if (models.size() > 1)
        observations.push_back({"mixed_cpu_models", Severity::warning, {},
                                fmt::format("the ranks run on {} models of processor, {}: the slowest rank sets every time, and one C "
                                            "stands for unlike ranks; ask for nodes of one kind (sbatch --constraint)",
                                            models.size(), listed(models))});
    const auto kernels = grouped(ranks, all_of(ranks), [](const RankFacts& rank) { return rank.info.blas_kernel; });
    if (kernels.size() > 1)
        observations.push_back({"mixed_blas_kernels", Severity::warning, {},
                                fmt::format("the BLAS chose {} kinds of kernel, {}: the slowest rank sets every time, and one C stands "
                                            "for unlike ranks; ask for nodes of one kind, or set OPENBLAS_CORETYPE on all ranks",
                                            kernels.size(), listed(kernels))});
    return observations;
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names)
{
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::find(names.begin(), names.end(), lower) != names.end();
}

/// OpenBLAS falls back to kernels of an older processor where it does not know the model (or was built without the newer).
SingleFindings blas_kernel_old(const RankFacts& rank, size_t r)
{
    const bool uses_avx2 = is_one_of(rank.info.blas_kernel, {"haswell", "zen", "excavator"});
    const bool uses_neither = is_one_of(rank.info.blas_kernel,
                                        {"prescott", "core2", "penryn", "dunnington", "nehalem", "sandybridge", "atom", "nano", "opteron",
                                         "opteron_sse3", "barcelona", "bobcat", "bulldozer", "piledriver", "steamroller"});
    const bool has_avx512 = rank.vector_unit == VectorUnit::avx512;
    const std::string seen = fmt::format("the processor ({}) has {}, the BLAS chose its {} kernels, which do not use it",
                                         rank.info.cpu_model, has_avx512 ? "AVX-512" : "AVX2", rank.info.blas_kernel);
    if (uses_neither && rank.vector_unit != VectorUnit::unknown)
        return {{"blas_kernel_old", Severity::warning, {r},
                 fmt::format("{}: C is a fraction of the processor's, and D* with it; set OPENBLAS_CORETYPE={} on all ranks, or use a "
                             "newer OpenBLAS",
                             seen, has_avx512 ? "SkylakeX" : "Haswell")}};
    if (uses_avx2 && has_avx512)
        return {{"blas_kernel_old", Severity::note, {r},
                 fmt::format("{}: C may be below the processor's; try OPENBLAS_CORETYPE=SkylakeX on all ranks, or a newer OpenBLAS", seen)}};
    return {};
}

SingleFindings cpu_governor(const RankFacts& rank, size_t r)
{
    if (rank.frequency_governor.empty() || rank.frequency_governor == "performance") return {};
    return {{"cpu_governor", Severity::note, {r},
             fmt::format("the frequency governor is \"{}\": the clock rate follows the load, so C may drift and the first repetitions "
                         "be slow; where allowed, cpupower frequency-set -g performance, or srun --cpu-freq=performance",
                         rank.frequency_governor)}};
}

// ---------------------------------------------------------------------------------------------------
// Clock and network

SingleFindings clock_findings(const RankFacts& rank, size_t r)
{
    constexpr int64_t coarse_ns = 1000;
    if (rank.clock.backwards_ns > 0)
        return {{"clock_backwards", Severity::invalid, {r},
                 fmt::format("the monotonic clock of {} went back by {} ns between two readings: no time on it means anything; check the "
                             "kernel's clock source (/sys/devices/system/clocksource/clocksource0/current_clocksource) or leave the "
                             "node out",
                             rank.info.host, rank.clock.backwards_ns)}};
    const bool stands = rank.clock.tick_ns == 0;
    if (!stands && rank.clock.tick_ns <= coarse_ns) return {};
    const std::string seen = stands ? "did not move in a million readings" : fmt::format("moves in steps of {} ns", rank.clock.tick_ns);
    return {{"clock_coarse", Severity::warning, {r},
             fmt::format("the monotonic clock of {} {}: times below some hundred steps are rounded too far to compare; use larger B, F or D, "
                         "or a node with a finer clock source",
                         rank.info.host, seen)}};
}

SingleFindings machines(const Ranks& ranks)
{
    SingleFindings observations;
    const auto machines = by_machine(ranks);
    for (const auto& [machine, members] : machines) {
        const auto hosts = by_host(ranks, members);
        if (hosts.size() < 2) continue;
        std::vector<std::string> names;
        for (const auto& [host, on_host] : hosts) names.push_back(host);
        observations.push_back({"one_machine", Severity::note, members,
                                fmt::format("hosts {} are one machine (same boot id): a virtual cluster, whose ranks share memory bandwidth "
                                            "and caches whatever network lies between them; on real nodes C may be higher",
                                            fmt::join(names, ", "))});
    }
    if (machines.size() < 2) return observations;
    const auto [least, most] = std::minmax_element(machines.begin(), machines.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    const size_t few = least->second.size(), many = most->second.size();
    observations.push_back({"several_machines", Severity::note, {},
                            fmt::format("{} ranks on {} machines, {}{} on each: W is that of the slowest link around the ring of ranks{}",
                                        ranks.size(), machines.size(), few, few == many ? "" : fmt::format(" to {}", many),
                                        many > 1 ? ", and the ranks of a machine share its network adapter; for a link of its own "
                                                   "start one rank on each"
                                                 : "")});
    return observations;
}

/// Open MPI goes through TCP: its point-to-point layer is ob1, and no transport but TCP leaves the machine.
bool uses_tcp(const RankFacts& rank)
{
    const auto uses = [&](const char* name) {
        return std::find(rank.transports.begin(), rank.transports.end(), name) != rank.transports.end();
    };
    return uses("pml/ob1") && uses("btl/tcp") && !uses("btl/openib") && !uses("btl/uct") && !uses("btl/ofi") &&
           !uses("btl/usnic") && !uses("btl/ugni") && !uses("btl/portals4");
}

SingleFindings tcp_beside_fabric(const Ranks& ranks)
{
    if (by_machine(ranks).size() < 2) return {};
    Members members;
    std::set<std::string> fabrics;
    for (size_t r = 0; r < ranks.size(); ++r) {
        if (!uses_tcp(ranks[r]) || ranks[r].fabrics.empty()) continue;
        members.push_back(r);
        fabrics.insert(ranks[r].fabrics.begin(), ranks[r].fabrics.end());
    }
    if (members.empty()) return {};
    return {{"tcp_beside_fabric", Severity::warning, members,
             fmt::format("{} talk{} TCP, though the hosts have {} up: W and the start-up time are those of TCP, not of that network; use "
                         "an Open MPI built with UCX or libfabric (mpirun --mca pml ucx, or --mca pml cm), or name its transport",
                         named(members), members.size() == 1 ? "s" : "", fmt::join(fabrics, ", "))}};
}

// ---------------------------------------------------------------------------------------------------

/// One finding of each code and severity: a thousand ranks with the same trouble are one trouble.
std::vector<Finding> joined(const SingleFindings& observations)
{
    std::vector<Finding> findings;
    std::vector<std::set<size_t>> others;
    for (const SingleFinding& seen : observations) {
        const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
            return finding.code == seen.code && finding.severity == seen.severity;
        });
        if (known != findings.end()) {
            others[static_cast<size_t>(known - findings.begin())].insert(seen.ranks.begin(), seen.ranks.end());
            continue;
        }
        findings.push_back({seen.code, seen.severity, seen.ranks.size() == 1 ? static_cast<int32_t>(seen.ranks.front()) : -1, seen.text});
        others.emplace_back();
    }
    for (size_t i = 0; i < findings.size(); ++i)
        if (!others[i].empty()) findings[i].text += fmt::format(" (likewise {})", named({others[i].begin(), others[i].end()}));
    return findings;
}

constexpr std::array<std::string_view, 2> stopping{"ranks_share_core", "clock_backwards"};

} // namespace

std::vector<int> blas_threads_of(const std::vector<RankFacts>& ranks, int64_t experiment_threads)
{
    const auto mask = [](const RankFacts& rank) { return std::pair(rank.info.machine, rank.hardware_threads); };
    const auto quota = [](const RankFacts& rank) { return std::pair(rank.info.machine, rank.quota_group); };
    const auto same_mask = grouped(ranks, all_of(ranks), mask);
    const auto same_quota = grouped(ranks, all_of(ranks), quota);
    const auto share = [&](const RankFacts& rank) {
        double cores = static_cast<double>(distinct(rank.cores).size()) / static_cast<double>(same_mask.at(mask(rank)).size());
        if (rank.quota_cores > 0)
            cores = std::min(cores, rank.quota_cores / static_cast<double>(same_quota.at(quota(rank)).size()));
        return std::max(1, static_cast<int>(std::floor(cores)));
    };

    std::vector<int> threads;
    for (const RankFacts& rank : ranks)
        threads.push_back(experiment_threads > 0            ? static_cast<int>(experiment_threads)
                          : rank.threads_in_environment > 0 ? rank.threads_in_environment
                                                            : share(rank));
    return threads;
}

std::vector<Finding> preflight_findings(const std::vector<RankFacts>& ranks)
{
    SingleFindings observations;
    const auto add = [&](SingleFindings found) {
        observations.insert(observations.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    };
    add(placement(ranks));
    add(quotas(ranks));
    for (const auto& of_rank : {blas_threads, threads_share_core, ignored_environment, slurm_cpus_per_task, shared_node,
                                blas_kernel_old, cpu_governor, clock_findings})
        for (size_t r = 0; r < ranks.size(); ++r) add(of_rank(ranks[r], r));
    add(mixed_processors(ranks));
    add(machines(ranks));
    add(tcp_beside_fabric(ranks));
    return joined(observations);
}

std::span<const std::string_view> stopping_codes() { return stopping; }

void refuse_meaningless(const std::vector<Finding>& findings, const std::vector<std::string>& allowed)
{
    for (const Finding& finding : findings) {
        const bool stops = std::find(stopping.begin(), stopping.end(), finding.code) != stopping.end();
        if (stops && std::find(allowed.begin(), allowed.end(), finding.code) == allowed.end())
            throw InputError(fmt::format("nothing measured, as {}; to measure all the same: --allow {}", finding.text, finding.code));
    }
}

} // namespace shardline
