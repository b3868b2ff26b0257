#pragma once

// What can be seen in the samples themselves. Each detector asks for an effect that is both beyond noise and
// large enough to matter (relevant_size), so that a clean run shows nothing.

#include "model/observation.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// Relative size below which an effect is not worth a finding.
inline constexpr double relevant_size = 0.05;

/// Matmul times of each rank, one list a rank, each relative to the median over ranks of the same repetition and per column of the
/// shard: 1 where all are equally fast. Used repetitions of the points that the most ranks share, which
/// all of a run may not be.
std::vector<std::vector<double>> relative_rank_times(const RunData& run);

/// A rank whose matmuls take `factor` times as long as those of the others.
struct SlowRank {
    int32_t rank = 0;
    double factor = 1;
};

/// Ranks beyond three (scaled) median absolute deviations of the other ranks, beyond the interval of their
/// own samples, and by more than relevant_size. Times are per column of the shard, since widths may differ by
/// one.
std::vector<SlowRank> slow_ranks(const RunData& run);

/// Relative change of all times from the first repetition of a launch to its last: median slope over the
/// visits of each point (Theil and Sen) where the seasonal Kendall test, the points being the seasons, finds
/// a trend (Hirsch, Slack and Smith 1982). Nothing where there is none.
std::optional<double> trend_over_run(std::span<const PointSamples> points, int32_t launch);

/// The same from the first repetition of a visit to its last; the visits are the seasons. A visit is short,
/// so less than relevant_size matters: from 2 % on.
std::optional<double> trend_within_visits(std::span<const PointSamples> points);

/// How far apart the ranks start the communication of a point, against the time it takes.
struct StartSkew {
    int32_t point = 0; ///< row of the run's points
    double skew_s = 0, t_comm_s = 0; ///< medians
};

/// The point of the sweep where the skew is largest against t_comm, if it is above a tenth of it and more than
/// the error bounds of two clocks together.
std::optional<StartSkew> large_start_skew(const RunData& run);

/// How much longer the matmul takes inside the step than on its own, as a factor; nothing where the
/// difference does not matter or is not beyond noise.
std::optional<double> slowdown_in_step(std::span<const PointSamples> points);

/// How far t_step lies outside max(t_comp, t_comm) .. t_comp + t_comm beyond the intervals of all three: a
/// factor above 1 against the sum, below 1 against the maximum, 1 where it lies inside or something is not
/// known.
double step_bound_excess(const PointSummary& point);

} // namespace shardline
