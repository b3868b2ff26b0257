#pragma once

// When has a run measured enough? Asked after each pass, answered from the launches so far.

#include "model/observation.hpp"

#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// Half-widths of 95 % intervals, relative to the value, at which measuring may stop.
struct PrecisionTarget {
    double point = 0.02; ///< of each time of each point
    double D_obs = 0.05;
};

/// How well one point of a sweep is known. Relative half-widths; infinity where the samples do not
/// reach a 95 % interval.
struct PointPrecision {
    Point point;
    double t_comp = 0, t_comm = 0, t_step = 0;
    bool reached = false; ///< all three within the target
};

/// How well one crossover is known.
struct SweepPrecision {
    Sweep sweep;
    std::optional<Estimate> D_obs;
    double D_obs_relative_half_width = 0;      ///< infinity without D_obs
    int64_t bracket_low = 0, bracket_high = 0; ///< D of the points next to D_obs; 0 without D_obs
    std::vector<PointPrecision> points;        ///< by ascending D
    bool reached = false;                      ///< D_obs and all points within the target
};

struct Precision {
    std::vector<SweepPrecision> sweeps;
    std::vector<Point> wanting; ///< points to measure again, those that matter most for D_obs first
    size_t decisive = 0; ///< how many of them, at the front, bracket a D_obs that is not known well enough
    bool reached = false;       ///< every sweep has reached the target
};

/// Points whose times are not known to that relative half-width, whatever their kind.
std::vector<Point> imprecise_points_of(std::span<const RunData> launches, double target);

/// Precision of the launches so far. They must have passed check_run.
Precision precision_of(std::span<const RunData> launches, const PrecisionTarget& target = {});

} // namespace shardline
