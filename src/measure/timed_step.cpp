#include "measure/timed_step.hpp"

#include "measure/cblas.hpp"
#include "measure/clock.hpp"

#include <algorithm>

namespace shardline {

int64_t max_mpi_count = (int64_t{1} << 31) - 1;

namespace {

// The parts of a step. Force-inlined: the regions below are straight-line code, one for each strategy.

/// Rows [begin, begin + size) of Z_partial = X · Y of this rank's shard, or columns where Z is column-major. The BLAS leaves the
/// output alone for an empty shard, which contributes zeros.
[[gnu::always_inline]] inline void matmul(Operands& o, int64_t begin, int64_t size)
{
    const int B = static_cast<int>(o.B), F = static_cast<int>(o.F), K = static_cast<int>(o.shard.width), n = static_cast<int>(size);
    const int64_t z = o.elements_of_tile(begin);
    const bool rows = o.Z_order == MatrixOrder::row_major;
    // A row-major X or Y is a column-major one transposed.
    const auto order = rows ? CblasRowMajor : CblasColMajor;
    const auto as_stored = rows ? CblasNoTrans : CblasTrans;
    const int64_t x = rows ? begin * K : 0, y = rows ? 0 : begin;
    const int M = rows ? n : B, N = rows ? F : n, ldz = rows ? F : B;
    if (K == 0)
        std::fill_n(o.Z_partial.as<char>() + z * bytes_of(o.result_type()), o.elements_of_tile(size) * bytes_of(o.result_type()), char{0});
    else if (o.compute_type == ElementType::f32)
        cblas_sgemm(order, as_stored, as_stored, M, N, K, 1.0f, o.X.as<float>() + x, K, o.Y.as<float>() + y, F, 0.0f,
                    o.Z_partial.as<float>() + z, ldz);
    else if (o.compute_type == ElementType::f64)
        cblas_dgemm(order, as_stored, as_stored, M, N, K, 1.0, o.X.as<double>() + x, K, o.Y.as<double>() + y, F, 0.0,
                    o.Z_partial.as<double>() + z, ldz);
#ifdef SHARDLINE_HAVE_SBGEMM
    else
        cblas_sbgemm(order, as_stored, as_stored, M, N, K, 1.0f, o.X.as<::bfloat16>() + x, K, o.Y.as<::bfloat16>() + y, F, 0.0f,
                     o.Z_partial.as<float>() + z, ldz);
#endif
}

/// All of it.
[[gnu::always_inline]] inline void matmul(Operands& o) { matmul(o, 0, o.Z_order == MatrixOrder::row_major ? o.B : o.F); }

/// Converting to and from the wire type is part of the communication.
[[gnu::always_inline]] inline void to_wire(Operands& o, int64_t begin, int64_t size)
{
    const int64_t at = o.elements_of_tile(begin);
    if (o.converts())
        convert(o.Z_partial.as<char>() + at * bytes_of(o.result_type()), o.result_type(),
                o.wire_partial.as<char>() + at * bytes_of(o.wire_type), o.wire_type, o.elements_of_tile(size));
}

[[gnu::always_inline]] inline void from_wire(Operands& o)
{
    if (o.converts()) convert(o.wire_sum.as<void>(), o.wire_type, o.Z.as<void>(), o.result_type(), o.elements_of_Z());
}

/// In several calls only where the count exceeds what one call takes.
[[gnu::always_inline]] inline void allreduce(Operands& o, Exchange& x)
{
    const int64_t element = bytes_of(o.wire_type), count = o.elements_of_Z();
    for (int64_t at = 0; at < count; at += max_mpi_count)
        MPI_Allreduce(static_cast<const char*>(o.sent()) + at * element, static_cast<char*>(o.summed()) + at * element,
                      static_cast<int>(std::min(max_mpi_count, count - at)), x.wire.datatype(), x.wire.sum(), x.work);
}

/// Begins the sum of a tile.
[[gnu::always_inline]] inline void iallreduce(Operands& o, Exchange& x, size_t tile, int64_t begin, int64_t size)
{
    const int64_t at = o.elements_of_tile(begin) * bytes_of(o.wire_type);
    MPI_Iallreduce(static_cast<const char*>(o.sent()) + at, static_cast<char*>(o.summed()) + at, static_cast<int>(o.elements_of_tile(size)),
                   x.wire.datatype(), x.wire.sum(), x.work, &x.requests[tile]);
}

/// Z = sum of Z_partial over the ranks, all of which is there.
template <Strategy strategy> [[gnu::always_inline]] inline void communicate(Operands& o, Exchange& x)
{
    to_wire(o, 0, o.Z_order == MatrixOrder::row_major ? o.B : o.F);
    if constexpr (strategy == Strategy::mpi_allreduce) {
        allreduce(o, x);
    } else if constexpr (strategy == Strategy::mpi_persistent) {
        MPI_Start(&x.persistent);
        MPI_Wait(&x.persistent, MPI_STATUS_IGNORE);
    } else if constexpr (strategy == Strategy::mpi_iallreduce) {
        int64_t begin = 0;
        for (size_t tile = 0; tile < x.tiles.sizes.size(); begin += x.tiles.sizes[tile++]) iallreduce(o, x, tile, begin, x.tiles.sizes[tile]);
        MPI_Waitall(static_cast<int>(x.requests.size()), x.requests.data(), MPI_STATUSES_IGNORE);
    } else if constexpr (strategy == Strategy::pipelined_thread) {
        x.thread->begin(o.sent(), o.summed(), static_cast<int64_t>(x.tiles.sizes.size()), Polling::sleep);
        for (size_t tile = 0; tile < x.tiles.sizes.size(); ++tile) x.thread->tile_ready();
        x.thread->finish();
    } else {
        x.ring.begin(o.sent(), o.summed());
        for (size_t tile = 0; tile < x.tiles.sizes.size(); ++tile) x.ring.start_tile();
        x.ring.finish();
    }
    from_wire(o);
}

template <Strategy strategy> [[gnu::always_inline]] inline void phases(Operands& o, Exchange& x, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(o);
    t.comp_end_ns = now_ns();
    MPI_Barrier(x.work);
    t.comm_begin_ns = now_ns();
    communicate<strategy>(o, x);
    t.comm_end_ns = now_ns();
}

template <Strategy strategy> [[gnu::always_inline]] inline void step(Operands& o, Exchange& x, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(o);
    t.comp_end_ns = t.comm_begin_ns = now_ns();
    communicate<strategy>(o, x);
    t.comm_end_ns = now_ns();
}

template <Strategy strategy> [[gnu::always_inline]] inline void overlapped_step(Operands& o, Exchange& x, Readings& t)
{
    const auto tiles = x.tiles.sizes.size();
    t.comp_begin_ns = now_ns();
    if constexpr (strategy == Strategy::pipelined_test) x.ring.begin(o.sent(), o.summed());
    if constexpr (strategy == Strategy::pipelined_thread)
        x.thread->begin(o.sent(), o.summed(), static_cast<int64_t>(tiles), Polling::sleep_then_spin);
    int64_t begin = 0;
    for (size_t tile = 0; tile < tiles; begin += x.tiles.sizes[tile++]) {
        matmul(o, begin, x.tiles.sizes[tile]);
        to_wire(o, begin, x.tiles.sizes[tile]);
        if (tile == 0) t.comm_begin_ns = now_ns();
        if constexpr (strategy == Strategy::mpi_iallreduce) iallreduce(o, x, tile, begin, x.tiles.sizes[tile]);
        if constexpr (strategy == Strategy::pipelined_test) x.ring.start_tile(), x.ring.progress();
        if constexpr (strategy == Strategy::pipelined_thread) x.thread->tile_ready();
    }
    t.comp_end_ns = now_ns();
    if constexpr (strategy == Strategy::mpi_iallreduce) MPI_Waitall(static_cast<int>(tiles), x.requests.data(), MPI_STATUSES_IGNORE);
    if constexpr (strategy == Strategy::pipelined_test) x.ring.finish();
    if constexpr (strategy == Strategy::pipelined_thread) x.thread->finish();
    from_wire(o);
    t.comm_end_ns = now_ns();
}

} // namespace

// Which region is run is decided before its first clock reading.

void timed_phases(Operands& operands, Exchange& exchange, Readings& t)
{
    switch (exchange.strategy) {
    case Strategy::mpi_allreduce: return phases<Strategy::mpi_allreduce>(operands, exchange, t);
    case Strategy::mpi_persistent: return phases<Strategy::mpi_persistent>(operands, exchange, t);
    case Strategy::mpi_iallreduce: return phases<Strategy::mpi_iallreduce>(operands, exchange, t);
    case Strategy::segmented_ring:
    case Strategy::pipelined_test: return phases<Strategy::segmented_ring>(operands, exchange, t);
    case Strategy::pipelined_thread: return phases<Strategy::pipelined_thread>(operands, exchange, t);
    }
}

void timed_step(Operands& operands, Exchange& exchange, Readings& t)
{
    switch (exchange.strategy) {
    case Strategy::mpi_allreduce: return step<Strategy::mpi_allreduce>(operands, exchange, t);
    case Strategy::mpi_persistent: return step<Strategy::mpi_persistent>(operands, exchange, t);
    case Strategy::segmented_ring: return step<Strategy::segmented_ring>(operands, exchange, t);
    case Strategy::mpi_iallreduce: return overlapped_step<Strategy::mpi_iallreduce>(operands, exchange, t);
    case Strategy::pipelined_test: return overlapped_step<Strategy::pipelined_test>(operands, exchange, t);
    case Strategy::pipelined_thread: return overlapped_step<Strategy::pipelined_thread>(operands, exchange, t);
    }
}

void timed_matmul(Operands& operands, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(operands);
    t.comp_end_ns = now_ns();
}

void timed_tile(Operands& operands, int64_t size, Readings& t)
{
    t.comp_begin_ns = now_ns();
    matmul(operands, 0, size);
    t.comp_end_ns = now_ns();
}

namespace {

template <class T>
[[gnu::always_inline]] inline void triad(Vectors& v)
{
    T* a = v.a.as<T>();
    const T* b = v.b.as<T>();
    const T* c = v.c.as<T>();
    const T s = 3;
    for (int64_t i = 0; i < v.elements; ++i) a[i] = b[i] + s * c[i];
}

} // namespace

void timed_triad(Vectors& v, Readings& t)
{
    t.comp_begin_ns = now_ns();
    if (v.type == ElementType::f64)
        triad<double>(v);
    else
        triad<float>(v);
    t.comp_end_ns = now_ns();
}

void timed_dot(Vectors& v, Readings& t)
{
    const int n = static_cast<int>(v.elements);
    t.comp_begin_ns = now_ns();
    if (v.type == ElementType::f64)
        v.sink = cblas_ddot(n, v.b.as<double>(), 1, v.c.as<double>(), 1);
    else
        v.sink = static_cast<double>(cblas_sdot(n, v.b.as<float>(), 1, v.c.as<float>(), 1));
    t.comp_end_ns = now_ns();
}

void timed_arithmetic(Vectors& v, int64_t multiply_adds, Readings& t)
{
    t.comp_begin_ns = now_ns();
    v.sink = multiply_adds_in_registers(v.type, multiply_adds);
    t.comp_end_ns = now_ns();
}

void timed_allreduce(Operands& o, Exchange& x, Readings& t)
{
    t.comm_begin_ns = now_ns();
    switch (x.strategy) {
    case Strategy::mpi_allreduce: communicate<Strategy::mpi_allreduce>(o, x); break;
    case Strategy::mpi_persistent: communicate<Strategy::mpi_persistent>(o, x); break;
    case Strategy::mpi_iallreduce: communicate<Strategy::mpi_iallreduce>(o, x); break;
    case Strategy::segmented_ring:
    case Strategy::pipelined_test: communicate<Strategy::segmented_ring>(o, x); break;
    case Strategy::pipelined_thread: communicate<Strategy::pipelined_thread>(o, x); break;
    }
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

void timed_send(const char* send, int bytes, int peer, MPI_Comm work, Readings& t)
{
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, work, MPI_STATUS_IGNORE);
    t.comm_begin_ns = now_ns();
    MPI_Send(send, bytes, MPI_BYTE, peer, 0, work);
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, work, MPI_STATUS_IGNORE);
    t.comm_end_ns = now_ns();
}

void timed_receive(char* receive, int bytes, int peer, MPI_Comm work, Readings& t)
{
    MPI_Request message;
    MPI_Irecv(receive, bytes, MPI_BYTE, peer, 0, work, &message);
    MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, work);
    t.comm_begin_ns = now_ns();
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, work);
    t.comm_end_ns = now_ns();
}

void timed_both_ways(const char* send, char* receive, int bytes, int peer, MPI_Comm work, Readings& t)
{
    constexpr int message = 0, ready = 1;
    MPI_Request in, out;
    MPI_Irecv(receive, bytes, MPI_BYTE, peer, message, work, &in);
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer, ready, nullptr, 0, MPI_BYTE, peer, ready, work, MPI_STATUS_IGNORE);
    t.comm_begin_ns = now_ns();
    MPI_Isend(send, bytes, MPI_BYTE, peer, message, work, &out);
    MPI_Wait(&in, MPI_STATUS_IGNORE);
    t.comm_end_ns = now_ns();
    MPI_Wait(&out, MPI_STATUS_IGNORE);
}

void timed_all_at_once(const char* send, char* receive, int bytes, MPI_Request* requests, MPI_Comm work, Readings& t)
{
    int rank = 0, P = 1, pending = 0;
    MPI_Comm_rank(work, &rank);
    MPI_Comm_size(work, &P);
    t.comm_begin_ns = now_ns();
    for (int step = 1; step < P; ++step)
        MPI_Irecv(receive + static_cast<int64_t>(step - 1) * bytes, bytes, MPI_BYTE, (rank + P - step) % P, 0, work, &requests[pending++]);
    for (int step = 1; step < P; ++step) MPI_Isend(send, bytes, MPI_BYTE, (rank + step) % P, 0, work, &requests[pending++]);
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    t.comm_end_ns = now_ns();
}

} // namespace shardline
