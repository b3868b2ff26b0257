#pragma once

#include <bit>
#include <cstdint>

namespace shardline {

/// The upper half of an IEEE single. Kept as bits because neither the compiler nor MPI of Debian 12 knows the type.
struct bfloat16 {
    uint16_t bits;
};

inline float to_float(bfloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

/// Rounds to nearest, ties to even; NaN stays NaN.
inline bfloat16 to_bfloat16(float x)
{
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet_nan = (bits >> 16) | 0x40u;
    return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded)};
}

} // namespace shardline
