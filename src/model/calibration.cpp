#include "model/calibration.hpp"

#include "model/law.hpp"
#include "model/shard.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace shardline {

namespace {

/// Rates of one calibration point: work / time.
struct Candidate {
    const PointSamples* samples;
    Series rates;
    Estimate rate;
};

std::optional<Candidate> candidate_of(const PointSamples& samples, const Series& times_s, double work)
{
    Candidate candidate{&samples, times_s, {}};
    for (Sample& sample : candidate.rates) sample.value = work / sample.value;
    const auto rate = estimate_of(candidate.rates);
    if (!rate) return std::nullopt;
    candidate.rate = *rate;
    return candidate;
}

const Candidate& best_of(const std::vector<Candidate>& candidates)
{
    return *std::max_element(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.rate.value < b.rate.value; });
}

/// The largest of several noisy rates is too large by what noise favoured it: by half of its error with ten
/// candidates. So all whose intervals overlap the best one's are taken together, which removes that bias and
/// brings the coverage of the interval from 86 % to 95 %.
std::optional<Estimate> best_rate(const std::vector<Candidate>& candidates)
{
    if (candidates.empty()) return std::nullopt;
    const double best_low = best_of(candidates).rate.low;
    std::vector<const Series*> parts;
    for (const Candidate& candidate : candidates)
        if (candidate.rate.high >= best_low) parts.push_back(&candidate.rates);
    return estimate_of(pooled(parts));
}

using Selection = std::vector<const PointSamples*>;

/// Points of a kind with P ranks; of any number of ranks where there is none with P.
Selection points_of(std::span<const PointSamples> points, PointKind kind, int32_t P)
{
    Selection all, with_P;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != kind) continue;
        all.push_back(&samples);
        if (samples.point.P == P) with_P.push_back(&samples);
    }
    return with_P.empty() ? all : with_P;
}

double largest_width(const Point& point)
{
    return static_cast<double>(largest_shard_width(point.D, std::max(point.P, 1)));
}

std::vector<Candidate> matmul_rates(std::span<const PointSamples> points, int32_t P, ElementType compute_type)
{
    std::vector<Candidate> candidates;
    for (const PointSamples* samples : points_of(points, PointKind::matmul, P)) {
        const Point& point = samples->point;
        if (point.compute_type != compute_type) continue;
        const double flops =
            matmul_flops(static_cast<double>(point.B), largest_width(point), static_cast<double>(point.F));
        if (auto candidate = candidate_of(*samples, samples->comp_s, flops))
            candidates.push_back(std::move(*candidate));
    }
    return candidates;
}

/// Of the largest messages only, in all their segment sizes: buffers on the way (of sockets, of a switch)
/// take in part of a small message at once and make it look faster than the link.
std::vector<Candidate> exchange_rates(const Selection& exchanges)
{
    int64_t largest = 0;
    for (const PointSamples* samples : exchanges) largest = std::max(largest, samples->point.message_bytes);
    std::vector<Candidate> candidates;
    for (const PointSamples* samples : exchanges) {
        if (samples->point.message_bytes != largest) continue;
        if (auto candidate = candidate_of(*samples, samples->comm_s, static_cast<double>(largest)))
            candidates.push_back(std::move(*candidate));
    }
    return candidates;
}

std::optional<Estimate> smallest_exchange_time(const Selection& exchanges)
{
    const auto smallest =
        std::min_element(exchanges.begin(), exchanges.end(), [](const auto* a, const auto* b) {
            return a->point.message_bytes < b->point.message_bytes;
        });
    return smallest == exchanges.end() ? std::nullopt : estimate_of((*smallest)->comm_s);
}

/// An allreduce may change its algorithm far from V, so only sizes within this factor of V predict it, where
/// there are two of them.
constexpr double near_V = 8;

std::vector<FitPoint> allreduce_times(std::span<const PointSamples> points, const Sweep& sweep,
                                      double farthest)
{
    std::vector<FitPoint> times;
    for (const PointSamples* samples : points_of(points, PointKind::allreduce, sweep.P)) {
        const Point& point = samples->point;
        const double bytes = static_cast<double>(point.message_bytes), V = sweep.V();
        // The compute type too: what is converted for the wire is part of the operation.
        const bool same_operation =
            point.wire_type == sweep.wire_type && point.compute_type == sweep.compute_type && point.strategy == sweep.strategy;
        if (!same_operation || bytes == V || bytes > farthest * V || bytes < V / farthest) continue;
        if (const auto time = estimate_of(samples->comm_s)) times.push_back({bytes, *time});
    }
    return times;
}

} // namespace

Calibration calibrate(std::span<const PointSamples> points, int32_t P, ElementType compute_type)
{
    Calibration calibration;
    calibration.C_flop_per_s = best_rate(matmul_rates(points, P, compute_type));
    const Selection exchanges = points_of(points, PointKind::exchange, P);
    const std::vector<Candidate> rates = exchange_rates(exchanges);
    calibration.W_bytes_per_s = best_rate(rates);
    if (!rates.empty()) calibration.W_segment_bytes = best_of(rates).samples->point.segment_bytes;
    calibration.alpha_s = smallest_exchange_time(exchanges);
    return calibration;
}

std::optional<Estimate> law_crossover(const Calibration& calibration, const Sweep& sweep)
{
    if (sweep.P < 2 || !calibration.C_flop_per_s || !calibration.W_bytes_per_s) return std::nullopt;
    const double per_C_over_W = D_star(static_cast<double>(bytes_of(sweep.wire_type)), sweep.P, 1, 1);
    return scaled(ratio_of(*calibration.C_flop_per_s, *calibration.W_bytes_per_s), per_C_over_W);
}

std::vector<CurvePoint> matmul_curve(std::span<const PointSamples> points, const Sweep& sweep)
{
    std::map<double, std::vector<const Series*>> by_D;
    for (const PointSamples* samples : points_of(points, PointKind::matmul, sweep.P)) {
        const Point& point = samples->point;
        if (point.B == sweep.B && point.F == sweep.F && point.compute_type == sweep.compute_type &&
            point.D > 0)
            by_D[largest_width(point) * sweep.P].push_back(&samples->comp_s);
    }
    std::vector<CurvePoint> curve;
    for (const auto& [D, parts] : by_D)
        if (const auto time = estimate_of(pooled(parts))) curve.push_back({D, *time});
    return curve;
}

std::optional<Line> allreduce_cost(std::span<const PointSamples> points, const Sweep& sweep)
{
    auto cost = fit_line(allreduce_times(points, sweep, near_V));
    if (!cost) cost = fit_line(allreduce_times(points, sweep, std::numeric_limits<double>::infinity()));
    return cost && cost->b > 0 ? cost : std::nullopt;
}

std::optional<Estimate> model_crossover(std::span<const PointSamples> points, const Sweep& sweep)
{
    if (sweep.P < 2) return std::nullopt;
    const auto cost = allreduce_cost(points, sweep);
    if (!cost) return std::nullopt;
    return modelled_crossing(matmul_curve(points, sweep), cost->estimate_at(sweep.V()));
}

std::optional<Prediction> predicted_crossover(const RunData& run, const Sweep& sweep)
{
    const std::vector<PointSamples> points = collect_samples({&run, 1});
    if (const auto D = model_crossover(points, sweep)) return Prediction{*D, true};
    if (const auto D = law_crossover(calibrate(points, sweep.P, sweep.compute_type), sweep))
        return Prediction{*D, false};
    return std::nullopt;
}

} // namespace shardline
