#pragma once

#include "measure/operands.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace shardline {

/// Outcome of checking one step's result over all ranks.
struct CheckResult {
    double max_error = 0;   ///< largest |error|; NaN where a result held NaN
    double bound = 0;       ///< largest |error| allowed there; 0 where sums are exact
    int32_t worst_rank = 0; ///< the rank that saw max_error
    std::vector<int32_t> dissenting_ranks; ///< ranks whose Z differs bit for bit from rank 0's (filled on rank 0)
};

/// Checks every element of Z_partial and Z after a step of width D. With a random integer vector v
/// (Freivalds' test) row by row: Z_partial·v against X·(Y·v) in integers on each rank, then Z·v
/// against the sum of the ranks' Z_partial·v; and that the ranks' shards make up D. Costs O(BK + KF + BF), not another matmul.
/// Bounds: 0 where sums are exact; else 4·K·eps(compute)·Σ|X||Y||v| for the product, and
/// 2·P·eps(wire)·Σ_r|Z_r||v| for the sum. Collective over control.
CheckResult check_step(const Operands& operands, int64_t D, MPI_Comm control);

} // namespace shardline
