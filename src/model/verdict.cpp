#include "model/verdict.hpp"

#include "model/text.hpp"

#include <algorithm>
#include <cmath>

namespace shardline {

namespace {

/// Intervals wider than this to either side could turn one verdict into another.
constexpr double widest_interval = 0.25;

/// Largest ratio of the two D that bracket D_obs. t_comp = a + b·D bends in logarithms; a straight line across a
/// factor of 4 misses the crossing by up to 11 %, across 16 by a third.
constexpr double widest_bracket = 4;

/// D_obs this close to D_model counts as predicted, whatever the model's interval.
constexpr double model_tolerance = 1.10;

std::string at_D(int64_t D) { return "D = " + std::to_string(D); }

bool within_factor(double a, double b, double factor) { return std::max(a / b, b / a) <= factor; }

std::string half_width_text(const Estimate& estimate)
{
    return "±" + percent_text(estimate.relative_half_width());
}

/// "[94.5, 103]".
std::string interval_text(const Estimate& estimate)
{
    return "[" + number_text(estimate.low) + ", " + number_text(estimate.high) + "]";
}

/// A compute-bound point below a communication-bound one, both beyond their intervals.
std::optional<std::string> wrong_order(std::span<const SidedPoint> points)
{
    const SidedPoint* compute_bound = nullptr;
    for (const SidedPoint& point : points) {
        if (point.side == Side::compute_bound && !compute_bound) compute_bound = &point;
        if (point.side == Side::communication_bound && compute_bound)
            return "the order is wrong: " + at_D(compute_bound->D) + " is compute-bound, yet " +
                   at_D(point.D) + " is communication-bound";
    }
    return std::nullopt;
}

std::optional<std::string> too_few_samples(const Evidence& evidence)
{
    if (evidence.points.empty())
        return "no point of the sweep has usable samples: let the run go on, or add passes";
    if (evidence.fewest_samples >= min_samples_for_95) return std::nullopt;
    return (evidence.D_obs ? "a point next to the crossover has only " : "a point of the sweep has only ") +
           std::to_string(evidence.fewest_samples) + " usable samples (" +
           std::to_string(min_samples_for_95) + " are needed for a 95 % interval): add passes";
}

/// What is missing for the points to lie on both sides; nothing where they do.
std::optional<std::string> not_bracketed(std::span<const SidedPoint> points)
{
    const auto is = [](Side side) { return [side](const SidedPoint& point) { return point.side == side; }; };
    const auto compute_bound = std::count_if(points.begin(), points.end(), is(Side::compute_bound));
    const auto communication_bound =
        std::count_if(points.begin(), points.end(), is(Side::communication_bound));
    if (compute_bound > 0 && communication_bound > 0) return std::nullopt;
    const bool all_decided =
        compute_bound + communication_bound == static_cast<std::ptrdiff_t>(points.size());
    const std::string below = "add D below " + std::to_string(points.front().D);
    const std::string above = "add D above " + std::to_string(points.back().D);
    if (compute_bound > 0)
        return (all_decided ? "all points are compute-bound: "
                            : "no point is communication-bound beyond its interval: ") +
               below;
    if (communication_bound > 0)
        return (all_decided ? "all points are communication-bound: "
                            : "no point is compute-bound beyond its interval: ") +
               above;
    return "no point is on either side beyond its interval: add passes, or " + below + " and above " +
           std::to_string(points.back().D);
}

/// Where to add points: " (the fitted costs predict 2300)".
std::string expectation(const Evidence& evidence)
{
    if (evidence.D_model) return " (the fitted costs predict " + number_text(evidence.D_model->value) + ")";
    if (evidence.D_law) return " (the law says " + number_text(evidence.D_law->value) + ")";
    return "";
}

/// Where the points next to D_obs lie too far apart for a line in logarithms to stand for t_comp between them:
/// what to add. Nothing where they are close enough.
std::optional<std::string> wide_gap(const Evidence& evidence)
{
    int64_t below = 0, above = 0;
    for (const SidedPoint& point : evidence.points) {
        if (static_cast<double>(point.D) <= evidence.D_obs->value) below = point.D;
        if (static_cast<double>(point.D) >= evidence.D_obs->value && above == 0) above = point.D;
    }
    if (below == 0 || above == 0 || static_cast<double>(above) <= widest_bracket * static_cast<double>(below))
        return std::nullopt;
    return "the points that bracket D* lie too far apart to interpolate between them: add D between " +
           std::to_string(below) + " and " + std::to_string(above);
}

/// Why no verdict can be given; nothing where one can.
std::optional<std::string> obstacle(const Evidence& evidence)
{
    if (!evidence.D_obs)
        return "computation and communication do not cross between the points: add D on both sides, or passes";
    if (evidence.D_obs->relative_reach() > widest_interval)
        return "D* is " + number_text(evidence.D_obs->value) + " " + interval_text(*evidence.D_obs) +
               " (too wide to decide): add passes or launches, or quieten the machine";
    if (const auto gap = wide_gap(evidence)) return gap;
    if (!evidence.D_law)
        return "C or W is not known, so there is no law to compare with: measure the calibration points too";
    if (!evidence.D_law->reaches_95())
        return "the calibration has fewer than " + std::to_string(min_samples_for_95) +
               " usable samples: add passes";
    if (evidence.D_law->relative_reach() > widest_interval)
        return "the law's D* is " + number_text(evidence.D_law->value) + " " + interval_text(*evidence.D_law) +
               " (the calibration is too noisy to decide): add passes, or quieten the machine";
    return std::nullopt;
}

std::string comparison(const Evidence& evidence)
{
    return "D* is " + number_text(evidence.D_obs->value) + ", the law says " +
           number_text(evidence.D_law->value);
}

/// A factor nearer to 1 than this explains nothing worth saying.
constexpr double least_telling_factor = 1.02;

/// "; of the factor 1.43, 1.44: mpi_allreduce reaches 69 % of the link", by the factor that matters most.
std::string main_factor(const Evidence& evidence)
{
    if (evidence.factors.empty()) return "";
    const Factor& factor = *std::max_element(
        evidence.factors.begin(), evidence.factors.end(), [](const Factor& a, const Factor& b) {
            return std::abs(std::log(a.value)) < std::abs(std::log(b.value));
        });
    if (within_factor(factor.value, 1, least_telling_factor)) return "";
    return "; of the factor " + number_text(evidence.D_obs->value / evidence.D_law->value) + ", " +
           number_text(factor.value) + ": " + factor.meaning;
}

/// Values that count as agreement.
struct Zone {
    double low, high;
    bool touches(const Estimate& estimate) const { return estimate.low <= high && low <= estimate.high; }
};

Zone law_zone(const Evidence& evidence)
{
    return {evidence.D_law->value / evidence.tolerance, evidence.D_law->value * evidence.tolerance};
}

Zone model_zone(const Estimate& D_model)
{
    return {std::min(D_model.low, D_model.value / model_tolerance),
            std::max(D_model.high, D_model.value * model_tolerance)};
}

bool is_explained(const Estimate& D_obs, const Estimate& D_model)
{
    const bool in_useful_interval =
        D_model.contains(D_obs.value) && D_model.relative_half_width() <= widest_interval;
    return within_factor(D_obs.value, D_model.value, model_tolerance) || in_useful_interval;
}

Judgement judge_against_model(const Evidence& evidence)
{
    const std::string beginning = comparison(evidence) + main_factor(evidence);
    if (!evidence.D_model)
        return {Verdict::inconclusive, beginning + "; whether the fitted costs account for it is not known: "
                                                   "measure matmul and allreduce calibration points too"};
    const Estimate &D_obs = *evidence.D_obs, &D_model = *evidence.D_model;
    const std::string prediction =
        "; the fitted costs predict " + number_text(D_model.value) + " " + half_width_text(D_model);
    if (is_explained(D_obs, D_model)) return {Verdict::explained, beginning + prediction};
    // To refute, D_obs must be away from both by more than noise.
    if (law_zone(evidence).touches(D_obs) || model_zone(D_model).touches(D_obs))
        return {Verdict::inconclusive,
                beginning + prediction + " (D* " + half_width_text(D_obs) +
                    " is not known well enough to tell them apart): add passes, or quieten the machine"};
    return {Verdict::refuted, beginning + prediction + " and do not account for it"};
}

} // namespace

std::string_view name_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::explained: return "explained";
    case Verdict::refuted: return "refuted";
    case Verdict::inconclusive: return "inconclusive";
    }
    return "";
}

Verdict worse_of(Verdict a, Verdict b)
{
    const auto badness = [](Verdict verdict) {
        switch (verdict) {
        case Verdict::holds: return 0;
        case Verdict::explained: return 1;
        case Verdict::inconclusive: return 2;
        case Verdict::refuted: return 3;
        }
        return 3;
    };
    return badness(a) >= badness(b) ? a : b;
}

Side side_of(const Estimate& t_comp_s, const Estimate& t_comm_s)
{
    if (!t_comp_s.reaches_95() || !t_comm_s.reaches_95()) return Side::undecided;
    if (t_comp_s.low > t_comm_s.high) return Side::compute_bound;
    if (t_comp_s.high < t_comm_s.low) return Side::communication_bound;
    return Side::undecided;
}

Judgement judge(const Evidence& evidence)
{
    if (!evidence.invalid.empty()) return {Verdict::inconclusive, evidence.invalid};
    if (const auto problem = wrong_order(evidence.points)) return {Verdict::refuted, *problem};
    if (const auto problem = too_few_samples(evidence)) return {Verdict::inconclusive, *problem};
    if (const auto problem = not_bracketed(evidence.points))
        return {Verdict::inconclusive, *problem + expectation(evidence)};
    if (const auto problem = obstacle(evidence)) return {Verdict::inconclusive, *problem};
    if (within_factor(evidence.D_obs->value, evidence.D_law->value, evidence.tolerance))
        return {Verdict::holds, comparison(evidence) + main_factor(evidence)};
    return judge_against_model(evidence);
}

} // namespace shardline
