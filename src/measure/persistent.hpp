#pragma once

#include "measure/wire.hpp"

#include <mpi.h>

#include <cstdint>

namespace shardline {

/// True where this MPI has persistent collectives: MPI_Allreduce_init of MPI-4, or Open MPI's MPIX_Allreduce_init.
bool has_persistent_collectives();

/// A request that sums `count` elements over the ranks each time it is started. Needs has_persistent_collectives.
/// Collective over comm.
MPI_Request persistent_allreduce(const void* send, void* receive, int64_t count, const WireType& wire, MPI_Comm comm);

} // namespace shardline
