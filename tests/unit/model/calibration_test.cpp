#include "model/calibration.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardline {
namespace {

Sweep sweep_of_plan(const SyntheticPlan& plan)
{
    return {plan.B, plan.F, plan.P, plan.compute_type, plan.wire_type, "mpi_allreduce"};
}

TEST(Calibration, FindsTheMachine)
{
    SyntheticPlan plan;
    plan.noise = 1e-3;
    plan.machine.alpha_s = 60e-6;
    const RunData run = synthetic_run(plan);
    const Calibration calibration = calibrate(collect_samples({&run, 1}), 2, ElementType::f32);
    ASSERT_TRUE(calibration.C_flop_per_s && calibration.W_bytes_per_s && calibration.alpha_s);
    EXPECT_NEAR(calibration.C_flop_per_s->value / plan.machine.C_flop_per_s, 1, 2e-3);
    EXPECT_NEAR(calibration.W_bytes_per_s->value / plan.machine.W_bytes_per_s, 1, 2e-3);
    EXPECT_NEAR(calibration.alpha_s->value / plan.machine.alpha_s, 1, 5e-3);
    EXPECT_GT(calibration.W_segment_bytes, 0);
    EXPECT_LT(calibration.C_flop_per_s->relative_half_width(), 0.01);
}

TEST(Calibration, IsOfTheSlowestRank)
{
    SyntheticPlan plan;
    plan.noise = 1e-3;
    plan.P = 3;
    plan.slow_rank = 2;
    const RunData run = synthetic_run(plan);
    EXPECT_NEAR(calibrate(collect_samples({&run, 1}), 3, ElementType::f32).C_flop_per_s->value /
                    plan.machine.C_flop_per_s,
                0.5, 2e-3);
}

TEST(Calibration, TakesTheSegmentSizeThatIsFastest)
{
    SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    Repetitions& r = run.repetitions;
    for (size_t row = 0; row < r.size(); ++row) {
        const Point& point = run.points[static_cast<size_t>(r.point[row])];
        if (point.kind != PointKind::exchange || point.segment_bytes == 1 << 17) continue;
        for (size_t i = 2 * row; i < 2 * row + 2; ++i)
            r.comm_end_ns[i] += r.comm_end_ns[i] - r.comm_begin_ns[i]; // half duplex
    }
    const Calibration calibration = calibrate(collect_samples({&run, 1}), 2, ElementType::f32);
    EXPECT_EQ(calibration.W_segment_bytes, 1 << 17);
    EXPECT_NEAR(calibration.W_bytes_per_s->value / plan.machine.W_bytes_per_s, 1, 0.03);
}

TEST(Calibration, OnlyMatmulsOfTheComputeTypeCount)
{
    SyntheticPlan plan;
    plan.compute_type = ElementType::f64;
    const RunData run = synthetic_run(plan);
    const auto points = collect_samples({&run, 1});
    EXPECT_TRUE(calibrate(points, 2, ElementType::f64).C_flop_per_s);
    EXPECT_FALSE(calibrate(points, 2, ElementType::f32).C_flop_per_s);
}

TEST(Calibration, WithoutPointsThereIsNothing)
{
    SyntheticPlan plan;
    plan.calibrated = false;
    const RunData run = synthetic_run(plan);
    const auto points = collect_samples({&run, 1});
    const Calibration calibration = calibrate(points, 2, ElementType::f32);
    EXPECT_FALSE(calibration.C_flop_per_s || calibration.W_bytes_per_s || calibration.alpha_s);
    EXPECT_FALSE(law_crossover(calibration, sweep_of_plan(plan)));
    EXPECT_FALSE(model_crossover(points, sweep_of_plan(plan)));
    EXPECT_FALSE(predicted_crossover(run, sweep_of_plan(plan)));
}

TEST(LawCrossover, UsesTheWireTypeAndTheRanks)
{
    Calibration calibration;
    calibration.C_flop_per_s = Estimate{2e11, 1.98e11, 2.02e11, 30};
    calibration.W_bytes_per_s = Estimate{1e8, 0.99e8, 1.01e8, 30};
    Sweep sweep{1024, 1024, 2, ElementType::f32, ElementType::bf16, "mpi_allreduce"};
    EXPECT_DOUBLE_EQ(law_crossover(calibration, sweep)->value, 2 * 2e11 / 1e8);
    sweep.wire_type = ElementType::f64;
    sweep.P = 4;
    EXPECT_DOUBLE_EQ(law_crossover(calibration, sweep)->value, 24 * 2e11 / 1e8);
    sweep.P = 1;
    EXPECT_FALSE(law_crossover(calibration, sweep));
}

TEST(AllreduceCost, LeavesOutTheSizeOfTheExperimentItself)
{
    SyntheticPlan plan;
    plan.noise = 1e-3;
    RunData run = synthetic_run(plan);
    auto points = collect_samples({&run, 1});
    const Sweep sweep = sweep_of_plan(plan);
    const auto honest = allreduce_cost(points, sweep);
    ASSERT_TRUE(honest);
    EXPECT_EQ(honest->n, 4);
    EXPECT_NEAR(honest->b * plan.machine.W_bytes_per_s, 1, 0.01);
    // A calibration sample of V itself, as another (B, F) may have taken it, changes nothing.
    PointSamples at_V = *std::find_if(points.begin(), points.end(), [](const PointSamples& samples) {
        return samples.point.kind == PointKind::allreduce;
    });
    at_V.point.message_bytes = static_cast<int64_t>(sweep.V());
    points.push_back(at_V);
    EXPECT_EQ(allreduce_cost(points, sweep)->n, 4);
}

TEST(AllreduceCost, IsOfTheSameOperation)
{
    const SyntheticPlan plan;
    const RunData run = synthetic_run(plan);
    const auto points = collect_samples({&run, 1});
    Sweep sweep = sweep_of_plan(plan);
    sweep.strategy = "ring";
    EXPECT_FALSE(allreduce_cost(points, sweep));
    sweep = sweep_of_plan(plan);
    sweep.wire_type = ElementType::f64;
    EXPECT_FALSE(allreduce_cost(points, sweep));
}

TEST(ModelCrossover, AccountsForSmallMatmulsAndASlowAllreduce)
{
    SyntheticPlan plan;
    plan.noise = 2e-3;
    plan.machine.matmul_overhead_s = 8e-3;
    plan.machine.allreduce_efficiency = 0.69;
    plan.machine.alpha_s = 1e-4;
    const RunData run = synthetic_run(plan);
    const auto D = model_crossover(collect_samples({&run, 1}), sweep_of_plan(plan));
    ASSERT_TRUE(D);
    EXPECT_NEAR(D->value / true_crossover(plan), 1, 0.02);
}

TEST(PredictedCrossover, IsTheAnalysisOwnModel)
{
    const SyntheticPlan plan;
    const RunData run = synthetic_run(plan);
    const auto prediction = predicted_crossover(run, sweep_of_plan(plan));
    ASSERT_TRUE(prediction);
    EXPECT_TRUE(prediction->from_model);
    EXPECT_EQ(prediction->D.value, model_crossover(collect_samples({&run, 1}), sweep_of_plan(plan))->value);
}

TEST(PredictedCrossover, FallsBackOnTheLaw)
{
    const SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    Sweep sweep = sweep_of_plan(plan);
    sweep.strategy = "ring"; // for which no allreduce was calibrated
    const auto prediction = predicted_crossover(run, sweep);
    ASSERT_TRUE(prediction);
    EXPECT_FALSE(prediction->from_model);
    EXPECT_NEAR(prediction->D.value / true_crossover(plan), 1, 0.03);
}

} // namespace
} // namespace shardline
