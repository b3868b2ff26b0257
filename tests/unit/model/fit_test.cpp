#include "model/fit.hpp"

#include "model/draws.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

Estimate value_known_to(double value, double relative_half_width)
{
    return {value, value * (1 - relative_half_width), value * (1 + relative_half_width), 30};
}

std::vector<FitPoint> line_points(double a, double b, std::vector<double> x, double relative_half_width)
{
    std::vector<FitPoint> points;
    for (double each : x) points.push_back({each, value_known_to(a + b * each, relative_half_width)});
    return points;
}

TEST(FitLine, FindsAnExactLine)
{
    const auto line = fit_line(line_points(2e-4, 1e-8, {1e6, 2e6, 8e6, 16e6}, 0.02));
    ASSERT_TRUE(line);
    EXPECT_NEAR(line->a, 2e-4, 1e-9);
    EXPECT_NEAR(line->b, 1e-8, 1e-13);
    EXPECT_EQ(line->n, 4);
}

TEST(FitLine, CovarianceOfTwoPoints)
{
    // With y1 at 1 and y2 at 2, a = 2·y1 − y2 and b = y2 − y1.
    const std::vector<FitPoint> points{{1, {10, 10 - 1.96, 10 + 1.96, 9}},
                                       {2, {20, 20 - 3.92, 20 + 3.92, 9}}};
    const auto line = fit_line(points);
    ASSERT_TRUE(line);
    EXPECT_NEAR(line->variance_a, 4 * 1 + 4, 1e-3);
    EXPECT_NEAR(line->variance_b, 1 + 4, 1e-3);
    EXPECT_NEAR(line->covariance, -2 - 4, 1e-3);
    EXPECT_NEAR(line->estimate_at(1).high, 10 + 1.96, 1e-3);
}

TEST(FitLine, PrecisePointsWeighMore)
{
    const std::vector<FitPoint> points{{1, value_known_to(1, 0.02)}, {2, value_known_to(2, 0.02)}, {3, value_known_to(6, 0.9)}};
    EXPECT_NEAR(fit_line(points)->at(3), 3, 0.1);
}

TEST(FitLine, ScatterBeyondTheErrorsWidensTheInterval)
{
    auto straight = line_points(1, 1, {1, 2, 3, 4, 5}, 0.02);
    auto crooked = straight;
    crooked[1].y = value_known_to(3.6, 0.02);
    crooked[3].y = value_known_to(4.4, 0.02);
    EXPECT_GT(fit_line(crooked)->estimate_at(3).relative_half_width(),
              3 * fit_line(straight)->estimate_at(3).relative_half_width());
}

TEST(FitLine, AStartUpTimeIsNeverNegative)
{
    const std::vector<FitPoint> points{
        {1, value_known_to(0.8, 0.02)}, {2, value_known_to(2, 0.02)}, {4, value_known_to(4.4, 0.02)}};
    const auto line = fit_line(points);
    EXPECT_EQ(line->a, 0);
    EXPECT_GT(line->b, 0.9);
    EXPECT_EQ(line->variance_a, 0);
}

TEST(FitLine, ATimeThatFallsWithSizeIsTakenAsConstant)
{
    const std::vector<FitPoint> points{{1, value_known_to(5, 0.02)}, {2, value_known_to(4, 0.02)}};
    EXPECT_EQ(fit_line(points)->b, 0);
}

TEST(FitLine, NeedsTwoDifferentX)
{
    EXPECT_FALSE(fit_line({}));
    EXPECT_FALSE(fit_line(line_points(1, 1, {3}, 0.02)));
    EXPECT_FALSE(fit_line(line_points(1, 1, {3, 3}, 0.02)));
}

TEST(FitLine, IntervalsCoverTheTruth)
{
    NormalDraws random(3);
    int covered = 0;
    constexpr int draws = 2000;
    for (int draw = 0; draw < draws; ++draw) {
        std::vector<FitPoint> points;
        for (double x : {0.25, 0.5, 2.0, 4.0}) {
            const double truth = 1 + 10 * x, error = 0.03 * truth;
            const double y = truth + error * random.next();
            points.push_back({x, {y, y - normal_975 * error, y + normal_975 * error, 30}});
        }
        covered += fit_line(points)->estimate_at(1).contains(11);
    }
    // The scatter is allowed to widen the interval, never to narrow it: somewhat above 95 %.
    EXPECT_GE(covered, 0.94 * draws);
    EXPECT_LE(covered, 0.99 * draws);
}

TEST(NondecreasingFit, LeavesRisingValuesAlone)
{
    const std::vector<double> y{1, 2, 2, 5};
    EXPECT_EQ(nondecreasing_fit(y, std::vector<double>(4, 1.0)), y);
}

TEST(NondecreasingFit, PoolsNeighboursThatFallByTheirWeights)
{
    const std::vector<double> y{1, 4, 2, 6}, weights{1, 1, 3, 1};
    EXPECT_EQ(nondecreasing_fit(y, weights), (std::vector<double>{1, 2.5, 2.5, 6}));
}

TEST(NondecreasingFit, PoolsBackAsFarAsNeeded)
{
    const std::vector<double> y{3, 4, 1}, weights{1, 1, 1};
    const auto fit = nondecreasing_fit(y, weights);
    for (double value : fit) EXPECT_DOUBLE_EQ(value, 8.0 / 3);
    EXPECT_TRUE(nondecreasing_fit({}, {}).empty());
}

} // namespace
} // namespace shardline
