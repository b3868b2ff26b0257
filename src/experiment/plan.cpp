#include "experiment/plan.hpp"

#include "model/links.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace shardline {

namespace {

/// The mixing step of SplitMix64: a few lines of our own, so that an order depends on no library.
uint64_t mixed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// What the points of the sweep differ in that those of most runs do not.
struct Varying {
    bool ranks = false, types = false;
};

Varying varying_in(std::span<const Point> points)
{
    Varying varying;
    const Point* first = nullptr;
    for (const Point& point : points) {
        if (point.kind != PointKind::crossover) continue;
        if (!first) first = &point;
        varying.ranks = varying.ranks || point.P != first->P;
        varying.types = varying.types || point.compute_type != first->compute_type || point.wire_type != first->wire_type;
    }
    return varying;
}

uint64_t hash_of(const Point& point, uint64_t seed, int32_t pass, Varying varying)
{
    uint64_t hash = mixed(seed);
    for (int64_t number : {static_cast<int64_t>(pass), static_cast<int64_t>(point.kind), point.B, point.D, point.F,
                           point.message_bytes, point.kind == PointKind::exchange ? point.segment_bytes : 0})
        hash = mixed(hash ^ static_cast<uint64_t>(number));
    // Where there is none of them the order is what it was before points had them.
    if (point.round > 0) hash = mixed(hash ^ static_cast<uint64_t>(point.round));
    for (char letter : point.algorithm) hash = mixed(hash ^ static_cast<unsigned char>(letter));
    for (char letter : point.strategy) hash = mixed(hash ^ static_cast<unsigned char>(letter));
    if (varying.ranks) hash = mixed(hash ^ static_cast<uint64_t>(point.P));
    if (varying.types) hash = mixed(hash ^ (16 * static_cast<uint64_t>(point.compute_type) + static_cast<uint64_t>(point.wire_type)));
    return hash;
}

/// Every shard gets the same width, so that ⌈D/P⌉ = D/P and rounding does not enter D_obs.
int64_t positive_multiple(double D, int32_t P)
{
    return std::max<int64_t>(1, std::llround(D / P)) * P;
}

void sort_and_drop_repeats(std::vector<int64_t>& values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

} // namespace

std::vector<Shape> shapes_of(const Experiment& experiment)
{
    std::vector<Shape> shapes;
    for (int64_t B : experiment.B)
        for (int64_t F : experiment.F)
            for (ElementType compute_type : experiment.compute_type)
                for (ElementType wire_type : experiment.wire_type) shapes.push_back({B, F, compute_type, wire_type});
    return shapes;
}

std::vector<int32_t> ranks_of(const Experiment& experiment, int32_t job)
{
    if (experiment.rank_choice == RankChoice::all || job < 2) return {job};
    std::vector<int64_t> ranks = experiment.ranks;
    if (experiment.rank_choice == RankChoice::sweep) {
        ranks = {job};
        for (int64_t power = 2; power < job; power *= 2) {
            ranks.push_back(power);
            ranks.push_back(power / 2 * 3);
        }
    }
    std::erase_if(ranks, [job](int64_t P) { return P > job; });
    sort_and_drop_repeats(ranks);
    return {ranks.begin(), ranks.end()};
}

std::vector<int64_t> ranks_left_out(const Experiment& experiment, int32_t job)
{
    std::vector<int64_t> left_out;
    if (experiment.rank_choice == RankChoice::listed)
        std::ranges::copy_if(experiment.ranks, std::back_inserter(left_out), [job](int64_t P) { return P > job; });
    return left_out;
}

int64_t message_bytes(Shape shape) { return bytes_of(shape.wire_type) * shape.B * shape.F; }

Point sweep_point(Shape shape, int64_t D, int32_t P, const std::string& strategy)
{
    return {.kind = PointKind::crossover, .B = shape.B, .D = D, .F = shape.F, .P = P,
            .message_bytes = message_bytes(shape), .segment_bytes = 0,
            .compute_type = shape.compute_type, .wire_type = shape.wire_type,
            .strategy = strategy, .tiles = ""};
}

Point matmul_point(const Experiment& experiment, Shape shape, int64_t K, int32_t P)
{
    return {.kind = PointKind::matmul, .B = shape.B, .D = K * P, .F = shape.F, .P = P,
            .message_bytes = 0, .segment_bytes = 0,
            .compute_type = shape.compute_type, .wire_type = experiment.wire_type.front(), .strategy = "", .tiles = ""};
}

std::vector<Point> exchange_points(int64_t bytes, int32_t P)
{
    constexpr int64_t KiB = 1024;
    std::vector<Point> points;
    Point point{.kind = PointKind::exchange, .P = P, .message_bytes = bytes, .strategy = "", .tiles = ""};
    for (int64_t segment : {32 * KiB, 128 * KiB, 512 * KiB}) {
        if (segment >= bytes) break;
        point.segment_bytes = segment;
        points.push_back(point);
    }
    point.segment_bytes = bytes;
    points.push_back(point);
    return points;
}

std::vector<Point> allreduce_points(const Experiment& experiment, Shape shape, int32_t P)
{
    const int64_t element = bytes_of(shape.wire_type);
    const int64_t n = shape.B * shape.F;
    std::vector<int64_t> counts{n / 4, n / 2, n - n / 4, n + n / 2};
    std::erase_if(counts, [n](int64_t count) { return count < 1 || count == n; });
    sort_and_drop_repeats(counts);
    std::vector<Point> points;
    for (const std::string& strategy : experiment.strategy)
        for (int64_t count : counts)
            points.push_back({.kind = PointKind::allreduce, .P = P, .message_bytes = count * element, .segment_bytes = 0,
                              .compute_type = shape.compute_type, .wire_type = shape.wire_type,
                              .strategy = strategy, .tiles = ""});
    return points;
}

std::vector<Point> roofline_points(const Experiment& experiment, int64_t vector_bytes, int32_t P)
{
    constexpr int64_t multiply_adds = int64_t{1} << 30; // some 10 to 200 ms
    std::vector<Point> points;
    const auto add = [&](PointKind kind, ElementType type, int64_t B, int64_t K, int64_t F) {
        points.push_back({.kind = kind, .B = B, .D = K * P, .F = F, .P = P, .compute_type = type, .wire_type = type,
                          .strategy = "", .tiles = ""});
    };
    // Large ones fill the BLAS's kernels; no larger than the experiment's own matmuls, so that a quick experiment stays quick.
    std::vector<int64_t> squares{512, 1024, 2048, 3072};
    const int64_t largest = std::ranges::max(experiment.F);
    std::erase_if(squares, [largest](int64_t n) { return n > largest; });
    if (squares.empty()) squares.push_back(largest);
    add(PointKind::triad, ElementType::f64, 1, vector_bytes / bytes_of(ElementType::f64), 1);
    for (const ElementType type : experiment.types) {
        if (type != ElementType::bf16) {
            add(PointKind::arithmetic, type, 1, multiply_adds, 1);
            add(PointKind::dot, type, 1, vector_bytes / bytes_of(type), 1);
        }
        for (const int64_t n : squares) add(PointKind::matmul, type, n, n, n);
        for (const Shape shape : shapes_of(experiment))
            for (const int64_t K : experiment.D.value_or(std::vector<int64_t>{shape.F})) add(PointKind::cold_matmul, type, shape.B, K, shape.F);
    }
    return points;
}

std::vector<Point> link_points(const Experiment& experiment, size_t rounds, int32_t P)
{
    std::vector<Point> points;
    const auto add = [&](int64_t bytes, size_t round, std::string_view direction) {
        points.push_back({.kind = PointKind::link, .P = P, .message_bytes = bytes, .segment_bytes = bytes, .strategy = "",
                          .round = static_cast<int32_t>(round), .algorithm = std::string(direction), .tiles = ""});
    };
    for (size_t round = 0; round < rounds; ++round)
        for (const int64_t bytes : experiment.message_bytes)
            for (const std::string_view direction : {link_forth, link_back, link_both_ways}) add(bytes, round, direction);
    add(std::max<int64_t>(1, std::ranges::max(experiment.message_bytes) / std::max(1, P - 1)), 0, link_all_at_once);
    constexpr int64_t multiply_adds = int64_t{1} << 33; // some 100 ms, as a quota's period, or more
    points.push_back({.kind = PointKind::arithmetic, .B = 1, .D = multiply_adds * P, .F = 1, .P = P, .strategy = "", .tiles = ""});
    return points;
}

std::vector<Point> collective_points(const Experiment& experiment, std::span<const std::string> algorithms, int32_t P)
{
    constexpr int64_t MiB = 1024 * 1024;
    std::vector<Point> points = exchange_points(8, P);
    for (const Point& point : exchange_points(4 * MiB, P)) points.push_back(point);
    const ElementType type = experiment.wire_type.front();
    const int64_t element = bytes_of(type);
    std::vector<int64_t> sizes;
    for (const int64_t bytes : experiment.message_bytes) sizes.push_back(std::max<int64_t>(1, bytes / element) * element);
    sort_and_drop_repeats(sizes);
    std::vector<std::string> names{""};
    names.insert(names.end(), algorithms.begin(), algorithms.end());
    for (const int64_t bytes : sizes)
        for (const std::string& name : names)
            points.push_back({.kind = PointKind::collective, .P = P, .message_bytes = bytes, .segment_bytes = 0, .compute_type = type,
                              .wire_type = type, .strategy = "mpi_allreduce", .algorithm = name, .tiles = ""});
    return points;
}

std::vector<int64_t> D_around(double predicted_D, int32_t P)
{
    std::vector<int64_t> D;
    for (double factor : {0.25, 0.5, 0.7, 0.85, 1.0, 1.18, 1.4, 2.0, 4.0})
        D.push_back(positive_multiple(predicted_D * factor, P));
    sort_and_drop_repeats(D);
    return D;
}

std::vector<int64_t> D_to_add(const std::vector<int64_t>& measured, double crossing, int32_t P)
{
    constexpr double step_outwards = 2.5, close_enough = 1.25, beside = 1.1;
    std::vector<int64_t> added;
    if (crossing <= static_cast<double>(measured.front())) {
        added = {positive_multiple(static_cast<double>(measured.front()) / step_outwards, P)};
    } else if (crossing >= static_cast<double>(measured.back())) {
        added = {positive_multiple(static_cast<double>(measured.back()) * step_outwards, P)};
    } else {
        const auto above = std::upper_bound(measured.begin(), measured.end(), crossing,
                                            [](double x, int64_t D) { return x < static_cast<double>(D); });
        const double gap = static_cast<double>(*above) / static_cast<double>(*(above - 1));
        if (gap > close_enough)
            added = {positive_multiple(crossing / beside, P), positive_multiple(crossing * beside, P)};
    }
    std::erase_if(added, [&](int64_t D) { return std::binary_search(measured.begin(), measured.end(), D); });
    sort_and_drop_repeats(added);
    return added;
}

std::vector<int32_t> visiting_order(std::span<const Point> points, uint64_t seed, int32_t pass)
{
    std::vector<int32_t> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    const Varying varying = varying_in(points);
    std::ranges::stable_sort(order, {}, [&](int32_t i) { return hash_of(points[static_cast<size_t>(i)], seed, pass, varying); });
    return order;
}

} // namespace shardline
