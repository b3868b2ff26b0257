#pragma once

#include "model/element.hpp"

#include <mpi.h>

#include <cstdint>

namespace shardline {

/// How elements of one type travel and are summed: MPI datatype and operation. bf16 is summed by an
/// operation of our own, which adds in f32 and rounds each sum, because MPI does not know the type.
class WireType {
public:
    explicit WireType(ElementType type);
    ~WireType();
    WireType(const WireType&) = delete;
    WireType& operator=(const WireType&) = delete;

    ElementType element() const { return element_; }
    MPI_Datatype datatype() const { return datatype_; }
    MPI_Op sum() const { return sum_; }

private:
    ElementType element_;
    MPI_Datatype datatype_;
    MPI_Op sum_;
};

/// Converts n elements of type `from` at `in` to type `to` at `out`, rounding to nearest.
void convert(const void* in, ElementType from, void* out, ElementType to, int64_t n);

} // namespace shardline
