#include "apps/doctor.hpp"

#include "measure/blas.hpp"
#include "measure/session.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/text_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>

namespace shardline {

namespace {

std::string started_by(const std::optional<Launch>& launch)
{
    if (!launch) return "no launcher that is known";
    if (!launch->by_launcher) return fmt::format("the script of a batch job ({}={})", launch->variable, launch->tasks);
    struct Launcher {
        const char *prefix, *name;
    };
    const char* name = "a launcher";
    for (const Launcher& launcher : {Launcher{"OMPI_", "mpirun of Open MPI"}, Launcher{"MV2_", "mpirun of MVAPICH2"},
                                     Launcher{"PMI_", "mpirun of MPICH or Intel MPI, or srun --mpi=pmi2"},
                                     Launcher{"JSM_", "jsrun"}, Launcher{"SLURM_", "srun"}})
        if (launch->variable.starts_with(launcher.prefix)) name = launcher.name;
    return fmt::format("{} ({}={})", name, launch->variable, launch->tasks);
}

/// The batch job this process belongs to; empty outside of one.
std::string batch_job()
{
    struct System {
        const char *name, *variable;
    };
    for (const System& system : {System{"Slurm", "SLURM_JOB_ID"}, System{"PBS", "PBS_JOBID"}, System{"LSF", "LSB_JOBID"}})
        if (const char* id = std::getenv(system.variable)) return fmt::format(", in job {} of {}", printable(id), system.name);
    return "";
}

template <class Names>
std::string list_or(const Names& names, const char* otherwise)
{
    return names.empty() ? otherwise : fmt::format("{}", fmt::join(names, " "));
}

std::string rank_line(size_t r, const RankFacts& rank)
{
    const std::set<int> cores(rank.cores.begin(), rank.cores.end());
    return fmt::format("  {:>4}  {:<16} {:>5} of {:<5} {:<9} {:>7}  {:<12} {:>4.1f} GB\n", r, printable(rank.info.host), cores.size(),
                       rank.machine_cores, rank.info.allowed_cores, rank.info.blas_threads == 0 ? "?" : std::to_string(rank.info.blas_threads), printable(rank.info.blas_kernel),
                       static_cast<double>(rank.info.memory_available_bytes) / 1e9);
}

constexpr size_t width = 80;

/// A label and what it says, wrapped beside it.
std::string entry(std::string_view label, std::string_view text)
{
    return wrapped(text, width, 14).replace(2, label.size(), label);
}

const char* consequence(Severity severity)
{
    switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::invalid: return "no run";
    }
    return "";
}

} // namespace

std::string doctor_text(const std::optional<Launch>& launch, const std::vector<RankFacts>& facts, const FolderFacts& folder,
                        const std::vector<Finding>& findings)
{
    constexpr size_t shown = 64;
    std::set<std::string> hosts, machines, fabrics;
    for (const RankFacts& rank : facts) {
        hosts.insert(rank.info.host);
        machines.insert(rank.info.machine);
        fabrics.insert(rank.fabrics.begin(), rank.fabrics.end());
    }
    const RankFacts& first = facts.front();
    std::string text = "Launch\n";
    text += entry("started by", started_by(launch) + batch_job());
    text += entry("ranks", fmt::format("{} on {} ({})", facts.size(), counted(hosts.size(), "host"), counted(machines.size(), "machine")));
    text += "\nNetwork\n";
    text += entry("MPI", mpi_version_text());
    text += entry("transports", list_or(first.transports, "not known") + " on rank 0");
    text += entry("fabrics", list_or(fabrics, "none beside Ethernet"));
    text += "\nBinding\n  rank  host             cores of node  CPUs      threads  BLAS kernel  memory\n";
    for (size_t r = 0; r < facts.size() && r < shown; ++r) text += rank_line(r, facts[r]);
    if (facts.size() > shown) text += fmt::format("  and {} more\n", facts.size() - shown);
    text += "\nBLAS\n" + wrapped(blas_version_text(), width, 2);
    text += fmt::format("\nFiles\n  {}: {}\n", printable(folder.path),
                        folder.exists ? fmt::format("{}, {:.1f} GB free", folder.file_system.empty() ? "file system not known" : folder.file_system,
                                                    static_cast<double>(folder.free_bytes) / 1e9)
                                      : "not there");
    text += "\nWhat to change\n";
    if (findings.empty()) text += "  nothing\n";
    for (const Finding& finding : findings)
        text += wrapped(fmt::format("{} ({}): {}", consequence(finding.severity), finding.code, printable(finding.text)), width, 2);
    return text;
}

} // namespace shardline
