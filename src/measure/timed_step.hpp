#pragma once

// The timed regions. Everything that is timed in a run stands in timed_step.cpp.

#include "measure/operands.hpp"
#include "measure/wire.hpp"

#include <mpi.h>

#include <cstdint>

namespace shardline {

/// Clock readings of one repetition on this rank; −1 where the part was not run, or not yet: every region takes
/// them by reference and writes them as it goes, so that a watchdog can tell which part hangs.
struct Readings {
    int64_t comp_begin_ns = -1, comp_end_ns = -1, comm_begin_ns = -1, comm_end_ns = -1;
};

/// Largest count that is given to one MPI call; longer messages go in several. A variable so that tests can
/// split small messages.
extern int64_t max_mpi_count;

/// matmul, barrier, allreduce: both parts from a synchronised start. Collective over work.
void timed_phases(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t);

/// matmul, allreduce, with nothing between. Collective over work.
void timed_step(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t);

/// The matmul alone.
void timed_matmul(Operands& operands, Readings& t);

/// The allreduce alone, of the Z_partial there is. Collective over work.
void timed_allreduce(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t);

/// Every rank sends `bytes` to the next rank and receives as many from the one before, in messages of
/// `segment_bytes`, all in flight at once. `requests` holds exchange_requests(...) entries. Collective over work.
void timed_exchange(const char* send, char* receive, int64_t bytes, int64_t segment_bytes, MPI_Request* requests,
                    MPI_Comm work, Readings& t);

/// Number of requests of such an exchange: two for each segment.
int64_t exchange_requests(int64_t bytes, int64_t segment_bytes);

} // namespace shardline
