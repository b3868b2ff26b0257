#pragma once

#include "measure/buffers.hpp"
#include "model/element.hpp"
#include "model/shard.hpp"

#include <cstdint>

namespace shardline {

/// Element X[i,d] and Y[d,j] of the inputs: small integers in {−2 … 2}, so that sums are exact in any order
/// while 4·D fits the mantissa. A function of the global indices alone: every split holds the same X and Y.
int x_value(int64_t i, int64_t d);
int y_value(int64_t d, int64_t j);

/// True where every partial sum of the inputs' products is an exact integer of that type: 4·D ≤ 2^24 (f32,
/// bf16 inputs) or 2^53 (f64).
bool sums_are_exact(ElementType compute_type, int64_t D);

/// How Z stands in memory. Tiles of rows are contiguous in a row-major Z, tiles of columns in a column-major one.
enum class MatrixOrder { row_major, column_major };

/// This rank's part of X[B,D] · Y[D,F] = Z[B,F]: X[:, shard] (B×K), Y[shard, :] (K×F), the partial
/// product and the sum over ranks (B×F each), all dense, X and Y row-major; and the wire's two buffers where
/// the wire type differs from the type of Z.
struct Operands {
    int64_t B = 0, F = 0;
    Shard shard;
    ElementType compute_type = ElementType::f32;
    ElementType wire_type = ElementType::f32;
    MatrixOrder Z_order = MatrixOrder::row_major; ///< of Z and Z_partial after a step
    Buffer X, Y, Z_partial, Z, wire_partial, wire_sum;

    /// Type of Z: f32 for bf16 inputs, else the compute type.
    ElementType result_type() const
    {
        return compute_type == ElementType::bf16 ? ElementType::f32 : compute_type;
    }
    bool converts() const { return wire_type != result_type(); }
    int64_t elements_of_Z() const { return B * F; }
    /// Elements of so many rows of a row-major Z, or columns of a column-major one.
    int64_t elements_of_tile(int64_t size) const { return size * (Z_order == MatrixOrder::row_major ? F : B); }
    /// What travels, and where its sum over the ranks arrives; in the wire type.
    void* sent() const { return converts() ? wire_partial.as<void>() : Z_partial.as<void>(); }
    void* summed() const { return converts() ? wire_sum.as<void>() : Z.as<void>(); }
};

/// Bytes that `prepare` needs on a rank whose shard has width K.
int64_t operand_bytes(int64_t B, int64_t F, int64_t K, ElementType compute_type, ElementType wire_type);

/// Gives the operands that shape, grows buffers where needed and fills X and Y.
void prepare(Operands& operands, int64_t B, int64_t F, Shard shard);

/// Overwrites `buffer` (result type) with NaN, so that an element the matmul did not write shows.
void poison(const Operands& operands, Buffer& buffer);

} // namespace shardline
