#include "model/precision.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace shardline {
namespace {

TEST(Precision, IsReachedWhereTheNoiseIsSmall)
{
    SyntheticPlan plan;
    plan.noise = 0.002;
    const RunData run = synthetic_run(plan);
    const Precision precision = precision_of({&run, 1});
    EXPECT_TRUE(precision.reached);
    EXPECT_TRUE(precision.wanting.empty());
    ASSERT_EQ(precision.sweeps.size(), 1u);
    EXPECT_EQ(precision.sweeps[0].points.size(), 9u);
    EXPECT_LT(precision.sweeps[0].D_obs_relative_half_width, 0.05);
}

TEST(Precision, PointsThatWantMoreComeInTheOrderTheyMatter)
{
    SyntheticPlan plan;
    plan.noise = 0.1;
    const RunData run = synthetic_run(plan);
    const Precision precision = precision_of({&run, 1});
    EXPECT_FALSE(precision.reached);
    ASSERT_GE(precision.wanting.size(), 3u);
    const SweepPrecision& sweep = precision.sweeps.at(0);
    EXPECT_LT(sweep.bracket_low, sweep.bracket_high);
    EXPECT_GT(sweep.D_obs_relative_half_width, 0.02);
    EXPECT_EQ(precision_of({&run, 1}, {0.02, 0.02}).decisive, 2u);
    EXPECT_EQ(precision_of({&run, 1}, {0.02, 0.9}).decisive, 0u);
    for (size_t i : {0u, 1u})
        EXPECT_TRUE(precision.wanting[i].D == sweep.bracket_low ||
                    precision.wanting[i].D == sweep.bracket_high)
            << precision.wanting[i].D;
    const auto distance = [&](const Point& point) {
        return std::abs(std::log(static_cast<double>(point.D) / sweep.D_obs->value));
    };
    for (size_t i = 3; i < precision.wanting.size(); ++i)
        EXPECT_GE(distance(precision.wanting[i]), distance(precision.wanting[i - 1]));
}

TEST(Precision, OfTooFewSamplesIsUnknown)
{
    SyntheticPlan plan;
    plan.noise = 0.001;
    plan.passes = 1;
    plan.repetitions = 5;
    const RunData run = synthetic_run(plan);
    const Precision precision = precision_of({&run, 1});
    EXPECT_FALSE(precision.reached);
    EXPECT_EQ(precision.wanting.size(), 9u);
    EXPECT_TRUE(std::isinf(precision.sweeps.at(0).points.at(0).t_comp));
}

TEST(Precision, APointNotYetMeasuredIsWanting)
{
    SyntheticPlan plan;
    plan.noise = 0.002;
    RunData run = synthetic_run(plan);
    Point added = run.points.back();
    added.D += 2;
    run.points.push_back(added);
    const Precision precision = precision_of({&run, 1});
    EXPECT_FALSE(precision.reached);
    ASSERT_EQ(precision.wanting.size(), 1u);
    EXPECT_EQ(precision.wanting[0].D, added.D);
}

TEST(Precision, TargetsAreTheCallers)
{
    SyntheticPlan plan;
    plan.noise = 0.1;
    const RunData run = synthetic_run(plan);
    EXPECT_TRUE(precision_of({&run, 1}, {0.5, 0.5}).reached);
    EXPECT_FALSE(precision_of({&run, 1}, {1e-6, 1e-6}).reached);
}

TEST(Precision, ImprovesWithPasses)
{
    SyntheticPlan plan;
    plan.noise = 0.1;
    plan.passes = 6;
    const RunData few = synthetic_run(plan);
    plan.passes = 24;
    const RunData many = synthetic_run(plan);
    EXPECT_LT(precision_of({&many, 1}).sweeps.at(0).D_obs_relative_half_width,
              precision_of({&few, 1}).sweeps.at(0).D_obs_relative_half_width);
}

TEST(Precision, OfARunWithoutASweepIsReached)
{
    SyntheticPlan plan;
    plan.P = 1;
    const RunData run = synthetic_run(plan);
    EXPECT_TRUE(precision_of({&run, 1}).reached);
}

// The runner asks after every pass.
TEST(Precision, IsFast)
{
    SyntheticPlan plan;
    plan.noise = 0.05;
    plan.P = 8;
    plan.passes = 12;
    for (int i = -10; i < 10; ++i)
        plan.D.push_back(static_cast<int64_t>(true_crossover(plan) * std::pow(1.2, i)));
    const RunData run = synthetic_run(plan);
    const auto begin = std::chrono::steady_clock::now();
    precision_of({&run, 1});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
}

} // namespace
} // namespace shardline
