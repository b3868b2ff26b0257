#include "model/what_if.hpp"

#include "model/calibration.hpp"
#include "model/error.hpp"
#include "model/fit.hpp"
#include "model/law.hpp"
#include "model/observation.hpp"
#include "model/shard.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace shardline {
namespace {

/// Of two sizes on a logarithmic scale.
double distance(int64_t a, int64_t b) { return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b))); }

// ---------------------------------------------------------------------------------------------------
// The matmul

/// Times of matmuls of one shape by the width of the largest shard.
struct MatmulCurve {
    int64_t B = 0, F = 0;
    std::vector<std::pair<double, Estimate>> time_s_by_K; ///< ascending
};

/// Of every shape that as many ranks measured at more than one width, from calibration and sweep together.
std::vector<MatmulCurve> matmul_curves(std::span<const PointSamples> points, const Sweep& measured)
{
    std::map<std::pair<int64_t, int64_t>, std::map<double, std::vector<const Series*>>> by_shape;
    for (const PointSamples& samples : points) {
        const Point& point = samples.point;
        const bool computes = point.kind == PointKind::matmul || point.kind == PointKind::crossover;
        if (!computes || point.compute_type != measured.compute_type || point.P != measured.P || point.D <= 0 || samples.comp_s.empty()) continue;
        const auto K = static_cast<double>(largest_shard_width(point.D, std::max(point.P, 1)));
        by_shape[{point.B, point.F}][K].push_back(&samples.comp_s);
    }
    std::vector<MatmulCurve> curves;
    for (const auto& [shape, by_K] : by_shape) {
        if (by_K.size() < 2) continue;
        MatmulCurve curve{shape.first, shape.second, {}};
        for (const auto& [K, parts] : by_K)
            if (const auto time_s = estimate_of(pooled(parts))) curve.time_s_by_K.emplace_back(K, *time_s);
        curves.push_back(curve);
    }
    return curves;
}

const MatmulCurve& nearest_curve(const std::vector<MatmulCurve>& curves, int64_t B, int64_t F)
{
    return *std::ranges::min_element(curves, {}, [&](const MatmulCurve& curve) { return distance(curve.B, B) + distance(curve.F, F); });
}

/// t_comp over D for the asked shape and ranks, at the widths that were measured: the rate of a width is that of the curve.
std::vector<CurvePoint> curve_for(const MatmulCurve& measured, const Sweep& asked)
{
    const double work = static_cast<double>(asked.B) * static_cast<double>(asked.F) / (static_cast<double>(measured.B) * static_cast<double>(measured.F));
    std::vector<CurvePoint> curve;
    for (const auto& [K, time_s] : measured.time_s_by_K) curve.push_back({K * asked.P, scaled(time_s, work)});
    return curve;
}

/// t_comp at any D: between two points as in modelled_crossing, beyond them at the rate of the outermost one.
double comp_time_at(const std::vector<CurvePoint>& curve, double D)
{
    const auto rate_of_end = [&](const CurvePoint& end) { return end.t_comp_s.value * D / end.D; };
    if (D <= curve.front().D) return rate_of_end(curve.front());
    if (D >= curve.back().D) return rate_of_end(curve.back());
    const auto above = std::ranges::upper_bound(curve, D, {}, &CurvePoint::D), below = above - 1;
    const double fraction = std::log(D / below->D) / std::log(above->D / below->D);
    return below->t_comp_s.value * std::pow(above->t_comp_s.value / below->t_comp_s.value, fraction);
}

// ---------------------------------------------------------------------------------------------------
// The collective

/// α + β·V of a strategy as measured, with all sizes of the sweep and of calibration; those near V where there are two.
std::optional<Line> cost_line(std::span<const PointSamples> points, const Sweep& measured, const std::string& strategy, double V)
{
    std::map<double, std::vector<const Series*>> by_V;
    for (const PointSamples& samples : points) {
        const Point& point = samples.point;
        const bool sums = point.kind == PointKind::allreduce || point.kind == PointKind::crossover;
        const bool same = point.P == measured.P && point.wire_type == measured.wire_type && point.strategy == strategy;
        if (sums && same && !samples.comm_s.empty()) by_V[static_cast<double>(point.message_bytes)].push_back(&samples.comm_s);
    }
    std::vector<FitPoint> all, near;
    for (const auto& [bytes, parts] : by_V)
        if (const auto time_s = estimate_of(pooled(parts))) {
            all.push_back({bytes, *time_s});
            constexpr double near_V = 8; // an algorithm may be another far from V
            if (bytes <= near_V * V && bytes >= V / near_V) near.push_back({bytes, *time_s});
        }
    auto line = fit_line(near);
    if (!line) line = fit_line(all);
    return line && line->b > 0 ? line : std::nullopt;
}

double ring_share(int32_t P) { return static_cast<double>(P - 1) / static_cast<double>(P); }

/// How α and β of the measured case become those of the asked one.
struct CostFactors {
    double alpha = 1, beta = 1;
};

Estimate scaled_cost(const Line& line, const CostFactors& scaling, double V)
{
    Line asked = line;
    asked.a *= scaling.alpha;
    asked.b *= scaling.beta;
    asked.variance_a *= scaling.alpha * scaling.alpha;
    asked.variance_b *= scaling.beta * scaling.beta;
    asked.covariance *= scaling.alpha * scaling.beta;
    return asked.estimate_at(V);
}

// ---------------------------------------------------------------------------------------------------
// The step

/// Share of the smaller part that a strategy hid, over log(t_comp / t_comm), ascending.
using Hiding = std::map<double, double>;

Hiding hiding_of(std::span<const PointSamples> points, int32_t P, const std::string& strategy)
{
    Hiding hiding;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::crossover || samples.point.P != P || samples.point.strategy != strategy) continue;
        const PointSummary summary = summary_of(samples);
        if (!summary.t_comp_s || !summary.t_comm_s || !summary.t_step_s) continue;
        const double comp_s = summary.t_comp_s->value, comm_s = summary.t_comm_s->value;
        hiding[std::log(comp_s / comm_s)] = (comp_s + comm_s - summary.t_step_s->value) / std::min(comp_s, comm_s);
    }
    return hiding;
}

double hidden_at(const Hiding& hiding, double log_ratio)
{
    if (hiding.empty()) return 0;
    const auto above = hiding.lower_bound(log_ratio);
    if (above == hiding.begin()) return above->second;
    const auto below = std::prev(above);
    if (above == hiding.end()) return below->second;
    return below->second + (above->second - below->second) * (log_ratio - below->first) / (above->first - below->first);
}

// ---------------------------------------------------------------------------------------------------

/// The measured sweep that the asked case is least far from: in its type first, then in ranks, then in shape.
Sweep nearest_sweep(std::span<const PointSamples> points, const WhatIf& what_if)
{
    const auto far = [&](const Sweep& sweep) {
        return std::tuple(what_if.wire_type && sweep.wire_type != *what_if.wire_type, distance(sweep.P, what_if.P.value_or(sweep.P)),
                          distance(sweep.B, what_if.B.value_or(sweep.B)) + distance(sweep.F, what_if.F.value_or(sweep.F)));
    };
    std::vector<Sweep> sweeps = sweeps_in(points);
    std::erase_if(sweeps, [](const Sweep& sweep) { return sweep.P < 2; });
    if (!sweeps.empty()) return *std::ranges::min_element(sweeps, {}, far);
    throw InputError("the run has no sweep over D on two ranks or more (there is nothing to forecast from): give a run of an experiment "
                     "with a sweep, for example experiments/crossover.toml");
}

std::set<std::string> strategies_of(std::span<const PointSamples> points)
{
    std::set<std::string> strategies;
    for (const Sweep& sweep : sweeps_in(points)) strategies.insert(sweep.strategy);
    return strategies;
}

std::vector<int64_t> swept_D(std::span<const PointSamples> points, int32_t P)
{
    std::set<int64_t> D;
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::crossover && samples.point.P == P) D.insert(samples.point.D);
    return {D.begin(), D.end()};
}

/// Those asked for; else the run's, or, as another case has its D* elsewhere, some around that.
std::vector<int64_t> D_of_steps(const Forecast& its, const WhatIf& what_if, std::span<const PointSamples> points)
{
    if (!what_if.D.empty()) return what_if.D;
    const auto& D_star = its.strategies.front().D_star;
    const bool as_measured = its.asked == its.measured && its.W_bytes_per_s == its.W_measured_bytes_per_s && what_if.bandwidth_factor == 1;
    if (as_measured || !D_star) return swept_D(points, its.measured.P);
    std::set<int64_t> D;
    for (int octave = -3; octave <= 3; ++octave)
        D.insert(its.asked.P * std::max<int64_t>(1, std::llround(std::exp2(octave) * D_star->value / its.asked.P)));
    return {D.begin(), D.end()};
}

Sweep asked_of(const Sweep& measured, const WhatIf& what_if)
{
    Sweep asked = measured;
    asked.B = what_if.B.value_or(measured.B);
    asked.F = what_if.F.value_or(measured.F);
    asked.P = what_if.P.value_or(measured.P);
    asked.wire_type = what_if.wire_type.value_or(measured.wire_type);
    if (asked.P < 2) throw InputError("one rank has nothing to sum (there is no crossover to forecast): ask for two or more");
    return asked;
}

std::string shape_text(int64_t B, int64_t F) { return "B = " + std::to_string(B) + ", F = " + std::to_string(F); }

void add_notes(Forecast& its, const MatmulCurve& matmul, std::span<const PointSamples> points)
{
    if (matmul.B != its.asked.B || matmul.F != its.asked.F)
        its.notes.push_back("Rates of the matmul are those measured at " + shape_text(matmul.B, matmul.F) + ", the nearest shape.");
    if (its.asked.P != its.measured.P)
        its.notes.push_back("Measured with " + std::to_string(its.measured.P) + " ranks: start-up is taken to grow as P - 1 and the transfer as (P - 1)/P, as in a "
                            "ring, and a rank to keep its rates.");
    if (its.asked.wire_type != its.measured.wire_type)
        its.notes.push_back("Measured with " + std::string(name_of(its.measured.wire_type)) +
                            " on the wire: a byte is taken to cost the same in the other type, whose conversion and sum may cost more.");
    double least = 0, most = 0;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::allreduce && samples.point.kind != PointKind::crossover) continue;
        const auto bytes = static_cast<double>(samples.point.message_bytes);
        least = least == 0 ? bytes : std::min(least, bytes);
        most = std::max(most, bytes);
    }
    const double V = its.asked.V();
    if (V > 2 * most || V < least / 2)
        its.notes.push_back("Messages of " + si_text(V, "B") + " lie outside those measured, " + si_text(least, "B") + " to " + si_text(most, "B") + ".");
}

} // namespace

Forecast forecast(std::span<const PointSamples> points, const WhatIf& what_if)
{
    Forecast its;
    its.measured = nearest_sweep(points, what_if);
    its.asked = asked_of(its.measured, what_if);
    its.measured.strategy = its.asked.strategy = "";
    const Calibration calibration = calibrate(points, its.measured.P, its.measured.compute_type);
    if (calibration.W_bytes_per_s) its.W_measured_bytes_per_s = calibration.W_bytes_per_s->value;
    if (what_if.W_bytes_per_s && !its.W_measured_bytes_per_s)
        throw InputError("the run did not calibrate the link (another rate has nothing to be compared with): give a bandwidth factor instead");
    double faster = what_if.bandwidth_factor;
    if (what_if.W_bytes_per_s) faster *= *what_if.W_bytes_per_s / *its.W_measured_bytes_per_s;
    if (its.W_measured_bytes_per_s) its.W_bytes_per_s = *its.W_measured_bytes_per_s * faster;
    if (const auto law = law_crossover(calibration, its.asked)) its.D_law = scaled(*law, 1 / faster);

    const std::vector<MatmulCurve> curves = matmul_curves(points, its.measured);
    if (curves.empty())
        throw InputError("the run has no matmuls of one shape at several widths (their rate is not known): give a run with calibration or "
                         "several D");
    const MatmulCurve& matmul = nearest_curve(curves, its.asked.B, its.asked.F);
    const std::vector<CurvePoint> t_comp = curve_for(matmul, its.asked);
    const CostFactors of_ranks{static_cast<double>(its.asked.P - 1) / (its.measured.P - 1), ring_share(its.asked.P) / ring_share(its.measured.P)};
    const double V = its.asked.V();

    for (const std::string& strategy : strategies_of(points)) {
        const auto cost = cost_line(points, its.measured, strategy, V);
        if (!cost) {
            its.notes.push_back(strategy + " is left out: its cost was measured at one size only, or does not grow with size.");
            continue;
        }
        const Estimate t_comm = scaled_cost(*cost, {of_ranks.alpha, of_ranks.beta / faster}, V);
        StrategyForecast of_strategy{strategy, t_comm.value, modelled_crossing(t_comp, t_comm), std::nullopt, {}};
        if (faster != 1 && its.W_measured_bytes_per_s) {
            // Beyond the bound of the link as it was, and as it is asked for: the rest of β stays.
            const double bound = 2 * ring_share(its.measured.P) / *its.W_measured_bytes_per_s;
            const double fixed = std::max(cost->b, bound) - bound + bound / faster;
            const Estimate slower = scaled_cost(*cost, {of_ranks.alpha, of_ranks.beta * fixed / cost->b}, V);
            if (const auto D = modelled_crossing(t_comp, slower)) of_strategy.D_star_if_fixed = D->value;
        }
        its.strategies.push_back(of_strategy);
    }
    if (its.strategies.empty())
        throw InputError("no strategy can be forecast (the cost of none was measured at two sizes): give a run with calibration");
    const std::vector<int64_t> D_values = D_of_steps(its, what_if, points);
    for (StrategyForecast& of_strategy : its.strategies) {
        const Hiding hiding = hiding_of(points, its.measured.P, of_strategy.strategy);
        for (const int64_t D : D_values) {
            const double comp_s = comp_time_at(t_comp, static_cast<double>(largest_shard_width(D, its.asked.P) * its.asked.P));
            const double comm_s = of_strategy.t_comm_s, hidden = hidden_at(hiding, std::log(comp_s / comm_s));
            of_strategy.steps.push_back({D, comp_s, comm_s, hidden, comp_s + comm_s - hidden * std::min(comp_s, comm_s)});
        }
    }
    add_notes(its, matmul, points);
    return its;
}

const StrategyForecast* quickest_at(const Forecast& forecast, size_t step)
{
    const auto time_s = [step](const StrategyForecast& its) { return its.steps[step].t_step_s; };
    const auto best = std::ranges::min_element(forecast.strategies, {}, time_s);
    return best == forecast.strategies.end() ? nullptr : &*best;
}

} // namespace shardline
