#include "postprocess/curves.hpp"

#include "model/law.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace shardline {

Curve curve_of(const Point& p) { return {p.B, p.F, p.P, p.compute_type, p.wire_type, p.strategy}; }
Curve curve_of(const Crossover& c) { return {c.B, c.F, c.P, c.compute_type, c.wire_type, c.strategy}; }

std::vector<Curve> curves_of(const Analysis& analysis)
{
    std::vector<Curve> curves;
    const auto add = [&](Curve curve) {
        if (std::ranges::find(curves, curve) == curves.end()) curves.push_back(std::move(curve));
    };
    for (const PointSummary& point : analysis.points) add(curve_of(point.point));
    for (const Crossover& crossover : analysis.crossovers) add(curve_of(crossover));
    return curves;
}

std::vector<const PointSummary*> points_of(const Analysis& analysis, const Curve& curve)
{
    std::vector<const PointSummary*> points;
    for (const PointSummary& point : analysis.points)
        if (curve_of(point.point) == curve) points.push_back(&point);
    return points;
}

const Crossover* crossover_of(const Analysis& analysis, const Curve& curve)
{
    for (const Crossover& crossover : analysis.crossovers)
        if (curve_of(crossover) == curve) return &crossover;
    return nullptr;
}

std::string curve_text(const Curve& curve)
{
    return fmt::format("B = {}, F = {}, P = {}: {} matmul, {} on the wire, {}", curve.B, curve.F, curve.P,
                       name_of(curve.compute_type), name_of(curve.wire_type), curve.strategy);
}

std::string_view side_text(const PointSummary& point)
{
    if (!point.t_comp_s || !point.t_comm_s) return "-";
    switch (side_of(*point.t_comp_s, *point.t_comm_s)) {
    case Side::communication_bound: return "comm";
    case Side::compute_bound: return "comp";
    case Side::undecided: return "?";
    }
    return "";
}

StepCheck step_check(const PointSummary& point)
{
    if (!point.t_comp_s || !point.t_comm_s || !point.t_step_s) return StepCheck::unknown;
    if (point.t_step_s->high < step_bounds(point.t_comp_s->low, point.t_comm_s->low).lower_s) return StepCheck::below;
    if (point.t_step_s->low > step_bounds(point.t_comp_s->high, point.t_comm_s->high).upper_s) return StepCheck::above;
    return StepCheck::within;
}

std::string_view name_of(StepCheck check)
{
    switch (check) {
    case StepCheck::within: return "within";
    case StepCheck::below: return "below";
    case StepCheck::above: return "above";
    case StepCheck::unknown: return "-";
    }
    return "";
}

} // namespace shardline
