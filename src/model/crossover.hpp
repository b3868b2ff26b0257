#pragma once

// Where computation and communication cross: t_comp(D) rises, t_comm does not depend on D.

#include "model/run_data.hpp"
#include "model/statistics.hpp"

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// What one crossover is about: everything of a sweep's points but D.
struct Sweep {
    int64_t B = 0, F = 0;
    int32_t P = 0;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
    std::string strategy;

    auto operator<=>(const Sweep&) const = default;
    /// V = s·B·F, bytes.
    double V() const;
};

/// The sweep a crossover point belongs to.
Sweep sweep_of(const Point& point);

/// t_comp, in s, estimated at one D.
struct CurvePoint {
    double D = 0;
    Estimate t_comp_s;
};

/// Where a measured curve meets t_comm, between the points `below` and `below + 1` of the curve.
struct MeasuredCrossing {
    Estimate D;
    double t_s = 0; ///< both times there
    size_t below = 0;
    double fraction = 0; ///< of the way, in log D, from `below` to `below + 1`
};

/// D_obs: t_comp made nondecreasing in D (more work cannot take less time, so noise makes no second
/// crossing) and interpolated in logarithms of both. `curve` by ascending D, all times positive. Nothing
/// where t_comm does not lie between the first and the last point.
std::optional<MeasuredCrossing> measured_crossing(std::span<const CurvePoint> curve,
                                                  const Estimate& t_comm_s);

/// D_model: the same for a curve of calibration points, continued beyond them: above the last at
/// the last one's rate, below the first along the fitted line a + b·D. Nothing without points,
/// or where the curve stays above t_comm for every D.
std::optional<Estimate> modelled_crossing(std::span<const CurvePoint> curve, const Estimate& t_comm_s);

/// A factor of a product: an estimate to a power.
struct PowerOf {
    double power = 0;
    const Estimate* estimate = nullptr;
};

/// The product of powers of independent positive estimates; errors added in quadrature in the logarithms.
Estimate product_of_powers(std::span<const PowerOf> factors);

/// a / b of independent positive estimates; errors likewise.
Estimate ratio_of(const Estimate& a, const Estimate& b);

} // namespace shardline
