#include "model/statistics.hpp"

#include "model/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace shardline {
namespace {

std::vector<double> one_to(int n)
{
    std::vector<double> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

TEST(Median, OfOddAndEvenSamples)
{
    EXPECT_EQ(median(std::vector<double>{3}), 3);
    EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
    EXPECT_EQ(median(std::vector<double>{9, 1, 5, 2}), 3.5);
}

TEST(Median, DoesNotMindOneOutlier)
{
    EXPECT_EQ(median(std::vector<double>{1, 2, 3, 4, 1e9}), 3);
    EXPECT_EQ(median_absolute_deviation(std::vector<double>{1, 2, 3, 4, 1e9}), 1);
}

TEST(MedianEstimate, FewerThanSixSamplesGiveTheirRangeAndSaySo)
{
    for (int n = 1; n <= 5; ++n) {
        const Estimate estimate = median_estimate(one_to(n));
        EXPECT_EQ(estimate.low, 1);
        EXPECT_EQ(estimate.high, n);
        EXPECT_EQ(estimate.n, n);
        EXPECT_FALSE(estimate.reaches_95());
        EXPECT_DOUBLE_EQ(estimate.confidence, 1 - std::pow(2.0, 1 - n));
    }
    EXPECT_TRUE(median_estimate(one_to(6)).reaches_95());
}

TEST(MedianEstimate, OrderStatisticsFromTheBinomialDistribution)
{
    // For n = 10 the 2nd and 9th cover 97.9 %, the 3rd and 8th 89.1 %: 95 % lies in between.
    const Estimate ten = median_estimate(one_to(10));
    EXPECT_EQ(ten.value, 5.5);
    EXPECT_GT(ten.low, 2);
    EXPECT_LT(ten.low, 3);
    EXPECT_DOUBLE_EQ(ten.low + ten.high, 11);
    // For n = 100 the textbook's ranks are 40 and 61.
    const Estimate hundred = median_estimate(one_to(100));
    EXPECT_NEAR(hundred.low, 40.5, 0.6);
    EXPECT_NEAR(hundred.high, 60.5, 0.6);
}

TEST(MedianEstimate, EqualSamplesHaveNoWidth)
{
    const std::vector<double> values(20, 7.0);
    const Estimate estimate = median_estimate(values);
    EXPECT_EQ(estimate.low, 7);
    EXPECT_EQ(estimate.high, 7);
    std::vector<int32_t> visits;
    for (int i = 0; i < 20; ++i) visits.push_back(i / 5);
    EXPECT_EQ(median_estimate(values, visits).high, 7);
}

TEST(MedianEstimate, VisitsThatAgreeWithinThemselvesWidenTheInterval)
{
    NormalDraws random(5);
    std::vector<double> values;
    std::vector<int32_t> visits;
    for (int32_t visit = 0; visit < 10; ++visit) {
        const double level = random.next();
        for (int i = 0; i < 5; ++i) {
            values.push_back(level + 0.01 * random.next());
            visits.push_back(visit);
        }
    }
    const Estimate together = median_estimate(values, visits), as_independent = median_estimate(values);
    EXPECT_GT(together.high - together.low, 1.5 * (as_independent.high - as_independent.low));
    EXPECT_EQ(together.value, as_independent.value);
}

TEST(MedianEstimate, FewSamplesInVisitsAreStillOnlyARange)
{
    const Estimate estimate = median_estimate(one_to(4), std::vector<int32_t>{0, 0, 1, 1});
    EXPECT_FALSE(estimate.reaches_95());
    EXPECT_EQ(estimate.low, 1);
    EXPECT_EQ(estimate.high, 4);
}

TEST(MedianEstimate, VisitsOfUnequalLength)
{
    const Estimate estimate =
        median_estimate(one_to(12), std::vector<int32_t>{0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3});
    EXPECT_TRUE(estimate.reaches_95());
    EXPECT_LE(estimate.low, estimate.value);
    EXPECT_GE(estimate.high, estimate.value);
}

TEST(LaunchSpread, OneLaunchChangesNothing)
{
    const Estimate pooled{10, 9, 11, 30};
    const Estimate same = with_launch_spread(pooled, std::vector<double>{10});
    EXPECT_EQ(same.low, 9);
    EXPECT_EQ(same.high, 11);
}

TEST(LaunchSpread, LaunchesThatDifferWiden)
{
    const Estimate pooled{10, 9.9, 10.1, 90};
    const Estimate widened = with_launch_spread(pooled, std::vector<double>{9, 10, 11});
    EXPECT_LT(widened.low, 8);
    EXPECT_GT(widened.high, 12);
    EXPECT_EQ(widened.degrees_of_freedom, 2);
}

TEST(LaunchSpread, LaunchesThatAgreeDoNotNarrow)
{
    const Estimate pooled{10, 9, 11, 90};
    const Estimate same = with_launch_spread(pooled, std::vector<double>{10, 10, 10, 10});
    EXPECT_EQ(same.low, 9);
    EXPECT_EQ(same.high, 11);
}

TEST(StudentT, QuantilesFromTheTables)
{
    EXPECT_NEAR(student_t_975(1), 12.706, 1e-3);
    EXPECT_NEAR(student_t_975(5), 2.571, 1e-3);
    EXPECT_NEAR(student_t_975(30), 2.042, 1e-3);
    EXPECT_NEAR(student_t_975(60), 2.000, 1e-3);
    EXPECT_NEAR(student_t_975(120), 1.980, 1e-3);
    EXPECT_NEAR(student_t_975(std::numeric_limits<double>::infinity()), normal_975, 1e-12);
}

// Two values far apart, half of the samples each.
TEST(TwoModes, TwoValuesFarApartAreFoundWithTheirShares)
{
    NormalDraws random(9);
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back((i % 5 < 3 ? 35e-3 : 66e-3) * (1 + 0.02 * random.next()));
    const auto modes = two_modes(values);
    ASSERT_TRUE(modes);
    EXPECT_NEAR(modes->low, 35e-3, 1e-3);
    EXPECT_NEAR(modes->high, 66e-3, 2e-3);
    EXPECT_DOUBLE_EQ(modes->share_high, 0.4);
}

TEST(TwoModes, AFewOutliersAreNotAMode)
{
    NormalDraws random(9);
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back((i < 5 ? 66e-3 : 35e-3) * (1 + 0.02 * random.next()));
    EXPECT_FALSE(two_modes(values));
}

TEST(TwoModes, OneModeIsNotTakenForTwo)
{
    int normal = 0, exponential = 0;
    NormalDraws random(10);
    for (int draw = 0; draw < 2000; ++draw) {
        std::vector<double> a, b;
        for (int i = 0; i < 30; ++i) {
            a.push_back(1 + 0.1 * random.next());
            b.push_back(1 - 0.1 * std::log(random.uniform()));
        }
        normal += two_modes(a).has_value();
        exponential += two_modes(b).has_value();
    }
    EXPECT_LE(normal, 2);
    EXPECT_LE(exponential, 6);
}

TEST(TwoModes, CloseTicksOfAClockAreNotModes)
{
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(i % 2 ? 100e-6 : 101e-6);
    EXPECT_FALSE(two_modes(values));
}

} // namespace
} // namespace shardline
