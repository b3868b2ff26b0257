#pragma once

// How fast each rank multiplies against the others, which is asked of single ranks, and so of more than the maximum over
// ranks that all times are.

#include "model/run_data.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardline {

/// log of each rank's time per column of its shard against the median over ranks in the same repetition, one list a rank, all of
/// one length. `visit` says of each place which values may depend on each other. Of a thinned run, a value is a summary.
struct RankSpeeds {
    std::vector<std::vector<double>> of_rank;
    std::vector<int32_t> visit;
};

/// Of the used repetitions of the points that the most ranks share, which all of a run may not be.
RankSpeeds rank_speeds(const RunData& run);

/// The same of one row that holds every rank's readings; nothing where it is no matmul of all `ranks` ranks that is used.
std::vector<double> log_speeds_of(std::span<const Point> points, const Repetitions& repetitions, size_t row, int32_t ranks);

} // namespace shardline
