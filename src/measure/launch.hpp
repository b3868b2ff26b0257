#pragma once

// How many tasks the launcher believes it started, so that a process MPI knows nothing about is caught.

#include <functional>
#include <optional>
#include <string>

namespace shardline {

/// What the environment says about the start of this process.
struct Launch {
    std::string variable; ///< that gave the number of tasks
    int tasks = 1;
    int rank = 0;             ///< of this process among them
    bool by_launcher = true;  ///< false: started plainly by the script of a batch job of that many tasks
};

/// Value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

/// Nothing where no launcher and no batch system is seen. To be asked before MPI starts, as some MPIs write such
/// variables themselves for a process that was started without a launcher.
std::optional<Launch> find_launch(const Environment& environment);
std::optional<Launch> find_launch();

/// CPUs of a Slurm job on the node of this process, as Slurm counts them; 0: no such job, or not said.
int slurm_job_cpus(const Environment& environment);

/// Throws InputError where MPI sees one rank and the launch had several tasks: every process would measure alone and write
/// the same file. All of them throw; only the launcher's first has a text.
void refuse_lonely_launch(const std::optional<Launch>& launch, int ranks);

} // namespace shardline
