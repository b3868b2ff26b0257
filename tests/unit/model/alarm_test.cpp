// Two runs of one machine are called different in at most 5 of 100 pairs, whatever the noise; a machine that did
// change is told apart.

#include "model/comparison.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace shardline {
namespace {

constexpr int pairs = 250;

/// Pairs in percent that are called different, at any size of the difference.
double alarms(SyntheticPlan plan, double comm_factor, double threshold)
{
    plan.D = {1600, 2400, 3200, 4800, 6400, 9600, 12800, 19200, 25600};
    int alarms = 0;
    for (int pair = 0; pair < pairs; ++pair) {
        plan.seed = static_cast<uint64_t>(1 + 2 * pair);
        plan.comm_factor_in_sweep = 1;
        const RunData base = synthetic_run(plan);
        plan.seed += 1;
        plan.comm_factor_in_sweep = comm_factor;
        const RunData current = synthetic_run(plan);
        alarms += compare({&base, 1}, {&current, 1}, {.threshold = threshold}).changed();
    }
    return 100.0 * alarms / pairs;
}

struct Noise {
    const char* name;
    NoiseKind kind;
};

TEST(Alarms, OfOneMachineMeasuredTwiceAreFew)
{
    for (const Noise noise : {Noise{"normal", NoiseKind::normal}, {"lognormal", NoiseKind::lognormal},
                              {"exponential", NoiseKind::exponential}, {"autocorrelated", NoiseKind::autocorrelated},
                              {"visit shift", NoiseKind::visit_shift}})
        for (const double size : {0.01, 0.1}) {
            SyntheticPlan plan;
            plan.noise = size;
            plan.noise_kind = noise.kind;
            // Without a threshold: the statistics alone must keep the promise.
            const double percent = alarms(plan, 1, 0);
            std::printf("%-15s noise %4.0f %%: %.1f %% of %d pairs called different\n", noise.name, 100 * size, percent, pairs);
            EXPECT_LE(percent, 5) << noise.name << ' ' << size;
        }
}

TEST(Alarms, OfAMachineThatChangedAreRaised)
{
    SyntheticPlan plan;
    plan.noise = 0.03;
    EXPECT_GE(alarms(plan, 1.1, 0.03), 95);
}

} // namespace
} // namespace shardline
