#include "model/tiles.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace shardline {

namespace {

/// Kernels of a BLAS work on some rows or columns at a time; a tile of fewer, or of a broken number, wastes part of the last ones.
constexpr int64_t size_together = 32;
constexpr int64_t most_tiles = 16;

/// `size` shared out in proportion to the weights, in whole groups of size_together; empty where one would get none.
std::vector<int64_t> shared_out(int64_t size, const std::vector<double>& weights)
{
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<int64_t> tiles;
    double sum = 0;
    int64_t begin = 0;
    for (double weight : weights) {
        sum += weight;
        const double exact = static_cast<double>(size) * sum / whole;
        const int64_t end = tiles.size() + 1 == weights.size() ? size : std::llround(exact / size_together) * size_together;
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
    const double size = static_cast<double>(std::accumulate(tiles.begin(), tiles.end(), int64_t{0}));
    const double cpu_share = costs.t_comm_s > 0 ? std::min(0.9, costs.comm_cpu_s / costs.t_comm_s) : 0;
    double now_s = 0, link_free_s = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        const double share = static_cast<double>(tiles[i]) / size;
        const double work_s = costs.t_comp_s * share + (i > 0 ? costs.repack_s : 0);
        // While the link is busy, the matmul has what the communication leaves of its core.
        const double beside_s = std::min(work_s / (1 - cpu_share), std::max(0.0, link_free_s - now_s));
        now_s += beside_s + std::max(0.0, work_s - beside_s * (1 - cpu_share));
        link_free_s = std::max(link_free_s, now_s) + costs.t_comm_s * share;
    }
    return link_free_s;
}

std::vector<int64_t> plan_tiles(int64_t size, const OverlapCosts& costs)
{
    std::vector<int64_t> best{size};
    double best_s = overlap_time_s(best, costs);
    for (int64_t n = 2; n <= std::min(most_tiles, size / size_together); ++n)
        for (double first : {1.0, 0.5, 0.25, 0.125, 0.0625})
            for (double last : {1.0, 0.5, 0.25, 0.125, 0.0625})
                for (double growth : {1.5, 2.0, 3.0, 5.0}) {
                    const std::vector<int64_t> tiles = shared_out(size, weights_of(n, first, last, growth));
                    if (tiles.empty()) continue;
                    const double time_s = overlap_time_s(tiles, costs);
                    if (time_s < best_s) best = tiles, best_s = time_s;
                }
    return best;
}

std::vector<int64_t> equal_tiles(int64_t size, int64_t tiles)
{
    std::vector<int64_t> result;
    const int64_t n = std::min(size, tiles);
    for (int64_t i = 0; i < n; ++i) result.push_back(size * (i + 1) / n - size * i / n);
    return result;
}

TileAxis cheaper_axis(int64_t B, int64_t F) { return F <= B ? TileAxis::B : TileAxis::F; }

std::string text_of(const Tiling& tiling)
{
    std::string text = tiling.axis == TileAxis::B ? "B" : "F";
    for (size_t i = 0; i < tiling.sizes.size(); ++i) text += (i == 0 ? ":" : ",") + std::to_string(tiling.sizes[i]);
    return text;
}

Tiling tiling_from(const std::string& text)
{
    if (!text.starts_with("B:") && !text.starts_with("F:")) return {};
    Tiling tiling{text[0] == 'B' ? TileAxis::B : TileAxis::F, {}};
    const char* at = text.data() + 2;
    const char* const end = text.data() + text.size();
    while (at < end) {
        int64_t size = 0;
        const auto [rest, error] = std::from_chars(at, end, size);
        if (error != std::errc() || size < 1 || (rest < end && *rest != ',')) return {};
        tiling.sizes.push_back(size);
        at = rest + 1;
    }
    return tiling;
}

} // namespace shardline
