#include "model/overlap.hpp"

#include "model/analysis.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

TEST(OverlapMeasures, OfAPlainStepAreZero)
{
    const OverlapMeasures none = overlap_measures(2, 1, 3, 2);
    EXPECT_DOUBLE_EQ(none.osu_percent, 0);
    EXPECT_DOUBLE_EQ(none.imb_nbc_percent, 0);
    EXPECT_DOUBLE_EQ(none.imb_async_over_comm_s, 1);
    EXPECT_DOUBLE_EQ(none.imb_async_over_calc_s, 0);
}

TEST(OverlapMeasures, OfAPerfectStepAreHundredPercent)
{
    const OverlapMeasures full = overlap_measures(2, 1, 2, 2);
    EXPECT_DOUBLE_EQ(full.osu_percent, 100);
    EXPECT_DOUBLE_EQ(full.imb_nbc_percent, 100);
    EXPECT_DOUBLE_EQ(full.imb_async_over_comm_s, 0);
}

// Of fixed work, what communication takes from the matmul counts: IMB-NBC, which times the matmul as it ran, does not see it.
TEST(OverlapMeasures, AreNotClamped)
{
    const OverlapMeasures stolen = overlap_measures(2, 1, 3.5, 3.5);
    EXPECT_DOUBLE_EQ(stolen.osu_percent, -50);
    EXPECT_DOUBLE_EQ(stolen.imb_nbc_percent, 100);
    EXPECT_DOUBLE_EQ(stolen.imb_async_over_comm_s, 0);
    EXPECT_DOUBLE_EQ(stolen.imb_async_over_calc_s, 1.5);
}

/// A launch of that strategy whose steps take so many times their communication alone.
RunData launch_of(const std::string& strategy, double step_factor, uint64_t seed)
{
    SyntheticPlan plan;
    plan.D = {2000, 20000};
    plan.noise = 0.01;
    plan.seed = seed;
    plan.step_factor = step_factor;
    RunData run = synthetic_run(plan);
    for (Point& point : run.points)
        if (point.kind == PointKind::crossover) point.strategy = strategy;
    return run;
}

TEST(Overlap, GivesPlantedBoundsBack)
{
    const std::vector<RunData> launches{launch_of("mpi_allreduce", 1, 1), launch_of("pipelined_thread", 0.1, 2)};
    const auto points = overlap_points(collect_samples(launches));
    ASSERT_EQ(points.size(), 4u);
    for (const OverlapPoint& point : points) {
        const bool plain = point.point.strategy == "mpi_allreduce";
        const double comp = point.t_comp_s.value, comm = point.t_comm_s.value;
        const double step = comp + (plain ? 1 : 0.1) * comm;
        EXPECT_NEAR(point.step_over_max.value, step / std::max(comp, comm), 0.03);
        EXPECT_NEAR(point.step_over_sum.value, step / (comp + comm), 0.03);
        EXPECT_NEAR(point.overlap.osu_percent, plain ? 0 : 90, 6);
        EXPECT_LT(point.step_over_max.low, point.step_over_max.value);
        EXPECT_FALSE(point.floor_s);
    }
}

TEST(Overlap, TakesTheFloorFromTheProcessorTimeOfTheExchange)
{
    RunData run = launch_of("pipelined_thread", 0.1, 1);
    for (auto& cpu_ns : run.repetitions.comm_cpu_ns) cpu_ns = 1'000'000;
    for (const OverlapPoint& point : overlap_points(collect_samples({&run, 1}))) {
        ASSERT_TRUE(point.floor_s);
        EXPECT_DOUBLE_EQ(*point.comm_cpu_s, 1e-3);
        EXPECT_DOUBLE_EQ(*point.floor_s, std::max(point.t_comp_s.value + 1e-3, point.t_comm_s.value));
    }
}

TEST(Advice, NamesTheFastestStrategyAndWhatItGains)
{
    const std::vector<RunData> launches{launch_of("mpi_allreduce", 1, 1), launch_of("pipelined_thread", 0.1, 2),
                                        launch_of("mpi_iallreduce", 1.3, 3)};
    const auto advice = advise(overlap_points(collect_samples(launches)));
    ASSERT_EQ(advice.size(), 2u);
    for (const StrategyAdvice& its : advice) {
        EXPECT_EQ(its.at.strategy, "pipelined_thread");
        EXPECT_EQ(its.against, "mpi_allreduce");
        EXPECT_TRUE(its.certain);
        EXPECT_TRUE(its.as_good.empty());
        EXPECT_GT(its.speedup.value, 1);
        ASSERT_EQ(its.losing.size(), 1u);
        EXPECT_EQ(its.losing[0].strategy, "mpi_iallreduce");
        EXPECT_LT(its.losing[0].speedup.high, 1);
    }
    EXPECT_GT(advice[0].speedup.value, advice[1].speedup.value); // more to hide below the crossover
}

TEST(Advice, SaysWhereNothingIsGained)
{
    const std::vector<RunData> launches{launch_of("mpi_allreduce", 1, 1), launch_of("segmented_ring", 1, 2)};
    for (const StrategyAdvice& its : advise(overlap_points(collect_samples(launches)))) {
        EXPECT_FALSE(its.as_good.empty());
        EXPECT_TRUE(its.losing.empty());
    }
}

TEST(Analysis, SpeaksOfOverlapOnlyWhereThereIsAChoice)
{
    const std::vector<RunData> one{launch_of("mpi_allreduce", 1, 1)};
    EXPECT_TRUE(analyse(one).overlap.empty());
    const std::vector<RunData> two{launch_of("mpi_allreduce", 1, 1), launch_of("segmented_ring", 1, 2)};
    EXPECT_EQ(analyse(two).overlap.size(), 4u);
    EXPECT_NE(analyse(two).reason.find("segmented_ring") + analyse(two).reason.find("mpi_allreduce"), 2 * std::string::npos);
}

} // namespace
} // namespace shardline
