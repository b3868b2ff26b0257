#include "model/crossover.hpp"

#include "model/draws.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace shardline {
namespace {

Estimate known_to_a_factor(double value, double relative_half_width, double degrees_of_freedom = 10)
{
    return {value,
            value / (1 + relative_half_width),
            value * (1 + relative_half_width),
            30,
            0.95,
            degrees_of_freedom};
}

/// t_comp = c·D, exactly.
std::vector<CurvePoint> straight_curve(std::vector<double> D, double c, double relative_half_width)
{
    std::vector<CurvePoint> curve;
    for (double each : D) curve.push_back({each, known_to_a_factor(c * each, relative_half_width)});
    return curve;
}

TEST(MeasuredCrossing, InterpolatesInLogarithms)
{
    const auto curve = straight_curve({1000, 2000, 4000}, 1e-6, 0.01);
    const auto crossing = measured_crossing(curve, known_to_a_factor(3e-3, 0.01));
    ASSERT_TRUE(crossing);
    EXPECT_NEAR(crossing->D.value, 3000, 1e-6);
    EXPECT_EQ(crossing->below, 1u);
    EXPECT_NEAR(crossing->fraction, std::log(1.5) / std::log(2), 1e-9);
    EXPECT_DOUBLE_EQ(crossing->t_s, 3e-3);
    EXPECT_TRUE(crossing->D.contains(3000));
    EXPECT_NEAR(crossing->D.relative_half_width(), 0.0125, 0.004);
}

TEST(MeasuredCrossing, IsNotThereOutsideThePoints)
{
    const auto curve = straight_curve({1000, 2000, 4000}, 1e-6, 0.01);
    EXPECT_FALSE(measured_crossing(curve, known_to_a_factor(0.9e-3, 0.01)));
    EXPECT_FALSE(measured_crossing(curve, known_to_a_factor(4.1e-3, 0.01)));
    EXPECT_FALSE(measured_crossing(straight_curve({1000}, 1e-6, 0.01), known_to_a_factor(1e-3, 0.01)));
    EXPECT_FALSE(measured_crossing({}, known_to_a_factor(1e-3, 0.01)));
}

TEST(MeasuredCrossing, NoiseMakesNoSecondCrossing)
{
    auto curve = straight_curve({1000, 1100, 1200, 1300, 1400}, 1e-6, 0.2);
    curve[1].t_comp_s = known_to_a_factor(1.25e-3, 0.2); // above t_comm, and the next one below it
    curve[2].t_comp_s = known_to_a_factor(1.15e-3, 0.2);
    const auto crossing = measured_crossing(curve, known_to_a_factor(1.2e-3, 0.01));
    ASSERT_TRUE(crossing);
    EXPECT_GT(crossing->D.value, 1000);
    EXPECT_LT(crossing->D.value, 1300);
}

TEST(MeasuredCrossing, WiderTimesMakeAWiderInterval)
{
    const auto narrow =
        measured_crossing(straight_curve({1000, 2000, 4000}, 1e-6, 0.01), known_to_a_factor(3e-3, 0.01));
    const auto wide = measured_crossing(straight_curve({1000, 2000, 4000}, 1e-6, 0.1), known_to_a_factor(3e-3, 0.1));
    EXPECT_GT(wide->D.relative_half_width(), 5 * narrow->D.relative_half_width());
}

TEST(MeasuredCrossing, IsTheSameEveryTime)
{
    const auto curve = straight_curve({1000, 2000, 4000}, 1e-6, 0.05);
    const auto first = measured_crossing(curve, known_to_a_factor(3e-3, 0.01)),
               second = measured_crossing(curve, known_to_a_factor(3e-3, 0.01));
    EXPECT_EQ(first->D.low, second->D.low);
    EXPECT_EQ(first->D.high, second->D.high);
}

TEST(MeasuredCrossing, IntervalCoversTheTruth)
{
    // Twelve close points with errors as large as the steps between them: the interval must not rely on a
    // local slope.
    constexpr int draws = 500;
    for (double error : {0.01, 0.05}) {
        NormalDraws random(17);
        int covered = 0;
        for (int draw = 0; draw < draws; ++draw) {
            std::vector<CurvePoint> curve;
            for (int i = -6; i <= 6; ++i) {
                const double D = 1000 * std::pow(1.1, i);
                const double t = 1e-6 * D * std::exp(error * random.next());
                curve.push_back(
                    {D, {t, t * std::exp(-normal_975 * error), t * std::exp(normal_975 * error), 30}});
            }
            const double t_comm = 1.03e-3 * std::exp(0.3 * error * random.next());
            const Estimate comm{t_comm, t_comm * std::exp(-normal_975 * 0.3 * error),
                                t_comm * std::exp(normal_975 * 0.3 * error), 300};
            const auto crossing = measured_crossing(curve, comm);
            covered += crossing && crossing->D.contains(1030);
        }
        EXPECT_GE(covered, 0.93 * draws) << error;
        EXPECT_LE(covered, 0.99 * draws) << error;
    }
}

TEST(MeasuredCrossing, IsFast)
{
    std::vector<double> D;
    for (int i = 0; i < 20; ++i) D.push_back(1000 * std::pow(1.2, i));
    const auto curve = straight_curve(D, 1e-6, 0.02);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(measured_crossing(curve, known_to_a_factor(8e-3, 0.01)));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
}

TEST(ModelledCrossing, GoesOnAtTheLastRateAboveTheLastPoint)
{
    const auto D = modelled_crossing(straight_curve({1000, 2000}, 1e-6, 0.01), known_to_a_factor(8e-3, 0.01));
    ASSERT_TRUE(D);
    EXPECT_NEAR(D->value, 8000, 1e-6);
}

TEST(ModelledCrossing, FallsTowardsTheStartUpTimeBelowTheFirstPoint)
{
    // 1 ms + 1 µs·D, measured at 1000 and 3000; t_comm = 1.5 ms is met at 500, not at the 750 of a constant
    // rate.
    const std::vector<CurvePoint> curve{{1000, known_to_a_factor(2e-3, 0.01)}, {3000, known_to_a_factor(4e-3, 0.01)}};
    const auto D = modelled_crossing(curve, known_to_a_factor(1.5e-3, 0.01));
    ASSERT_TRUE(D);
    EXPECT_NEAR(D->value, 500, 1);
    EXPECT_FALSE(modelled_crossing(
        curve, known_to_a_factor(0.9e-3, 0.01))); // less than the start-up time: compute-bound for every D
}

TEST(ModelledCrossing, OfOnePointAssumesItsRate)
{
    const auto D = modelled_crossing(straight_curve({1000}, 1e-6, 0.01), known_to_a_factor(0.5e-3, 0.01));
    ASSERT_TRUE(D);
    EXPECT_NEAR(D->value, 500, 1e-6);
    EXPECT_FALSE(modelled_crossing({}, known_to_a_factor(1e-3, 0.01)));
}

TEST(RatioOf, AddsErrorsInQuadrature)
{
    const Estimate ratio = ratio_of(known_to_a_factor(6, 0.03, 1e9), known_to_a_factor(2, 0.04, 1e9));
    EXPECT_DOUBLE_EQ(ratio.value, 3);
    EXPECT_NEAR(ratio.relative_half_width(), 0.05, 0.002);
}

TEST(Sweep, MessageSizeIsThatOfTheWireType)
{
    Sweep sweep{1024, 512, 2, ElementType::f32, ElementType::bf16, "mpi_allreduce"};
    EXPECT_DOUBLE_EQ(sweep.V(), 2.0 * 1024 * 512);
    sweep.wire_type = ElementType::f64;
    EXPECT_DOUBLE_EQ(sweep.V(), 8.0 * 1024 * 512);
}

} // namespace
} // namespace shardline
