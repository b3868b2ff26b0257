#pragma once

// What calibration points say about the machine, and what follows for the crossover before it is measured.

#include "model/crossover.hpp"
#include "model/fit.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// C, W and alpha of the machine, from calibration points only.
struct Calibration {
    std::optional<Estimate>
        C_flop_per_s; ///< best over sizes of large matmuls, all ranks at once, slowest rank
    std::optional<Estimate> W_bytes_per_s; ///< best over segment sizes of the largest ring exchange
    std::optional<Estimate> alpha_s;       ///< time of the smallest exchange
    int64_t W_segment_bytes = 0;           ///< segment size that reached W
};

/// C of matmuls in `compute_type`, W and alpha of exchanges, all with P ranks (of any number where none had
/// P).
Calibration calibrate(std::span<const PointSamples> points, int32_t P, ElementType compute_type);

/// D_law = s·(P−1)·C/W; nothing without C or W, or for one rank.
std::optional<Estimate> law_crossover(const Calibration& calibration, const Sweep& sweep);

/// t_comp over D from the sweep's matmul calibration points, by ascending D = P·K, K the largest shard.
std::vector<CurvePoint> matmul_curve(std::span<const PointSamples> points, const Sweep& sweep);

/// t_comm = a + b·V from allreduce calibration points of the sweep's ranks, types and strategy, with
/// sizes around V but not V. Nothing where fewer than two sizes were measured, or time does not grow with
/// size.
std::optional<Line> allreduce_cost(std::span<const PointSamples> points, const Sweep& sweep);

/// D_model: where matmul_curve and allreduce_cost cross.
std::optional<Estimate> model_crossover(std::span<const PointSamples> points, const Sweep& sweep);

/// Where to look for the crossover before any point of the sweep is measured.
struct Prediction {
    Estimate D;
    bool from_model = false; ///< D_model; otherwise D_law
};

/// D_model from the run's calibration points, D_law where that cannot be had, nothing where neither
/// can. The same computation as the analysis makes. The run must have passed check_run.
std::optional<Prediction> predicted_crossover(const RunData& run, const Sweep& sweep);

} // namespace shardline
