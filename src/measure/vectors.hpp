#pragma once

#include "measure/buffers.hpp"
#include "model/element.hpp"

#include <cstdint>

namespace shardline {

/// Three vectors that lie in memory rather than in a cache, when they are long enough.
struct Vectors {
    int64_t elements = 0; ///< of each
    ElementType type = ElementType::f64; ///< f32 or f64
    Buffer a, b, c;
    double sink = 0; ///< what a kernel computed, so that it must compute it
};

/// Makes the vectors that long and fills b and c, touched first by this rank.
void prepare(Vectors& vectors, int64_t elements, ElementType type);

/// Reads all of b: what the caches held before is gone when it is longer than they are.
void evict_caches(Vectors& vectors);

/// Computes so many fused multiply-adds of that type, up to a few dozen more, in registers alone. See registers.cpp.
double multiply_adds_in_registers(ElementType type, int64_t multiply_adds);

} // namespace shardline
