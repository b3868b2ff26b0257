#include "model/crossover.hpp"

#include "model/draws.hpp"
#include "model/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardline {

namespace {

// Enough that the ends of the interval move by a few percent of its width from one seed to another.
constexpr int interval_draws = 2000;
constexpr uint64_t interval_seed = 0x5ead11e;

/// t_comp over D in logarithms, nondecreasing.
struct Curve {
    std::vector<double> log_D, log_t;
    double overhead_share = 0; ///< of the first point's time: what would remain at D = 0

    /// log D at which the curve reaches log_t_comm; minus infinity where it lies above for every D.
    double log_D_where(double log_t_comm) const;
    /// Index of the segment that reaches log_t_comm; nothing outside the points.
    std::optional<size_t> segment_of(double log_t_comm) const;
};

std::optional<size_t> Curve::segment_of(double log_t_comm) const
{
    for (size_t i = 0; i + 1 < log_t.size(); ++i)
        if (log_t[i] <= log_t_comm && log_t_comm <= log_t[i + 1] && log_t[i] < log_t[i + 1]) return i;
    return std::nullopt;
}

double Curve::log_D_where(double log_t_comm) const
{
    if (log_t_comm >= log_t.back()) {
        // Large matmuls run at a constant rate: what the last point reached is the best guess beyond it.
        return log_D.back() + (log_t_comm - log_t.back());
    }
    if (log_t_comm < log_t.front()) {
        // Small matmuls do not: their time falls towards a start-up time, not towards zero.
        const double share = std::exp(log_t_comm - log_t.front());
        const double above_overhead = (share - overhead_share) / (1 - overhead_share);
        if (above_overhead <= 0) return -std::numeric_limits<double>::infinity();
        return log_D.front() + std::log(above_overhead);
    }
    const auto i = segment_of(log_t_comm);
    if (!i) return log_D.front(); // the curve begins exactly there
    const double fraction = (log_t_comm - log_t[*i]) / (log_t[*i + 1] - log_t[*i]);
    return log_D[*i] + fraction * (log_D[*i + 1] - log_D[*i]);
}

double log_standard_error(const Estimate& estimate)
{
    return std::log(estimate.high / estimate.low) / (2 * student_t_975(estimate.degrees_of_freedom));
}

/// Weights of the nondecreasing fit: 1/variance of log t.
std::vector<double> weights_of(std::span<const CurvePoint> points)
{
    constexpr double smallest_error = 1e-4; // clocks of equal ticks would otherwise weigh without limit
    std::vector<double> weights;
    for (const CurvePoint& point : points) {
        const double error = std::max(log_standard_error(point.t_comp_s), smallest_error);
        weights.push_back(1 / (error * error));
    }
    return weights;
}

double overhead_share_of(std::span<const CurvePoint> points)
{
    std::vector<FitPoint> fit_points;
    for (const CurvePoint& point : points) fit_points.push_back({point.D, point.t_comp_s});
    const auto line = fit_line(fit_points);
    if (!line || line->b <= 0) return 0;
    return line->a / line->at(points.front().D);
}

Curve curve_through(std::span<const CurvePoint> points)
{
    Curve curve;
    for (const CurvePoint& point : points) {
        curve.log_D.push_back(std::log(point.D));
        curve.log_t.push_back(std::log(point.t_comp_s.value));
    }
    curve.log_t = nondecreasing_fit(curve.log_t, weights_of(points));
    curve.overhead_share = overhead_share_of(points);
    return curve;
}

/// t_comm and the points next to the crossing, by how much the errors of each enter its own.
std::vector<PowerOf> parts_of_crossing(const Curve& curve, std::span<const CurvePoint> points,
                                    const Estimate& t_comm_s)
{
    const double log_t_comm = std::log(t_comm_s.value);
    if (const auto i = curve.segment_of(log_t_comm)) {
        const double fraction = (log_t_comm - curve.log_t[*i]) / (curve.log_t[*i + 1] - curve.log_t[*i]);
        return {{1, &t_comm_s}, {1 - fraction, &points[*i].t_comp_s}, {fraction, &points[*i + 1].t_comp_s}};
    }
    return {{1, &t_comm_s},
            {1, log_t_comm < curve.log_t.front() ? &points.front().t_comp_s : &points.back().t_comp_s}};
}

/// Of a sum of independent errors (Welch and Satterthwaite). Taking Student's quantile of each part for
/// itself covers up to 99 %.
double joint_degrees_of_freedom(std::span<const PowerOf> parts)
{
    double variance = 0, spread = 0;
    for (const PowerOf& part : parts) {
        const double error = part.power * log_standard_error(*part.estimate);
        variance += error * error;
        spread += std::pow(error, 4) / part.estimate->degrees_of_freedom;
    }
    return spread > 0 ? variance * variance / spread : std::numeric_limits<double>::infinity();
}

/// Where the crossing falls when every time is drawn anew from its own estimate, sorted.
std::vector<double> drawn_crossings(const Curve& curve, std::span<const CurvePoint> points,
                                    const Estimate& t_comm_s)
{
    NormalDraws draws(interval_seed);
    const std::vector<double> weights = weights_of(points);
    std::vector<LogDraws> t_comp;
    for (const CurvePoint& point : points) t_comp.emplace_back(point.t_comp_s);
    const LogDraws t_comm(t_comm_s);
    Curve drawn = curve;
    std::vector<double> log_t(points.size()), crossings;
    crossings.reserve(interval_draws);
    for (int i = 0; i < interval_draws; ++i) {
        for (size_t j = 0; j < points.size(); ++j) log_t[j] = t_comp[j].next(draws);
        drawn.log_t = nondecreasing_fit(log_t, weights);
        crossings.push_back(drawn.log_D_where(t_comm.next(draws)));
    }
    std::sort(crossings.begin(), crossings.end());
    return crossings;
}

/// A formula for the interval would need the curve's slope, which noise between close points makes useless.
Estimate crossing_estimate(const Curve& curve, std::span<const CurvePoint> points, const Estimate& t_comm_s)
{
    const std::vector<double> crossings = drawn_crossings(curve, points, t_comm_s);
    const std::vector<PowerOf> parts = parts_of_crossing(curve, points, t_comm_s);
    Estimate D;
    // Rank-based half-widths grow faster than the error they stand for, since order statistics lie further
    // apart towards the tails. That already pays for most of what Student's t is to pay for: with the joint
    // degrees of freedom as they are D_obs covers 97 to 98 %, with three times as many 96 %
    // (tests/unit/model/planted_test.cpp).
    D.degrees_of_freedom = 3 * joint_degrees_of_freedom(parts);
    const double widening = student_t_975(D.degrees_of_freedom) / normal_975;
    const double log_value = curve.log_D_where(std::log(t_comm_s.value));
    const double down = log_value - crossings[static_cast<size_t>(0.025 * interval_draws)];
    const double up = crossings[static_cast<size_t>(0.975 * interval_draws)] - log_value;
    D.value = std::exp(log_value);
    D.low = std::exp(log_value - widening * std::max(down, 0.0));
    D.high = std::exp(log_value + widening * std::max(up, 0.0));
    D.n = t_comm_s.n;
    for (const PowerOf& part : parts) {
        D.n = std::min(D.n, part.estimate->n);
        D.confidence = std::min(D.confidence, part.estimate->confidence);
    }
    return D;
}

} // namespace

double Sweep::V() const
{
    return static_cast<double>(bytes_of(wire_type)) * static_cast<double>(B) * static_cast<double>(F);
}

Sweep sweep_of(const Point& point)
{
    return {point.B, point.F, point.P, point.compute_type, point.wire_type, point.strategy};
}

std::optional<MeasuredCrossing> measured_crossing(std::span<const CurvePoint> points,
                                                  const Estimate& t_comm_s)
{
    if (points.size() < 2) return std::nullopt;
    const Curve curve = curve_through(points);
    const double log_t_comm = std::log(t_comm_s.value);
    const auto below = curve.segment_of(log_t_comm);
    if (!below) return std::nullopt;
    MeasuredCrossing crossing;
    crossing.D = crossing_estimate(curve, points, t_comm_s);
    crossing.t_s = t_comm_s.value;
    crossing.below = *below;
    crossing.fraction = (log_t_comm - curve.log_t[*below]) / (curve.log_t[*below + 1] - curve.log_t[*below]);
    return crossing;
}

std::optional<Estimate> modelled_crossing(std::span<const CurvePoint> points, const Estimate& t_comm_s)
{
    if (points.empty()) return std::nullopt;
    const Curve curve = curve_through(points);
    if (!std::isfinite(curve.log_D_where(std::log(t_comm_s.value)))) return std::nullopt;
    return crossing_estimate(curve, points, t_comm_s);
}

Estimate product_of_powers(std::span<const PowerOf> factors)
{
    double log_value = 0, down = 0, up = 0; // errors as standard errors to either side
    Estimate product{1, 1, 1, std::numeric_limits<int64_t>::max(), 1, joint_degrees_of_freedom(factors)};
    for (const auto& [power, estimate] : factors) {
        const double t = student_t_975(estimate->degrees_of_freedom);
        const double its_down = std::log(estimate->value / estimate->low) / t, its_up = std::log(estimate->high / estimate->value) / t;
        log_value += power * std::log(estimate->value);
        down = std::hypot(down, power * (power > 0 ? its_down : its_up));
        up = std::hypot(up, power * (power > 0 ? its_up : its_down));
        product.n = std::min(product.n, estimate->n);
        product.confidence = std::min(product.confidence, estimate->confidence);
    }
    const double t = student_t_975(product.degrees_of_freedom);
    product.value = std::exp(log_value);
    product.low = std::exp(log_value - t * down);
    product.high = std::exp(log_value + t * up);
    return product;
}

Estimate ratio_of(const Estimate& a, const Estimate& b)
{
    const PowerOf factors[] = {{1, &a}, {-1, &b}};
    Estimate ratio = product_of_powers(factors);
    ratio.value = a.value / b.value; // to the last digit
    return ratio;
}

} // namespace shardline
