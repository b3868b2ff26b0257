// Thinned runs: what the analysis says of them is what it says of every rank's readings.

#include "model/thinning.hpp"

#include "model/analysis.hpp"
#include "model/detectors.hpp"
#include "model/error.hpp"
#include "model/findings.hpp"
#include "model/run_progress.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace shardline {
namespace {

void expect_same(const Series& few, const Series& all, double tolerance_s = 0)
{
    ASSERT_EQ(few.size(), all.size());
    for (size_t i = 0; i < few.size(); ++i) {
        EXPECT_NEAR(few[i].value, all[i].value, tolerance_s);
        EXPECT_EQ(few[i].row, all[i].row);
    }
}

void expect_same_samples(const RunData& run)
{
    const RunData few = thinned_run(run);
    EXPECT_NO_THROW(check_run(few));
    const auto points = collect_samples({&few, 1}), all = collect_samples({&run, 1});
    ASSERT_EQ(points.size(), all.size());
    for (size_t i = 0; i < points.size(); ++i) {
        expect_same(points[i].comp_s, all[i].comp_s);
        expect_same(points[i].comm_s, all[i].comm_s);
        expect_same(points[i].step_s, all[i].step_s);
        expect_same(points[i].comp_in_step_s, all[i].comp_in_step_s);
        expect_same(points[i].comm_cpu_s, all[i].comm_cpu_s);
        expect_same(points[i].comp_mean_s, all[i].comp_mean_s, 1e-9); // kept in whole nanoseconds
    }
}

class ThinnedRuns : public testing::TestWithParam<int32_t> {};

TEST_P(ThinnedRuns, HaveTheSameMaximaAndMeansOverRanks)
{
    SyntheticPlan plan;
    plan.P = GetParam();
    plan.rank_noise = 2;
    expect_same_samples(synthetic_run(plan));
}

TEST_P(ThinnedRuns, GiveTheSameReport)
{
    SyntheticPlan plan;
    plan.P = GetParam();
    const RunData run = synthetic_run(plan), few = thinned_run(run);
    const Analysis all = analyse({&run, 1}), of_few = analyse({&few, 1});
    ASSERT_EQ(of_few.crossovers.size(), all.crossovers.size());
    for (size_t i = 0; i < all.crossovers.size(); ++i) {
        ASSERT_TRUE(all.crossovers[i].D_obs && of_few.crossovers[i].D_obs);
        EXPECT_EQ(of_few.crossovers[i].D_obs->value, all.crossovers[i].D_obs->value);
        EXPECT_EQ(of_few.crossovers[i].D_law->value, all.crossovers[i].D_law->value);
    }
    EXPECT_EQ(of_few.findings.size(), all.findings.size());
    EXPECT_EQ(progress_of(few, {}).measured_s, progress_of(run, {}).measured_s);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ThinnedRuns, testing::Values(2, 3, 4, 5, 16, 33));

TEST(Thinning, KeepsThoseWhoTookNoPartOut)
{
    SyntheticPlan two, eight;
    two.P = 2;
    eight.P = 8;
    expect_same_samples(joined({synthetic_run(two), synthetic_run(eight)}));
}

TEST(Thinning, KeepsTheSlowestOfEachPartAndRank0)
{
    SyntheticPlan plan;
    plan.P = 9;
    RunData run = synthetic_run(plan);
    Repetitions& r = run.repetitions;
    size_t row = 0; // of the sweep, its parts timed apart
    while (r.mode[row] != static_cast<uint8_t>(Mode::phases) || run.points[static_cast<size_t>(r.point[row])].kind != PointKind::crossover) ++row;
    for (auto* column : {&r.comp_end_ns, &r.comm_begin_ns, &r.comm_end_ns}) (*column)[row * 9 + 5] += 1'000'000'000;
    r.comm_end_ns[row * 9 + 7] += 2'000'000'000;
    r.comm_cpu_ns[row * 9 + 3] = 5;
    const Repetitions few = thinned(r, run.points);
    const auto first = few.rank.begin() + static_cast<std::ptrdiff_t>(row * kept_readings);
    EXPECT_EQ(std::vector(first, first + kept_readings), (std::vector<int32_t>{0, 5, 7, 3}));
    EXPECT_EQ(few.comp_end_ns[row * kept_readings + 1], r.comp_end_ns[row * 9 + 5]);
}

TEST(Thinning, StillNamesASlowRank)
{
    SyntheticPlan plan;
    plan.P = 16;
    plan.slow_rank = 11;
    plan.slow_factor = 1.3;
    const RunData few = thinned_run(synthetic_run(plan));
    const auto slow = slow_ranks(few);
    ASSERT_EQ(slow.size(), 1u);
    EXPECT_EQ(slow[0].rank, 11);
    EXPECT_NEAR(slow[0].factor, 1.3, 0.03);
    const auto findings = findings_in({&few, 1}, collect_samples({&few, 1}));
    const auto found = std::ranges::find(findings, "slow_rank", &Finding::code);
    ASSERT_NE(found, findings.end());
    EXPECT_NE(found->text.find("(what it is without it is not known, as the samples are thinned)"), std::string::npos) << found->text;
}

TEST(Thinning, NamesNoRankWhereAllAreEquallyFast)
{
    int alarms = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        SyntheticPlan plan;
        plan.P = 16;
        plan.rank_noise = 0.5;
        plan.noise = 0.1;
        plan.seed = seed;
        alarms += !slow_ranks(thinned_run(synthetic_run(plan))).empty();
    }
    EXPECT_LE(alarms, 2);
}

TEST(Thinning, ASummaryIsTheMedianAgainstTheMedianOverRanks)
{
    SyntheticPlan plan;
    plan.P = 3;
    plan.noise = 0;
    plan.slow_rank = 2;
    plan.slow_factor = 1.5;
    const RunData run = synthetic_run(plan), few = thinned_run(run);
    ASSERT_FALSE(few.rank_summaries.empty());
    for (const RankSummary& its : few.rank_summaries) {
        EXPECT_NEAR(its.relative_comp, its.rank == 2 ? 1.5 : 1, 0.01);
        EXPECT_GT(its.matmuls, 0);
    }
    RankSummaries none(3);
    EXPECT_TRUE(none.take(0).empty());
}

TEST(Thinning, ABadReadingIsOfTheRankThatIsNamed)
{
    SyntheticPlan plan;
    plan.P = 9;
    RunData few = thinned_run(synthetic_run(plan));
    Repetitions& r = few.repetitions;
    const size_t row = r.size() - 1;
    r.rank[row * 4 + 2] = 7;
    r.comm_end_ns[row * 4 + 2] = r.comm_begin_ns[row * 4 + 2] - 5;
    try {
        check_run(few);
        ADD_FAILURE() << "was taken";
    } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find("rank 7"), std::string::npos) << error.what();
    }
    r.rank.pop_back();
    EXPECT_THROW(check_run(few), DataError);
}

void expect_refusal(const RunData& run, const std::string& words)
{
    try {
        check_run(run);
        ADD_FAILURE() << "was taken; expected: " << words;
    } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST(Thinning, RowsThatContradictThemselvesAreRefused)
{
    SyntheticPlan two, nine;
    two.P = 2;
    nine.P = 9;
    const RunData sound = thinned_run(joined({synthetic_run(two), synthetic_run(nine)}));
    const auto& points = sound.points;
    const auto& r = sound.repetitions;
    size_t row = 0; // a matmul that two of nine ranks share
    while (points[static_cast<size_t>(r.point[row])].kind != PointKind::crossover || points[static_cast<size_t>(r.point[row])].P != 2) ++row;
    RunData run = sound;
    run.repetitions.rank[row * 4 + 3] = 2;
    expect_refusal(run, "keeps readings of rank 2 of 2");
    run = sound;
    run.repetitions.rank[row * 4] = 1;
    expect_refusal(run, "begins with readings of rank 1, not of rank 0");
    for (const int64_t mean_ns : {int64_t{-1}, int64_t{0}, int64_t{1} << 62}) {
        run = sound;
        run.repetitions.comp_mean_ns[row] = mean_ns;
        expect_refusal(run, "has matmuls of " + std::to_string(mean_ns) + " ns as the mean over ranks");
    }
    run = sound;
    run.points[static_cast<size_t>(r.point[row])].kind = PointKind::link;
    expect_refusal(run, "is of links");
}

TEST(Thinning, SummariesThatSayNothingOfARankAreRefused)
{
    SyntheticPlan plan;
    plan.P = 3;
    const RunData sound = thinned_run(synthetic_run(plan));
    for (const double relative : {0.0, -2.0, std::nan(""), HUGE_VAL}) {
        RunData run = sound;
        run.rank_summaries[4].relative_comp = relative;
        expect_refusal(run, "the summary of rank 1 in pass 1 says");
    }
    RunData run = sound;
    run.rank_summaries.pop_back();
    expect_refusal(run, "summaries and rank 2 ");
    run = sound;
    run.rank_summaries[0].rank = 2;
    expect_refusal(run, "summaries and rank 1 ");
    run.rank_summaries.clear(); // stopped within its first pass
    EXPECT_NO_THROW(check_run(run));
}

TEST(Thinning, TheMeanOfAlmostNothingIsATime)
{
    constexpr int32_t P = 33;
    Repetitions r;
    r.ranks = P;
    begin_row(r, 0, 0, 0);
    for (int32_t rank = 0; rank < P; ++rank) { // one column for 33 ranks: most have none, which a coarse clock calls 0 ns
        r.comp_begin_ns.push_back(100);
        r.comp_end_ns.push_back(rank == 0 ? 110 : 100);
        for (auto* column : {&r.comm_begin_ns, &r.comm_end_ns, &r.main_cpu_ns, &r.comm_cpu_ns}) column->push_back(Repetitions::no_reading);
    }
    Point point;
    point.D = 1;
    point.P = P;
    EXPECT_EQ(thinned(r, {&point, 1}).comp_mean_ns, std::vector<int64_t>{1});
}

} // namespace
} // namespace shardline
