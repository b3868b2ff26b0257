#pragma once

// Whether each rank has the core it was given: CPU time over elapsed time of arithmetic that waits for nothing.

#include "model/run_data.hpp"
#include "model/statistics.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace shardline {

struct CoreShare {
    int32_t rank = 0;
    Estimate share;      ///< CPU time over elapsed time
    double expected = 1; ///< below 1 where ranks of the run are bound to fewer cores than they are

    /// Beyond its interval less than three quarters of what it should have: midway (by ratio) to half of it.
    bool is_taken() const;
};

/// By rank, from the multiply-adds in registers of the runs that recorded their CPU time; empty where none did.
std::vector<CoreShare> core_shares_of(std::span<const RunData> launches);

} // namespace shardline
