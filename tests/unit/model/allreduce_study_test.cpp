// Algorithms of known cost: which is said to be best where, and what the rules say.

#include "model/allreduce_study.hpp"
#include "model/analysis.hpp"
#include "model/law.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardline {
namespace {

constexpr int32_t P = 4;
constexpr double W = 1e9;

RunData run_of(const std::vector<SyntheticAlgorithm>& algorithms, double noise = 0.01, uint64_t seed = 1)
{
    return synthetic_allreduce(algorithms, P, W, noise, seed);
}

double doubling(double bytes) { return allreduce_time_s(AllreduceAlgorithm::recursive_doubling, bytes, P, 1e-5, W); }
double ring(double bytes) { return allreduce_time_s(AllreduceAlgorithm::ring, bytes, P, 1e-5, W); }

AllreduceStudy study_of(const RunData& run) { return *analyse({&run, 1}).allreduce; }

// The two cross where 2·(10 us + V/W) = 6·10 us + 1.5·V/W: at 80 kB.
TEST(AllreduceStudy, FindsTheRangesOfTwoAlgorithms)
{
    const RunData run = run_of({{"", [](double V) { return 2 * ring(V); }}, {"recursive_doubling", doubling}, {"ring", ring}});
    const AllreduceStudy study = study_of(run);
    ASSERT_EQ(study.ranges.size(), 2u);
    EXPECT_EQ(study.ranges[0].algorithm, "recursive_doubling");
    EXPECT_EQ(study.ranges[0].first_bytes, 8);
    EXPECT_EQ(study.ranges[1].algorithm, "ring");
    EXPECT_GE(study.ranges[1].first_bytes, 100'000);
    EXPECT_EQ(study.ranges[1].last_bytes, 10'000'000);
    EXPECT_NEAR(study.ranges[1].most_gain, 2, 0.05);
    const AllreduceSize& largest = study.sizes.back();
    EXPECT_NEAR(*largest.bound_s, 1.5 * 1e7 / W, 0.02 * 1.5e-2);
    EXPECT_NEAR(*largest.algorithms[largest.best].reached, 1, 0.02);
    EXPECT_NEAR(largest.algorithms[largest.best].bus_bytes_per_s, W, 0.02 * W);
    EXPECT_EQ(largest.algorithms.front().algorithm, "default");
    EXPECT_EQ(study.claims[0].verdict, Verdict::refuted);
}

TEST(AllreduceStudy, WritesTheRulesOfThoseRanges)
{
    const RunData run = run_of({{"", [](double V) { return V < 5000 ? doubling(V) : 2 * ring(V); }}, {"recursive_doubling", doubling}, {"ring", ring}});
    const AllreduceStudy study = study_of(run);
    const std::string& rules = study.rules;
    EXPECT_TRUE(rules.starts_with("1 # collectives\n2 # allreduce\n1 # sizes of communicators\n4 # ranks, and more\n3 # sizes of messages\n0 0 0 0 #")) << rules;
    EXPECT_NE(rules.find("\n3162 3 0 0 "), std::string::npos) << rules;  // halfway between 1000 and 10000
    EXPECT_NE(rules.find("\n31623 4 0 0 "), std::string::npos) << rules;
}

TEST(AllreduceStudy, LeavesTheChoiceWhereNothingIsBetterForCertain)
{
    int chosen = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        const RunData run = run_of({{"", ring}, {"ring", ring}, {"rabenseifner", ring}, {"segmented_ring", ring}}, 0.1, seed);
        const AllreduceStudy study = study_of(run);
        const bool leaves = study.ranges.size() == 1 && study.ranges[0].algorithm == "default";
        EXPECT_EQ(study.rules.empty(), leaves) << seed;
        EXPECT_EQ(study.claims[0].verdict == Verdict::holds, leaves) << seed;
        chosen += !leaves;
    }
    EXPECT_LE(chosen, 5); // one family of comparisons in twenty
}

TEST(AllreduceStudy, SaysNothingOfFewSamples)
{
    const RunData run = few_samples_of(run_of({{"", ring}, {"ring", ring}}));
    EXPECT_EQ(study_of(run).claims[0].verdict, Verdict::inconclusive);
    RunData sound = run_of({{"", ring}, {"ring", ring}});
    EXPECT_EQ(study_of(sound).claims[0].verdict, Verdict::holds);
    Point unvisited = *std::ranges::find(sound.points, PointKind::collective, &Point::kind);
    unvisited.algorithm = "rabenseifner";
    sound.points.push_back(unvisited);
    EXPECT_EQ(study_of(sound).claims[0].verdict, Verdict::inconclusive);
}

TEST(AllreduceStudy, OfTheDefaultAloneComparesNothing)
{
    const RunData run = run_of({{"", ring}});
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_EQ(analysis.allreduce->sizes.size(), 6u);
    EXPECT_FALSE(analysis.allreduce->sizes[0].gain);
}

TEST(AllreduceStudy, IsOfRunsOfCollectivesAlone)
{
    RunData run;
    run.repetitions.ranks = P;
    EXPECT_FALSE(analyse({&run, 1}).allreduce);
}

} // namespace
} // namespace shardline
