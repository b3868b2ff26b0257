// The kernels of the roofline compute what they are said to, and leave readings of computation alone.

#include "measure/timed_step.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

void expect_computation_alone(const Readings& t)
{
    EXPECT_GE(t.comp_begin_ns, 0);
    EXPECT_GE(t.comp_end_ns, t.comp_begin_ns);
    EXPECT_EQ(t.comm_begin_ns, -1);
    EXPECT_EQ(t.comm_end_ns, -1);
}

template <class T>
void expect_triad_and_dot(ElementType type)
{
    Vectors v;
    constexpr int64_t n = 1001;
    prepare(v, n, type);
    for (int64_t i = 0; i < n; ++i) v.b.as<T>()[i] = T(i % 7), v.c.as<T>()[i] = T(i % 3);
    Readings triad, dot;
    timed_triad(v, triad);
    timed_dot(v, dot);
    double product = 0;
    for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(v.a.as<T>()[i], T(i % 7 + 3 * (i % 3))) << i;
        product += static_cast<double>(i % 7) * static_cast<double>(i % 3);
    }
    EXPECT_EQ(v.sink, product);
    expect_computation_alone(triad);
    expect_computation_alone(dot);
}

TEST(Vectors, TriadAndDotProductAreRight)
{
    expect_triad_and_dot<float>(ElementType::f32);
    expect_triad_and_dot<double>(ElementType::f64);
}

TEST(Vectors, HoldNumbersOfEitherType)
{
    Vectors v;
    prepare(v, 1000, ElementType::f64);
    prepare(v, 2000, ElementType::f32); // the same bytes
    Readings t;
    timed_dot(v, t);
    EXPECT_GT(v.sink, 0);
    EXPECT_LT(v.sink, 1e6);
}

// Twelve accumulators, x -> x/2 + 1 from k: after many rounds all are at the fixed point 2.
TEST(Vectors, ArithmeticReachesItsFixedPoint)
{
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        EXPECT_NEAR(multiply_adds_in_registers(type, 1'000'000), 24, 1e-5);
        EXPECT_NE(multiply_adds_in_registers(type, 1), 24);
        Vectors v;
        v.type = type;
        Readings t;
        timed_arithmetic(v, 1'000'000, t);
        EXPECT_NEAR(v.sink, 24, 1e-5);
        expect_computation_alone(t);
    }
}

} // namespace
} // namespace shardline
