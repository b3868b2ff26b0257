#pragma once

// What was measured at the points of a sweep, and where its curves cross.

#include "model/crossover.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// One point of the sweep over D, summarised: a repetition's time is the maximum over ranks, a point's
/// value the median over repetitions of all launches. Times in s.
struct PointSummary {
    Point point;
    std::optional<Estimate> t_comp_s, t_comm_s, t_step_s; ///< nothing where no usable sample exists
};

/// Samples behind the point's times, and the confidence of their intervals: the least of the three; 0 and nothing without a time.
int64_t fewest_samples(const PointSummary& summary);
std::optional<double> least_confidence(const PointSummary& summary);

/// The median and interval of a point's times.
PointSummary summary_of(const PointSamples& samples);

/// The sweeps among the points, in order of first appearance.
std::vector<Sweep> sweeps_in(std::span<const PointSamples> points);

/// A sweep's measured points and its crossing.
struct Observation {
    Sweep sweep;
    std::vector<PointSummary> points;         ///< by ascending D; those with usable t_comp and t_comm
    std::optional<MeasuredCrossing> crossing; ///< `below` is an index into points
    double mean_over_max = 1;                 ///< of the ranks' matmul times at the crossing
    int64_t fewest_samples = 0; ///< of the two points that bracket the crossing; of any point where none do
};

/// t_comm is one and the same operation at every D, so the crossing takes its samples from all points
/// together, while each point's summary keeps its own. Launches widen the crossing's interval by how far
/// their own crossings lie apart.
Observation observe(std::span<const PointSamples> points, const Sweep& sweep);

} // namespace shardline
