// The sum of the ranks' shard products is the serial product, for every split there is.

#include "experiment/experiment.hpp"
#include "measure/bfloat16.hpp"
#include "measure/check.hpp"
#include "measure/persistent.hpp"
#include "measure/timed_step.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace shardline {
namespace {

using test::session;

constexpr int64_t B = 5, F = 7;

std::vector<double> serial_product(int64_t D)
{
    std::vector<double> Z(B * F);
    for (int64_t i = 0; i < B; ++i)
        for (int64_t j = 0; j < F; ++j)
            for (int64_t d = 0; d < D; ++d) Z[static_cast<size_t>(i * F + j)] += x_value(i, d) * y_value(d, j);
    return Z;
}

double element(const Operands& o, const Buffer& buffer, int64_t i)
{
    return o.result_type() == ElementType::f64 ? buffer.as<double>()[i] : static_cast<double>(buffer.as<float>()[i]);
}

struct Case {
    int64_t D;
    ElementType compute, wire;
    std::string strategy = "mpi_allreduce";
    std::string tiles = "B:2,1,2";
};

/// A step of the strategy on prepared operands.
void take_step(Operands& o, const WireType& wire, const std::string& strategy, const std::string& tiles = "B:2,1,2")
{
    Exchange exchange(wire, session->work(), 50);
    exchange.prepare({.segment_bytes = 16, .strategy = strategy, .tiles = tiles}, o);
    Readings t;
    timed_step(o, exchange, t);
}

class ShardedProduct : public testing::TestWithParam<Case> {
protected:
    Operands step_with(int64_t D, ElementType compute, ElementType wire_type, const std::string& strategy, const std::string& tiles)
    {
        Operands o;
        o.compute_type = compute;
        o.wire_type = wire_type;
        prepare(o, B, F, shard_of(D, session->size(), session->rank()));
        poison(o, o.Z_partial);
        poison(o, o.Z);
        take_step(o, WireType(wire_type), strategy, tiles);
        return o;
    }
};

TEST_P(ShardedProduct, EqualsTheSerialProduct)
{
    const auto& [D, compute, wire, strategy, tiles] = GetParam();
    const Operands o = step_with(D, compute, wire, strategy, tiles);
    const auto expected = serial_product(D);
    for (int64_t i = 0; i < B * F; ++i) {
        const bool by_rows = o.Z_order == MatrixOrder::row_major;
        const int64_t row = by_rows ? i / F : i % B, column = by_rows ? i % F : i / B;
        const double exact = expected[static_cast<size_t>(row * F + column)], got = element(o, o.Z, i);
        if (wire != ElementType::bf16) {
            ASSERT_EQ(got, exact) << "element " << i;
            continue;
        }
        double magnitude = std::abs(element(o, o.Z_partial, i));
        MPI_Allreduce(MPI_IN_PLACE, &magnitude, 1, MPI_DOUBLE, MPI_SUM, session->control());
        EXPECT_NEAR(got, exact, 2 * session->size() * 0x1p-9 * magnitude) << "element " << i;
    }
}

TEST_P(ShardedProduct, PassesItsOwnCheck)
{
    const auto& [D, compute, wire, strategy, tiles] = GetParam();
    const Operands o = step_with(D, compute, wire, strategy, tiles);
    const CheckResult result = check_step(o, D, session->control());
    EXPECT_LE(result.max_error, result.bound);
    if (wire != ElementType::bf16) { EXPECT_EQ(result.bound, 0); }
    EXPECT_TRUE(result.dissenting_ranks.empty());
}

TEST_P(ShardedProduct, IsTheSameWhenMessagesAreSplit)
{
    const auto& [D, compute, wire, strategy, tiles] = GetParam();
    const Operands whole = step_with(D, compute, wire, strategy, tiles);
    if (strategy != "mpi_allreduce") GTEST_SKIP() << "splits by itself";
    const int64_t usual = max_mpi_count;
    max_mpi_count = 3;
    const Operands split = step_with(D, compute, wire, strategy, tiles);
    max_mpi_count = usual;
    for (int64_t i = 0; i < B * F; ++i) EXPECT_EQ(element(split, split.Z, i), element(whole, whole.Z, i)) << "element " << i;
}

std::vector<Case> all_cases()
{
    std::vector<Case> cases;
    for (int64_t D : {1, 2, 3, 100, 101, 1024})
        for (auto compute : {ElementType::f32, ElementType::f64})
            for (auto wire : {ElementType::f32, ElementType::f64, ElementType::bf16}) cases.push_back({D, compute, wire});
    for (auto strategy : strategy_names())
        for (int64_t D : {2, 101})
            for (auto compute : {ElementType::f32, ElementType::f64})
                for (auto wire : {ElementType::f32, ElementType::f64, ElementType::bf16}) {
                    if (strategy == "mpi_allreduce" || (strategy == "mpi_persistent" && !has_persistent_collectives())) continue;
                    cases.push_back({D, compute, wire, std::string(strategy)});
                    if (overlaps(*strategy_named(strategy))) cases.push_back({D, compute, wire, std::string(strategy), "F:1,3,3"});
                }
    return cases;
}

// Beyond 2^24 the order in which f32 sums are taken may show.
TEST(PartialSumsInAnotherOrder, AreJudgedByABoundWhereSumsOfIntegersAreNotExact)
{
    const int64_t exact = int64_t{1} << 22;
    ASSERT_TRUE(sums_are_exact(ElementType::f32, exact));
    ASSERT_FALSE(sums_are_exact(ElementType::f32, exact + 1));
    for (int64_t D : {exact, exact + 1}) {
        Operands o;
        prepare(o, 2, 3, shard_of(D, session->size(), session->rank()));
        take_step(o, WireType(ElementType::f32), "mpi_allreduce");
        const CheckResult right = check_step(o, D, session->control());
        EXPECT_LE(right.max_error, right.bound);
        EXPECT_EQ(right.bound > 0, D > exact);
        o.Z.as<float>()[0] += 1e4f; // the sums themselves are some thousands
        const CheckResult wrong = check_step(o, D, session->control());
        EXPECT_GT(wrong.max_error, wrong.bound);
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, ShardedProduct, testing::ValuesIn(all_cases()), [](const auto& instance) {
    return "D" + std::to_string(instance.param.D) + "_" + std::string(name_of(instance.param.compute)) + "_wire_" +
           std::string(name_of(instance.param.wire)) + (instance.param.strategy == "mpi_allreduce" ? "" : "_" + instance.param.strategy + "_" + instance.param.tiles.substr(0, 1));
});

TEST(EmptyShard, LeavesNoNaN)
{
    Operands o;
    prepare(o, B, F, {0, 0});
    poison(o, o.Z_partial);
    Readings t;
    timed_matmul(o, t);
    for (int64_t i = 0; i < B * F; ++i) EXPECT_EQ(element(o, o.Z_partial, i), 0);
}

TEST(OneByOne, IsExact)
{
    const int64_t D = 3;
    Operands o;
    prepare(o, 1, 1, shard_of(D, session->size(), session->rank()));
    poison(o, o.Z_partial);
    take_step(o, WireType(ElementType::f32), "mpi_allreduce");
    double exact = 0;
    for (int64_t d = 0; d < D; ++d) exact += x_value(0, d) * y_value(d, 0);
    EXPECT_EQ(element(o, o.Z, 0), exact);
}

// The check must see what can go wrong.

class SpoiledResult : public testing::Test {
protected:
    void SetUp() override
    {
        prepare(o, B, F, shard_of(D, session->size(), session->rank()));
        take_step(o, wire, "mpi_allreduce");
    }
    CheckResult check() { return check_step(o, D, session->control()); }

    static constexpr int64_t D = 50;
    Operands o;
    WireType wire{ElementType::f32};
    const int last = session->size() - 1;
};

TEST_F(SpoiledResult, NaNIsSeen)
{
    if (session->rank() == last) o.Z.as<float>()[3] = NAN;
    const CheckResult result = check();
    EXPECT_TRUE(std::isnan(result.max_error));
    EXPECT_EQ(result.worst_rank, last);
}

TEST_F(SpoiledResult, WrongSumIsSeenAndItsRankNamed)
{
    if (session->rank() == last) o.Z.as<float>()[B * F - 1] += 1;
    const CheckResult result = check();
    EXPECT_GT(result.max_error, result.bound);
    EXPECT_EQ(result.worst_rank, last);
    if (session->is_root() && session->size() > 1) {
        EXPECT_EQ(result.dissenting_ranks, std::vector<int32_t>{last});
    }
}

// bf16 on the wire allows an error, but not one that other ranks do not have.
TEST(DisagreeingRanks, AreSeenWithinTheBoundOfTheError)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank agrees with itself";
    const int64_t D = 100;
    Operands o;
    o.wire_type = ElementType::bf16;
    prepare(o, B, F, shard_of(D, session->size(), session->rank()));
    take_step(o, WireType(o.wire_type), "mpi_allreduce");
    const int last = session->size() - 1;
    float* changed = o.Z.as<float>();
    if (session->rank() == last) *changed = std::nextafter(*changed, INFINITY);
    const CheckResult result = check_step(o, D, session->control());
    EXPECT_LE(result.max_error, result.bound);
    if (session->is_root()) { EXPECT_EQ(result.dissenting_ranks, std::vector<int32_t>{last}); }
}

TEST_F(SpoiledResult, WrongPartialProductIsSeen)
{
    if (session->rank() == last) o.Z_partial.as<float>()[0] -= 1;
    const CheckResult result = check();
    EXPECT_GT(result.max_error, result.bound);
}

TEST_F(SpoiledResult, LostContributionIsSeen)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank loses nothing";
    std::copy_n(o.Z_partial.as<float>(), B * F, o.Z.as<float>());
    const CheckResult result = check();
    EXPECT_GT(result.max_error, result.bound);
}

} // namespace
} // namespace shardline
