#pragma once

#include <cstdint>

namespace shardline {

/// The part of the contraction dimension that one rank holds: columns of X and rows of Y
/// [begin, begin + width). A shard may be empty.
struct Shard {
    int64_t begin = 0;
    int64_t width = 0;
};

/// Shard of rank r when D elements are split over P ranks: contiguous, widths differing by at most
/// one, the wider ones first. Needs D >= 0 and 0 <= r < P.
constexpr Shard shard_of(int64_t D, int64_t P, int64_t r)
{
    const int64_t narrow = D / P, wide_shards = D % P;
    return {r * narrow + (r < wide_shards ? r : wide_shards), narrow + (r < wide_shards ? 1 : 0)};
}

/// ceil(D/P): the width that decides the time of a step.
constexpr int64_t largest_shard_width(int64_t D, int64_t P) { return (D + P - 1) / P; }

} // namespace shardline
