#include "model/detectors.hpp"

#include "model/rank_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <map>
#include <utility>

namespace shardline {

namespace {

constexpr double mad_to_standard_deviation = 1.4826;

// Two-sided normal quantile for one false alarm in a thousand: a run is asked several such questions.
constexpr double trend_significance = 3.29;

/// Median of a sorted sample without one of its values.
double median_without(std::span<const double> sorted, size_t left_out)
{
    const auto at = [&](size_t i) { return sorted[i < left_out ? i : i + 1]; };
    const size_t others = sorted.size() - 1;
    return (at((others - 1) / 2) + at(others / 2)) / 2;
}

size_t place_of(double value, std::span<const double> sorted)
{
    return static_cast<size_t>(std::ranges::lower_bound(sorted, value) - sorted.begin());
}

/// Kendall's S and the slopes, gathered over series that share a trend but not a level.
struct TrendEvidence {
    double S = 0, variance = 0;
    std::vector<double> slopes; ///< of log time per row, one for each series
};

struct Timed {
    double position;
    double log_time;
};

/// The longest series whose slopes between all pairs are taken: those of a hundred thousand repetitions would take gigabytes.
constexpr size_t longest_series = 500;

/// A longer series as medians of consecutive parts, which show a trend as well.
std::vector<Timed> shortened(const std::vector<Timed>& series)
{
    std::vector<Timed> parts;
    for (size_t part = 0; part < longest_series; ++part) {
        const size_t begin = part * series.size() / longest_series, end = (part + 1) * series.size() / longest_series;
        std::vector<double> log_times;
        for (size_t i = begin; i < end; ++i) log_times.push_back(series[i].log_time);
        parts.push_back({(series[begin].position + series[end - 1].position) / 2, median(log_times)});
    }
    return parts;
}

void add_series(TrendEvidence& evidence, const std::vector<Timed>& series)
{
    if (series.size() > longest_series) return add_series(evidence, shortened(series));
    std::vector<double> slopes;
    slopes.reserve(series.size() * (series.size() + 1) / 2);
    for (size_t i = 0; i < series.size(); ++i)
        for (size_t j = i + 1; j < series.size(); ++j) {
            const double rise = series[j].log_time - series[i].log_time;
            evidence.S += (rise > 0 ? 1 : 0) - (rise < 0 ? 1 : 0);
            slopes.push_back(rise / (series[j].position - series[i].position));
        }
    if (slopes.empty()) return;
    const double n = static_cast<double>(series.size());
    evidence.variance += n * (n - 1) * (2 * n + 5) / 18;
    evidence.slopes.push_back(median(slopes));
}

/// Relative change over `length` rows, where the evidence says that there is one of at least `smallest`.
std::optional<double> change_over(const TrendEvidence& evidence, double length, double smallest)
{
    if (evidence.slopes.empty()) return std::nullopt;
    const double z = (std::abs(evidence.S) - 1) / std::sqrt(evidence.variance);
    const double change = std::expm1(median(evidence.slopes) * length);
    // Repetitions that depend on each other make S vary more than Kendall's variance says, but not the
    // slopes' interval.
    const Estimate slope = median_estimate(evidence.slopes);
    const bool beyond_noise = z > trend_significance && (!slope.reaches_95() || !slope.contains(0));
    return beyond_noise && std::abs(change) > smallest ? std::optional(change) : std::nullopt;
}

using VisitSamples = std::span<const Sample>;

/// Consecutive samples of one launch and pass; they stay where they are.
std::vector<VisitSamples> visits_of(const Series& series)
{
    std::vector<VisitSamples> visits;
    for (size_t begin = 0, end = 0; begin < series.size(); begin = end) {
        while (end < series.size() && series[end].launch == series[begin].launch && series[end].pass == series[begin].pass) ++end;
        visits.push_back(VisitSamples(series).subspan(begin, end - begin));
    }
    return visits;
}

std::vector<Timed> visit_medians(const Series& series)
{
    std::vector<Timed> medians;
    std::vector<double> values;
    for (const VisitSamples visit : visits_of(series)) {
        const double middle_row = static_cast<double>(visit.front().row + visit.back().row) / 2;
        values.clear();
        for (const Sample& sample : visit) values.push_back(sample.value);
        medians.push_back({middle_row, std::log(median(values))});
    }
    return medians;
}

/// Bound on the error of a difference between two ranks' clocks: both may be wrong.
double greatest_difference_error_ns(const std::vector<ClockModel>& clocks)
{
    std::map<int32_t, int64_t> of_rank;
    for (const ClockModel& clock : clocks) of_rank[clock.rank] = std::max(of_rank[clock.rank], clock.error_ns);
    int64_t greatest = 0, second = 0;
    for (const auto& [rank, error_ns] : of_rank) {
        second = std::max(second, std::min(greatest, error_ns));
        greatest = std::max(greatest, error_ns);
    }
    return static_cast<double>(greatest) + static_cast<double>(second);
}

} // namespace

std::vector<std::vector<double>> relative_rank_times(const RunData& run)
{
    RankSpeeds speeds = rank_speeds(run);
    for (std::vector<double>& times : speeds.of_rank)
        std::ranges::transform(times, times.begin(), [](double log_time) { return std::exp(log_time); });
    return std::move(speeds.of_rank);
}

std::vector<SlowRank> slow_ranks(const RunData& run)
{
    const RankSpeeds speeds = rank_speeds(run);
    std::vector<SlowRank> slow;
    if (speeds.of_rank.size() < 2 || speeds.visit.empty()) return slow;
    std::vector<Estimate> estimates;
    for (const auto& of_rank : speeds.of_rank) estimates.push_back(median_estimate(of_rank, speeds.visit));
    std::vector<double> sorted;
    for (const Estimate& its : estimates) sorted.push_back(its.value);
    std::ranges::sort(sorted);
    std::map<double, std::vector<double>> distances_from; // to a median of all but one, of which there are three at most
    for (size_t rank = 0; rank < estimates.size(); ++rank) {
        const double usual = median_without(sorted, place_of(estimates[rank].value, sorted));
        std::vector<double>& distances = distances_from[usual];
        if (distances.empty()) {
            for (const double value : sorted) distances.push_back(std::abs(value - usual));
            std::ranges::sort(distances);
        }
        const double spread = mad_to_standard_deviation * median_without(distances, place_of(std::abs(estimates[rank].value - usual), distances));
        const double excess = estimates[rank].value - usual;
        const bool beyond_noise =
            estimates[rank].reaches_95() && estimates[rank].low > usual && excess > 3 * spread;
        if (beyond_noise && excess > std::log1p(relevant_size))
            slow.push_back({static_cast<int32_t>(rank), std::exp(excess)});
    }
    return slow;
}

std::optional<double> trend_over_run(std::span<const PointSamples> points, int32_t launch)
{
    TrendEvidence evidence;
    double last_row = 0;
    for (const PointSamples& samples : points)
        for (const Series* series : {&samples.comp_s, &samples.comm_s}) {
            const Series own = of_launch(*series, launch);
            if (own.empty()) continue;
            last_row = std::max(last_row, static_cast<double>(own.back().row));
            add_series(evidence, visit_medians(own));
        }
    return change_over(evidence, last_row, relevant_size);
}

std::optional<double> trend_within_visits(std::span<const PointSamples> points)
{
    constexpr double smallest = 0.02;
    TrendEvidence evidence;
    std::vector<double> lengths;
    std::vector<Timed> times;
    for (const PointSamples& samples : points)
        for (const Series* series : {&samples.comp_s, &samples.comm_s})
            for (const VisitSamples visit : visits_of(*series)) {
                times.clear();
                for (const Sample& sample : visit)
                    times.push_back({static_cast<double>(sample.row), std::log(sample.value)});
                lengths.push_back(static_cast<double>(visit.back().row - visit.front().row));
                add_series(evidence, times);
            }
    return lengths.empty() ? std::nullopt : change_over(evidence, median(lengths), smallest);
}

std::optional<StartSkew> large_start_skew(const RunData& run)
{
    constexpr double small_share = 0.1; // t_comm is too long by up to the skew: the first rank waits for the last
    const double clock_error_ns = greatest_difference_error_ns(run.clocks);
    struct Samples {
        std::vector<double> skew_ns, comm_ns;
    };
    std::vector<Samples> of_point(run.points.size());
    const Repetitions& r = run.repetitions;
    const auto readings = static_cast<size_t>(r.readings_per_row());
    for (size_t row = 0; row < r.size(); ++row) {
        const auto point = static_cast<size_t>(r.point[row]);
        const bool usable = !r.warmup[row] && !r.late[row] && r.mode[row] == static_cast<uint8_t>(Mode::phases) &&
                            row < r.start_skew_ns.size() && r.start_skew_ns[row] >= 0;
        if (run.points[point].kind != PointKind::crossover || !usable) continue;
        int64_t longest_ns = 0;
        for (size_t i = row * readings; i < (row + 1) * readings; ++i)
            longest_ns = std::max(longest_ns, r.comm_end_ns[i] - r.comm_begin_ns[i]);
        of_point[point].skew_ns.push_back(static_cast<double>(r.start_skew_ns[row]));
        of_point[point].comm_ns.push_back(static_cast<double>(longest_ns));
    }
    std::optional<StartSkew> worst;
    for (size_t i = 0; i < of_point.size(); ++i) {
        if (of_point[i].skew_ns.empty()) continue;
        const double skew_ns = median(of_point[i].skew_ns), comm_ns = median(of_point[i].comm_ns);
        if (skew_ns <= small_share * comm_ns || skew_ns <= clock_error_ns) continue;
        const StartSkew found{static_cast<int32_t>(i), 1e-9 * skew_ns, 1e-9 * comm_ns};
        if (!worst || found.skew_s * worst->t_comm_s > worst->skew_s * found.t_comm_s) worst = found;
    }
    return worst;
}

std::optional<double> slowdown_in_step(std::span<const PointSamples> points)
{
    std::vector<double> log_ratios;
    std::vector<int32_t> visits;
    int32_t visit = 0;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::crossover || samples.comp_s.empty()) continue;
        if (!samples.point.tiles.empty()) continue; // that a matmul gives way to what it hides is no fault
        const double alone = median(values_of(samples.comp_s));
        for (const VisitSamples visit_samples : visits_of(samples.comp_in_step_s)) {
            for (const Sample& sample : visit_samples) {
                log_ratios.push_back(std::log(sample.value / alone));
                visits.push_back(visit);
            }
            ++visit;
        }
    }
    if (log_ratios.empty()) return std::nullopt;
    const Estimate ratio = median_estimate(log_ratios, visits);
    // The medians of the matmuls alone are not exact either, and one of their errors is shared by all of a
    // point's ratios.
    const bool beyond_noise = ratio.reaches_95() && ratio.low > relevant_size / 2;
    return beyond_noise && ratio.value > std::log1p(relevant_size) ? std::optional(std::exp(ratio.value))
                                                                   : std::nullopt;
}

double step_bound_excess(const PointSummary& point)
{
    if (!point.t_comp_s || !point.t_comm_s || !point.t_step_s) return 1;
    const Estimate &comp = *point.t_comp_s, &comm = *point.t_comm_s, &step = *point.t_step_s;
    if (!comp.reaches_95() || !comm.reaches_95() || !step.reaches_95()) return 1;
    // The relevant size also leaves room for medians of skewed times, which do not add up.
    const double against_sum = step.value / (comp.value + comm.value),
                 against_max = step.value / std::max(comp.value, comm.value);
    if (step.low > comp.high + comm.high && against_sum > 1 + relevant_size) return against_sum;
    if (step.high < std::max(comp.low, comm.low) && against_max < 1 - relevant_size) return against_max;
    return 1;
}

} // namespace shardline
