// Files with a planted law give it back: the true crossover lies in the stated intervals at least 93 times in
// 100, over ranks, wire types, amounts and kinds of noise.

#include "model/analysis.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace shardline {
namespace {

struct Machine {
    int32_t P;
    ElementType wire_type;
};

class PlantedLaw : public testing::TestWithParam<Machine> {};

/// How often, in percent, each interval held the truth and the verdict was right.
struct Tally {
    double D_obs = 0, D_law = 0, D_model = 0, holds = 0, refuted = 0;
};

Tally tally_of(SyntheticPlan plan, int draws)
{
    Tally tally;
    const double truth = true_crossover(plan), share = 100.0 / draws;
    for (int draw = 0; draw < draws; ++draw) {
        plan.seed = static_cast<uint64_t>(1 + draw + 1000 * plan.P + 10000 * bytes_of(plan.wire_type));
        const RunData run = synthetic_run(plan);
        const Analysis analysis = analyse({&run, 1});
        const Crossover& crossover = analysis.crossovers.at(0);
        tally.D_obs += crossover.D_obs && crossover.D_obs->contains(truth) ? share : 0;
        tally.D_law += crossover.D_law && crossover.D_law->contains(truth) ? share : 0;
        tally.D_model += crossover.D_model && crossover.D_model->contains(truth) ? share : 0;
        tally.holds += crossover.verdict == Verdict::holds ? share : 0;
        tally.refuted += crossover.verdict == Verdict::refuted ? share : 0;
    }
    return tally;
}

void expect_truth(const SyntheticPlan& plan, const char* noise, int draws)
{
    const Tally tally = tally_of(plan, draws);
    std::printf(
        "P = %d, s = %d, %s noise %.0f %%: D_obs %.1f %%, D_law %.1f %%, D_model %.1f %%, holds %.1f %%\n",
        plan.P, static_cast<int>(bytes_of(plan.wire_type)), noise, 100 * plan.noise, tally.D_obs, tally.D_law,
        tally.D_model, tally.holds);
    EXPECT_GE(tally.D_obs, 93);
    EXPECT_GE(tally.D_law, 93);
    EXPECT_GE(tally.D_model, 93);
    EXPECT_GE(tally.holds, 97); // the others are inconclusive: noise of 10 % can leave an interval too wide
    EXPECT_EQ(tally.refuted, 0);
}

TEST_P(PlantedLaw, IsFoundWithinTheIntervals)
{
    SyntheticPlan plan;
    plan.P = GetParam().P;
    plan.wire_type = GetParam().wire_type;
    for (double noise : {0.01, 0.1}) {
        plan.noise = noise;
        expect_truth(plan, "normal", 200);
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, PlantedLaw,
                         testing::Values(Machine{2, ElementType::bf16}, Machine{2, ElementType::f32},
                                         Machine{2, ElementType::f64}, Machine{3, ElementType::bf16},
                                         Machine{3, ElementType::f32}, Machine{3, ElementType::f64},
                                         Machine{8, ElementType::bf16}, Machine{8, ElementType::f32},
                                         Machine{8, ElementType::f64}));

constexpr const char* names[] = {"normal", "lognormal", "exponential", "autocorrelated", "visit-shift"};

class PlantedNoise : public testing::TestWithParam<NoiseKind> {};

TEST_P(PlantedNoise, OfAnyKindKeepsTheIntervalsHonest)
{
    SyntheticPlan plan;
    plan.noise_kind = GetParam();
    for (double noise : {0.02, 0.1}) {
        plan.noise = noise;
        expect_truth(plan, names[static_cast<int>(GetParam())], 200);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedNoise,
                         testing::Values(NoiseKind::normal, NoiseKind::lognormal, NoiseKind::exponential,
                                         NoiseKind::autocorrelated, NoiseKind::visit_shift));

// The coverage of D_obs itself, from the sweep alone.
TEST_P(PlantedNoise, LeavesTheCoverageOfDObsNear95)
{
    constexpr int draws = 2000;
    SyntheticPlan plan;
    plan.calibrated = false;
    plan.noise = 0.05;
    const double truth = true_crossover(plan);
    plan.noise_kind = GetParam();
    int covered = 0;
    for (plan.seed = 1; plan.seed <= draws; ++plan.seed) {
        // Five points, the crossover anywhere between two of them.
        const double shift = std::fmod(0.618 * static_cast<double>(plan.seed), 1) - 0.5;
        plan.D.clear();
        for (int i = -2; i <= 2; ++i) plan.D.push_back(std::lround(truth * std::pow(2, (i + shift) / 2)));
        const RunData run = synthetic_run(plan);
        const auto points = collect_samples({&run, 1});
        const auto crossing = observe(points, sweeps_in(points).at(0)).crossing;
        covered += crossing && crossing->D.contains(truth);
    }
    const double percent = 100.0 * covered / draws;
    std::printf("D_obs, %s noise: %.1f %%\n", names[static_cast<int>(GetParam())], percent);
    EXPECT_GE(percent, 93);
    EXPECT_LE(percent, 97);
}

TEST(PlantedCosts, AreFoundByTheModelWhereTheLawIsNot)
{
    SyntheticPlan plan;
    plan.machine.matmul_overhead_s = 5e-3;
    plan.machine.allreduce_efficiency = 0.6;
    plan.machine.alpha_s = 1e-4;
    plan.noise = 0.03;
    int obs = 0, model = 0, explained = 0;
    for (plan.seed = 1; plan.seed <= 200; ++plan.seed) {
        const RunData run = synthetic_run(plan);
        const Crossover crossover = analyse({&run, 1}).crossovers.at(0);
        obs += crossover.D_obs->contains(true_crossover(plan));
        model += crossover.D_model->contains(true_crossover(plan));
        explained += crossover.verdict == Verdict::explained;
    }
    EXPECT_GE(obs, 186);
    EXPECT_GE(model, 186);
    EXPECT_GE(explained, 198);
}

} // namespace
} // namespace shardline
