// Does the harness add anything that can be seen? Alternates, in one job, a repetition of the harness with the
// bare loop that it claims to be: the same BLAS call alone, and barrier + MPI_Allreduce. Prints for
// each the median of the paired ratios harness / bare with its 95 % interval.
//
//   mpirun -n 2 harness_overhead [B F D PAIRS]

#include "measure/blas.hpp"
#include "measure/cblas.hpp"
#include "measure/clock.hpp"
#include "measure/session.hpp"
#include "measure/timed_step.hpp"
#include "model/statistics.hpp"
#include "tests/benchmark/paired_ratio.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace shardline {
namespace {

struct Times {
    int64_t comp_ns, comm_ns;
};

Times harness(Operands& o, Exchange& exchange)
{
    poison(o, o.Z_partial);
    MPI_Barrier(exchange.work);
    Readings t;
    timed_phases(o, exchange, t);
    return {t.comp_end_ns - t.comp_begin_ns, t.comm_end_ns - t.comm_begin_ns};
}

Times bare(Operands& o, MPI_Comm work)
{
    const int B = static_cast<int>(o.B), F = static_cast<int>(o.F), K = static_cast<int>(o.shard.width);
    MPI_Barrier(work);
    const int64_t before_comp = now_ns();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, F, K, 1.0f, o.X.as<float>(), K, o.Y.as<float>(), F, 0.0f,
                o.Z_partial.as<float>(), F);
    const int64_t after_comp = now_ns();
    MPI_Barrier(work);
    const int64_t before_comm = now_ns();
    MPI_Allreduce(o.Z_partial.as<void>(), o.Z.as<void>(), B * F, MPI_FLOAT, MPI_SUM, work);
    const int64_t after_comm = now_ns();
    return {after_comp - before_comp, after_comm - before_comm};
}

Times slowest(Times t)
{
    int64_t pair[] = {t.comp_ns, t.comm_ns};
    MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return {pair[0], pair[1]};
}

void print(const char* name, const std::vector<double>& with, const std::vector<double>& without)
{
    const Estimate ratio = paired_ratio(with, without);
    fmt::print("{:10} harness {:9.1f} us   bare {:9.1f} us   ratio {:.4f} [{:.4f}, {:.4f}]\n", name, median(with) * 1e-3,
               median(without) * 1e-3, ratio.value, ratio.low, ratio.high);
}

} // namespace
} // namespace shardline

int main(int argc, char** argv)
{
    using namespace shardline;
    Session session(argc, argv);
    auto argument = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
    const int64_t B = argument(1, 1024), F = argument(2, 1024), D = argument(3, 512), pairs = argument(4, 200);
    set_blas_threads(1);

    Operands o;
    prepare(o, B, F, shard_of(D, session.size(), session.rank()));
    const WireType wire(ElementType::f32);
    Exchange exchange(wire, session.work(), 200);
    exchange.prepare({.B = B, .D = D, .F = F, .strategy = "mpi_allreduce", .tiles = ""}, o);
    std::vector<double> comp_with, comm_with, comp_without, comm_without;
    for (int64_t i = -10; i < pairs; ++i) {
        // Who goes first alternates too.
        const bool harness_first = i % 2 == 0;
        Times with{}, without{};
        if (harness_first) with = slowest(harness(o, exchange));
        without = slowest(bare(o, session.work()));
        if (!harness_first) with = slowest(harness(o, exchange));
        if (i < 0) continue; // warm-up
        comp_with.push_back(static_cast<double>(with.comp_ns));
        comm_with.push_back(static_cast<double>(with.comm_ns));
        comp_without.push_back(static_cast<double>(without.comp_ns));
        comm_without.push_back(static_cast<double>(without.comm_ns));
    }
    if (session.is_root()) {
        fmt::print("{} ranks, B = {}, F = {}, D = {}, f32, {} pairs, BLAS kernel {}\n", session.size(), B, F, D, pairs,
                   blas_kernel_name());
        print("matmul", comp_with, comp_without);
        print("allreduce", comm_with, comm_without);
    }
}
