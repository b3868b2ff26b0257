#include "model/run_progress.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardline {
namespace {

/// The run as it stood after so many rows.
RunData cut_off(RunData run, size_t rows)
{
    Repetitions& r = run.repetitions;
    const auto cut = [rows](auto& column, size_t width) { column.resize(rows * width); };
    const auto ranks = static_cast<size_t>(r.ranks);
    cut(r.point, 1), cut(r.mode, 1), cut(r.pass, 1), cut(r.repetition, 1), cut(r.warmup, 1), cut(r.late, 1), cut(r.start_skew_ns, 1);
    for (auto* column : {&r.comp_begin_ns, &r.comp_end_ns, &r.comm_begin_ns, &r.comm_end_ns, &r.main_cpu_ns, &r.comm_cpu_ns}) cut(*column, ranks);
    cut(r.peer, ranks);
    return run;
}

double end_s(const RunData& run)
{
    const Repetitions& r = run.repetitions;
    const size_t i = (r.size() - 1) * static_cast<size_t>(r.ranks);
    return 1e-9 * static_cast<double>(std::max(r.comp_end_ns[i], r.comm_end_ns[i]));
}

TEST(RunProgressTest, CountsVisits)
{
    const SyntheticPlan plan;
    const RunData run = synthetic_run(plan);
    const RunProgress progress = progress_of(run, {.passes = plan.passes, .time_budget_s = 0, .watchdog_s = 300});
    EXPECT_TRUE(progress.sweeping);
    ASSERT_EQ(progress.visits.size(), run.points.size());
    for (int64_t visits : progress.visits) EXPECT_EQ(visits, plan.passes);
    EXPECT_EQ(progress.visits_done, plan.passes * static_cast<int64_t>(run.points.size()));
}

TEST(RunProgressTest, OfAnotherMeasureNothingIsCalibratedApart)
{
    const SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    for (Point& point : run.points) point.kind = PointKind::link;
    const RunProgress progress = progress_of(run, {.passes = plan.passes, .time_budget_s = 0, .watchdog_s = 300});
    EXPECT_TRUE(progress.sweeping);
    EXPECT_EQ(progress.visits_planned, progress.visits_done);
}

TEST(RunProgressTest, SaysHowLongTheRestTakes)
{
    SyntheticPlan plan;
    plan.calibrated = false; // then every visit is a planned one
    const RunData whole = synthetic_run(plan);
    const size_t half = whole.repetitions.size() / 2;
    const RunData run = cut_off(whole, half);
    const RunProgress progress = progress_of(run, {.passes = plan.passes, .time_budget_s = 0, .watchdog_s = 300});
    EXPECT_EQ(2 * progress.visits_done, progress.visits_planned);
    ASSERT_TRUE(progress.seconds_left.has_value());
    EXPECT_NEAR(*progress.seconds_left / (end_s(whole) - end_s(run)), 1, 0.1);
    EXPECT_EQ(*progress_of(whole, {.passes = plan.passes, .time_budget_s = 0, .watchdog_s = 300}).seconds_left, 0);
}

TEST(RunProgressTest, KeepsToTheTimeBudget)
{
    SyntheticPlan plan;
    plan.calibrated = false;
    const RunData whole = synthetic_run(plan);
    const RunData run = cut_off(whole, whole.repetitions.size() / 2);
    const double measured_s = progress_of(run, {}).measured_s;
    const auto budget_s = static_cast<int64_t>(measured_s) + 1;
    const RunProgress progress = progress_of(run, {.passes = 10, .time_budget_s = budget_s, .watchdog_s = 300});
    ASSERT_TRUE(progress.seconds_left.has_value());
    EXPECT_DOUBLE_EQ(*progress.seconds_left, static_cast<double>(budget_s) - measured_s);
    EXPECT_EQ(*progress_of(run, {.passes = 10, .time_budget_s = 1, .watchdog_s = 300}).seconds_left, 0);
}

TEST(RunProgressTest, KnowsNothingOfTheSweepWhileCalibrating)
{
    SyntheticPlan plan;
    plan.P = 1;
    RunData run = synthetic_run(plan);
    const RunProgress progress = progress_of(run, {});
    EXPECT_FALSE(progress.sweeping);
    EXPECT_FALSE(progress.seconds_left.has_value());
    EXPECT_GT(progress.measured_s, 0);
}

TEST(RunProgressTest, LeavesOutThePauseOfAResumedRun)
{
    SyntheticPlan plan;
    plan.calibrated = false;
    RunData run = synthetic_run(plan);
    const RunProgress before = progress_of(run, {});
    Repetitions& r = run.repetitions;
    for (const int64_t hours : {5, -7}) { // it went on later, or on a machine that was started later
        RunData resumed = run;
        for (auto* column : {&resumed.repetitions.comp_begin_ns, &resumed.repetitions.comp_end_ns, &resumed.repetitions.comm_begin_ns,
                             &resumed.repetitions.comm_end_ns})
            for (size_t i = column->size() / 2; i < column->size(); ++i) (*column)[i] += hours * 3'600'000'000'000;
        const RunProgress after = progress_of(resumed, {});
        EXPECT_NEAR(after.measured_s / before.measured_s, 1, 0.01) << hours;
        EXPECT_LT(after.longest_pause_s, 300) << hours;
    }
    EXPECT_GT(r.size(), 0u);
}

TEST(RunProgressTest, IsNothingBeforeTheFirstRepetition)
{
    RunData run = cut_off(synthetic_run({}), 0);
    const RunProgress progress = progress_of(run, {});
    EXPECT_EQ(progress.visits_done, 0);
    EXPECT_EQ(progress.measured_s, 0);
    EXPECT_FALSE(progress.seconds_left.has_value());
}

} // namespace
} // namespace shardline
