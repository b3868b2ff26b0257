#include "model/tiles.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace shardline {

namespace {

/// Kernels of a BLAS work on some rows at a time; a tile of fewer, or of a broken number, wastes part of the last ones.
constexpr int64_t rows_together = 32;
constexpr int64_t most_tiles = 16;

/// `rows` shared out in proportion to the weights, in whole groups of rows_together; empty where one would get none.
std::vector<int64_t> shared_out(int64_t rows, const std::vector<double>& weights)
{
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<int64_t> tiles;
    double sum = 0;
    int64_t begin = 0;
    for (double weight : weights) {
        sum += weight;
        const double exact = static_cast<double>(rows) * sum / whole;
        const int64_t end = tiles.size() + 1 == weights.size() ? rows : std::llround(exact / rows_together) * rows_together;
        if (end <= begin) return {};
        tiles.push_back(end - begin);
        begin = end;
    }
    return tiles;
}

/// Small tiles at both ends, each `growth` times its outer neighbour until they reach the size of those in the middle.
std::vector<double> weights_of(int64_t tiles, double first, double last, double growth)
{
    std::vector<double> weights;
    for (int64_t i = 0; i < tiles; ++i) {
        const double from_front = first * std::pow(growth, static_cast<double>(i));
        const double from_back = last * std::pow(growth, static_cast<double>(tiles - 1 - i));
        weights.push_back(std::min({1.0, from_front, from_back}));
    }
    return weights;
}

} // namespace

double overlap_time_s(const std::vector<int64_t>& tiles, const OverlapCosts& costs)
{
    const double rows = static_cast<double>(std::accumulate(tiles.begin(), tiles.end(), int64_t{0}));
    const double cpu_share = costs.t_comm_s > 0 ? std::min(0.9, costs.comm_cpu_s / costs.t_comm_s) : 0;
    double now_s = 0, link_free_s = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        const double share = static_cast<double>(tiles[i]) / rows;
        const double work_s = costs.t_comp_s * share + (i > 0 ? costs.repack_s : 0);
        // While the link is busy, the matmul has what the communication leaves of its core.
        const double beside_s = std::min(work_s / (1 - cpu_share), std::max(0.0, link_free_s - now_s));
        now_s += beside_s + std::max(0.0, work_s - beside_s * (1 - cpu_share));
        link_free_s = std::max(link_free_s, now_s) + costs.t_comm_s * share;
    }
    return link_free_s;
}

std::vector<int64_t> plan_tiles(int64_t rows, const OverlapCosts& costs)
{
    std::vector<int64_t> best{rows};
    double best_s = overlap_time_s(best, costs);
    for (int64_t n = 2; n <= std::min(most_tiles, rows / rows_together); ++n)
        for (double first : {1.0, 0.5, 0.25, 0.125, 0.0625})
            for (double last : {1.0, 0.5, 0.25, 0.125, 0.0625})
                for (double growth : {1.5, 2.0, 3.0, 5.0}) {
                    const std::vector<int64_t> tiles = shared_out(rows, weights_of(n, first, last, growth));
                    if (tiles.empty()) continue;
                    const double time_s = overlap_time_s(tiles, costs);
                    if (time_s < best_s) best = tiles, best_s = time_s;
                }
    return best;
}

std::vector<int64_t> equal_tiles(int64_t rows, int64_t tiles)
{
    std::vector<int64_t> result;
    const int64_t n = std::min(rows, tiles);
    for (int64_t i = 0; i < n; ++i) result.push_back(rows * (i + 1) / n - rows * i / n);
    return result;
}

std::string text_of_tiles(const std::vector<int64_t>& tiles)
{
    std::string text;
    for (int64_t rows : tiles) text += (text.empty() ? "" : ",") + std::to_string(rows);
    return text;
}

std::vector<int64_t> tiles_from(const std::string& text)
{
    std::vector<int64_t> tiles;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        int64_t rows = 0;
        const auto [rest, error] = std::from_chars(at, end, rows);
        if (error != std::errc() || rows < 1 || (rest < end && *rest != ',')) return {};
        tiles.push_back(rows);
        at = rest + 1;
    }
    return tiles;
}

} // namespace shardline
