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

/// Weights of the nondecreasing fit: 1/variance of log t.
std::vector<double> weights_of(std::span<const CurvePoint> points)
{
    constexpr double smallest_error = 1e-4; // clocks of equal ticks would otherwise weigh without limit
    std::vector<double> weights;
    for (const CurvePoint& point : points) {
        const double error = std::max(std::log(point.t_comp_s.high / point.t_comp_s.low) / (2 * normal_975), smallest_error);
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

/// Interval of the crossing: where it falls when every time is drawn anew from its own estimate. A formula would
/// need the curve's slope, which noise between close points makes useless.
Estimate crossing_interval(const Curve& curve, std::span<const CurvePoint> points, const Estimate& t_comm_s)
{
    NormalDraws draws(interval_seed);
    const std::vector<double> weights = weights_of(points);
    Curve drawn = curve;
    std::vector<double> log_t(points.size()), crossings;
    crossings.reserve(interval_draws);
    for (int i = 0; i < interval_draws; ++i) {
        for (size_t j = 0; j < points.size(); ++j) log_t[j] = draw_log(points[j].t_comp_s, draws);
        drawn.log_t = nondecreasing_fit(log_t, weights);
        crossings.push_back(drawn.log_D_where(draw_log(t_comm_s, draws)));
    }
    std::sort(crossings.begin(), crossings.end());
    const double value = std::exp(curve.log_D_where(std::log(t_comm_s.value)));
    const double low = std::exp(crossings[static_cast<size_t>(0.025 * interval_draws)]);
    const double high = std::exp(crossings[static_cast<size_t>(0.975 * interval_draws)]);
    int64_t n = t_comm_s.n;
    double confidence = t_comm_s.confidence;
    for (const CurvePoint& point : points) {
        n = std::min(n, point.t_comp_s.n);
        confidence = std::min(confidence, point.t_comp_s.confidence);
    }
    return {value, std::min(low, value), std::max(high, value), n, confidence};
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

std::optional<MeasuredCrossing> measured_crossing(std::span<const CurvePoint> points, const Estimate& t_comm_s)
{
    if (points.size() < 2) return std::nullopt;
    const Curve curve = curve_through(points);
    const double log_t_comm = std::log(t_comm_s.value);
    const auto below = curve.segment_of(log_t_comm);
    if (!below) return std::nullopt;
    MeasuredCrossing crossing;
    crossing.D = crossing_interval(curve, points, t_comm_s);
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
    return crossing_interval(curve, points, t_comm_s);
}

Estimate ratio_of(const Estimate& a, const Estimate& b)
{
    const double value = a.value / b.value;
    const double down = std::hypot(std::log(a.value / a.low), std::log(b.high / b.value));
    const double up = std::hypot(std::log(a.high / a.value), std::log(b.value / b.low));
    return {value, value * std::exp(-down), value * std::exp(up), std::min(a.n, b.n), std::min(a.confidence, b.confidence)};
}

} // namespace shardline
