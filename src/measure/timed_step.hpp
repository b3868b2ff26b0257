#pragma once

// The timed regions. Everything that is timed in a run stands in timed_step.cpp.

#include "measure/exchange.hpp"
#include "measure/operands.hpp"
#include "measure/vectors.hpp"

#include <mpi.h>

#include <cstdint>

namespace shardline {

/// Clock readings of one repetition on this rank; −1 where the part was not run, or not yet: every region takes
/// them by reference and writes them as it goes, so that a watchdog can tell which part hangs.
struct Readings {
    int64_t comp_begin_ns = -1, comp_end_ns = -1, comm_begin_ns = -1, comm_end_ns = -1;
    int64_t main_cpu_ns = -1, comm_cpu_ns = -1; ///< CPU times of the repetition; see Repetitions
};

/// Largest count that is given to one MPI call; longer messages go in several. A variable so that tests can
/// split small messages.
extern int64_t max_mpi_count;

/// matmul, barrier, exchange: both parts from a synchronised start, the matmul in one piece. Collective over
/// exchange.work.
void timed_phases(Operands& operands, Exchange& exchange, Readings& t);

/// matmul and exchange as the strategy joins them: one after the other with nothing between, or tile by tile. Collective
/// over exchange.work.
void timed_step(Operands& operands, Exchange& exchange, Readings& t);

/// The matmul alone, in one piece.
void timed_matmul(Operands& operands, Readings& t);

/// The exchange alone, of the Z_partial there is. Collective over exchange.work.
void timed_allreduce(Operands& operands, Exchange& exchange, Readings& t);

/// The matmul of the first `size` rows of Z alone, or columns of a column-major one.
void timed_tile(Operands& operands, int64_t size, Readings& t);

/// a = b + 3·c over the vectors.
void timed_triad(Vectors& vectors, Readings& t);

/// The BLAS's dot product of b and c.
void timed_dot(Vectors& vectors, Readings& t);

/// So many fused multiply-adds of vectors.type that touch no memory, with the widest vectors of the processor.
void timed_arithmetic(Vectors& vectors, int64_t multiply_adds, Readings& t);

/// Every rank sends `bytes` to the next rank and receives as many from the one before, in messages of
/// `segment_bytes`, all in flight at once. `requests` holds exchange_requests(...) entries. Collective over work.
void timed_exchange(const char* send, char* receive, int64_t bytes, int64_t segment_bytes, MPI_Request* requests,
                    MPI_Comm work, Readings& t);

/// One way to the peer, in one message: begins when the peer says that it waits, ends with its empty answer. The peer calls
/// timed_receive, whose readings are of its own part and not of the whole.
void timed_send(const char* send, int bytes, int peer, MPI_Comm work, Readings& t);
void timed_receive(char* receive, int bytes, int peer, MPI_Comm work, Readings& t);

/// Both ways at once, begun together: the reading ends when all of the peer's message has come in.
void timed_both_ways(const char* send, char* receive, int bytes, int peer, MPI_Comm work, Readings& t);

/// Every rank with every other at once, `bytes` each way, the messages of different peers at different places of `receive`. `requests`
/// holds 2·(P − 1) entries. Collective over work.
void timed_all_at_once(const char* send, char* receive, int bytes, MPI_Request* requests, MPI_Comm work, Readings& t);

/// Number of requests of such an exchange: two for each segment.
int64_t exchange_requests(int64_t bytes, int64_t segment_bytes);

} // namespace shardline
