#include "model/scaling.hpp"

#include "model/analysis.hpp"
#include "model/calibration.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

namespace shardline {

namespace {

// ---------------------------------------------------------------------------------------------------
// Trends

/// Weights with which the slope of the least-squares line over x is a sum of the y.
std::vector<double> slope_weights(std::span<const double> x)
{
    double mean = 0, square = 0;
    for (const double its : x) mean += its / static_cast<double>(x.size());
    for (const double its : x) square += (its - mean) * (its - mean);
    std::vector<double> weights;
    for (const double its : x) weights.push_back((its - mean) / square);
    return weights;
}

/// What may change with x > 0, in order of x.
struct Trend {
    std::vector<double> log_x;
    std::vector<Estimate> y;

    void add(double x, const Estimate& value)
    {
        log_x.push_back(std::log(x));
        y.push_back(value);
    }
    double log_range() const { return log_x.back() - log_x.front(); }
};

/// y at the greatest x by y at the least, on the least-squares line in logarithms of both.
Estimate change_of(const Trend& trend)
{
    std::vector<double> weights = slope_weights(trend.log_x);
    std::vector<PowerOf> factors;
    for (size_t i = 0; i < weights.size(); ++i) factors.push_back({weights[i] * trend.log_range(), &trend.y[i]});
    return product_of_powers(factors);
}

/// The greatest y by the least, wherever they lie.
Estimate spread_of(const Trend& trend)
{
    const auto [least, greatest] = std::ranges::minmax_element(trend.y, {}, &Estimate::value);
    return ratio_of(*greatest, *least);
}

/// The y of `others` against the line through the trend, as a factor (geometric mean).
Estimate offset_of(const Trend& others, const Trend& trend)
{
    const std::vector<double> slope = slope_weights(trend.log_x);
    const double n = static_cast<double>(trend.y.size()), m = static_cast<double>(others.y.size());
    double middle = 0, place = 0;
    for (const double x : trend.log_x) middle += x / n;
    for (const double x : others.log_x) place += x / m;
    std::vector<PowerOf> factors;
    for (const Estimate& y : others.y) factors.push_back({1 / m, &y});
    for (size_t i = 0; i < trend.y.size(); ++i) factors.push_back({-(1 / n + (place - middle) * slope[i]), &trend.y[i]});
    return product_of_powers(factors);
}

/// The power of x that makes this change.
Estimate exponent_of(const Estimate& change, double log_range)
{
    Estimate exponent = change;
    exponent.value = std::log(change.value) / log_range;
    exponent.low = std::log(change.low) / log_range;
    exponent.high = std::log(change.high) / log_range;
    return exponent;
}

// ---------------------------------------------------------------------------------------------------
// Verdicts

/// How far something is from unchanged: the change, and the spread where there are more than two values of which those between may
/// lie off the line.
struct Deviation {
    Estimate change;
    std::optional<Estimate> spread;
};

enum class Constancy { constant, changing, unclear };

Constancy constancy_of(const Deviation& deviation, double tolerance)
{
    const Estimate& change = deviation.change;
    if (!change.reaches_95()) return Constancy::unclear;
    if (change.low > tolerance || change.high < 1 / tolerance) return Constancy::changing;
    if (deviation.spread && deviation.spread->low > tolerance) return Constancy::changing;
    return change.low >= 1 / tolerance && change.high <= tolerance ? Constancy::constant : Constancy::unclear;
}

Deviation deviation_of(const Trend& trend)
{
    return {change_of(trend), trend.y.size() > 2 ? std::optional(spread_of(trend)) : std::nullopt};
}

/// `says` is what was seen, `cause` what to add where it is not what the law says.
Claim judged(std::string name, const std::string& says, const std::string& cause, const Deviation& observed,
             const std::optional<Deviation>& unexplained, double tolerance)
{
    Claim claim{std::move(name), Verdict::inconclusive, says};
    if (!observed.change.reaches_95()) {
        claim.reason += ", by too few samples: give more passes or repetitions";
        return claim;
    }
    const Constancy seen = constancy_of(observed, tolerance);
    if (seen == Constancy::constant) {
        claim.verdict = Verdict::holds;
        return claim;
    }
    claim.reason += cause;
    if (!unexplained) {
        claim.reason += "; whether the fitted costs account for it is not known: measure matmul and allreduce calibration points too";
        return claim;
    }
    const std::string beyond = decimal_interval_text(unexplained->change);
    switch (constancy_of(*unexplained, tolerance)) {
    case Constancy::constant:
        claim.verdict = Verdict::explained;
        claim.reason += "; the fitted costs account for it: against D_model it is " + beyond;
        return claim;
    case Constancy::changing:
        claim.verdict = seen == Constancy::changing ? Verdict::refuted : Verdict::inconclusive;
        claim.reason += "; the fitted costs do not account for it: against D_model it is " + beyond;
        if (seen == Constancy::unclear) claim.reason += "; too wide an interval to tell: give more passes, or quieten the machine";
        return claim;
    case Constancy::unclear:
        claim.reason += "; against D_model it is " + beyond + ", too wide an interval to tell: give more passes, or quieten the machine";
        return claim;
    }
    return claim;
}

// ---------------------------------------------------------------------------------------------------
// Rows

/// What the crossovers of one scaling have in common.
Sweep common_of(Sweep sweep, ScalingOver over)
{
    switch (over) {
    case ScalingOver::B: sweep.B = 0; break;
    case ScalingOver::F: sweep.F = 0; break;
    case ScalingOver::ranks: sweep.P = 0; break;
    case ScalingOver::types: sweep.compute_type = sweep.wire_type = ElementType::f32; break;
    }
    return sweep;
}

double x_of(const Crossover& crossover, ScalingOver over)
{
    switch (over) {
    case ScalingOver::B: return static_cast<double>(crossover.B);
    case ScalingOver::F: return static_cast<double>(crossover.F);
    case ScalingOver::ranks: return static_cast<double>(crossover.P - 1);
    case ScalingOver::types: return 0;
    }
    return 0;
}

/// What differs, for a sentence: "B = 16", "P = 3", "f64 matmul, bf16 on the wire".
std::string place_text(const Crossover& crossover, ScalingOver over)
{
    switch (over) {
    case ScalingOver::B: return "B = " + std::to_string(crossover.B);
    case ScalingOver::F: return "F = " + std::to_string(crossover.F);
    case ScalingOver::ranks: return "P = " + std::to_string(crossover.P);
    case ScalingOver::types:
        return std::string(name_of(crossover.compute_type)) + " matmul, " + std::string(name_of(crossover.wire_type)) + " on the wire";
    }
    return "";
}

/// By size; over types f32 throughout first, to which the others are compared.
bool comes_first(const Crossover& a, const Crossover& b, ScalingOver over)
{
    const auto key = [over](const Crossover& c) {
        const bool f32 = c.compute_type == ElementType::f32 && c.wire_type == ElementType::f32;
        return std::tuple(over == ScalingOver::types ? (f32 ? 0.0 : 1.0) : x_of(c, over), c.compute_type, c.wire_type);
    };
    return key(a) < key(b);
}

std::optional<Estimate> ratio(const std::optional<Estimate>& a, const std::optional<Estimate>& b)
{
    return a && b ? std::optional(ratio_of(*a, *b)) : std::nullopt;
}

std::optional<Estimate> product(std::initializer_list<std::pair<double, const std::optional<Estimate>*>> powers, double factor = 1)
{
    std::vector<PowerOf> factors;
    for (const auto& [power, estimate] : powers) {
        if (!*estimate) return std::nullopt;
        factors.push_back({power, &**estimate});
    }
    return scaled(product_of_powers(factors), factor);
}

ScalingRow row_of(std::span<const Crossover> crossovers, size_t index, ScalingOver over)
{
    const Crossover& crossover = crossovers[index];
    const Calibration& calibration = crossover.calibration;
    ScalingRow row{index, calibration.C_flop_per_s, calibration.W_bytes_per_s, crossover.D_obs, crossover.D_model, ratio(crossover.D_obs, crossover.D_model)};
    if (over == ScalingOver::ranks) {
        row.observed = ratio(crossover.D_obs, crossover.D_law);
        row.predicted = ratio(crossover.D_model, crossover.D_law);
    }
    return row;
}

/// W is the same in both and cancels, and so does C where both multiply in one type.
void compare_types(ScalingRow& row, const ScalingRow& first, std::span<const Crossover> crossovers)
{
    const Crossover &its = crossovers[row.crossover], &reference = crossovers[first.crossover];
    const double s_ratio = static_cast<double>(bytes_of(its.wire_type)) / static_cast<double>(bytes_of(reference.wire_type));
    const auto against_law = [&](const std::optional<Estimate>& D, const std::optional<Estimate>& D_reference) {
        return its.compute_type == reference.compute_type
                   ? product({{1, &D}, {-1, &D_reference}}, 1 / s_ratio)
                   : product({{1, &D}, {-1, &D_reference}, {-1, &row.C_flop_per_s}, {1, &first.C_flop_per_s}}, 1 / s_ratio);
    };
    row.observed = against_law(its.D_obs, reference.D_obs);
    row.predicted = against_law(its.D_model, reference.D_model);
    row.unexplained = product({{1, &its.D_obs}, {-1, &reference.D_obs}, {-1, &its.D_model}, {1, &reference.D_model}});
}

// ---------------------------------------------------------------------------------------------------
// Over B, F and ranks

using Member = std::optional<Estimate> ScalingRow::*;

/// Over the rows that `wanted` takes; nothing where one of them has no value.
template <class Wanted>
std::optional<Trend> trend_of(const Scaling& scaling, std::span<const Crossover> crossovers, Member member, Wanted wanted)
{
    Trend trend;
    for (const ScalingRow& row : scaling.rows) {
        const Crossover& crossover = crossovers[row.crossover];
        if (!wanted(crossover)) continue;
        if (!(row.*member)) return std::nullopt;
        trend.add(x_of(crossover, scaling.over), *(row.*member));
    }
    return trend.y.empty() ? std::nullopt : std::optional(trend);
}

bool any(const Crossover&) { return true; }
bool is_power_of_two(const Crossover& crossover) { return std::has_single_bit(static_cast<uint32_t>(crossover.P)); }

std::optional<Estimate> exponent_of(const std::optional<Trend>& trend)
{
    return trend ? std::optional(exponent_of(change_of(*trend), trend->log_range())) : std::nullopt;
}

std::optional<Deviation> deviation_of(const std::optional<Trend>& trend)
{
    return trend ? std::optional(deviation_of(*trend)) : std::nullopt;
}

/// The exponents of the factors of D_obs / D_law, which add up to that of the ratio itself.
template <class Wanted>
std::vector<ExponentShare> shares_of(const Scaling& scaling, std::span<const Crossover> crossovers, Wanted wanted)
{
    std::vector<double> log_x;
    std::vector<const Crossover*> rows;
    for (const ScalingRow& row : scaling.rows)
        if (const Crossover& crossover = crossovers[row.crossover]; wanted(crossover)) {
            rows.push_back(&crossover);
            log_x.push_back(std::log(x_of(crossover, scaling.over)));
        }
    const std::vector<double> weights = slope_weights(log_x);
    std::vector<ExponentShare> shares;
    for (const Factor& factor : rows.front()->factors) {
        ExponentShare share{factor.name, 0};
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto its = std::ranges::find(rows[i]->factors, factor.name, &Factor::name);
            if (its == rows[i]->factors.end()) return {};
            share.exponent += weights[i] * std::log(its->value);
        }
        shares.push_back(share);
    }
    std::ranges::stable_sort(shares, std::greater{}, [](const ExponentShare& share) { return std::abs(share.exponent); });
    return shares;
}

/// "; of the exponent -0.25 is start_up, 0.04 matmul_efficiency".
std::string shares_text(const std::vector<ExponentShare>& shares)
{
    constexpr size_t most_named = 2;
    std::string text;
    for (size_t i = 0; i < std::min(most_named, shares.size()); ++i)
        text += (i == 0 ? "; of the exponent " : ", ") + decimal_text(shares[i].exponent) + (i == 0 ? " is " : " ") + shares[i].factor;
    return text;
}

/// a + b·V through every allreduce of the calibration with the ranks, types and strategy of the crossover.
std::optional<StartUp> start_up_of(std::span<const PointSamples> points, const Crossover& crossover, double tolerance)
{
    std::vector<FitPoint> times;
    for (const PointSamples& samples : points) {
        const Point& point = samples.point;
        const bool same = point.kind == PointKind::allreduce && point.P == crossover.P && point.wire_type == crossover.wire_type &&
                          point.compute_type == crossover.compute_type && point.strategy == crossover.strategy;
        if (!same) continue;
        if (const auto t_s = estimate_of(samples.comm_s)) times.push_back({static_cast<double>(point.message_bytes), *t_s});
    }
    if (times.empty()) return std::nullopt;
    const auto line = fit_line(times);
    if (!line || line->b <= 0) return std::nullopt;
    const double s = static_cast<double>(bytes_of(crossover.wire_type));
    return StartUp{line->a, line->b, line->a / (line->b * s * (tolerance - 1))};
}

/// Downwards from the largest B·F.
std::optional<double> least_elements_observed(const Scaling& scaling, std::span<const Crossover> crossovers, double tolerance)
{
    std::optional<double> least;
    const auto& largest = crossovers[scaling.rows.back().crossover].D_obs;
    for (auto row = std::next(scaling.rows.rbegin()); row != scaling.rows.rend(); ++row) {
        const Crossover& crossover = crossovers[row->crossover];
        if (!largest || !crossover.D_obs || std::abs(std::log(crossover.D_obs->value / largest->value)) > std::log(tolerance)) break;
        least = static_cast<double>(crossover.B) * static_cast<double>(crossover.F);
    }
    return least;
}

/// "; by the fitted start-up time it does not change by more than a factor of 1.25 from B·F = 1.2e5 on, as measured from 65536 on"
std::string threshold_text(const Scaling& scaling, double tolerance)
{
    if (!scaling.start_up && !scaling.least_elements_observed) return "";
    std::string text = "; D* stays within a factor of " + number_text(tolerance);
    if (scaling.start_up && scaling.start_up->a_s > 0)
        text += " from B·F = " + std::to_string(std::llround(scaling.start_up->least_elements)) + " on by the fitted start-up time of " + si_text(scaling.start_up->a_s, "s");
    else if (scaling.start_up)
        text += " at any B·F by the fitted start-up time, which is none";
    if (scaling.least_elements_observed)
        text += (scaling.start_up ? std::string(", and") : std::string()) + " from " + std::to_string(std::llround(*scaling.least_elements_observed)) + " on as measured";
    return text;
}

/// "at F = 1024, P = 2": what is the same in all rows.
std::string common_text(const Crossover& crossover, ScalingOver over)
{
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (over != ScalingOver::B) add("B = " + std::to_string(crossover.B));
    if (over != ScalingOver::F) add("F = " + std::to_string(crossover.F));
    if (over != ScalingOver::ranks) add("P = " + std::to_string(crossover.P));
    if (over != ScalingOver::types) add(place_text(crossover, ScalingOver::types));
    add(crossover.strategy);
    return text;
}

/// The first row in whose crossover something is missing, as the reason for no verdict; empty where there is none.
std::string missing_text(const Scaling& scaling, std::span<const Crossover> crossovers)
{
    for (const ScalingRow& row : scaling.rows) {
        const Crossover& crossover = crossovers[row.crossover];
        const std::string place = " at " + place_text(crossover, scaling.over) + " (" + common_text(crossover, scaling.over) + ")";
        if (!crossover.D_obs) return "D* is not known" + place + ": add D on both sides of it, or passes";
        if (scaling.over == ScalingOver::ranks && !crossover.D_law) return "C or W is not known" + place + ": measure the calibration points too";
        if (scaling.over == ScalingOver::types && !row.C_flop_per_s) return "C is not known" + place + ": measure the calibration points too";
    }
    return "";
}

void judge_size(Scaling& scaling, std::span<const Crossover> crossovers, std::span<const PointSamples> points, double tolerance)
{
    const std::string symbol(name_of(scaling.over));
    const Crossover &least = crossovers[scaling.rows.front().crossover], &greatest = crossovers[scaling.rows.back().crossover];
    scaling.start_up = start_up_of(points, greatest, tolerance);
    scaling.least_elements_observed = least_elements_observed(scaling, crossovers, tolerance);
    const std::string name = scaling.over == ScalingOver::B ? "D_independent_of_B" : "D_independent_of_F";
    const auto observed = trend_of(scaling, crossovers, &ScalingRow::observed, any);
    if (!observed) {
        scaling.claims.push_back({name, Verdict::inconclusive, missing_text(scaling, crossovers)});
        return;
    }
    const auto unexplained = trend_of(scaling, crossovers, &ScalingRow::unexplained, any);
    const Deviation deviation = deviation_of(*observed);
    scaling.exponent = exponent_of(deviation.change, observed->log_range());
    scaling.model_exponent = exponent_of(trend_of(scaling, crossovers, &ScalingRow::predicted, any));
    scaling.shares = shares_of(scaling, crossovers, any);
    const std::string says = "from " + place_text(least, scaling.over) + " to " + std::to_string(scaling.over == ScalingOver::B ? greatest.B : greatest.F) +
                             " (" + common_text(greatest, scaling.over) + ") D* changes by a factor of " + decimal_interval_text(deviation.change) + ", as " + symbol +
                             "^" + decimal_interval_text(*scaling.exponent);
    scaling.claims.push_back(judged(name, says, shares_text(scaling.shares) + threshold_text(scaling, tolerance), deviation, deviation_of(unexplained), tolerance));
}

template <class Wanted>
std::string list_of_ranks(const Scaling& scaling, std::span<const Crossover> crossovers, Wanted wanted)
{
    std::string text;
    for (const ScalingRow& row : scaling.rows)
        if (const Crossover& crossover = crossovers[row.crossover]; wanted(crossover)) text += (text.empty() ? "" : ", ") + std::to_string(crossover.P);
    return text;
}

/// Powers of two by themselves where there are two of them, since algorithms of an allreduce favour them; then the others against
/// these.
void judge_ranks(Scaling& scaling, std::span<const Crossover> crossovers, double tolerance)
{
    const auto powers = std::ranges::count_if(scaling.rows, [&](const ScalingRow& row) { return is_power_of_two(crossovers[row.crossover]); });
    const bool apart = powers >= 2;
    const auto in_line = [apart](const Crossover& crossover) { return !apart || is_power_of_two(crossover); };
    const auto others = [](const Crossover& crossover) { return !is_power_of_two(crossover); };
    if (const std::string missing = missing_text(scaling, crossovers); !missing.empty()) {
        scaling.claims.push_back({"D_grows_as_ranks", Verdict::inconclusive, missing});
        return;
    }
    const auto observed = trend_of(scaling, crossovers, &ScalingRow::observed, in_line), unexplained = trend_of(scaling, crossovers, &ScalingRow::unexplained, in_line);
    const Deviation deviation = deviation_of(*observed);
    scaling.exponent = exponent_of(deviation.change, observed->log_range());
    scaling.model_exponent = exponent_of(trend_of(scaling, crossovers, &ScalingRow::predicted, in_line));
    scaling.shares = shares_of(scaling, crossovers, in_line);
    const std::string common = common_text(crossovers[scaling.rows.front().crossover], scaling.over);
    const std::string says = "over P = " + list_of_ranks(scaling, crossovers, in_line) + " (" + common + ") D* changes by a factor of " + decimal_interval_text(deviation.change) + " against s(P-1)C/W of each P, as (P-1)^" +
                             decimal_interval_text(*scaling.exponent);
    scaling.claims.push_back(judged("D_grows_as_ranks", says, shares_text(scaling.shares), deviation, deviation_of(unexplained), tolerance));

    const auto its = trend_of(scaling, crossovers, &ScalingRow::observed, others);
    if (!apart || !its) return;
    const auto its_unexplained = trend_of(scaling, crossovers, &ScalingRow::unexplained, others);
    const Deviation off{offset_of(*its, *observed), std::nullopt};
    const std::optional<Deviation> off_unexplained =
        its_unexplained && unexplained ? std::optional(Deviation{offset_of(*its_unexplained, *unexplained), std::nullopt}) : std::nullopt;
    scaling.claims.push_back(judged("other_ranks_as_powers_of_two",
                                    "at P = " + list_of_ranks(scaling, crossovers, others) + ", which are no powers of two (" + common + "), D* against s(P-1)C/W is " +
                                        decimal_interval_text(off.change) + " times what the line through the powers of two gives",
                                    "", off, off_unexplained, tolerance));
}

void judge_types(Scaling& scaling, std::span<const Crossover> crossovers, double tolerance)
{
    const ScalingRow first = scaling.rows.front();
    const Crossover& reference = crossovers[first.crossover];
    for (ScalingRow& row : scaling.rows) {
        if (row.crossover == first.crossover) {
            row.observed = row.predicted = row.unexplained = std::nullopt;
            continue;
        }
        compare_types(row, first, crossovers);
        const Crossover& its = crossovers[row.crossover];
        const std::string name = "D_ratio_" + std::string(name_of(its.compute_type)) + "_" + std::string(name_of(its.wire_type));
        if (!row.observed) {
            scaling.claims.push_back({name, Verdict::inconclusive, missing_text(scaling, crossovers)});
            continue;
        }
        const double D_ratio = its.D_obs->value / reference.D_obs->value;
        const std::string says = place_text(its, scaling.over) + " (" + common_text(its, scaling.over) + "): D* is " + number_text(D_ratio) + " times that of " +
                                 place_text(reference, scaling.over) + ", where s·C says " + number_text(D_ratio / row.observed->value) + ": " +
                                 decimal_interval_text(*row.observed) + " times that";
        const std::optional<Deviation> unexplained = row.unexplained ? std::optional(Deviation{*row.unexplained, std::nullopt}) : std::nullopt;
        scaling.claims.push_back(judged(name, says, "", {*row.observed, std::nullopt}, unexplained, tolerance));
    }
}

} // namespace

std::string decimal_interval_text(const Estimate& estimate)
{
    return decimal_text(estimate.value) + " [" + decimal_text(estimate.low) + ", " + decimal_text(estimate.high) + "]";
}

std::string_view name_of(ScalingOver over)
{
    switch (over) {
    case ScalingOver::B: return "B";
    case ScalingOver::F: return "F";
    case ScalingOver::ranks: return "ranks";
    case ScalingOver::types: return "types";
    }
    return "";
}

std::vector<Scaling> scalings_of(std::span<const Crossover> crossovers, std::span<const PointSamples> points, double tolerance)
{
    std::vector<Scaling> scalings;
    for (const ScalingOver over : {ScalingOver::B, ScalingOver::F, ScalingOver::ranks, ScalingOver::types}) {
        std::map<Sweep, std::vector<size_t>> groups;
        for (size_t i = 0; i < crossovers.size(); ++i) groups[common_of(sweep_of(crossovers[i]), over)].push_back(i);
        for (auto& [common, members] : groups) {
            if (members.size() < 2) continue;
            std::ranges::stable_sort(members, [&](size_t a, size_t b) { return comes_first(crossovers[a], crossovers[b], over); });
            Scaling scaling;
            scaling.over = over;
            for (const size_t index : members) scaling.rows.push_back(row_of(crossovers, index, over));
            if (over == ScalingOver::types)
                judge_types(scaling, crossovers, tolerance);
            else if (over == ScalingOver::ranks)
                judge_ranks(scaling, crossovers, tolerance);
            else
                judge_size(scaling, crossovers, points, tolerance);
            scalings.push_back(std::move(scaling));
        }
    }
    return scalings;
}

} // namespace shardline
