#include "model/allreduce_rates.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardline {
namespace {

TEST(AllreduceRates, GiveBackTheBandwidthThatWasPlantedWhateverTheRanks)
{
    for (const int32_t P : {2, 4, 7}) {
        SyntheticPlan plan;
        plan.P = P;
        plan.machine.allreduce_efficiency = 0.7;
        plan.noise = 0.001;
        const RunData run = synthetic_run(plan);
        const std::vector<AllreduceRate> rates = allreduce_rates(collect_samples({&run, 1}));
        ASSERT_EQ(rates.size(), 5u) << "four sizes of the calibration, and the sweep's";
        EXPECT_EQ(std::ranges::count(rates, true, &AllreduceRate::in_sweep), 1);
        EXPECT_TRUE(std::ranges::is_sorted(rates, {}, &AllreduceRate::V_bytes));
        for (const AllreduceRate& rate : rates) {
            EXPECT_NEAR(rate.bus_bytes_per_s.value, 0.7 * 1.2e8, 0.01 * 1.2e8);
            EXPECT_LE(rate.bus_bytes_per_s.low, rate.bus_bytes_per_s.value);
            EXPECT_GE(rate.bus_bytes_per_s.high, rate.bus_bytes_per_s.value);
            EXPECT_EQ(rate.P, P);
            EXPECT_EQ(rate.strategy, "mpi_allreduce");
        }
    }
}

TEST(AllreduceRates, LeaveOutARankAlone)
{
    SyntheticPlan plan;
    plan.P = 1;
    const RunData run = synthetic_run(plan);
    EXPECT_TRUE(allreduce_rates(collect_samples({&run, 1})).empty());
}

TEST(RateFrom, TurnsTheIntervalRound)
{
    const Estimate rate = rate_from(100, {10, 8, 20, 30});
    EXPECT_DOUBLE_EQ(rate.value, 10);
    EXPECT_DOUBLE_EQ(rate.low, 5);
    EXPECT_DOUBLE_EQ(rate.high, 12.5);
    EXPECT_EQ(rate.n, 30);
}

} // namespace
} // namespace shardline
