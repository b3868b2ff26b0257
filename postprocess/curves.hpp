#pragma once

// What the points of an analysis have in common, and how a point stands: the same in the text, the page and the figures.

#include "model/analysis.hpp"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// All of a point but D: what its curve t(D), and its crossover, belong to.
struct Curve {
    int64_t B = 0, F = 0;
    int32_t P = 0;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
    std::string strategy;
    auto operator<=>(const Curve&) const = default;
};

Curve curve_of(const Point& point);
Curve curve_of(const Crossover& crossover);

/// Every curve that has points or a crossover, in the order of the analysis.
std::vector<Curve> curves_of(const Analysis& analysis);

/// Its points, by ascending D.
std::vector<const PointSummary*> points_of(const Analysis& analysis, const Curve& curve);

/// Its crossover, or nullptr.
const Crossover* crossover_of(const Analysis& analysis, const Curve& curve);

/// "B = 1024, F = 1024, P = 2: f32 matmul, f32 on the wire, mpi_allreduce". The strategy is text from the file.
std::string curve_text(const Curve& curve);

/// Which of t_comp and t_comm is longer: "comm", "comp", "?" where their intervals do not tell, "-" where one is missing.
std::string_view side_text(const PointSummary& point);

enum class StepCheck { within, below, above, unknown };

/// Whether t_step may lie between its bounds, given the intervals of all three times.
StepCheck step_check(const PointSummary& point);

/// "within", "below", "above", or "-".
std::string_view name_of(StepCheck check);

} // namespace shardline
