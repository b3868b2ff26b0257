#pragma once

// What each rank finds out about the ground it stands on; preflight.hpp says what that means.

#include "model/run_data.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// Widest vector instructions of an x86 processor that a matmul kernel can use.
enum class VectorUnit : int { unknown, avx2, avx512 };

/// What many readings of the clock in a row show.
struct ClockFacts {
    int64_t tick_ns = 0;      ///< smallest step forward; 0: it never moved
    int64_t backwards_ns = 0; ///< largest step back
};

/// What one rank finds out about itself.
struct RankFacts {
    RankInfo info;
    std::vector<int> hardware_threads; ///< operating-system numbers this rank may use
    std::vector<int> cores;            ///< physical core of each of them: the number of the core's first hardware thread
    int machine_cores = 0;             ///< cores of the machine, or of the container, whatever the rank is bound to
    double quota_cores = 0;            ///< CPU time per time that the control group may take; 0: no limit
    std::string quota_group;           ///< ranks of one machine with the same group share the quota
    int blas_threads_asked = 0;
    std::string threads_variable;      ///< environment variable that sets the BLAS threads; empty: none
    int threads_in_environment = 0;    ///< its number
    int slurm_cpus_per_task = 0;       ///< 0: not said
    int slurm_job_cpus = 0;            ///< CPUs of the Slurm job on this node; 0: not said
    int node_cpus = 0;                 ///< CPUs of this node, as Slurm counts them where that is known, else its cores
    VectorUnit vector_unit = VectorUnit::unknown;
    std::string frequency_governor;    ///< of a core it may use; empty: not known
    ClockFacts clock;
    std::vector<std::string> fabrics;    ///< network devices faster than TCP that are up, e.g. "mlx5_0"
    std::vector<std::string> transports; ///< MPI's components in use as far as known, e.g. "pml/ob1", "btl/tcp"
};

/// Facts of all ranks in rank order on rank 0 (empty elsewhere), after each rank's BLAS was given its threads: `blas_threads`, or
/// where that is 0 the number of blas_threads_of(). Collective over control.
std::vector<RankFacts> survey_ranks(int64_t blas_threads, MPI_Comm control);

/// Facts of all ranks in rank order, on rank 0 (empty elsewhere). Collective over control.
std::vector<RankFacts> gather_facts(const RankFacts& mine, MPI_Comm control);

/// What `read` shows in some thousands of readings.
ClockFacts observe_clock(const std::function<int64_t()>& read);

/// From the flags line of /proc/cpuinfo.
VectorUnit vector_unit_in(std::string_view cpu_flags);

/// Cores of the machine from the kernel's folder of CPUs, those included that a control group forbids.
int cores_in(const std::filesystem::path& cpus);

/// InfiniBand, RoCE, Omni-Path and Slingshot devices with a port that is up, from the kernel's device classes.
std::vector<std::string> fabrics_in(const std::filesystem::path& device_classes);

/// Open MPI's message layers ("pml/...") and transports ("btl/...", "mtl/...") among the files mapped into a process: it
/// keeps those it uses. Empty where they are built into the library.
std::vector<std::string> transports_in(const std::filesystem::path& maps);

/// Those of this process; where they are built into the library, those that the user selected by name.
std::vector<std::string> find_transports();

} // namespace shardline
