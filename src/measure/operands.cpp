#include "measure/operands.hpp"

#include "measure/bfloat16.hpp"

#include <algorithm>
#include <limits>

namespace shardline {

namespace {

/// Spreads the index pair over {−2 … 2} without a visible pattern.
inline int small_integer(uint32_t row, uint32_t column, uint32_t salt)
{
    uint32_t h = row * 0x9e3779b1u + column * 0x85ebca77u + salt;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 13;
    return static_cast<int>(((h & 0xffffu) * 5u) >> 16) - 2;
}

inline void store(int value, float& out) { out = static_cast<float>(value); }
inline void store(int value, double& out) { out = value; }
inline void store(int value, bfloat16& out) { out = to_bfloat16(static_cast<float>(value)); }

template <class T>
void fill(Operands& o)
{
    T* X = o.X.as<T>();
    for (int64_t i = 0; i < o.B; ++i)
        for (int64_t k = 0; k < o.shard.width; ++k) store(x_value(i, o.shard.begin + k), *X++);
    T* Y = o.Y.as<T>();
    for (int64_t k = 0; k < o.shard.width; ++k)
        for (int64_t j = 0; j < o.F; ++j) store(y_value(o.shard.begin + k, j), *Y++);
}

struct OperandSizes {
    int64_t X, Y, Z, wire;
};

OperandSizes sizes_of(int64_t B, int64_t F, int64_t K, ElementType compute_type, ElementType wire_type)
{
    const ElementType result = compute_type == ElementType::bf16 ? ElementType::f32 : compute_type;
    return {bytes_of(compute_type) * B * K, bytes_of(compute_type) * K * F, bytes_of(result) * B * F,
            wire_type == result ? 0 : bytes_of(wire_type) * B * F};
}

} // namespace

int x_value(int64_t i, int64_t d)
{
    return small_integer(static_cast<uint32_t>(i), static_cast<uint32_t>(d), 0x1234567u);
}

int y_value(int64_t d, int64_t j)
{
    return small_integer(static_cast<uint32_t>(j), static_cast<uint32_t>(d), 0x89abcdeu);
}

bool sums_are_exact(ElementType compute_type, int64_t D)
{
    const int mantissa_bits = compute_type == ElementType::f64 ? 53 : 24;
    return D <= (int64_t{1} << mantissa_bits) / 4;
}

int64_t operand_bytes(int64_t B, int64_t F, int64_t K, ElementType compute_type, ElementType wire_type)
{
    const OperandSizes sizes = sizes_of(B, F, K, compute_type, wire_type);
    return sizes.X + sizes.Y + 2 * sizes.Z + 2 * sizes.wire;
}

void prepare(Operands& o, int64_t B, int64_t F, Shard shard)
{
    o.B = B;
    o.F = F;
    o.shard = shard;
    o.Z_order = MatrixOrder::row_major;
    const OperandSizes sizes = sizes_of(B, F, shard.width, o.compute_type, o.wire_type);
    o.X.grow_to(sizes.X);
    o.Y.grow_to(sizes.Y);
    o.Z_partial.grow_to(sizes.Z);
    o.Z.grow_to(sizes.Z);
    o.wire_partial.grow_to(sizes.wire);
    o.wire_sum.grow_to(sizes.wire);
    switch (o.compute_type) {
    case ElementType::f32: return fill<float>(o);
    case ElementType::f64: return fill<double>(o);
    case ElementType::bf16: return fill<bfloat16>(o);
    }
}

void poison(const Operands& o, Buffer& buffer)
{
    if (o.result_type() == ElementType::f64)
        std::fill_n(buffer.as<double>(), o.elements_of_Z(), std::numeric_limits<double>::quiet_NaN());
    else
        std::fill_n(buffer.as<float>(), o.elements_of_Z(), std::numeric_limits<float>::quiet_NaN());
}

} // namespace shardline
