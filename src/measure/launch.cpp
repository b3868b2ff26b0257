#include "measure/launch.hpp"

#include "measure/session.hpp"
#include "model/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace shardline {

namespace {

int number(const Environment& environment, const char* name)
{
    const char* text = environment(name);
    return text == nullptr ? 0 : std::atoi(text);
}

bool equals(const Environment& environment, const char* name, std::string_view value)
{
    const char* text = environment(name);
    return text != nullptr && text == value;
}

/// One line of the node file is one task that the job was given.
int lines_of_file(const char* path)
{
    if (path == nullptr) return 0;
    std::ifstream file(path);
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
}

/// The launcher nearest to the process comes first: mpirun inside a larger allocation may rightly start one task.
std::optional<Launch> from_launcher(const Environment& environment)
{
    struct Launcher {
        const char *size, *rank;
    };
    constexpr Launcher launchers[] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, // Open MPI
        {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},   // MVAPICH2
        {"PMI_SIZE", "PMI_RANK"},                         // MPICH and Intel MPI; srun --mpi=pmi2
        {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},     // jsrun
        {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},              // flux run
        {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},         // srun
    };
    for (const Launcher& launcher : launchers)
        if (const int tasks = number(environment, launcher.size); tasks > 0)
            return Launch{launcher.size, tasks, number(environment, launcher.rank), true};
    return std::nullopt;
}

/// A plain start in a batch script. A shell of salloc, qsub -I or bsub -I may rightly try one process.
std::optional<Launch> from_batch_script(const Environment& environment)
{
    if (environment("SLURM_PROCID") != nullptr) // a shell of salloc has no task number
        if (const int tasks = number(environment, "SLURM_NTASKS"); tasks > 0) return Launch{"SLURM_NTASKS", tasks, 0, false};
    if (equals(environment, "PBS_ENVIRONMENT", "PBS_BATCH")) {
        if (const int tasks = number(environment, "PBS_NP"); tasks > 0) return Launch{"PBS_NP", tasks, 0, false};
        if (const int tasks = lines_of_file(environment("PBS_NODEFILE")); tasks > 0)
            return Launch{"PBS_NODEFILE", tasks, 0, false};
    }
    if (environment("LSB_INTERACTIVE") == nullptr)
        if (const int tasks = number(environment, "LSB_DJOB_NUMPROC"); tasks > 0)
            return Launch{"LSB_DJOB_NUMPROC", tasks, 0, false};
    return std::nullopt;
}

} // namespace

std::optional<Launch> find_launch(const Environment& environment)
{
    const auto launch = from_launcher(environment);
    return launch ? launch : from_batch_script(environment);
}

std::optional<Launch> find_launch()
{
    return find_launch([](const char* name) -> const char* { return std::getenv(name); });
}

int slurm_job_cpus(const Environment& environment)
{
    // "16(x2),8": two nodes with 16, then one with 8.
    const char* list = environment("SLURM_JOB_CPUS_PER_NODE");
    if (list == nullptr) return 0;
    int node = number(environment, "SLURM_NODEID");
    std::istringstream in(list);
    for (std::string entry; std::getline(in, entry, ',');) {
        const auto times = entry.find("(x");
        node -= times == std::string::npos ? 1 : std::atoi(entry.c_str() + times + 2);
        if (node < 0) return std::atoi(entry.c_str());
    }
    return 0;
}

void refuse_lonely_launch(const std::optional<Launch>& launch, int ranks)
{
    if (!launch || launch->tasks <= 1 || ranks > 1) return;
    if (launch->rank != 0) throw InputError("");
    const char* why = launch->by_launcher ? "the launcher belongs to another MPI, or does not speak its protocol"
                                          : "started without a launcher in a batch job; for one rank on purpose: mpirun -n 1";
    const std::string mpi = mpi_version_text();
    throw InputError(fmt::format("launched as {} tasks, MPI sees 1 ({}={}: {}): start with the mpirun of {}, or with srun --mpi=pmix",
                                 launch->tasks, launch->variable, launch->tasks, why,
                                 mpi.substr(0, mpi.find(','))));
}

} // namespace shardline
