#include "model/overlap.hpp"

#include "model/crossover.hpp"

#include <algorithm>
#include <tuple>

namespace shardline {

namespace {

auto place_of(const Point& p) { return std::tie(p.B, p.F, p.P, p.compute_type, p.wire_type, p.D); }

bool beside(const Point& a, const Point& b) { return place_of(a) == place_of(b); }

Estimate sum_of(const Estimate& a, const Estimate& b)
{
    Estimate sum{a.value + b.value, a.low + b.low, a.high + b.high, std::min(a.n, b.n), std::min(a.confidence, b.confidence)};
    sum.degrees_of_freedom = std::min(a.degrees_of_freedom, b.degrees_of_freedom);
    return sum;
}

/// The matmul is the same work in every strategy's point at that D.
Estimate matmul_at(std::span<const PointSamples> points, const Point& point)
{
    std::vector<const Series*> parts;
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::crossover && beside(samples.point, point)) parts.push_back(&samples.comp_s);
    return *estimate_of(pooled(parts));
}

} // namespace

OverlapMeasures overlap_measures(double t_comp_s, double t_comm_s, double t_step_s, double t_comp_in_step_s)
{
    return {.osu_percent = 100 * (1 - (t_step_s - t_comp_s) / t_comm_s),
            .imb_nbc_percent = 100 * (t_comm_s + t_comp_in_step_s - t_step_s) / std::min(t_comm_s, t_comp_in_step_s),
            .imb_async_over_comm_s = t_step_s - t_comp_in_step_s,
            .imb_async_over_calc_s = t_comp_in_step_s - t_comp_s};
}

std::vector<OverlapPoint> overlap_points(std::span<const PointSamples> points)
{
    std::vector<OverlapPoint> result;
    for (const PointSamples& samples : points) {
        const auto comm = estimate_of(samples.comm_s), step = estimate_of(samples.step_s), inside = estimate_of(samples.comp_in_step_s);
        if (samples.point.kind != PointKind::crossover || samples.point.P < 2 || samples.comp_s.empty() || !comm || !step || !inside) continue;
        OverlapPoint point{.point = samples.point, .t_comp_s = matmul_at(points, samples.point), .t_comm_s = *comm, .t_step_s = *step,
                           .t_comp_in_step_s = *inside, .step_over_max = {}, .step_over_sum = {}, .overlap = {},
                           .comm_cpu_s = std::nullopt, .floor_s = std::nullopt};
        const Estimate& longer = point.t_comp_s.value > comm->value ? point.t_comp_s : *comm;
        point.step_over_max = ratio_of(*step, longer);
        point.step_over_sum = ratio_of(*step, sum_of(point.t_comp_s, *comm));
        point.overlap = overlap_measures(point.t_comp_s.value, comm->value, step->value, inside->value);
        if (const auto cpu = estimate_of(samples.comm_cpu_s)) {
            point.comm_cpu_s = cpu->value;
            point.floor_s = std::max(point.t_comp_s.value + cpu->value, comm->value);
        }
        result.push_back(point);
    }
    std::stable_sort(result.begin(), result.end(), [](const OverlapPoint& a, const OverlapPoint& b) {
        return std::tuple(place_of(a.point), a.point.strategy) < std::tuple(place_of(b.point), b.point.strategy);
    });
    return result;
}

constexpr double worth_telling_of_a_loss = 1.05;

std::vector<StrategyAdvice> advise(std::span<const OverlapPoint> points)
{
    std::vector<StrategyAdvice> advice;
    for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
        while (end < points.size() && beside(points[end].point, points[begin].point)) ++end;
        const auto here = points.subspan(begin, end - begin);
        if (here.size() < 2) continue;
        const auto step = [](const OverlapPoint& point) { return point.t_step_s.value; };
        const OverlapPoint& best = *std::ranges::min_element(here, {}, step);
        auto against = std::ranges::find_if(here, [](const OverlapPoint& p) { return p.point.strategy == "mpi_allreduce"; });
        if (against == here.end()) against = std::ranges::max_element(here, {}, step);
        StrategyAdvice its{best.point, best.t_step_s.value, against->point.strategy, ratio_of(against->t_step_s, best.t_step_s), false, {}, {}};
        its.certain = its.speedup.reaches_95() && its.speedup.low > 1;
        for (const OverlapPoint& other : here) {
            if (other.point.strategy == best.point.strategy) continue;
            if (ratio_of(other.t_step_s, best.t_step_s).low <= 1) its.as_good.push_back(other.point.strategy);
            const Estimate speedup = ratio_of(against->t_step_s, other.t_step_s);
            if (&other != &*against && speedup.value < 1 / worth_telling_of_a_loss && speedup.reaches_95() && speedup.high < 1)
                its.losing.push_back({other.point.strategy, speedup});
        }
        advice.push_back(its);
    }
    return advice;
}

} // namespace shardline
