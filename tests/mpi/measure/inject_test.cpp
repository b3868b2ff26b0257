#include "measure/inject.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shardline {
namespace {

using test::session;

constexpr Readings both_parts{1000, 1100, 1200, 1500};
constexpr Readings communication_alone{-1, -1, 1200, 1500};

void expect_readings(const Readings& t, const Readings& expected)
{
    EXPECT_EQ(t.comp_begin_ns, expected.comp_begin_ns);
    EXPECT_EQ(t.comp_end_ns, expected.comp_end_ns);
    EXPECT_EQ(t.comm_begin_ns, expected.comm_begin_ns);
    EXPECT_EQ(t.comm_end_ns, expected.comm_end_ns);
}

/// The readings after that fault of this rank.
Readings after(const Injection& injection, int64_t visit, Readings t)
{
    Injector(injection, static_cast<int>(injection.rank)).after_repetition(visit, t);
    return t;
}

TEST(Injector, TouchesItsRankAloneAndOnlyFromItsVisitOn)
{
    const Injection injection{.what = "slow_rank", .rank = 0, .amount = 3, .visit = 5};
    const Injector injector(injection, session->rank());
    for (int64_t visit : {0, 4, 5, 6}) {
        Readings t = both_parts;
        injector.after_repetition(visit, t);
        EXPECT_EQ(t.comp_end_ns != both_parts.comp_end_ns, session->rank() == 0 && visit >= 5);
    }
}

TEST(Injector, DoesNothingWhereNothingIsAskedFor)
{
    const Injector injector({}, 0);
    Readings t = both_parts;
    Operands operands;
    prepare(operands, 2, 2, {0, 1});
    const float before = operands.Z.as<float>()[0];
    EXPECT_NO_THROW(injector.before_visit(9));
    injector.before_start(9);
    injector.after_repetition(9, t);
    injector.before_check(9, operands);
    expect_readings(t, both_parts);
    EXPECT_EQ(operands.Z.as<float>()[0], before);
}

TEST(Injector, ThrowsWhereAsked)
{
    const Injector injector({.what = "throw", .visit = 2}, 0);
    EXPECT_NO_THROW(injector.before_visit(1));
    EXPECT_THROW(injector.before_visit(2), std::runtime_error);
}

TEST(Injector, SlowRankStretchesTheMatmulAndMovesTheRest)
{
    const Injection injection{.what = "slow_rank", .amount = 3};
    expect_readings(after(injection, 0, both_parts), {1000, 1300, 1400, 1700});
    expect_readings(after(injection, 0, communication_alone), communication_alone);
}

TEST(Injector, DriftGrowsWithTheVisits)
{
    const Injection injection{.what = "drift", .amount = 50, .visit = 2};
    expect_readings(after(injection, 2, both_parts), both_parts);
    expect_readings(after(injection, 4, both_parts), {1000, 1200, 1300, 1900});
    expect_readings(after(injection, 4, communication_alone), {-1, -1, 1200, 1800});
}

TEST(Injector, ClockStepMovesTheLastReading)
{
    const Injection injection{.what = "clock_step", .amount = -2}; // ms
    expect_readings(after(injection, 0, both_parts), {1000, 1100, 1200, 1500 - 2'000'000});
    expect_readings(after(injection, 0, {1000, 1100, -1, -1}), {1000, 1100 - 2'000'000, -1, -1});
}

TEST(Injector, SpoilsAResultInItsOwnType)
{
    for (ElementType type : {ElementType::f32, ElementType::f64}) {
        Operands operands;
        operands.compute_type = type;
        prepare(operands, 2, 2, {0, 1});
        const auto first = [&] { return type == ElementType::f64 ? operands.Z.as<double>()[0] : operands.Z.as<float>()[0]; };
        Injector({.what = "wrong_value"}, 0).before_check(0, operands);
        EXPECT_EQ(first(), 1e6);
        Injector({.what = "nan"}, 0).before_check(0, operands);
        EXPECT_TRUE(std::isnan(first()));
    }
}

} // namespace
} // namespace shardline
