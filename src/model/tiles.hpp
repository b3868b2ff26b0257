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

/// Rows of each tile, in order, of the cut that overlap_time_s likes best; all positive, their sum is `rows`. One tile
/// where cutting does not pay.
std::vector<int64_t> plan_tiles(int64_t rows, const OverlapCosts& costs);

/// `rows` in so many tiles that differ by one at most; fewer where there are fewer rows.
std::vector<int64_t> equal_tiles(int64_t rows, int64_t tiles);

/// Modelled time of a step, s: tiles are computed one after the other, and each is sent when it is ready and the link is
/// free. Of the CPU time the part falls to the matmul that lies before its end.
double overlap_time_s(const std::vector<int64_t>& tiles, const OverlapCosts& costs);

/// Tiles as they stand in a file: "128,448,64".
std::string text_of_tiles(const std::vector<int64_t>& tiles);
/// Reads that back; empty where it is not a list of positive numbers.
std::vector<int64_t> tiles_from(const std::string& text);

} // namespace shardline
