#include "model/findings.hpp"

#include "model/calibration.hpp"
#include "model/detectors.hpp"
#include "model/observation.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace shardline {

namespace {

/// "3.1 % more" or "12 % less".
std::string change_text(double relative_change)
{
    return number_text(100 * std::abs(relative_change)) + (relative_change > 0 ? " % more" : " % less");
}

std::string host_of(const RunData& run, int32_t rank)
{
    return static_cast<size_t>(rank) < run.ranks.size() ? run.ranks[static_cast<size_t>(rank)].host : "an unknown host";
}

/// Where the curves cross and where the law puts it, for one sweep.
std::string crossover_text(std::span<const PointSamples> points, const Sweep& sweep)
{
    const auto crossing = observe(points, sweep).crossing;
    const auto law = law_crossover(calibrate(points, sweep.P, sweep.compute_type), sweep);
    return (crossing ? "D* is " + number_text(crossing->D.value) : "the measured curves do not cross") +
           (law ? " and the law says " + number_text(law->value) : " and the law's D* is not known");
}

/// What slow ranks cost: the first sweep of the most ranks with them and without them.
std::string with_and_without(std::span<const RunData> launches, std::span<const PointSamples> points,
                             const std::vector<int32_t>& ranks)
{
    const std::vector<Sweep> sweeps = sweeps_in(points);
    if (sweeps.empty()) return "";
    const Sweep& sweep = *std::ranges::max_element(sweeps, {}, &Sweep::P);
    if (sweep.P < 2) return "";
    const std::string them = ranks.size() == 1 ? "it " : "them ";
    const bool thinned = std::ranges::any_of(launches, [](const RunData& run) { return run.repetitions.kept > 0; });
    if (thinned) return "; with " + them + crossover_text(points, sweep) + " (what it is without " + them + "is not known, as the samples are thinned)";
    return "; with " + them + crossover_text(points, sweep) + ", without " + them +
           crossover_text(collect_samples(launches, ranks), sweep);
}

/// "rank 2 on node2 computes" or "ranks 2, 3 on node1 compute"
std::string slow_text(const std::vector<int32_t>& ranks, const std::string& host)
{
    std::string numbers;
    for (int32_t rank : ranks) numbers += (numbers.empty() ? "" : ", ") + std::to_string(rank);
    const bool one = ranks.size() == 1;
    return (one ? "rank " : "ranks ") + numbers + " on " + host + (one ? " computes " : " compute ");
}

void add_slow_ranks(std::vector<Finding>& findings, std::span<const RunData> launches,
                    std::span<const PointSamples> points)
{
    // A slow host makes all of its ranks slow: one trouble, and gone only without them all.
    std::map<std::string, std::map<int32_t, double>> factors_on;
    for (const RunData& run : launches)
        for (const SlowRank& slow : slow_ranks(run)) {
            double& factor = factors_on[host_of(run, slow.rank)][slow.rank];
            factor = std::max(factor, slow.factor);
        }
    for (const auto& [host, factors] : factors_on) {
        std::vector<int32_t> ranks;
        double largest = 1;
        for (const auto& [rank, factor] : factors) {
            ranks.push_back(rank);
            largest = std::max(largest, factor);
        }
        findings.push_back({"slow_rank", Severity::warning, ranks.front(),
                            slow_text(ranks, host) + number_text(largest) +
                                " times as long as the others (the slowest rank decides the time of a step)" +
                                with_and_without(launches, points, ranks) +
                                ": look for other load, clock or memory on that host"});
    }
}

/// ", most at B = 1024, D = 512, F = 1024 (25 % more)": where the change of all points together shows in one alone; else nothing.
std::string most_at(std::span<const PointSamples> points, int32_t launch)
{
    double most = 0;
    const Point* where = nullptr;
    for (const PointSamples& samples : points)
        if (const auto change = trend_over_run({&samples, 1}, launch); change && std::abs(*change) > std::abs(most)) {
            most = *change;
            where = &samples.point;
        }
    return where ? ", most at " + name_of(*where) + " (" + change_text(most) + ")" : "";
}

void add_trends(std::vector<Finding>& findings, std::span<const RunData> launches,
                std::span<const PointSamples> points)
{
    for (int32_t launch = 0; launch < static_cast<int32_t>(launches.size()); ++launch)
        if (const auto change = trend_over_run(points, launch))
            findings.push_back(
                {"trend", Severity::warning, -1,
                 "over all points the last repetitions take " + change_text(*change) + " time than the first" + most_at(points, launch) +
                     (launches.size() > 1 ? " in " + launches[static_cast<size_t>(launch)].path : "") +
                     " (the clock, heat or other load changed; medians mix the beginning with the end): "
                     "let the machine settle and measure again"});
    if (const auto change = trend_within_visits(points))
        findings.push_back({"trend_in_visit", Severity::warning, -1,
                            "the last repetition of a visit takes " + change_text(*change) +
                                " time than the first "
                                "(the warm-ups do not reach a steady state): add warm-ups"});
}

/// Which of a point's times has two modes, for a sentence.
struct Quantity {
    const char* name;
    PointKind kind;
    Series PointSamples::*series;
};

/// The short exchange gives the start-up time alone.
bool gives_W(const Point& point) { return point.kind == PointKind::exchange && point.message_bytes >= 1024 * 1024; }

void add_bimodal(std::vector<Finding>& findings, std::span<const PointSamples> points)
{
    for (const Quantity quantity :
         {Quantity{"matmul", PointKind::crossover, &PointSamples::comp_s},
          Quantity{"communication", PointKind::crossover, &PointSamples::comm_s},
          Quantity{"step", PointKind::crossover, &PointSamples::step_s},
          Quantity{"exchange that gives W", PointKind::exchange, &PointSamples::comm_s}}) {
        int count = 0;
        std::optional<TwoModes> first;
        const Point* where = nullptr;
        for (const PointSamples& samples : points) {
            if (samples.point.kind != quantity.kind) continue;
            if (quantity.kind == PointKind::exchange && !gives_W(samples.point)) continue;
            const auto modes = two_modes(values_of(samples.*quantity.series));
            if (!modes) continue;
            if (++count == 1) {
                first = modes;
                where = &samples.point;
            }
        }
        if (!first) continue;
        findings.push_back(
            {"bimodal", Severity::warning, -1,
             std::string("the ") + quantity.name + " takes one of two times at " + name_of(*where) + ": " +
                 si_text(first->low, "s") + " in " + percent_text(1 - first->share_high) +
                 " of the samples, " + si_text(first->high, "s") + " in " + percent_text(first->share_high) +
                 (count > 1 ? ", and likewise at " + std::to_string(count - 1) + " more points" : "") +
                 " (a median between two modes stands for neither): find what switches, such as clock, placement or route"});
    }
}

/// Points outside a bound: how many, and which is furthest.
struct Outside {
    int count = 0;
    double furthest = 1; ///< as step_bound_excess gives it
    const Point* where = nullptr;

    void add(const Point& point, double excess)
    {
        ++count;
        if (std::abs(excess - 1) <= std::abs(furthest - 1)) return;
        furthest = excess;
        where = &point;
    }
    std::string text() const
    {
        return "at " + std::to_string(count) + (count == 1 ? " point" : " points") + ", furthest at " +
               name_of(*where) + " by " + percent_text(std::abs(furthest - 1));
    }
};

void add_step_bounds(std::vector<Finding>& findings, std::span<const PointSamples> points)
{
    Outside above, below;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::crossover || samples.point.P < 2) continue;
        const double excess = step_bound_excess(summary_of(samples));
        if (excess > 1) above.add(samples.point, excess);
        if (excess < 1) below.add(samples.point, excess);
    }
    if (above.count > 0)
        findings.push_back(
            {"step_above_sum", Severity::warning, -1,
             "a step takes longer than matmul and communication one after the other " + above.text() +
                 " (each slows the other, or ranks wait for each other): compare the parts within the step"});
    if (below.count > 0)
        findings.push_back(
            {"step_below_max", Severity::warning, -1,
             "a step takes less time than its longer part alone " + below.text() +
                 " (the parts alone are slowed by something the step is not, such as cold caches or a slow barrier): "
                 "do not read overlap from this run"});
}

void add_slowdown_in_step(std::vector<Finding>& findings, std::span<const PointSamples> points)
{
    if (const auto factor = slowdown_in_step(points))
        findings.push_back(
            {"slower_in_step", Severity::warning, -1,
             "the matmul takes " + number_text(*factor) +
                 " times as long inside the step as on its own "
                 "(communication takes cores or memory bandwidth from it): leave a core to MPI, or count it as cost of the step"});
}

void add_late_starts(std::vector<Finding>& findings, std::span<const RunData> launches)
{
    constexpr double many = 0.25;
    size_t late = 0, all = 0;
    for (const RunData& run : launches) {
        late += static_cast<size_t>(std::count(run.repetitions.late.begin(), run.repetitions.late.end(), 1));
        all += run.repetitions.size();
    }
    if (late == 0) return;
    const double share = static_cast<double>(late) / static_cast<double>(all);
    findings.push_back(
        {"late_starts", share > many ? Severity::warning : Severity::note, -1,
         std::to_string(late) + " of " + std::to_string(all) +
             " repetitions began late on a rank and are not used (other load, or clocks that drift)"});
}

void add_start_skew(std::vector<Finding>& findings, std::span<const RunData> launches)
{
    for (const RunData& run : launches)
        if (const auto skew = large_start_skew(run))
            findings.push_back(
                {"start_skew", Severity::warning, -1,
                 "the ranks start the communication " + si_text(skew->skew_s, "s") + " apart at " +
                     name_of(run.points[static_cast<size_t>(skew->point)]) + ", where it takes " +
                     si_text(skew->t_comm_s, "s") + (launches.size() > 1 ? " in " + run.path : "") +
                     " (the first waits for the last, so t_comm is too long by up to that): use larger B or F, or give each "
                     "rank a core of its own"});
}

/// Of each point that failed a check: the checks' worst.
std::map<int32_t, Check> worst_failed_checks(const RunData& run)
{
    std::map<int32_t, Check> worst;
    for (const Check& check : run.checks) {
        if (check.passed()) continue;
        const auto [found, is_new] = worst.try_emplace(check.point, check);
        Check& kept = found->second;
        if (is_new) continue;
        kept.ranks_agree = kept.ranks_agree && check.ranks_agree;
        // NaN, which compares as false, is worst of all.
        if (!std::isnan(kept.max_error) && !(check.max_error <= kept.max_error))
            kept.max_error = check.max_error;
    }
    return worst;
}

Finding finding_of(const Check& failed, const Point& point)
{
    if (failed.max_error <= failed.bound)
        return {"ranks_disagree", Severity::invalid, -1,
                "the ranks hold different results at " + name_of(point) +
                    " (an allreduce must give all ranks the same bits, so its times mean nothing): "
                    "try another MPI, algorithm or strategy"};
    return {"wrong_result", Severity::invalid, -1,
            "the result is wrong at " + name_of(point) + ": largest error " +
                (std::isnan(failed.max_error) ? "NaN" : number_text(failed.max_error)) + ", allowed " +
                number_text(failed.bound) +
                " (times of a wrong result mean nothing): check BLAS and MPI, or try others"};
}

} // namespace

std::vector<Finding> failed_checks(std::span<const RunData> launches, const Sweep* sweep)
{
    std::vector<Finding> findings;
    for (const RunData& run : launches)
        for (const auto& [index, check] : worst_failed_checks(run)) {
            const Point& point = run.points[static_cast<size_t>(index)];
            const bool wanted = !sweep || (point.kind == PointKind::crossover && sweep_of(point) == *sweep);
            if (wanted) findings.push_back(finding_of(check, point));
        }
    return findings;
}

std::vector<Finding> findings_in(std::span<const RunData> launches, std::span<const PointSamples> points)
{
    std::vector<Finding> findings = failed_checks(launches);
    add_slow_ranks(findings, launches, points);
    add_trends(findings, launches, points);
    add_bimodal(findings, points);
    add_step_bounds(findings, points);
    add_slowdown_in_step(findings, points);
    add_late_starts(findings, launches);
    add_start_skew(findings, launches);
    return findings;
}

} // namespace shardline
