#pragma once

// What the run stands on, found out before anything is timed.

#include "measure/session.hpp"
#include "model/run_data.hpp"

#include <string>
#include <vector>

namespace shardline {

/// What one rank finds out about itself.
struct RankFacts {
    RankInfo info;
    std::vector<int> hardware_threads; ///< operating-system numbers this rank may use
    std::vector<int> cores;            ///< physical core of each of them
    int blas_threads_asked = 0;
};

/// Throws InputError where this process was launched as one of several tasks while MPI sees one rank
/// (another MPI's mpirun, or no launcher under a batch system).
void refuse_lonely_launch(const Session& session);

/// Facts of this rank; sets the BLAS threads: `blas_threads`, or where that is 0 one for each core allowed.
RankFacts find_rank_facts(int64_t blas_threads);

/// Facts of all ranks in rank order, on rank 0 (empty elsewhere). Collective over control.
std::vector<RankFacts> gather_facts(const RankFacts& mine, MPI_Comm control);

/// What the placement of the ranks means for the numbers.
std::vector<Finding> placement_findings(const std::vector<RankFacts>& ranks);

/// Versions, build, command line, time and user-visible settings of this run.
Provenance find_provenance(int argc, char** argv);

/// OMPI_*, SLURM_*, OPENBLAS_* and other variables that change what is measured.
std::vector<std::pair<std::string, std::string>> relevant_environment();

/// Bytes of memory this process may still take: the least of the machine's available memory and its cgroup's.
int64_t memory_available_bytes();

/// Why a node cannot give each of its ranks `bytes_per_rank`, with need and have; empty where all can.
/// The same text on every rank. Collective over control.
std::string memory_shortage(int64_t bytes_per_rank, const Session& session);

/// Throws InputError with that text. Collective over control.
void require_memory(int64_t bytes_per_rank, const Session& session);

} // namespace shardline
