#include "experiment/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace shardline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Experiment experiment_with(ElementType wire_type)
{
    Experiment experiment;
    experiment.wire_type = {wire_type};
    return experiment;
}

bool ascending_and_distinct(const std::vector<int64_t>& values)
{
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

TEST(ShapesOf, PairsEveryBWithEveryF)
{
    Experiment experiment;
    experiment.B = {1, 2, 3};
    experiment.F = {10, 20};
    const auto shapes = shapes_of(experiment);
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (const Shape& shape : shapes) pairs.insert({shape.B, shape.F});
    EXPECT_EQ(shapes.size(), 6u);
    EXPECT_EQ(pairs.size(), 6u);
}

TEST(ShapesOf, PairsEveryTypeToo)
{
    Experiment experiment;
    experiment.B = {1, 2};
    experiment.compute_type = {ElementType::f32, ElementType::f64};
    experiment.wire_type = {ElementType::f32, ElementType::f64, ElementType::bf16};
    std::set<std::tuple<int64_t, ElementType, ElementType>> all;
    for (const Shape& shape : shapes_of(experiment)) all.insert({shape.B, shape.compute_type, shape.wire_type});
    EXPECT_EQ(all.size(), 12u);
}

TEST(RanksOf, AreAllUnlessAskedForOtherwise)
{
    for (int32_t job : {1, 2, 7}) EXPECT_EQ(ranks_of({}, job), std::vector<int32_t>{job});
}

TEST(RanksOf, ASweepGoesUpToAll)
{
    Experiment experiment;
    experiment.rank_choice = RankChoice::sweep;
    EXPECT_EQ(ranks_of(experiment, 1), (std::vector<int32_t>{1}));
    EXPECT_EQ(ranks_of(experiment, 2), (std::vector<int32_t>{2}));
    EXPECT_EQ(ranks_of(experiment, 3), (std::vector<int32_t>{2, 3}));
    EXPECT_EQ(ranks_of(experiment, 4), (std::vector<int32_t>{2, 3, 4}));
    EXPECT_EQ(ranks_of(experiment, 5), (std::vector<int32_t>{2, 3, 4, 5}));
    EXPECT_EQ(ranks_of(experiment, 20), (std::vector<int32_t>{2, 3, 4, 6, 8, 12, 16, 20}));
}

TEST(RanksOf, AListLosesWhatTheJobDoesNotHave)
{
    Experiment experiment;
    experiment.rank_choice = RankChoice::listed;
    experiment.ranks = {8, 2, 5};
    EXPECT_EQ(ranks_of(experiment, 6), (std::vector<int32_t>{2, 5}));
    EXPECT_EQ(ranks_left_out(experiment, 6), (std::vector<int64_t>{8}));
    EXPECT_EQ(ranks_left_out(experiment, 8), std::vector<int64_t>{});
    experiment.ranks = {9};
    EXPECT_TRUE(ranks_of(experiment, 6).empty());
}

TEST(MatmulPoint, IsOneForAllWireTypes)
{
    Experiment experiment;
    experiment.wire_type = {ElementType::f32, ElementType::f64};
    const Shape f32{8, 8, ElementType::f32, ElementType::f32}, f64{8, 8, ElementType::f32, ElementType::f64}, other{8, 8, ElementType::f64, ElementType::f32};
    EXPECT_TRUE(matmul_point(experiment, f32, 4, 2) == matmul_point(experiment, f64, 4, 2));
    EXPECT_FALSE(matmul_point(experiment, f32, 4, 2) == matmul_point(experiment, other, 4, 2));
}

TEST(VisitingOrder, MixesRanksAndTypes)
{
    std::vector<Point> points;
    for (int64_t D = 1; D <= 20; ++D)
        for (int32_t P : {2, 3})
            for (ElementType type : {ElementType::f32, ElementType::f64}) points.push_back(sweep_point({8, 8, type, ElementType::bf16}, D, P, "mpi_allreduce"));
    const auto order = visiting_order(points, 1, 1);
    int together = 0; // neighbours in the order that are so in the list
    for (size_t i = 1; i < order.size(); ++i) together += order[i] == order[i - 1] + 1;
    EXPECT_LT(together, 8) << "of 79";
}

TEST(MessageBytes, CountsTheWireTypeIn64Bits)
{
    EXPECT_EQ(message_bytes({3, 5, ElementType::f32, ElementType::bf16}), 30);
    EXPECT_EQ(message_bytes({65536, 65536}), int64_t{17179869184});
    EXPECT_EQ(message_bytes({65536, 65536, ElementType::f32, ElementType::f64}), int64_t{34359738368});
}

TEST(MatmulPoint, GivesEveryRankTheSameWidth)
{
    const Point point = matmul_point(Experiment{}, {7, 9}, 100, 3);
    EXPECT_EQ(point.kind, PointKind::matmul);
    EXPECT_EQ(point.D, 300);
    EXPECT_EQ(point.message_bytes, 0);
}

TEST(ExchangePoints, SendTheMessageWholeLast)
{
    for (int64_t bytes : {int64_t{1}, int64_t{8}, int64_t{65536}, int64_t{65537}, int64_t{1} << 20, int64_t{16} << 20}) {
        const auto points = exchange_points(bytes, 2);
        ASSERT_FALSE(points.empty());
        EXPECT_EQ(points.back().segment_bytes, bytes);
        for (const Point& point : points) {
            EXPECT_EQ(point.kind, PointKind::exchange);
            EXPECT_EQ(point.message_bytes, bytes);
            EXPECT_GT(point.segment_bytes, 0);
            EXPECT_EQ(point.segment_bytes == bytes, &point == &points.back());
        }
    }
    EXPECT_EQ(exchange_points(8, 2).size(), 1u);
    EXPECT_EQ(exchange_points(int64_t{16} << 20, 2).size(), 4u);
}

TEST(AllreducePoints, SurroundVButNeverAreV)
{
    for (ElementType wire_type : {ElementType::bf16, ElementType::f32, ElementType::f64})
        for (int64_t B : {1, 2, 3, 5, 32, 1000})
            for (int64_t F : {1, 2, 3, 7, 48, 4096}) {
                const Experiment experiment = experiment_with(wire_type);
                const Shape shape{B, F, ElementType::f32, wire_type};
                const int64_t V = message_bytes(shape);
                std::set<int64_t> sizes;
                for (const Point& point : allreduce_points(experiment, shape, 3)) {
                    EXPECT_EQ(point.kind, PointKind::allreduce);
                    EXPECT_NE(point.message_bytes, V);
                    EXPECT_GT(point.message_bytes, 0);
                    EXPECT_EQ(point.message_bytes % bytes_of(wire_type), 0) << "part of an element";
                    EXPECT_TRUE(sizes.insert(point.message_bytes).second) << "a size twice";
                }
                if (B * F >= 4) {
                    EXPECT_LT(*sizes.begin(), V);
                    EXPECT_GT(*sizes.rbegin(), V);
                    EXPECT_GE(sizes.size(), 3u);
                }
            }
}

TEST(DAround, GivesDistinctPositiveMultiplesOfPAroundThePrediction)
{
    for (int32_t P : {1, 2, 3, 4, 7, 128})
        for (double predicted : {0.0, 0.001, 1.0, 10.0, 100.0, 8755.56, 1e9}) {
            const auto D = D_around(predicted, P);
            ASSERT_FALSE(D.empty());
            EXPECT_TRUE(ascending_and_distinct(D)) << "P = " << P << ", predicted " << predicted;
            for (int64_t value : D) {
                EXPECT_GE(value, P);
                EXPECT_EQ(value % P, 0);
            }
            if (predicted < 50 * P) continue;
            EXPECT_EQ(D.size(), 9u);
            EXPECT_NEAR(static_cast<double>(D.front()), predicted / 4, P);
            EXPECT_NEAR(static_cast<double>(D.back()), predicted * 4, P);
        }
}

TEST(DToAdd, GoesOutwardsWhereThePointsDoNotBracket)
{
    const std::vector<int64_t> measured{100, 200, 400};
    EXPECT_EQ(D_to_add(measured, infinity, 2), std::vector<int64_t>{1000});
    EXPECT_EQ(D_to_add(measured, 5000, 2), std::vector<int64_t>{1000});
    EXPECT_EQ(D_to_add(measured, 0, 2), std::vector<int64_t>{40});
    EXPECT_EQ(D_to_add(measured, 30, 2), std::vector<int64_t>{40});
}

TEST(DToAdd, StopsBelowWhereEveryRankHasOneElement)
{
    EXPECT_TRUE(D_to_add({4, 8}, 0, 4).empty());
}

TEST(DToAdd, RefinesAWideBracketOnBothSides)
{
    const auto added = D_to_add({100, 200, 400}, 280, 2);
    ASSERT_EQ(added.size(), 2u);
    EXPECT_LT(added[0], 280);
    EXPECT_GT(added[1], 280);
    EXPECT_GT(added[0], 200);
    EXPECT_LT(added[1], 400);
    EXPECT_TRUE(D_to_add({250, 300}, 280, 2).empty()) << "the bracket is narrow enough";
}

TEST(DToAdd, NeverMeasuresADAgainAndComesToAnEnd)
{
    for (int32_t P : {1, 2, 3, 5})
        for (double crossing : {0.0, 1.0, 2.0, 7.5, 97.0, 99.9, 100.0, 1234.5, infinity}) {
            std::vector<int64_t> measured = D_around(100, P);
            for (int step = 0; step < 30; ++step) {
                const auto added = D_to_add(measured, crossing, P);
                for (int64_t D : added) {
                    EXPECT_FALSE(std::ranges::binary_search(measured, D));
                    EXPECT_GE(D, P);
                    EXPECT_EQ(D % P, 0);
                }
                EXPECT_TRUE(ascending_and_distinct(added));
                if (added.empty() || measured.back() > 1'000'000'000) break;
                measured.insert(measured.end(), added.begin(), added.end());
                std::ranges::sort(measured);
                EXPECT_LT(step, 29) << "P = " << P << ", crossing " << crossing;
            }
        }
}

std::vector<int32_t> counted(int32_t n)
{
    std::vector<int32_t> numbers(static_cast<size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

std::vector<Point> sweep_of_points(int64_t n)
{
    std::vector<Point> points;
    for (int64_t D = 1; D <= n; ++D) points.push_back({.B = 8, .D = D, .F = 8, .strategy = "mpi_allreduce", .tiles = ""});
    return points;
}

TEST(VisitingOrder, VisitsEveryPointOnce)
{
    for (int32_t n : {0, 1, 2, 3, 50}) {
        auto order = visiting_order(sweep_of_points(n), 7, 3);
        std::ranges::sort(order);
        EXPECT_EQ(order, counted(n));
    }
}

TEST(VisitingOrder, DependsOnSeedAndPassAlone)
{
    const auto points = sweep_of_points(40);
    EXPECT_EQ(visiting_order(points, 1, 2), visiting_order(points, 1, 2));
    std::set<std::vector<int32_t>> orders;
    for (uint64_t seed : {0u, 1u, 2u, 3u})
        for (int32_t pass : {0, 1, 2, 3}) orders.insert(visiting_order(points, seed, pass));
    EXPECT_EQ(orders.size(), 16u) << "two of 16 seeds and passes give the same order";
}

TEST(VisitingOrder, OfTwoPointsDoesNotDependOnTheOthers)
{
    const auto all = sweep_of_points(40);
    const std::vector<Point> some(all.begin() + 10, all.begin() + 20);
    auto order = visiting_order(all, 5, 1);
    std::erase_if(order, [](int32_t i) { return i < 10 || i >= 20; });
    for (int32_t& i : order) i -= 10;
    EXPECT_EQ(visiting_order(some, 5, 1), order);
}

TEST(VisitingOrder, PrefersNoPlace)
{
    constexpr int32_t n = 5, passes = 5000;
    const auto points = sweep_of_points(n);
    int times_first[n] = {}, times_last[n] = {};
    for (int32_t pass = 0; pass < passes; ++pass) {
        const auto order = visiting_order(points, 11, pass);
        ++times_first[order.front()];
        ++times_last[order.back()];
    }
    for (int32_t point = 0; point < n; ++point) { // 1000 ± 28 expected
        EXPECT_NEAR(times_first[point], passes / n, 150);
        EXPECT_NEAR(times_last[point], passes / n, 150);
    }
}

// ---------------------------------------------------------------------------------------------------
// Points of other measures

int64_t count(const std::vector<Point>& points, PointKind kind) { return std::ranges::count(points, kind, &Point::kind); }

void expect_distinct(const std::vector<Point>& points)
{
    for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(std::find(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(), points[i]), points.end()) << i;
}

TEST(RooflinePoints, GiveEveryRankItsOwnWidth)
{
    Experiment experiment;
    experiment.B = {1, 8};
    experiment.F = {64};
    experiment.types = {ElementType::f32, ElementType::f64, ElementType::bf16};
    const auto points = roofline_points(experiment, 8000, 3);
    expect_distinct(points);
    EXPECT_EQ(count(points, PointKind::triad), 1);
    EXPECT_EQ(count(points, PointKind::dot), 2); // no bf16
    EXPECT_EQ(count(points, PointKind::arithmetic), 2);
    EXPECT_EQ(count(points, PointKind::cold_matmul), 6);
    EXPECT_EQ(count(points, PointKind::matmul), 3); // 64 cubed, as nothing larger was asked for
    for (const Point& point : points) {
        EXPECT_EQ(point.D % 3, 0);
        const bool of_vectors = point.kind == PointKind::triad || point.kind == PointKind::dot;
        if (of_vectors) { EXPECT_EQ(point.D / 3 * bytes_of(point.compute_type), 8000); }
        if (point.kind == PointKind::cold_matmul) { EXPECT_EQ(point.D / 3, 64); }
    }
    experiment.D = {{5, 7}};
    EXPECT_EQ(count(roofline_points(experiment, 8000, 3), PointKind::cold_matmul), 12);
}

TEST(LinkPoints, AreEverySizeInEveryRoundAndAllAtOnce)
{
    Experiment experiment;
    experiment.message_bytes = {8, 3000};
    const auto points = link_points(experiment, 5, 4);
    expect_distinct(points);
    EXPECT_EQ(count(points, PointKind::link), 5 * 2 * 3 + 1);
    EXPECT_EQ(std::ranges::find(points, "all_at_once", &Point::algorithm)->message_bytes, 1000);
    EXPECT_EQ(count(points, PointKind::arithmetic), 1);
    // The order of a pass tells them apart.
    const auto order = visiting_order(points, 1, 0);
    EXPECT_FALSE(std::ranges::is_sorted(order));
}

TEST(CollectivePoints, AreWholeElementsByEveryAlgorithm)
{
    Experiment experiment = experiment_with(ElementType::f64);
    experiment.message_bytes = {1, 9, 15, 4000};
    const std::vector<std::string> algorithms{"ring", "other"};
    const auto points = collective_points(experiment, algorithms, 2);
    expect_distinct(points);
    EXPECT_EQ(count(points, PointKind::collective), 2 * 3); // 8 and 4000 bytes
    EXPECT_GE(count(points, PointKind::exchange), 2);
    for (const Point& point : points)
        if (point.kind == PointKind::collective) { EXPECT_EQ(point.message_bytes % 8, 0); }
}

} // namespace
} // namespace shardline
