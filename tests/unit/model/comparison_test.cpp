#include "model/comparison.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shardline {
namespace {

RunData run_of(uint64_t seed, double comm_factor = 1)
{
    SyntheticPlan plan;
    plan.D = {1600, 2400, 3200, 4800, 6400, 9600, 12800, 19200, 25600};
    plan.seed = seed;
    plan.comm_factor_in_sweep = comm_factor;
    return synthetic_run(plan);
}

Comparison compare_runs(const RunData& base, const RunData& current, const ComparisonOptions& options = {})
{
    return compare({&base, 1}, {&current, 1}, options);
}

const Change& change_of(const Comparison& comparison, const std::string& quantity, int64_t D)
{
    for (const Change& change : comparison.changes)
        if (change.quantity == quantity && change.point.kind == PointKind::crossover && change.point.D == D) return change;
    throw std::runtime_error("no " + quantity);
}

// Reference values of the t distribution from its closed forms: dof 1 is Cauchy's, dof 2 algebraic.
TEST(StudentT, TailMatchesClosedForms)
{
    EXPECT_NEAR(student_t_two_sided(1, 1), 0.5, 1e-9);
    EXPECT_NEAR(student_t_two_sided(12.7062, 1), 0.05, 1e-6);
    for (double t : {0.5, 2.0, 10.0, 40.0}) {
        const double exact = 1 - t / std::sqrt(2 + t * t);
        EXPECT_NEAR(student_t_two_sided(t, 2) / exact, 1, 1e-6) << t;
    }
    EXPECT_NEAR(student_t_two_sided(-1.959963984540054, INFINITY), 0.05, 1e-12);
    for (double dof : {3.0, 7.5, 30.0, 200.0}) EXPECT_NEAR(student_t_two_sided(student_t_975(dof), dof), 0.05, 2e-4) << dof;
}

TEST(Holm, StepsDownAndStopsAtTheFirstThatFails)
{
    const std::vector<double> p{0.04, 0.012, 0.001, 0.03};
    EXPECT_EQ(holm_significant(p, 0.05), (std::vector<bool>{false, true, true, false}));
    EXPECT_EQ(holm_significant({}, 0.05), std::vector<bool>{});
}

TEST(Comparison, OfARunWithItselfFindsNothing)
{
    const RunData run = run_of(1);
    const Comparison comparison = compare_runs(run, run);
    EXPECT_FALSE(comparison.changed());
    EXPECT_EQ(comparison.quantities_of_one_side, 0);
    ASSERT_FALSE(comparison.changes.empty());
    for (const Change& change : comparison.changes) EXPECT_EQ(change.p_value, 1);
}

TEST(Comparison, FindsASlowerNetworkWithItsSizeAndLeavesTheMatmulAlone)
{
    const Comparison comparison = compare_runs(run_of(1), run_of(2, 1.2));
    EXPECT_TRUE(comparison.changed());
    int comm = 0;
    for (const Change& change : comparison.changes) {
        if (change.point.kind != PointKind::crossover) continue;
        if (change.quantity == "t_comp") {
            EXPECT_FALSE(change.changed) << change.point.D;
        }
        if (change.quantity != "t_comm") continue;
        ++comm;
        EXPECT_TRUE(change.changed) << change.point.D;
        ASSERT_TRUE(change.ratio);
        EXPECT_NEAR(change.ratio->value, 1.2, 0.03);
        EXPECT_LT(change.ratio->low, change.ratio->value);
    }
    EXPECT_EQ(comm, 9);
    const Change& D_obs = change_of(comparison, "D_obs", 0);
    EXPECT_TRUE(D_obs.changed);
    EXPECT_NEAR(D_obs.ratio->value, 1.2, 0.05);
}

TEST(Comparison, CallsNothingBelowTheThresholdAChange)
{
    SyntheticPlan plan;
    plan.noise = 0.001;
    const RunData base = synthetic_run(plan);
    plan.seed = 2;
    plan.comm_factor_in_sweep = 1.02;
    const RunData current = synthetic_run(plan);
    EXPECT_FALSE(compare_runs(base, current).changed()); // certain, but under 3 %
    EXPECT_TRUE(compare_runs(base, current, {.threshold = 0.01}).changed());
}

TEST(Comparison, CountsPointsThatOneSideDidNotVisit)
{
    SyntheticPlan plan;
    plan.D = {1000, 2000, 4000};
    plan.calibrated = false;
    const RunData base = synthetic_run(plan);
    plan.D = {2000, 4000, 8000, 16000};
    const Comparison comparison = compare_runs(base, synthetic_run(plan));
    EXPECT_EQ(comparison.quantities_of_one_side, 3 * 3 + 1); // three points' three times, and the base has no D_obs
    EXPECT_EQ(comparison.changes.size(), 2u * 3);
}

TEST(Comparison, OfTooFewVisitsTestsNothing)
{
    SyntheticPlan plan;
    plan.passes = 2;
    const RunData base = synthetic_run(plan);
    plan.comm_factor_in_sweep = 3;
    const Comparison comparison = compare_runs(base, synthetic_run(plan));
    for (const Change& change : comparison.changes)
        if (change.quantity == "t_comm" && change.point.kind == PointKind::crossover) {
            EXPECT_FALSE(change.ratio) << change.point.D;
        }
}

TEST(Comparison, OfLaunchesTakesThemAsOneObservationEach)
{
    // Launches that lie 10 % apart: what parts two groups of three is no more than parts the launches of one group.
    std::vector<RunData> base, current;
    for (int launch = 0; launch < 3; ++launch) {
        base.push_back(run_of(static_cast<uint64_t>(launch), 1 + 0.1 * launch));
        current.push_back(run_of(static_cast<uint64_t>(10 + launch), 1.05 + 0.1 * launch));
    }
    for (const Change& change : compare(base, current).changes) {
        if (change.quantity == "t_comm" && change.point.kind == PointKind::crossover) {
            EXPECT_FALSE(change.changed);
        }
    }
    EXPECT_TRUE(compare({&base[0], 1}, {&current[2], 1}).changed());
}

TEST(Comparison, ShowsTimesThatHaveTheirRatio)
{
    const Comparison comparison = compare_runs(run_of(1, 1), run_of(2, 1.2));
    ASSERT_FALSE(comparison.changes.empty());
    for (const Change& change : comparison.changes)
        if (change.ratio) { EXPECT_NEAR(change.current / change.base, change.ratio->value, 1e-9 * change.ratio->value) << change.quantity; }
}

} // namespace
} // namespace shardline
