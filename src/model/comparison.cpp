#include "model/comparison.hpp"

#include "model/crossover.hpp"
#include "model/observation.hpp"
#include "model/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace shardline {

namespace {

/// Independent observations of one quantity: logarithms of medians.
struct Observations {
    std::vector<double> log_medians;

    double n() const { return static_cast<double>(log_medians.size()); }
    double mean() const { return std::accumulate(log_medians.begin(), log_medians.end(), 0.0) / n(); }
    double variance_of_mean() const
    {
        const double centre = mean();
        double sum = 0;
        for (double value : log_medians) sum += (value - centre) * (value - centre);
        return sum / (n() - 1) / n();
    }
};

/// What separates one observation from the next: a launch, or a visit of one.
enum class Unit { visit, launch };

Observations observations_of(const Series& series, Unit unit)
{
    Observations result;
    std::vector<double> values;
    for (size_t i = 0; i < series.size(); ++i) {
        values.push_back(series[i].value);
        const bool last = i + 1 == series.size() || series[i + 1].launch != series[i].launch ||
                          (unit == Unit::visit && series[i + 1].pass != series[i].pass);
        if (!last) continue;
        result.log_medians.push_back(std::log(median(values)));
        values.clear();
    }
    return result;
}

/// Fewest observations on either side from which a spread is worth taking.
constexpr size_t fewest_observations = 3;

bool has_launches(const Series& series)
{
    std::set<int32_t> launches;
    for (const Sample& sample : series) launches.insert(sample.launch);
    return launches.size() >= fewest_observations;
}

/// Welch's t test on the logarithms, filled into ratio and p_value.
void judge(Change& change, const Observations& base, const Observations& current)
{
    if (std::min(base.log_medians.size(), current.log_medians.size()) < fewest_observations) return;
    const double a = base.variance_of_mean(), b = current.variance_of_mean();
    const double difference = current.mean() - base.mean(), error = std::sqrt(a + b);
    // Clocks tick, so medians may agree to the nanosecond: then any difference is beyond their spread.
    const double dof = error > 0 ? (a + b) * (a + b) / (a * a / (base.n() - 1) + b * b / (current.n() - 1)) : base.n() + current.n() - 2;
    const double reach = student_t_975(dof) * error;
    change.ratio = Estimate{std::exp(difference), std::exp(difference - reach), std::exp(difference + reach),
                            static_cast<int64_t>(base.log_medians.size() + current.log_medians.size())};
    change.ratio->degrees_of_freedom = dof;
    change.p_value = difference == 0 ? 1 : student_t_two_sided(difference / error, dof);
    // What stands beside the ratio has to have that ratio, which medians of all samples need not.
    change.base = std::exp(base.mean());
    change.current = std::exp(current.mean());
}

/// One of the times of a point: its name and its samples in either group.
void add_time(std::vector<Change>& changes, int64_t& of_one_side, const Point& point, const char* quantity, const Series& base,
              const Series& current)
{
    if (base.empty() != current.empty()) ++of_one_side;
    if (base.empty() || current.empty()) return;
    const Unit unit = has_launches(base) && has_launches(current) ? Unit::launch : Unit::visit;
    Change change{point, quantity, median(values_of(base)), median(values_of(current)), std::nullopt, 1, false};
    judge(change, observations_of(base, unit), observations_of(current, unit));
    changes.push_back(change);
}

void add_D_obs(std::vector<Change>& changes, const Sweep& sweep, const Estimate& base, const Estimate& current)
{
    const Point point{.kind = PointKind::crossover, .B = sweep.B, .D = 0, .F = sweep.F, .P = sweep.P,
                      .compute_type = sweep.compute_type, .wire_type = sweep.wire_type, .strategy = sweep.strategy, .tiles = ""};
    Change change{point, "D_obs", base.value, current.value, std::nullopt, 1, false};
    if (base.reaches_95() && current.reaches_95()) {
        change.ratio = ratio_of(current, base);
        const double dof = change.ratio->degrees_of_freedom, difference = std::log(change.ratio->value);
        const double error = std::log(change.ratio->high / change.ratio->low) / 2 / student_t_975(dof);
        change.p_value = difference == 0 ? 1 : student_t_two_sided(difference / error, dof);
    }
    changes.push_back(change);
}

} // namespace

bool Comparison::changed() const
{
    return std::ranges::any_of(changes, &Change::changed);
}

std::vector<bool> holm_significant(std::span<const double> p_values, double level)
{
    std::vector<size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return p_values[i]; });
    std::vector<bool> significant(p_values.size(), false);
    for (size_t i = 0; i < order.size(); ++i) {
        if (p_values[order[i]] > level / static_cast<double>(order.size() - i)) break;
        significant[order[i]] = true;
    }
    return significant;
}

Comparison compare(std::span<const RunData> base, std::span<const RunData> current, const ComparisonOptions& options)
{
    const std::vector<PointSamples> base_points = collect_samples(base), current_points = collect_samples(current);
    Comparison result;
    const PointSamples nothing{};
    const auto at = [&](const std::vector<PointSamples>& points, const Point& point) -> const PointSamples& {
        const auto found = std::ranges::find(points, point, &PointSamples::point);
        return found == points.end() ? nothing : *found;
    };
    const auto add_point = [&](const Point& point, const PointSamples& a, const PointSamples& b) {
        add_time(result.changes, result.quantities_of_one_side, point, "t_comp", a.comp_s, b.comp_s);
        add_time(result.changes, result.quantities_of_one_side, point, "t_comm", a.comm_s, b.comm_s);
        add_time(result.changes, result.quantities_of_one_side, point, "t_step", a.step_s, b.step_s);
    };
    for (const PointSamples& samples : base_points) add_point(samples.point, samples, at(current_points, samples.point));
    for (const PointSamples& samples : current_points)
        if (&at(base_points, samples.point) == &nothing) add_point(samples.point, nothing, samples);

    for (const Sweep& sweep : sweeps_in(base_points)) {
        const auto a = observe(base_points, sweep).crossing, b = observe(current_points, sweep).crossing;
        if (a && b) add_D_obs(result.changes, sweep, a->D, b->D);
        else if (a || b) ++result.quantities_of_one_side;
    }

    std::vector<double> p_values;
    for (const Change& change : result.changes) p_values.push_back(change.p_value);
    const std::vector<bool> significant = holm_significant(p_values, options.false_alarm);
    for (size_t i = 0; i < significant.size(); ++i) {
        Change& change = result.changes[i];
        const double size = change.ratio ? std::abs(std::log(change.ratio->value)) : 0;
        change.changed = significant[i] && size > std::log1p(options.threshold);
    }
    return result;
}

} // namespace shardline
