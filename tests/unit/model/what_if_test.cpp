#include "model/what_if.hpp"

#include "model/error.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardline {
namespace {

/// A machine with all that makes the law wrong: start-up, an allreduce short of the link, a matmul with overhead.
SyntheticPlan real_plan()
{
    SyntheticPlan plan;
    plan.machine = {.C_flop_per_s = 2e11, .W_bytes_per_s = 1.2e8, .alpha_s = 5e-5, .matmul_overhead_s = 2e-4, .allreduce_efficiency = 0.7};
    return plan;
}

Forecast forecast_from(const SyntheticPlan& plan, const WhatIf& what_if)
{
    const RunData run = synthetic_run(plan);
    return forecast(collect_samples({&run, 1}), what_if);
}

double error_of(const Forecast& forecast, const SyntheticPlan& truth)
{
    return std::abs(forecast.strategies.front().D_star.value().value / true_crossover(truth) - 1);
}

TEST(WhatIf, GivesBackWhatWasMeasured)
{
    const SyntheticPlan plan = real_plan();
    const Forecast its = forecast_from(plan, {});
    ASSERT_EQ(its.strategies.size(), 1u);
    EXPECT_LT(error_of(its, plan), 0.03);
    EXPECT_FALSE(its.strategies[0].D_star_if_fixed.has_value());
    EXPECT_TRUE(its.notes.empty());
    EXPECT_EQ(its.strategies[0].steps.size(), 9u);
}

TEST(WhatIf, ForecastsRanksThatWereNotMeasured)
{
    for (const int32_t measured : {2, 3, 4})
        for (const int32_t asked : {2, 3, 4, 8, 16}) {
            SyntheticPlan plan = real_plan(), truth = real_plan();
            plan.P = measured;
            truth.P = asked;
            const Forecast its = forecast_from(plan, {.P = asked});
            EXPECT_LT(error_of(its, truth), 0.1) << measured << " -> " << asked;
            EXPECT_EQ(its.asked.P, asked);
            EXPECT_EQ(its.notes.empty(), measured == asked);
        }
}

TEST(WhatIf, StartsFromTheNearestRanksOfARunOfSeveral)
{
    SyntheticPlan two = real_plan(), four = real_plan();
    four.P = 4;
    four.machine.C_flop_per_s /= 2; // as if four ranks shared what two have for themselves
    std::vector<PointSamples> points;
    for (const SyntheticPlan& plan : {two, four}) {
        const RunData run = synthetic_run(plan);
        for (const PointSamples& samples : collect_samples({&run, 1})) points.push_back(samples);
    }
    for (const auto& [asked, nearest] : std::vector<std::pair<int32_t, SyntheticPlan>>{{2, two}, {3, four}, {4, four}, {8, four}}) {
        SyntheticPlan truth = nearest;
        truth.P = asked;
        const Forecast its = forecast(points, {.P = asked});
        EXPECT_EQ(its.measured.P, nearest.P) << asked;
        EXPECT_LT(error_of(its, truth), 0.1) << asked;
    }
}

TEST(WhatIf, ForecastsLinksThatWereNotMeasured)
{
    for (const double factor : {0.1, 0.5, 2.0, 10.0}) {
        SyntheticPlan truth = real_plan();
        truth.machine.W_bytes_per_s *= factor;
        const Forecast its = forecast_from(real_plan(), {.bandwidth_factor = factor});
        EXPECT_LT(error_of(its, truth), 0.1) << factor;
        const std::vector<StepForecast>& steps = its.strategies[0].steps; // around the D* that is asked for
        EXPECT_LT(static_cast<double>(steps.front().D), true_crossover(truth) / 4) << factor;
        EXPECT_GT(static_cast<double>(steps.back().D), true_crossover(truth) * 4) << factor;
        // 30 % of the measured rate is lost to something; if that stays, a quicker link moves D* less.
        const double fixed = its.strategies[0].D_star_if_fixed.value();
        EXPECT_EQ(fixed > its.strategies[0].D_star->value, factor > 1) << factor;

        const Forecast absolute = forecast_from(real_plan(), {.W_bytes_per_s = 1.2e8 * factor});
        EXPECT_NEAR(absolute.strategies[0].D_star->value / its.strategies[0].D_star->value, 1, 0.02);
        EXPECT_NEAR(absolute.D_law->value / (4 * 2e11 / (1.2e8 * factor)), 1, 0.02);
    }
}

TEST(WhatIf, ForecastsTheCaseInWhichTheCostBeyondTheLinkStays)
{
    // By hand, without noise: β = bound/0.7 = bound + 0.43 bound; with ten times the link 0.1 bound + 0.43 bound.
    SyntheticPlan plan = real_plan();
    plan.noise = 0;
    plan.machine.alpha_s = plan.machine.matmul_overhead_s = 0;
    const double D_star = true_crossover(plan);
    const Forecast its = forecast_from(plan, {.bandwidth_factor = 10});
    EXPECT_NEAR(its.strategies[0].D_star->value / D_star, 0.1, 0.002);
    EXPECT_NEAR(*its.strategies[0].D_star_if_fixed / D_star, 0.7 * (0.1 + 1 / 0.7 - 1), 0.01);
}

TEST(WhatIf, ForecastsShapesAndTypesThatWereNotMeasured)
{
    for (const int64_t B : {256, 512, 2048, 4096}) {
        SyntheticPlan truth = real_plan();
        truth.B = B;
        truth.machine.matmul_overhead_s *= static_cast<double>(B) / 1024; // rates by width are what carries over
        const Forecast its = forecast_from(real_plan(), {.B = B});
        EXPECT_LT(error_of(its, truth), 0.1) << B;
        EXPECT_FALSE(its.notes.empty());
    }
    SyntheticPlan truth = real_plan();
    truth.wire_type = ElementType::bf16;
    EXPECT_LT(error_of(forecast_from(real_plan(), {.wire_type = ElementType::bf16}), truth), 0.1);
    truth = real_plan();
    truth.wire_type = ElementType::f64;
    truth.P = 8;
    truth.machine.W_bytes_per_s *= 4;
    EXPECT_LT(error_of(forecast_from(real_plan(), {.P = 8, .wire_type = ElementType::f64, .bandwidth_factor = 4}), truth), 0.1);
}

TEST(WhatIf, ForecastsStepsAndTheBestStrategy)
{
    SyntheticPlan plan = real_plan(), truth = real_plan();
    plan.strategies = truth.strategies = {{"mpi_allreduce", 0}, {"pipelined_thread", 0.8}};
    truth.machine.W_bytes_per_s *= 3;
    const auto near_D_star = static_cast<int64_t>(true_crossover(truth));
    const Forecast its = forecast_from(plan, {.bandwidth_factor = 3, .D = {near_D_star, 10 * near_D_star}});
    ASSERT_EQ(its.strategies.size(), 2u);
    for (size_t step = 0; step < 2; ++step) {
        ASSERT_NE(quickest_at(its, step), nullptr);
        EXPECT_EQ(quickest_at(its, step)->strategy, "pipelined_thread");
        for (const StrategyForecast& strategy : its.strategies) {
            const StepForecast& s = strategy.steps[step];
            const double hidden = strategy.strategy == "mpi_allreduce" ? 0 : 0.8;
            EXPECT_NEAR(s.hidden, hidden, 0.1);
            EXPECT_NEAR(s.t_step_s / (s.t_comp_s + s.t_comm_s - hidden * std::min(s.t_comp_s, s.t_comm_s)), 1, 0.1);
        }
    }
    const StepForecast& at_D_star = its.strategies[0].steps[0];
    EXPECT_NEAR(at_D_star.t_comp_s / at_D_star.t_comm_s, 1, 0.1);
}

TEST(WhatIf, LeavesOutAMeasuredPointAndFindsIt)
{
    SyntheticPlan plan = real_plan();
    const RunData run = synthetic_run(plan);
    const std::vector<PointSamples> all = collect_samples({&run, 1});
    for (const PointSamples& left_out : all) {
        if (left_out.point.kind != PointKind::crossover) continue;
        std::vector<PointSamples> others;
        for (const PointSamples& samples : all)
            if (samples.point.D != left_out.point.D || samples.point.kind != PointKind::crossover) others.push_back(samples);
        const Forecast its = forecast(others, {.D = {left_out.point.D}});
        EXPECT_NEAR(its.strategies[0].steps[0].t_step_s / estimate_of(left_out.step_s)->value, 1, 0.1) << left_out.point.D;
    }
}

TEST(WhatIf, SaysWhatItRestsOn)
{
    const Forecast its = forecast_from(real_plan(), {.B = 64, .F = 64, .P = 4, .wire_type = ElementType::bf16});
    EXPECT_EQ(its.notes.size(), 4u); // another shape, ranks, type, and a message smaller than any measured
}

TEST(WhatIf, RefusesWhatHasNoAnswer)
{
    SyntheticPlan single;
    single.P = 1;
    EXPECT_THROW(forecast_from(single, {}), InputError);
    EXPECT_THROW(forecast_from(real_plan(), {.P = 1}), InputError);
    SyntheticPlan uncalibrated = real_plan();
    uncalibrated.calibrated = false;
    EXPECT_THROW(forecast_from(uncalibrated, {}), InputError); // one size of message tells nothing of another
    EXPECT_THROW(forecast({}, {}), InputError);
}

} // namespace
} // namespace shardline
