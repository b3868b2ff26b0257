#pragma once

// What the points of an analysis have in common, and how a point stands: the same in the text, the page and the figures.

#include "model/analysis.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// A sweep without its strategy: what strategies are compared at.
Sweep shape_of(Sweep sweep);

/// Every sweep that has points or a crossover, in the order of the analysis.
std::vector<Sweep> sweeps_of(const Analysis& analysis);

/// Its points, by ascending D.
std::vector<const PointSummary*> points_of(const Analysis& analysis, const Sweep& sweep);

/// Its crossover, or nullptr.
const Crossover* crossover_of(const Analysis& analysis, const Sweep& sweep);

/// C and W with its ranks, in its compute type.
Calibration calibration_of(const Analysis& analysis, const Sweep& sweep);

/// "B = 1024, F = 1024, P = 2: f32 matmul, f32 on the wire, mpi_allreduce". The strategy is text from the file.
std::string sweep_text(const Sweep& sweep);

/// Which of t_comp and t_comm is longer: "comm", "comp", "?" where their intervals do not tell, "-" where one is missing.
std::string_view side_text(const PointSummary& point);

/// "B = 1024, F = 1024, P = 2, f32 matmul, f32 on the wire", whatever the strategy.
std::string shape_text(const Sweep& shape);

/// A shape with its sweeps.
struct ShapeSweeps {
    Sweep shape;
    std::vector<Sweep> sweeps;
};

/// Shapes that communicate, in the order of the analysis.
std::vector<ShapeSweeps> shapes_of(const Analysis& analysis);

/// The strategy that others are compared with: mpi_allreduce where it was measured. `sweeps` must not be empty.
const Sweep& reference_of(const std::vector<Sweep>& sweeps);

/// Bytes of an element on the wire.
double s_of(const Sweep& sweep);

/// Whether the run was to measure something else than a sweep over D.
bool is_study(const Analysis& analysis);

enum class StepCheck { within, below, above, unknown };

/// Whether t_step may lie between its bounds, given the intervals of all three times.
StepCheck step_check(const PointSummary& point);

/// "within", "below", "above", or "-".
std::string_view name_of(StepCheck check);

} // namespace shardline
