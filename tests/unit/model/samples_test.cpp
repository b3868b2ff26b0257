#include "model/samples.hpp"

#include "model/error.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace shardline {
namespace {

/// Row 0 of a sweep's point with three ranks; rank 1 is the slowest.
RunData small_run()
{
    RunData run;
    run.path = "small.h5";
    Point point;
    point.B = 16;
    point.D = 32;
    point.F = 64;
    point.P = 3;
    point.strategy = "mpi_allreduce";
    run.points = {point};
    Repetitions& r = run.repetitions;
    r.ranks = 3;
    for (uint8_t mode : {uint8_t{0}, uint8_t{1}}) {
        r.point.push_back(0);
        r.mode.push_back(mode);
        r.pass.push_back(4);
        r.repetition.push_back(7);
        r.warmup.push_back(0);
        r.late.push_back(0);
        r.start_skew_ns.push_back(10);
        for (int64_t rank = 0; rank < 3; ++rank) {
            const int64_t clock = 1'000'000 * (rank + 1), slower = rank == 1 ? 500 : 0;
            r.comp_begin_ns.push_back(clock);
            r.comp_end_ns.push_back(clock + 1000 + slower);
            r.comm_begin_ns.push_back(clock + 2000);
            r.comm_end_ns.push_back(clock + 2300);
            r.main_cpu_ns.push_back(Repetitions::no_reading);
            r.comm_cpu_ns.push_back(Repetitions::no_reading);
        }
    }
    return run;
}

std::string message_of(const RunData& run)
{
    try {
        check_run(run);
    } catch (const DataError& error) {
        return error.what();
    }
    return "";
}

TEST(Samples, ARepetitionTakesTheMaximumOverRanks)
{
    const RunData run = small_run();
    ASSERT_EQ(message_of(run), "");
    const auto points = collect_samples({&run, 1});
    ASSERT_EQ(points.size(), 1u);
    EXPECT_DOUBLE_EQ(points[0].comp_s.at(0).value, 1500e-9);
    EXPECT_NEAR(points[0].comp_mean_s.at(0).value, 3500e-9 / 3, 1e-15);
    EXPECT_DOUBLE_EQ(points[0].comm_s.at(0).value, 300e-9);
    EXPECT_DOUBLE_EQ(points[0].step_s.at(0).value, 2300e-9);
    EXPECT_DOUBLE_EQ(points[0].comp_in_step_s.at(0).value, 1500e-9);
    EXPECT_EQ(points[0].comp_s.at(0).pass, 4);
    EXPECT_EQ(points[0].comp_s.at(0).row, 0);
}

TEST(Samples, RanksCanBeLeftOutOfTheMatmul)
{
    const RunData run = small_run();
    constexpr int32_t slowest[] = {1}, two[] = {1, 2}, all[] = {0, 1, 2};
    const auto points = collect_samples({&run, 1}, slowest);
    EXPECT_DOUBLE_EQ(points[0].comp_s.at(0).value, 1000e-9);
    EXPECT_DOUBLE_EQ(points[0].comm_s.at(0).value, 300e-9);
    EXPECT_DOUBLE_EQ(collect_samples({&run, 1}, two)[0].comp_mean_s.at(0).value, 1000e-9);
    EXPECT_TRUE(collect_samples({&run, 1}, all)[0].comp_s.empty());
}

TEST(Samples, WarmUpsAndLateStartsAreNotUsed)
{
    RunData run = small_run();
    run.repetitions.warmup[0] = 1;
    run.repetitions.late[1] = 1;
    const auto points = collect_samples({&run, 1});
    EXPECT_TRUE(points[0].comp_s.empty());
    EXPECT_TRUE(points[0].step_s.empty());
    EXPECT_FALSE(estimate_of(points[0].comp_s));
}

TEST(Samples, AFirstCallTenThousandTimesAsLongIsAWarmUpAndLeavesTheSummaryAlone)
{
    SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    const auto usual = collect_samples({&run, 1});
    Repetitions& r = run.repetitions;
    ASSERT_TRUE(r.warmup[0]);
    for (size_t rank = 0; rank < 2; ++rank) r.comp_begin_ns[rank] -= 9'999 * (r.comp_end_ns[rank] - r.comp_begin_ns[rank]);
    ASSERT_EQ(message_of(run), "");
    const auto points = collect_samples({&run, 1});
    for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(values_of(points[i].comp_s), values_of(usual[i].comp_s)) << i;
}

TEST(Samples, EqualPointsOfLaunchesPool)
{
    RunData launches[] = {small_run(), small_run()};
    Point other = launches[1].points[0];
    other.D = 64;
    launches[1].points.insert(launches[1].points.begin(), other); // the same point, at another index
    launches[1].repetitions.point = {1, 0};
    const auto points = collect_samples(launches);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ(points[0].point.D, 32);
    ASSERT_EQ(points[0].comp_s.size(), 2u);
    EXPECT_EQ(points[0].comp_s[1].launch, 1);
    EXPECT_EQ(points[0].step_s.size(), 1u);
    EXPECT_EQ(points[1].step_s.size(), 1u);
    EXPECT_EQ(of_launch(points[0].comp_s, 1).size(), 1u);
}

TEST(CheckRun, ATimeOfZeroOrNegativeOr1e5SecondsIsAnErrorThatNamesRankPointAndRepetition)
{
    struct Damage {
        const char* expected;
        std::function<void(Repetitions&)> apply;
    };
    const Damage damages[] = {
        {"the matmul takes 0 ns", [](Repetitions& r) { r.comp_end_ns[1] = r.comp_begin_ns[1]; }},
        {"the matmul ends before it begins",
         [](Repetitions& r) { r.comp_end_ns[1] = r.comp_begin_ns[1] - 5; }},
        {"the matmul has a negative clock reading", // their difference would not fit
         [](Repetitions& r) { r.comp_begin_ns[1] = std::numeric_limits<int64_t>::min() + 1; }},
        {"the communication takes 100 ks",
         [](Repetitions& r) { r.comm_end_ns[1] = r.comm_begin_ns[1] + 100'000'000'000'000; }},
        {"the communication lacks a clock reading",
         [](Repetitions& r) { r.comm_end_ns[1] = Repetitions::no_reading; }},
        {"the matmul lacks a clock reading",
         [](Repetitions& r) { r.comp_begin_ns[1] = r.comp_end_ns[1] = Repetitions::no_reading; }},
    };
    for (const Damage& damage : damages) {
        RunData run = small_run();
        damage.apply(run.repetitions);
        const std::string message = message_of(run);
        EXPECT_NE(message.find(damage.expected), std::string::npos) << message;
        EXPECT_NE(message.find("small.h5: rank 1, B = 16, D = 32, F = 64, phases mode, pass 4, repetition 7"),
                  std::string::npos)
            << message;
    }
}

TEST(CheckRun, WarmUpsMustBeTimesToo)
{
    RunData run = small_run();
    run.repetitions.warmup[1] = 1;
    run.repetitions.comm_end_ns[5] = run.repetitions.comm_begin_ns[5];
    EXPECT_NE(message_of(run).find("rank 2"), std::string::npos);
    EXPECT_NE(message_of(run).find("step mode"), std::string::npos);
}

// D < P.
TEST(CheckRun, AnEmptyShardMayTakeNoTime)
{
    RunData run = small_run();
    run.points[0].D = 2;
    run.repetitions.comp_end_ns[2] = run.repetitions.comp_begin_ns[2];
    EXPECT_EQ(message_of(run), "");
    run.repetitions.comp_end_ns[0] = run.repetitions.comp_begin_ns[0];
    EXPECT_NE(message_of(run), "");
}

TEST(CheckRun, ReadingsOfRanksThatTookNoPartDoNotMatter)
{
    RunData run = small_run();
    run.points[0].P = 2;
    for (size_t i : {2u, 5u})
        for (auto* column : {&run.repetitions.comp_begin_ns, &run.repetitions.comp_end_ns,
                             &run.repetitions.comm_begin_ns, &run.repetitions.comm_end_ns})
            (*column)[i] = Repetitions::no_reading;
    EXPECT_EQ(message_of(run), "");
    EXPECT_EQ(collect_samples({&run, 1})[0].comp_s.size(), 1u);
}

TEST(CheckRun, TablesMustFitEachOther)
{
    RunData run = small_run();
    run.repetitions.point[1] = 1;
    EXPECT_NE(message_of(run).find("row 1 of the repetitions names point 1 of 1"), std::string::npos);
    run = small_run();
    run.repetitions.point[1] = -1;
    EXPECT_NE(message_of(run), "");
    run = small_run();
    run.repetitions.mode[0] = 2;
    EXPECT_NE(message_of(run), "");
    run = small_run();
    run.repetitions.pass[0] = -1;
    EXPECT_NE(message_of(run), "");
    run = small_run();
    run.repetitions.comm_end_ns.pop_back();
    EXPECT_NE(message_of(run).find("differ in length"), std::string::npos);
    run = small_run();
    run.points[0].P = 4;
    EXPECT_NE(message_of(run).find("asks for 4 ranks (the run had 3)"), std::string::npos);
    run = small_run();
    run.checks.push_back({3, 0, 0, 0, true});
    EXPECT_NE(message_of(run).find("names point 3"), std::string::npos);
}

TEST(CheckRun, SyntheticRunsAreSound)
{
    for (int32_t P : {1, 2, 5}) {
        SyntheticPlan plan;
        plan.P = P;
        plan.passes = 2;
        EXPECT_EQ(message_of(synthetic_run(plan)), "");
    }
}

Series series_of(std::vector<double> values, int32_t launch, int32_t pass)
{
    Series series;
    for (double value : values) series.push_back({value, launch, pass, static_cast<int64_t>(series.size())});
    return series;
}

TEST(EstimateOf, LaunchesAreAFactorOfTheirOwn)
{
    const std::vector<double> first{1.00, 1.01, 0.99, 1.00, 1.01, 0.99, 1.00},
        second{1.20, 1.21, 1.19, 1.20, 1.21, 1.19, 1.20};
    const Series one = series_of(first, 0, 0), two = series_of(second, 1, 0);
    const Series* both[] = {&one, &two};
    const auto estimate = estimate_of(pooled(both));
    ASSERT_TRUE(estimate);
    EXPECT_LT(estimate->low, 0.9);
    EXPECT_GT(estimate->high, 1.3);
    EXPECT_EQ(estimate->n, 14);
}

TEST(EstimateOf, TakesInBothOfTwoModes)
{
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back((i % 3 ? 35e-3 : 66e-3) * (1 + 1e-3 * i));
    const auto estimate = estimate_of(series_of(values, 0, 0));
    EXPECT_LT(estimate->low, 36e-3);
    EXPECT_GT(estimate->high, 66e-3);
}

TEST(Pooled, OrdersByLaunchPassAndRow)
{
    const Series a{{1, 0, 0, 5}, {2, 0, 1, 50}, {3, 1, 0, 5}}, b{{4, 0, 0, 9}, {5, 1, 0, 2}};
    const Series* both[] = {&a, &b};
    EXPECT_EQ(values_of(pooled(both)), (std::vector<double>{1, 4, 2, 5, 3}));
}

TEST(Pooled, IsInOrderOfExecutionWhateverItsPartsAre)
{
    std::vector<Series> parts(5);
    int64_t row = 0;
    for (int32_t launch = 0; launch < 3; ++launch)
        for (int32_t pass = 0; pass < 4; ++pass)
            for (const size_t part : {3, 0, 1, 4}) // one stays empty
                for (int repetition = 0; repetition < 2; ++repetition, ++row) parts[part].push_back({static_cast<double>(row), launch, pass, row});
    std::swap(parts[4].front(), parts[4].back()); // a part out of order, which none should be
    const std::vector<const Series*> pointers{&parts[0], &parts[1], &parts[2], &parts[3], &parts[4]};
    for (size_t count = 0; count <= parts.size(); ++count) {
        const Series all = pooled(std::span(pointers).first(count));
        size_t expected = 0;
        for (size_t part = 0; part < count; ++part) expected += parts[part].size();
        ASSERT_EQ(all.size(), expected) << count;
        EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Sample::row)) << count << " parts";
    }
}

} // namespace
} // namespace shardline
