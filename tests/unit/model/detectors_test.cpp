// Each detector in both directions: what was planted is found, and clean noisy runs give no alarm in 95 of
// 100.

#include "model/detectors.hpp"
#include "model/findings.hpp"

#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <sys/resource.h>

namespace shardline {
namespace {

std::vector<Finding> findings_of(const SyntheticPlan& plan)
{
    const RunData run = synthetic_run(plan);
    return findings_in({&run, 1}, collect_samples({&run, 1}));
}

const Finding* finding_with_code(const std::vector<Finding>& findings, const std::string& code)
{
    for (const Finding& finding : findings)
        if (finding.code == code) return &finding;
    return nullptr;
}

/// The plan's finding of that code, which must be there for each of ten seeds.
Finding always_found(SyntheticPlan plan, const std::string& code)
{
    Finding last;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        plan.seed = seed;
        const auto findings = findings_of(plan);
        const Finding* found = finding_with_code(findings, code);
        EXPECT_NE(found, nullptr) << code << ", seed " << seed;
        if (found) last = *found;
    }
    return last;
}

void expect_mention(const Finding& finding, const std::string& text)
{
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
}

class CleanRuns : public testing::TestWithParam<NoiseKind> {};

TEST_P(CleanRuns, GiveNoAlarmInAtLeast95Of100)
{
    for (int32_t P : {2, 4})
        for (double noise : {0.02, 0.1}) {
            int alarms = 0;
            std::map<std::string, int> codes;
            for (uint64_t seed = 1; seed <= 100; ++seed) {
                SyntheticPlan plan;
                plan.P = P;
                plan.noise = noise;
                plan.noise_kind = GetParam();
                plan.rank_noise = 0.5;
                plan.seed = seed;
                const auto findings = findings_of(plan);
                alarms += !findings.empty();
                for (const Finding& finding : findings) ++codes[finding.code];
            }
            std::string seen;
            for (const auto& [code, count] : codes) seen += code + " " + std::to_string(count) + " ";
            EXPECT_LE(alarms, 5) << "P = " << P << ", noise " << noise << ": " << seen;
        }
}

INSTANTIATE_TEST_SUITE_P(Noise, CleanRuns,
                         testing::Values(NoiseKind::normal, NoiseKind::lognormal, NoiseKind::exponential,
                                         NoiseKind::autocorrelated, NoiseKind::visit_shift));

// One rank of four computes half as fast.
TEST(SlowRank, IsNamedWithItsHostAndWhatItCosts)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.slow_rank = 2;
    const Finding finding = always_found(plan, "slow_rank");
    EXPECT_EQ(finding.rank, 2);
    EXPECT_EQ(finding.severity, Severity::warning);
    expect_mention(finding, "rank 2 on node2");
    expect_mention(finding, "without it");
    const RunData run = synthetic_run(plan);
    const auto slow = slow_ranks(run);
    ASSERT_EQ(slow.size(), 1u);
    EXPECT_NEAR(slow[0].factor, 2, 0.02);
}

TEST(SlowRank, IsDescribedWithoutACrossoverToo)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.slow_rank = 2;
    plan.D = {64, 128, 256}; // all far below it
    expect_mention(always_found(plan, "slow_rank"), "with it the measured curves do not cross and the law says ");
}

TEST(SlowRank, ASlowHostIsOneFindingWithTheLawWithoutAllItsRanks)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.ranks_on_host = 2;
    plan.slow_rank = 2;
    const Finding finding = always_found(plan, "slow_rank");
    expect_mention(finding, "ranks 2, 3 on node1 compute");
    int findings = 0;
    for (const Finding& each : findings_of(plan)) findings += each.code == "slow_rank";
    EXPECT_EQ(findings, 1);

    // Without the host D* is where it is on sound ones.
    const RunData slow = synthetic_run(plan);
    plan.slow_rank = -1;
    const RunData sound = synthetic_run(plan);
    constexpr int32_t host[] = {2, 3};
    const auto crossing = [](const std::vector<PointSamples>& points) {
        return observe(points, sweeps_in(points).at(0)).crossing->D.value;
    };
    EXPECT_NEAR(crossing(collect_samples({&slow, 1}, host)) / crossing(collect_samples({&sound, 1})), 1, 0.05);
    EXPECT_GT(crossing(collect_samples({&sound, 1})) / crossing(collect_samples({&slow, 1})), 1.5);
}

TEST(SlowRank, IsNamedWithTheHostOfItsOwnLaunch)
{
    SyntheticPlan plan;
    RunData launches[] = {synthetic_run(plan), {}};
    plan.seed = 2;
    plan.slow_rank = 1;
    launches[1] = synthetic_run(plan);
    launches[1].ranks[1].host = "other";
    const auto findings = findings_in(launches, collect_samples(launches));
    const Finding* found = finding_with_code(findings, "slow_rank");
    ASSERT_NE(found, nullptr);
    expect_mention(*found, "rank 1 on other");
}

TEST(SlowRank, IsFoundOfTwo)
{
    SyntheticPlan plan;
    plan.slow_rank = 1;
    plan.slow_factor = 1.1;
    EXPECT_EQ(always_found(plan, "slow_rank").rank, 1);
}

TEST(SlowRank, OfLessThanTheRelevantSizeIsLeftAlone)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.slow_rank = 1;
    plan.slow_factor = 1.03;
    plan.noise = 0.005;
    EXPECT_EQ(finding_with_code(findings_of(plan), "slow_rank"), nullptr);
}

TEST(SlowRank, AWiderShardIsNotASlowRank)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.noise = 0.002;
    plan.calibrated = false;
    plan.D = {5, 6, 7, 9, 13}; // the first rank has up to twice the columns of the last
    const RunData run = synthetic_run(plan);
    EXPECT_TRUE(slow_ranks(run).empty());
}

TEST(Trend, OverTheRunIsFoundWithItsSize)
{
    SyntheticPlan plan;
    plan.drift_over_run = 0.3;
    always_found(plan, "trend");
    plan.noise = 0.1;
    plan.drift_over_run = -0.2;
    always_found(plan, "trend");
    const RunData run = synthetic_run(plan);
    EXPECT_NEAR(trend_over_run(collect_samples({&run, 1}), 0).value_or(0), -0.2, 0.04);
    plan.noise = 0.01;
    plan.passes = 20; // enough of each point to show it
    const Finding finding = always_found(plan, "trend");
    EXPECT_NE(finding.text.find("over all points the last repetitions take"), std::string::npos) << finding.text;
    EXPECT_NE(finding.text.find(" % less time than the first, most at "), std::string::npos) << finding.text;
}

TEST(Trend, OfLessThanTheRelevantSizeIsLeftAlone)
{
    SyntheticPlan plan;
    plan.noise = 0.005;
    plan.drift_over_run = 0.03;
    EXPECT_EQ(finding_with_code(findings_of(plan), "trend"), nullptr);
}

TEST(Trend, OnePassHasNoTrendOverTheRunToFind)
{
    SyntheticPlan plan;
    plan.passes = 1;
    plan.drift_over_run = 0.3;
    const RunData run = synthetic_run(plan);
    EXPECT_FALSE(trend_over_run(collect_samples({&run, 1}), 0));
}

TEST(TrendInVisit, CreepOfOnePercentARepetitionIsFound)
{
    SyntheticPlan plan;
    plan.creep_per_repetition = 0.01;
    always_found(plan, "trend_in_visit");
    plan.passes = 1;
    plan.repetitions = 30;
    const Finding finding = always_found(plan, "trend_in_visit");
    expect_mention(finding, "% more time");
}

TEST(TrendInVisit, OfAHundredThousandRepetitionsIsFoundInBoundedMemory)
{
    SyntheticPlan plan;
    plan.calibrated = false;
    plan.D = {64};
    plan.passes = 1;
    plan.repetitions = 100'000;
    plan.creep_per_repetition = 1e-6;
    const RunData run = synthetic_run(plan);
    const auto points = collect_samples({&run, 1});
#ifndef __SANITIZE_ADDRESS__ // which takes address space without end
    rlimit usual{};
    getrlimit(RLIMIT_AS, &usual);
    const rlimit few_gigabytes{rlim_t{4} << 30, usual.rlim_max};
    setrlimit(RLIMIT_AS, &few_gigabytes);
#endif
    EXPECT_NEAR(trend_within_visits(points).value_or(0), 0.1, 0.01);
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &usual);
#endif
}

TEST(Bimodal, BothValuesAreShown)
{
    SyntheticPlan plan;
    plan.second_mode = 1.9;
    const Finding finding = always_found(plan, "bimodal");
    expect_mention(finding, "the communication takes one of two times");
    expect_mention(finding, " ms in ");
    expect_mention(finding, "more points");
}

TEST(Bimodal, AnExchangeThatGivesWIsSeenToo)
{
    SyntheticPlan plan;
    plan.second_mode_of_exchange = 1.9;
    const Finding finding = always_found(plan, "bimodal");
    expect_mention(finding, "the exchange that gives W takes one of two times at exchange of ");
    expect_mention(finding, "8.7");
    expect_mention(finding, " ms in ");
}

TEST(StartSkew, IsFoundWhereItIsNotSmallBesideTheCommunication)
{
    SyntheticPlan plan;
    plan.start_skew_ns = 200'000'000; // of an allreduce that takes 35 ms
    const Finding finding = always_found(plan, "start_skew");
    EXPECT_EQ(finding.severity, Severity::warning);
    expect_mention(finding, "the ranks start the communication ");
    const RunData run = synthetic_run(plan);
    const auto skew = large_start_skew(run);
    ASSERT_TRUE(skew);
    EXPECT_GT(skew->skew_s, 0.05);
    EXPECT_NEAR(skew->t_comm_s, 0.035, 0.002);
    plan.start_skew_ns = 2'000'000;
    EXPECT_EQ(finding_with_code(findings_of(plan), "start_skew"), nullptr);
}

TEST(StartSkew, WithinTheErrorOfTheClocksSaysNothing)
{
    SyntheticPlan plan;
    plan.start_skew_ns = 200'000'000;
    RunData run = synthetic_run(plan);
    run.clocks.push_back({.rank = 1, .at_ns = 0, .offset_ns = 0, .drift = 0, .error_ns = 300'000'000});
    EXPECT_FALSE(large_start_skew(run));
    run.clocks.back().error_ns = 1000;
    EXPECT_TRUE(large_start_skew(run));
}

TEST(StartSkew, WithinTheErrorsOfTwoClocksTogetherSaysNothing)
{
    SyntheticPlan plan;
    plan.P = 3;
    plan.start_skew_ns = 200'000'000;
    RunData run = synthetic_run(plan);
    const auto error_ns = static_cast<int64_t>(0.6e9 * large_start_skew(run).value().skew_s);
    for (int32_t rank : {1, 2}) run.clocks.push_back({.rank = rank, .at_ns = 0, .offset_ns = 0, .drift = 0, .error_ns = error_ns});
    EXPECT_FALSE(large_start_skew(run));
    run.clocks.back().rank = 1; // the same clock again
    EXPECT_TRUE(large_start_skew(run));
}

TEST(StepBounds, AStepLongerThanTheSumIsFound)
{
    SyntheticPlan plan;
    plan.step_factor = 1.3;
    const Finding finding = always_found(plan, "step_above_sum");
    expect_mention(finding, "furthest at B = 1024, D = ");
}

TEST(StepBounds, AStepShorterThanItsLongerPartIsFound)
{
    SyntheticPlan plan;
    plan.step_factor = 0.02;
    plan.comp_in_step_factor = 0.8;
    always_found(plan, "step_below_max");
}

TEST(StepBounds, AStepWithinThemIsLeftAlone)
{
    const auto known_to = [](double value) { return Estimate{value, 0.98 * value, 1.02 * value, 30}; };
    PointSummary point;
    point.t_comp_s = known_to(3);
    point.t_comm_s = known_to(2);
    for (double step : {2.9, 3.0, 4.0, 5.0, 5.1}) {
        point.t_step_s = known_to(step);
        EXPECT_EQ(step_bound_excess(point), 1) << step;
    }
    point.t_step_s = known_to(5.5);
    EXPECT_DOUBLE_EQ(step_bound_excess(point), 1.1);
    point.t_step_s = known_to(2.7);
    EXPECT_DOUBLE_EQ(step_bound_excess(point), 0.9);
    point.t_step_s->confidence = 0.5;
    EXPECT_EQ(step_bound_excess(point), 1);
    point.t_step_s = std::nullopt;
    EXPECT_EQ(step_bound_excess(point), 1);
}

// A fixed work shows a stolen core as a slower matmul within the step.
TEST(SlowerInStep, IsFoundWithItsSize)
{
    SyntheticPlan plan;
    plan.comp_in_step_factor = 1.2;
    const Finding finding = always_found(plan, "slower_in_step");
    expect_mention(finding, "times as long inside the step");
    const RunData run = synthetic_run(plan);
    EXPECT_NEAR(slowdown_in_step(collect_samples({&run, 1})).value_or(0), 1.2, 0.02);
}

TEST(SlowerInStep, FasterOrHardlySlowerIsLeftAlone)
{
    SyntheticPlan plan;
    plan.noise = 0.005;
    for (double factor : {0.8, 1.0, 1.03}) {
        plan.comp_in_step_factor = factor;
        EXPECT_EQ(finding_with_code(findings_of(plan), "slower_in_step"), nullptr) << factor;
    }
}

TEST(FailedChecks, AWrongResultIsInvalid)
{
    SyntheticPlan plan;
    plan.wrong_point = 3;
    const Finding finding = always_found(plan, "wrong_result");
    EXPECT_EQ(finding.severity, Severity::invalid);
    expect_mention(finding, "largest error 3.5, allowed 0");
}

TEST(FailedChecks, RanksThatDisagreeAreInvalid)
{
    SyntheticPlan plan;
    plan.wrong_point = 3;
    plan.ranks_disagree = true;
    EXPECT_EQ(always_found(plan, "ranks_disagree").severity, Severity::invalid);
}

// A NaN that survived.
TEST(FailedChecks, NanIsWrongEvenWhereOtherVisitsWereRight)
{
    SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    run.checks[0].max_error = std::nan("");
    run.checks[1].max_error = 7;
    run.checks[1].point = run.checks[0].point;
    const auto findings = failed_checks({&run, 1});
    ASSERT_EQ(findings.size(), 1u);
    expect_mention(findings[0], "largest error NaN");
}

TEST(FailedChecks, OfOneSweepOnly)
{
    SyntheticPlan plan;
    plan.wrong_point = 0;
    const RunData run = synthetic_run(plan);
    Sweep sweep{plan.B, plan.F, plan.P, plan.compute_type, plan.wire_type, "mpi_allreduce"};
    EXPECT_EQ(failed_checks({&run, 1}, &sweep).size(), 1u);
    sweep.B = 7;
    EXPECT_TRUE(failed_checks({&run, 1}, &sweep).empty());
}

TEST(LateStarts, AreCountedAndNotUsed)
{
    SyntheticPlan plan;
    plan.late_share = 0.05;
    EXPECT_EQ(always_found(plan, "late_starts").severity, Severity::note);
    plan.late_share = 0.4;
    EXPECT_EQ(always_found(plan, "late_starts").severity, Severity::warning);
}

TEST(RelativeRankTimes, AreThoseThatWerePlanted)
{
    SyntheticPlan plan;
    plan.P = 5;
    plan.slow_rank = 3;
    plan.slow_factor = 1.5;
    const std::vector<std::vector<double>> times = relative_rank_times(synthetic_run(plan));
    ASSERT_EQ(times.size(), 5u);
    for (size_t rank = 0; rank < times.size(); ++rank) {
        ASSERT_FALSE(times[rank].empty());
        EXPECT_NEAR(median(times[rank]), rank == 3 ? 1.5 : 1.0, 0.02) << "rank " << rank;
    }
}

} // namespace
} // namespace shardline
