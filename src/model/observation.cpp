#include "model/observation.hpp"

#include <algorithm>
#include <set>

namespace shardline {

namespace {

/// Samples of the sweep's points that have both times, by ascending D.
std::vector<const PointSamples*> usable_points(std::span<const PointSamples> points, const Sweep& sweep)
{
    std::vector<const PointSamples*> usable;
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::crossover && sweep_of(samples.point) == sweep &&
            !samples.comp_s.empty() && !samples.comm_s.empty())
            usable.push_back(&samples);
    std::sort(usable.begin(), usable.end(),
              [](const auto* a, const auto* b) { return a->point.D < b->point.D; });
    return usable;
}

/// Crossing of t_comp(D) with t_comm, all of whose series are taken together.
std::optional<MeasuredCrossing> crossing_of(const std::vector<CurvePoint>& curve, const std::vector<const Series*>& comm_parts)
{
    return curve.empty() ? std::nullopt : measured_crossing(curve, *estimate_of(pooled(comm_parts)));
}

/// The crossing of one launch's samples alone.
std::optional<double> crossing_of_launch(const std::vector<const PointSamples*>& points, int32_t launch)
{
    std::vector<CurvePoint> curve;
    std::vector<Series> comm_s;
    for (const PointSamples* samples : points) {
        Series comp = of_launch(samples->comp_s, launch), comm = of_launch(samples->comm_s, launch);
        if (comp.empty() || comm.empty()) continue;
        curve.push_back({static_cast<double>(samples->point.D), *estimate_of(comp)});
        comm_s.push_back(std::move(comm));
    }
    std::vector<const Series*> comm_parts;
    for (const Series& comm : comm_s) comm_parts.push_back(&comm);
    const auto crossing = crossing_of(curve, comm_parts);
    return crossing ? std::optional(crossing->D.value) : std::nullopt;
}

std::vector<double> crossings_of_launches(const std::vector<const PointSamples*>& points)
{
    std::set<int32_t> launches;
    for (const PointSamples* samples : points)
        for (const Sample& sample : samples->comp_s) launches.insert(sample.launch);
    std::vector<double> crossings;
    if (launches.size() < 2) return crossings;
    for (int32_t launch : launches)
        if (const auto D = crossing_of_launch(points, launch)) crossings.push_back(*D);
    return crossings;
}

/// Median over repetitions of mean over ranks / maximum over ranks.
double mean_over_max(const PointSamples& samples)
{
    std::vector<double> ratios;
    for (size_t i = 0; i < samples.comp_s.size(); ++i)
        ratios.push_back(samples.comp_mean_s[i].value / samples.comp_s[i].value);
    return median(ratios);
}

int64_t samples_at(const PointSummary& point) { return std::min(point.t_comp_s->n, point.t_comm_s->n); }

int64_t fewest_samples(const Observation& observation)
{
    const auto& points = observation.points;
    if (points.empty()) return 0;
    if (observation.crossing)
        return std::min(samples_at(points[observation.crossing->below]),
                        samples_at(points[observation.crossing->below + 1]));
    const auto fewer = [](const PointSummary& a, const PointSummary& b) {
        return samples_at(a) < samples_at(b);
    };
    return samples_at(*std::min_element(points.begin(), points.end(), fewer));
}

} // namespace

int64_t fewest_samples(const PointSummary& summary)
{
    std::optional<int64_t> n;
    for (const auto& t : {summary.t_comp_s, summary.t_comm_s, summary.t_step_s})
        if (t) n = std::min(n.value_or(t->n), t->n);
    return n.value_or(0);
}

std::optional<double> least_confidence(const PointSummary& summary)
{
    std::optional<double> confidence;
    for (const auto& t : {summary.t_comp_s, summary.t_comm_s, summary.t_step_s})
        if (t) confidence = std::min(confidence.value_or(t->confidence), t->confidence);
    return confidence;
}

PointSummary summary_of(const PointSamples& samples)
{
    return {samples.point, estimate_of(samples.comp_s), estimate_of(samples.comm_s),
            estimate_of(samples.step_s)};
}

std::vector<Sweep> sweeps_in(std::span<const PointSamples> points)
{
    std::vector<Sweep> sweeps;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::crossover) continue;
        const Sweep sweep = sweep_of(samples.point);
        if (std::find(sweeps.begin(), sweeps.end(), sweep) == sweeps.end()) sweeps.push_back(sweep);
    }
    return sweeps;
}

Observation observe(std::span<const PointSamples> points, const Sweep& sweep)
{
    const std::vector<const PointSamples*> usable = usable_points(points, sweep);
    Observation observation;
    observation.sweep = sweep;
    std::vector<CurvePoint> curve;
    std::vector<const Series*> comm_parts;
    for (const PointSamples* samples : usable) {
        observation.points.push_back(summary_of(*samples));
        curve.push_back({static_cast<double>(samples->point.D), *observation.points.back().t_comp_s});
        comm_parts.push_back(&samples->comm_s);
    }
    observation.crossing = crossing_of(curve, comm_parts);
    if (auto& crossing = observation.crossing) {
        crossing->D = with_launch_spread(crossing->D, crossings_of_launches(usable));
        const double below = mean_over_max(*usable[crossing->below]),
                     above = mean_over_max(*usable[crossing->below + 1]);
        observation.mean_over_max = below + crossing->fraction * (above - below);
    }
    observation.fewest_samples = fewest_samples(observation);
    return observation;
}

} // namespace shardline
