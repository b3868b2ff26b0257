#include "measure/timed_step.hpp"

#include "measure/clock.hpp"

#include <cblas.h>

#include <algorithm>

namespace shardline {

int64_t max_mpi_count = (int64_t{1} << 31) - 1;

namespace {

// The two parts of a step. Force-inlined: the regions below are straight-line code.

/// Z_partial = X · Y of this rank's shard. The BLAS leaves the output alone for an empty shard, which contributes zeros.
[[gnu::always_inline]] inline void matmul(Operands& o)
{
    const int B = static_cast<int>(o.B), F = static_cast<int>(o.F), K = static_cast<int>(o.shard.width);
    if (K == 0)
        std::fill_n(o.Z_partial.as<char>(), o.elements_of_Z() * bytes_of(o.result_type()), char{0});
    else if (o.compute_type == ElementType::f32)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, F, K, 1.0f, o.X.as<float>(), K, o.Y.as<float>(), F,
                    0.0f, o.Z_partial.as<float>(), F);
    else if (o.compute_type == ElementType::f64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, F, K, 1.0, o.X.as<double>(), K, o.Y.as<double>(), F,
                    0.0, o.Z_partial.as<double>(), F);
#ifdef SHARDLINE_HAVE_SBGEMM
    else
        cblas_sbgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, F, K, 1.0f, o.X.as<::bfloat16>(), K,
                     o.Y.as<::bfloat16>(), F, 0.0f, o.Z_partial.as<float>(), F);
#endif
}

/// receive = sum of send over the ranks; in several calls only where the count exceeds what one call takes.
[[gnu::always_inline]] inline void sum_over_ranks(const void* send, void* receive, int64_t count, const WireType& wire,
                                                  MPI_Comm work)
{
    const int64_t element = bytes_of(wire.element());
    for (int64_t at = 0; at < count; at += max_mpi_count)
        MPI_Allreduce(static_cast<const char*>(send) + at * element, static_cast<char*>(receive) + at * element,
                      static_cast<int>(std::min(max_mpi_count, count - at)), wire.datatype(), wire.sum(), work);
}

/// Z = sum of Z_partial over the ranks. Converting to and from the wire type is part of the communication.
[[gnu::always_inline]] inline void communicate(Operands& o, const WireType& wire, MPI_Comm work)
{
    const int64_t n = o.elements_of_Z();
    if (!o.converts()) {
        sum_over_ranks(o.Z_partial.as<void>(), o.Z.as<void>(), n, wire, work);
    } else {
        convert(o.Z_partial.as<void>(), o.result_type(), o.wire_partial.as<void>(), o.wire_type, n);
        sum_over_ranks(o.wire_partial.as<void>(), o.wire_sum.as<void>(), n, wire, work);
        convert(o.wire_sum.as<void>(), o.wire_type, o.Z.as<void>(), o.result_type(), n);
    }
}

} // namespace

void timed_phases(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(operands);
    t.comp_end_ns = now_ns();
    MPI_Barrier(work);
    t.comm_begin_ns = now_ns();
    communicate(operands, wire, work);
    t.comm_end_ns = now_ns();
}

void timed_step(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(operands);
    t.comp_end_ns = t.comm_begin_ns = now_ns();
    communicate(operands, wire, work);
    t.comm_end_ns = now_ns();
}

void timed_matmul(Operands& operands, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(operands);
    t.comp_end_ns = now_ns();
}

void timed_allreduce(Operands& operands, const WireType& wire, MPI_Comm work, Readings& t)
{
    t.comm_begin_ns = now_ns();
    communicate(operands, wire, work);
    t.comm_end_ns = now_ns();
}

int64_t exchange_requests(int64_t bytes, int64_t segment_bytes)
{
    return 2 * ((bytes + segment_bytes - 1) / segment_bytes);
}

void timed_exchange(const char* send, char* receive, int64_t bytes, int64_t segment_bytes, MPI_Request* requests,
                    MPI_Comm work, Readings& t)
{
    int rank = 0, P = 1;
    MPI_Comm_rank(work, &rank);
    MPI_Comm_size(work, &P);
    const int next = (rank + 1) % P, previous = (rank + P - 1) % P;
    int pending = 0;

    t.comm_begin_ns = now_ns();
    for (int64_t at = 0; at < bytes; at += segment_bytes) {
        const int n = static_cast<int>(std::min(segment_bytes, bytes - at));
        MPI_Irecv(receive + at, n, MPI_BYTE, previous, 0, work, &requests[pending++]);
        MPI_Isend(send + at, n, MPI_BYTE, next, 0, work, &requests[pending++]);
    }
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    t.comm_end_ns = now_ns();
}

} // namespace shardline
