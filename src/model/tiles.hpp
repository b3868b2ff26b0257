#pragma once

// How to cut a matmul into tiles whose sums travel while later tiles are computed.

#include <cstdint>
#include <string>
#include <vector>

namespace shardline {

/// What a step is made of, s. Measured, each alone.
struct OverlapCosts {
    double t_comp_s = 0;   ///< the matmul in one piece
    double repack_s = 0;   ///< what every further tile adds: the BLAS packs the operand anew that all tiles share
    double t_comm_s = 0;   ///< the exchange
    double comm_cpu_s = 0; ///< CPU time of the exchange that the matmul's core has to give
};

/// The dimension of Z[B,F] along which it is cut: its rows, or its columns.
enum class TileAxis { B, F };

/// How a matmul is cut: along which dimension, and how much of it each tile takes, in order.
struct Tiling {
    TileAxis axis = TileAxis::B;
    std::vector<int64_t> sizes;
};

/// The axis whose tiles pack the smaller operand anew: tiles of rows share Y[K,F], tiles of columns X[B,K].
TileAxis cheaper_axis(int64_t B, int64_t F);

/// Size of each tile, in order, of the cut that overlap_time_s likes best; all positive, their sum is `size`. One tile
/// where cutting does not pay.
std::vector<int64_t> plan_tiles(int64_t size, const OverlapCosts& costs);

/// `size` in so many tiles that differ by one at most; fewer where there is less of it.
std::vector<int64_t> equal_tiles(int64_t size, int64_t tiles);

/// Modelled time of a step, s: tiles are computed one after the other, and each is sent when it is ready and the link is
/// free. Of the CPU time the part falls to the matmul that lies before its end.
double overlap_time_s(const std::vector<int64_t>& tiles, const OverlapCosts& costs);

/// A tiling as it stands in a file: "B:128,448,64".
std::string text_of(const Tiling& tiling);
/// Reads that back; no sizes where it is not an axis and a list of positive numbers.
Tiling tiling_from(const std::string& text);

} // namespace shardline
