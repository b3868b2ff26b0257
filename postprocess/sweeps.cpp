#include "postprocess/sweeps.hpp"

#include "model/law.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace shardline {

Sweep shape_of(Sweep sweep)
{
    sweep.strategy.clear();
    return sweep;
}

std::vector<Sweep> sweeps_of(const Analysis& analysis)
{
    std::vector<Sweep> sweeps;
    const auto add = [&](Sweep sweep) {
        if (std::ranges::find(sweeps, sweep) == sweeps.end()) sweeps.push_back(std::move(sweep));
    };
    for (const PointSummary& point : analysis.points) add(sweep_of(point.point));
    for (const Crossover& crossover : analysis.crossovers) add(sweep_of(crossover));
    return sweeps;
}

std::vector<const PointSummary*> points_of(const Analysis& analysis, const Sweep& sweep)
{
    std::vector<const PointSummary*> points;
    for (const PointSummary& point : analysis.points)
        if (sweep_of(point.point) == sweep) points.push_back(&point);
    return points;
}

const Crossover* crossover_of(const Analysis& analysis, const Sweep& sweep)
{
    for (const Crossover& crossover : analysis.crossovers)
        if (sweep_of(crossover) == sweep) return &crossover;
    return nullptr;
}

Calibration calibration_of(const Analysis& analysis, const Sweep& sweep)
{
    const Crossover* crossover = crossover_of(analysis, sweep);
    return crossover ? crossover->calibration : Calibration{};
}

std::string sweep_text(const Sweep& sweep)
{
    return fmt::format("B = {}, F = {}, P = {}: {} matmul, {} on the wire, {}", sweep.B, sweep.F, sweep.P,
                       name_of(sweep.compute_type), name_of(sweep.wire_type), sweep.strategy);
}

std::string shape_text(const Sweep& shape)
{
    return fmt::format("B = {}, F = {}, P = {}, {} matmul, {} on the wire", shape.B, shape.F, shape.P, name_of(shape.compute_type),
                       name_of(shape.wire_type));
}

std::vector<ShapeSweeps> shapes_of(const Analysis& analysis)
{
    std::vector<ShapeSweeps> shapes;
    for (const Sweep& sweep : sweeps_of(analysis)) {
        if (sweep.P < 2) continue;
        const auto known = std::ranges::find(shapes, shape_of(sweep), &ShapeSweeps::shape);
        if (known == shapes.end())
            shapes.push_back({shape_of(sweep), {sweep}});
        else
            known->sweeps.push_back(sweep);
    }
    return shapes;
}

const Sweep& reference_of(const std::vector<Sweep>& sweeps)
{
    const auto found = std::ranges::find(sweeps, "mpi_allreduce", &Sweep::strategy);
    return found == sweeps.end() ? sweeps.front() : *found;
}

double s_of(const Sweep& sweep) { return static_cast<double>(bytes_of(sweep.wire_type)); }

bool is_study(const Analysis& analysis)
{
    return analysis.points.empty() && analysis.crossovers.empty() && (analysis.roofline || analysis.links || analysis.allreduce);
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
