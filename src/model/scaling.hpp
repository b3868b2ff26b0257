#pragma once

// How D* changes from one crossover of a run to another: over B and F, over the number of ranks, over element types. The law,
// D* = s·(P−1)·C/W, says as what.

#include "model/claim.hpp"
#include "model/crossover.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

struct Crossover;

enum class ScalingOver { B, F, ranks, types };

/// "B", "F", "ranks" or "types".
std::string_view name_of(ScalingOver over);

/// "1.041 [0.980, 1.103]".
std::string decimal_interval_text(const Estimate& estimate);

/// One crossover among those that differ in one thing.
struct ScalingRow {
    size_t crossover = 0; ///< index
    std::optional<Estimate> C_flop_per_s, W_bytes_per_s; ///< calibrated with its ranks and compute type
    /// What the law says is the same in every row: D_obs over B and F, D_obs / D_law over ranks; over types that of this row against
    /// that of the first, which has none.
    std::optional<Estimate> observed;
    std::optional<Estimate> predicted;   ///< the same of D_model in place of D_obs
    std::optional<Estimate> unexplained; ///< observed / predicted
};

/// A part of an exponent by the factor of D_obs / D_law that it comes from.
struct ExponentShare {
    std::string factor;
    double exponent = 0;
};

/// From which message on the start-up time is small: a + b·V is the fitted cost of the allreduce.
struct StartUp {
    double a_s = 0, b_s_per_byte = 0;
    double least_elements = 0; ///< B·F at which a / (b·V) has fallen to the tolerance
};

/// Crossovers that are equal but for one thing, by its size.
struct Scaling {
    ScalingOver over = ScalingOver::B;
    std::vector<ScalingRow> rows;
    /// x^exponent is how D_obs grows over B or F, and D_obs / D_law over P − 1 (of the powers of two where there are two of them);
    /// 0 by the law. Nothing over types, or where a D_obs is missing.
    std::optional<Estimate> exponent;
    std::optional<Estimate> model_exponent; ///< the same of D_model
    std::vector<ExponentShare> shares;      ///< of the exponent, the weightiest first
    std::optional<StartUp> start_up;        ///< over B and F, where an allreduce was calibrated
    /// The least B·F measured from which on D_obs stays within the tolerance of that at the largest; over B and F. Nothing where the
    /// next one does not.
    std::optional<double> least_elements_observed;
    std::vector<Claim> claims;
};

/// Every set of two crossovers or more that differ in one thing alone. `tolerance`: the factor within which a D* counts as unchanged.
std::vector<Scaling> scalings_of(std::span<const Crossover> crossovers, std::span<const PointSamples> points, double tolerance);

} // namespace shardline
