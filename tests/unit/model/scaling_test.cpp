// Crossovers of a machine that is known: what is said of D* over B, ranks and types is what was planted, failures too.

#include "model/scaling.hpp"

#include "model/analysis.hpp"
#include "model/draws.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace shardline {
namespace {

using testing::HasSubstr;

constexpr double tolerance = 1.25;

Estimate around(double value, double relative_half_width = 0.02)
{
    return {value, value / (1 + relative_half_width), value * (1 + relative_half_width), 30};
}

Crossover crossover(int64_t B, int32_t P, double D_law, double D_obs, double D_model)
{
    Crossover its;
    its.B = B;
    its.F = 1024;
    its.P = P;
    its.strategy = "mpi_allreduce";
    its.D_law = around(D_law);
    its.D_obs = around(D_obs);
    its.D_model = around(D_model);
    return its;
}

const Claim& claim_named(const std::vector<Scaling>& scalings, const std::string& name)
{
    for (const Scaling& scaling : scalings)
        for (const Claim& claim : scaling.claims)
            if (claim.name == name) return claim;
    throw std::runtime_error("no claim " + name);
}

Verdict verdict_of(const std::vector<Crossover>& crossovers, const std::string& name)
{
    return claim_named(scalings_of(crossovers, {}, tolerance), name).verdict;
}

// ---------------------------------------------------------------------------------------------------
// From crossovers

TEST(Scaling, NeedsTwoCrossoversThatDifferInOneThing)
{
    EXPECT_TRUE(scalings_of({}, {}, tolerance).empty());
    EXPECT_TRUE(scalings_of(std::vector{crossover(64, 2, 100, 100, 100)}, {}, tolerance).empty());
    EXPECT_TRUE(scalings_of(std::vector{crossover(64, 2, 100, 100, 100), crossover(128, 4, 300, 300, 300)}, {}, tolerance).empty());
}

TEST(Scaling, FindsEveryLineOfAGridOnce)
{
    std::vector<Crossover> grid;
    for (const int64_t B : {64, 256, 1024})
        for (const int64_t F : {512, 2048}) {
            grid.push_back(crossover(B, 2, 100, 100, 100));
            grid.back().F = F;
        }
    const auto scalings = scalings_of(grid, {}, tolerance);
    EXPECT_EQ(std::ranges::count(scalings, ScalingOver::B, &Scaling::over), 2);
    EXPECT_EQ(std::ranges::count(scalings, ScalingOver::F, &Scaling::over), 3);
    EXPECT_EQ(scalings.size(), 5u);
    EXPECT_EQ(scalings[0].rows.size(), 3u);
}

/// Crossovers over B with D_obs and D_model as given.
std::vector<Crossover> over_B(const std::function<double(double B)>& D_obs, const std::function<double(double B)>& D_model)
{
    std::vector<Crossover> crossovers;
    for (const int64_t B : {1024, 16, 64, 256})
        crossovers.push_back(crossover(B, 2, 1000, D_obs(static_cast<double>(B)), D_model(static_cast<double>(B))));
    return crossovers;
}

double constant(double) { return 1000; }
double falling(double B) { return 1000 * std::pow(B / 1024, -0.25); }
double bulging(double B) { return B == 64 ? 2000 : 1000; }

TEST(ScalingOverB, HoldsWhereTheBatchDoesNotMatter)
{
    EXPECT_EQ(verdict_of(over_B(constant, constant), "D_independent_of_B"), Verdict::holds);
    // Whatever the model says.
    EXPECT_EQ(verdict_of(over_B(constant, falling), "D_independent_of_B"), Verdict::holds);
}

TEST(ScalingOverB, IsExplainedWhereTheFittedCostsSayAsMuch)
{
    EXPECT_EQ(verdict_of(over_B(falling, falling), "D_independent_of_B"), Verdict::explained);
    EXPECT_EQ(verdict_of(over_B(bulging, bulging), "D_independent_of_B"), Verdict::explained);
}

TEST(ScalingOverB, IsRefutedWhereTheyDoNot)
{
    EXPECT_EQ(verdict_of(over_B(falling, constant), "D_independent_of_B"), Verdict::refuted);
    // No slope, but not the same either.
    EXPECT_EQ(verdict_of(over_B(bulging, constant), "D_independent_of_B"), Verdict::refuted);
}

TEST(ScalingOverB, GivesTheExponentBack)
{
    const auto scalings = scalings_of(over_B(falling, constant), {}, tolerance);
    EXPECT_NEAR(scalings[0].exponent->value, -0.25, 1e-9);
    EXPECT_LT(scalings[0].exponent->low, -0.25);
    EXPECT_GT(scalings[0].exponent->high, -0.25);
    EXPECT_EQ(scalings[0].rows.front().crossover, 1u); // by B, whatever the order of the crossovers
    EXPECT_THAT(scalings[0].claims[0].reason, HasSubstr("from B = 16 to 1024"));
}

TEST(ScalingOverB, SaysFromWhichSizeOnItHolds)
{
    const auto start_up = [](double B) { return 1000 * (1 + 100 / B); };
    const auto scalings = scalings_of(over_B(start_up, start_up), {}, tolerance);
    EXPECT_FALSE(scalings[0].least_elements_observed); // at 256 it is 1.39 / 1.10 times as large
    const auto shorter = [](double B) { return 1000 * (1 + 50 / B); };
    EXPECT_EQ(scalings_of(over_B(shorter, shorter), {}, tolerance)[0].least_elements_observed, 256.0 * 1024.0);
    const auto flat = scalings_of(over_B(constant, constant), {}, tolerance);
    EXPECT_EQ(flat[0].least_elements_observed, 16.0 * 1024.0);
}

TEST(ScalingOverB, AddsUpTheSharesOfTheExponent)
{
    auto crossovers = over_B(falling, falling);
    for (Crossover& its : crossovers) {
        const double ratio = its.D_obs->value / its.D_law->value;
        its.factors = {{"matmul_efficiency", std::pow(ratio, -0.2), ""}, {"start_up", std::pow(ratio, 1.2), ""}};
    }
    const auto scalings = scalings_of(crossovers, {}, tolerance);
    ASSERT_EQ(scalings[0].shares.size(), 2u);
    EXPECT_EQ(scalings[0].shares[0].factor, "start_up");
    EXPECT_NEAR(scalings[0].shares[0].exponent, -0.3, 1e-9);
    EXPECT_NEAR(scalings[0].shares[1].exponent, 0.05, 1e-9);
    EXPECT_THAT(scalings[0].claims[0].reason, HasSubstr("-0.300 is start_up, 0.050 matmul_efficiency"));
}

TEST(ScalingOverB, GivesNoVerdictFromWhatIsNotKnown)
{
    auto missing = over_B(constant, constant);
    missing[2].D_obs.reset();
    const auto scalings = scalings_of(missing, {}, tolerance);
    EXPECT_EQ(scalings[0].claims[0].verdict, Verdict::inconclusive);
    EXPECT_THAT(scalings[0].claims[0].reason, HasSubstr("not known at B = 64"));
    EXPECT_FALSE(scalings[0].exponent);

    auto few = over_B(constant, constant);
    few[1].D_obs->confidence = 0.9;
    EXPECT_EQ(verdict_of(few, "D_independent_of_B"), Verdict::inconclusive);

    auto wide = over_B(constant, constant);
    for (Crossover& its : wide) its.D_obs = around(1000, 0.5);
    EXPECT_EQ(verdict_of(wide, "D_independent_of_B"), Verdict::inconclusive);

    auto no_model = over_B(falling, falling);
    no_model[0].D_model.reset();
    EXPECT_EQ(verdict_of(no_model, "D_independent_of_B"), Verdict::inconclusive);
}

TEST(ScalingOverB, HasAnIntervalThatCoversTheExponent)
{
    constexpr int draws = 2000;
    constexpr double error = 0.03;
    NormalDraws normal(1);
    int covered = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const auto measured = [&](double B) { return falling(B) * std::exp(error * normal.next()); };
        auto crossovers = over_B(measured, constant);
        for (Crossover& its : crossovers) its.D_obs = around(its.D_obs->value, std::expm1(normal_975 * error));
        covered += scalings_of(crossovers, {}, tolerance)[0].exponent->contains(-0.25);
    }
    EXPECT_GT(covered, 0.935 * draws);
    EXPECT_LT(covered, 0.965 * draws);
}

/// The law with D_obs and D_model so many times what it says.
std::vector<Crossover> over_ranks(const std::vector<int32_t>& ranks, const std::function<double(int32_t)>& obs, const std::function<double(int32_t)>& model)
{
    std::vector<Crossover> crossovers;
    for (const int32_t P : ranks) {
        const double law = 100.0 * (P - 1);
        crossovers.push_back(crossover(1024, P, law, law * obs(P), law * model(P)));
    }
    return crossovers;
}

double one(int32_t) { return 1; }
double growing(int32_t P) { return std::pow(P - 1, 0.5); }
double odd_ones(int32_t P) { return (P & (P - 1)) == 0 ? 1 : 1.5; }

TEST(ScalingOverRanks, TellsTheTrend)
{
    const std::vector<int32_t> ranks{2, 4, 8, 16};
    EXPECT_EQ(verdict_of(over_ranks(ranks, one, one), "D_grows_as_ranks"), Verdict::holds);
    EXPECT_EQ(verdict_of(over_ranks(ranks, growing, growing), "D_grows_as_ranks"), Verdict::explained);
    EXPECT_EQ(verdict_of(over_ranks(ranks, growing, one), "D_grows_as_ranks"), Verdict::refuted);
    const auto scalings = scalings_of(over_ranks(ranks, growing, one), {}, tolerance);
    EXPECT_NEAR(scalings[0].exponent->value, 0.5, 1e-9);
    EXPECT_EQ(scalings[0].claims.size(), 1u);
}

TEST(ScalingOverRanks, SetsPowersOfTwoApart)
{
    const std::vector<int32_t> ranks{2, 3, 4, 6, 8};
    EXPECT_EQ(verdict_of(over_ranks(ranks, odd_ones, one), "D_grows_as_ranks"), Verdict::holds);
    EXPECT_EQ(verdict_of(over_ranks(ranks, odd_ones, one), "other_ranks_as_powers_of_two"), Verdict::refuted);
    EXPECT_EQ(verdict_of(over_ranks(ranks, odd_ones, odd_ones), "other_ranks_as_powers_of_two"), Verdict::explained);
    EXPECT_EQ(verdict_of(over_ranks(ranks, one, one), "other_ranks_as_powers_of_two"), Verdict::holds);
    // A trend that all follow is not one of the others.
    EXPECT_EQ(verdict_of(over_ranks(ranks, growing, one), "other_ranks_as_powers_of_two"), Verdict::holds);
    EXPECT_THAT(claim_named(scalings_of(over_ranks(ranks, odd_ones, one), {}, tolerance), "other_ranks_as_powers_of_two").reason, HasSubstr("P = 3, 6, which are no powers of two"));
}

TEST(ScalingOverRanks, TakesAllTogetherWhereOneAloneIsAPowerOfTwo)
{
    const auto scalings = scalings_of(over_ranks({2, 3, 6}, odd_ones, one), {}, tolerance);
    ASSERT_EQ(scalings[0].claims.size(), 1u);
    EXPECT_EQ(scalings[0].claims[0].verdict, Verdict::refuted);
}

TEST(ScalingOverRanks, GivesNoVerdictWithoutALaw)
{
    auto crossovers = over_ranks({2, 4}, one, one);
    crossovers[1].D_law.reset();
    EXPECT_EQ(verdict_of(crossovers, "D_grows_as_ranks"), Verdict::inconclusive);
}

std::vector<Crossover> over_wires(double f64_factor, double f64_model, double bf16_factor = 1, double bf16_model = 1)
{
    std::vector<Crossover> crossovers{crossover(1024, 2, 200, 200 * f64_factor, 200 * f64_model), crossover(1024, 2, 50, 50 * bf16_factor, 50 * bf16_model),
                                      crossover(1024, 2, 100, 100, 100)};
    crossovers[0].wire_type = ElementType::f64;
    crossovers[1].wire_type = ElementType::bf16;
    return crossovers;
}

TEST(ScalingOverTypes, ComparesEachPairWithF32)
{
    EXPECT_EQ(verdict_of(over_wires(1, 1), "D_ratio_f32_f64"), Verdict::holds);
    EXPECT_EQ(verdict_of(over_wires(1, 1), "D_ratio_f32_bf16"), Verdict::holds);
    EXPECT_EQ(verdict_of(over_wires(2, 2), "D_ratio_f32_f64"), Verdict::explained);
    EXPECT_EQ(verdict_of(over_wires(2, 2), "D_ratio_f32_bf16"), Verdict::holds);
    EXPECT_EQ(verdict_of(over_wires(0.5, 1), "D_ratio_f32_f64"), Verdict::refuted);
    const auto scalings = scalings_of(over_wires(1, 1, 3, 3), {}, tolerance);
    EXPECT_EQ(scalings[0].claims.size(), 2u);
    EXPECT_EQ(scalings[0].rows.front().crossover, 2u);
    EXPECT_FALSE(scalings[0].rows.front().observed);
    EXPECT_THAT(claim_named(scalings, "D_ratio_f32_bf16").reason, HasSubstr("D* is 1.5 times that of f32 matmul, f32 on the wire, where s·C says 0.5"));
}

// ---------------------------------------------------------------------------------------------------
// From samples to the verdict of a run

SyntheticPlan plan_with(int64_t B, int32_t P = 2)
{
    SyntheticPlan plan;
    plan.B = B;
    plan.P = P;
    plan.seed = static_cast<uint64_t>(B + P);
    return plan;
}

Analysis analysis_over_B(const std::function<void(SyntheticPlan&)>& change)
{
    std::vector<RunData> runs;
    for (const int64_t B : {64, 256, 1024}) {
        SyntheticPlan plan = plan_with(B);
        change(plan);
        runs.push_back(synthetic_run(plan));
    }
    const RunData run = joined(runs);
    return analyse({&run, 1});
}

TEST(ScalingOfARun, HoldsOverBWithoutAStartUpTime)
{
    const Analysis analysis = analysis_over_B([](SyntheticPlan&) {});
    ASSERT_EQ(analysis.scalings.size(), 1u);
    EXPECT_TRUE(analysis.scalings[0].exponent->contains(0));
    EXPECT_EQ(analysis.verdict, Verdict::holds) << analysis.reason;
    EXPECT_THAT(analysis.reason, HasSubstr("as B^"));
}

TEST(ScalingOfARun, ExplainsAPlantedStartUpTimeAndSaysWhereItEnds)
{
    constexpr double alpha_s = 2e-3;
    const Analysis analysis = analysis_over_B([](SyntheticPlan& plan) { plan.machine.alpha_s = alpha_s; });
    const Scaling& scaling = analysis.scalings.at(0);
    EXPECT_EQ(scaling.claims.at(0).verdict, Verdict::explained) << scaling.claims.at(0).reason;
    EXPECT_EQ(analysis.verdict, Verdict::explained);
    EXPECT_LT(scaling.exponent->high, -0.1);
    ASSERT_TRUE(scaling.start_up);
    const SyntheticMachine machine;
    // a = 2(P−1)·alpha and b = 2(P−1)/P / W, so a / (b·V) = P·alpha·W / (4·B·F).
    const double truth = 2 * alpha_s * machine.W_bytes_per_s / (4 * (tolerance - 1));
    EXPECT_NEAR(scaling.start_up->least_elements, truth, 0.1 * truth);
    EXPECT_EQ(scaling.shares.at(0).factor, "start_up");
    // D* with the start-up time; the exponent of the least-squares line through the true crossovers.
    double slope = 0;
    for (const double B : {64.0, 1024.0}) {
        SyntheticPlan plan = plan_with(static_cast<int64_t>(B));
        plan.machine.alpha_s = alpha_s;
        slope += std::log(true_crossover(plan)) * (B > 64 ? 1 : -1) / std::log(16);
    }
    EXPECT_TRUE(scaling.exponent->contains(slope)) << slope << " " << scaling.exponent->value;
    EXPECT_TRUE(scaling.model_exponent->contains(slope)) << slope << " " << scaling.model_exponent->value;
}

TEST(ScalingOfARun, RefutesWhatTheCalibrationKnowsNothingOf)
{
    const Analysis analysis = analysis_over_B([](SyntheticPlan& plan) { plan.comm_factor_in_sweep = plan.B == 64 ? 2 : 1; });
    EXPECT_EQ(analysis.scalings.at(0).claims.at(0).verdict, Verdict::refuted);
    EXPECT_EQ(analysis.verdict, Verdict::refuted);
}

TEST(ScalingOfARun, ConcludesNothingFromWrongResults)
{
    const Analysis analysis = analysis_over_B([](SyntheticPlan& plan) { plan.wrong_point = plan.B == 64 ? 1 : -1; });
    EXPECT_EQ(analysis.scalings.at(0).claims.size(), 1u);
    EXPECT_EQ(analysis.claims.at(0).verdict, Verdict::inconclusive);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
}

TEST(ScalingOfARun, TakesTheLawOfEachNumberOfRanks)
{
    // Every rank more lowers C and W, which the law of each P knows of.
    std::vector<RunData> runs;
    for (const int32_t P : {2, 3, 4, 8}) {
        SyntheticPlan plan = plan_with(1024, P);
        plan.machine.C_flop_per_s /= P;
        plan.machine.W_bytes_per_s /= std::sqrt(P);
        runs.push_back(synthetic_run(plan));
    }
    const RunData run = joined(runs);
    const Analysis analysis = analyse({&run, 1});
    ASSERT_EQ(analysis.scalings.size(), 1u);
    const Scaling& scaling = analysis.scalings[0];
    EXPECT_EQ(scaling.over, ScalingOver::ranks);
    EXPECT_TRUE(scaling.exponent->contains(0)) << scaling.exponent->value;
    EXPECT_NEAR(scaling.rows[3].C_flop_per_s->value, 2e11 / 8, 0.02 * 2e11 / 8);
    EXPECT_EQ(scaling.claims.size(), 2u);
    EXPECT_EQ(analysis.verdict, Verdict::holds) << analysis.reason;
}

TEST(ScalingOfARun, ComparesTypesByTheirOwnRates)
{
    std::vector<RunData> runs;
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        SyntheticPlan plan = plan_with(1024);
        plan.compute_type = plan.wire_type = type;
        if (type == ElementType::f64) plan.machine.C_flop_per_s /= 2;
        runs.push_back(synthetic_run(plan));
    }
    const RunData run = joined(runs);
    const Analysis analysis = analyse({&run, 1});
    ASSERT_EQ(analysis.scalings.size(), 1u);
    EXPECT_EQ(analysis.scalings[0].over, ScalingOver::types);
    EXPECT_EQ(analysis.verdict, Verdict::holds) << analysis.reason;
    EXPECT_TRUE(analysis.scalings[0].rows[1].observed->contains(1));
    EXPECT_THAT(analysis.reason, HasSubstr("f64 matmul, f64 on the wire"));
}

} // namespace
} // namespace shardline
