#include "model/precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shardline {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double half_width_of(const std::optional<Estimate>& estimate)
{
    return estimate && estimate->reaches_95() ? estimate->relative_half_width() : unknown;
}

PointPrecision precision_of_point(const PointSamples& samples, double target)
{
    const PointSummary summary = summary_of(samples);
    PointPrecision result{samples.point, half_width_of(summary.t_comp_s), half_width_of(summary.t_comm_s),
                          half_width_of(summary.t_step_s), false};
    result.reached = std::max({result.t_comp, result.t_comm, result.t_step}) <= target;
    return result;
}

SweepPrecision precision_of_sweep(std::span<const PointSamples> points, const Sweep& sweep,
                                  const PrecisionTarget& target)
{
    SweepPrecision result;
    result.sweep = sweep;
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::crossover && sweep_of(samples.point) == sweep)
            result.points.push_back(precision_of_point(samples, target.point));
    std::sort(result.points.begin(), result.points.end(),
              [](const PointPrecision& a, const PointPrecision& b) { return a.point.D < b.point.D; });

    const Observation observation = observe(points, sweep);
    if (observation.crossing) {
        result.D_obs = observation.crossing->D;
        result.bracket_low = observation.points[observation.crossing->below].point.D;
        result.bracket_high = observation.points[observation.crossing->below + 1].point.D;
    }
    result.D_obs_relative_half_width = half_width_of(result.D_obs);
    // One rank has no crossover to find.
    const bool D_obs_reached = sweep.P < 2 || result.D_obs_relative_half_width <= target.D_obs;
    result.reached = D_obs_reached && std::all_of(result.points.begin(), result.points.end(),
                                                  [](const auto& point) { return point.reached; });
    return result;
}

/// A point that wants samples, and how far it is from mattering for D_obs.
struct Want {
    Point point;
    double distance = 0; ///< 0 next to the crossover, else |log(D / D_obs)|
    bool decisive = false; ///< brackets a D_obs that is not known well enough
};

double distance_from_crossover(const SweepPrecision& sweep, const Point& point)
{
    if (!sweep.D_obs) return 0;
    if (point.D == sweep.bracket_low || point.D == sweep.bracket_high) return 0;
    return std::abs(std::log(static_cast<double>(point.D) / sweep.D_obs->value));
}

/// Points below the target. The points next to the crossover also want more for as long as D_obs does, though
/// their own times may be known well enough.
std::vector<Want> wants_of(const SweepPrecision& sweep, const PrecisionTarget& target)
{
    std::vector<Want> wants;
    for (const PointPrecision& point : sweep.points) {
        const double distance = distance_from_crossover(sweep, point.point);
        const bool decides_D_obs =
            sweep.D_obs && distance == 0 && sweep.D_obs_relative_half_width > target.D_obs;
        if (!point.reached || decides_D_obs) wants.push_back({point.point, distance, decides_D_obs});
    }
    return wants;
}

} // namespace

std::vector<Point> imprecise_points_of(std::span<const RunData> launches, double target)
{
    std::vector<Point> imprecise;
    for (const PointSamples& samples : collect_samples(launches)) {
        const bool times = !samples.comp_s.empty() || !samples.comm_s.empty();
        const bool comp_known = samples.comp_s.empty() || half_width_of(estimate_of(samples.comp_s)) <= target;
        const bool comm_known = samples.comm_s.empty() || half_width_of(estimate_of(samples.comm_s)) <= target;
        if (!times || !comp_known || !comm_known) imprecise.push_back(samples.point);
    }
    return imprecise;
}

Precision precision_of(std::span<const RunData> launches, const PrecisionTarget& target)
{
    const std::vector<PointSamples> points = collect_samples(launches);
    Precision result;
    result.reached = true;
    std::vector<Want> wants;
    for (const Sweep& sweep : sweeps_in(points)) {
        result.sweeps.push_back(precision_of_sweep(points, sweep, target));
        result.reached = result.reached && result.sweeps.back().reached;
        for (const Want& want : wants_of(result.sweeps.back(), target)) wants.push_back(want);
    }
    std::stable_sort(wants.begin(), wants.end(),
                     [](const Want& a, const Want& b) { return std::pair(!a.decisive, a.distance) < std::pair(!b.decisive, b.distance); });
    result.decisive = static_cast<size_t>(std::ranges::count_if(wants, &Want::decisive));
    for (const Want& want : wants) result.wanting.push_back(want.point);
    return result;
}

} // namespace shardline
