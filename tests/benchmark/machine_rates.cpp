// Are C and M of a roofline what this machine can do? Alternates, in one job, the regions that a roofline times with bare loops:
// the same BLAS call, best over shapes that a roofline does not know, and a triad as STREAM has it. Prints rates of one rank by
// the slowest with all at work, and the median of the ratios with its 95 % interval. against_likwid.sh sets M beside likwid-bench's.
//
//   mpirun -n 2 machine_rates [MB_OF_EACH_ARRAY ROUNDS [triad]]

#include "measure/blas.hpp"
#include "measure/cblas.hpp"
#include "measure/clock.hpp"
#include "measure/session.hpp"
#include "measure/timed_step.hpp"
#include "model/law.hpp"
#include "model/statistics.hpp"
#include "tests/benchmark/paired_ratio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace shardline {
namespace {

double slowest_s(const Readings& t)
{
    double seconds = static_cast<double>(t.comp_end_ns - t.comp_begin_ns) * 1e-9;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

double harness_matmul(Operands& o, int64_t n)
{
    prepare(o, n, n, {0, n});
    poison(o, o.Z_partial);
    Readings t;
    MPI_Barrier(MPI_COMM_WORLD);
    timed_matmul(o, t);
    return matmul_flops(static_cast<double>(n), static_cast<double>(n), static_cast<double>(n)) / slowest_s(t);
}

double bare_matmul(Operands& o, int64_t n)
{
    prepare(o, n, n, {0, n});
    const int m = static_cast<int>(n);
    Readings t;
    MPI_Barrier(MPI_COMM_WORLD);
    t.comp_begin_ns = now_ns();
    if (o.compute_type == ElementType::f64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1.0, o.X.as<double>(), m, o.Y.as<double>(), m, 0.0, o.Z_partial.as<double>(), m);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1.0f, o.X.as<float>(), m, o.Y.as<float>(), m, 0.0f, o.Z_partial.as<float>(), m);
    t.comp_end_ns = now_ns();
    return matmul_flops(static_cast<double>(n), static_cast<double>(n), static_cast<double>(n)) / slowest_s(t);
}

double harness_triad(Vectors& v)
{
    Readings t;
    MPI_Barrier(MPI_COMM_WORLD);
    timed_triad(v, t);
    return 24 * static_cast<double>(v.elements) / slowest_s(t);
}

double bare_triad(Vectors& v)
{
    double* a = v.a.as<double>();
    const double *b = v.b.as<double>(), *c = v.c.as<double>();
    Readings t;
    MPI_Barrier(MPI_COMM_WORLD);
    t.comp_begin_ns = now_ns();
    for (int64_t i = 0; i < v.elements; ++i) a[i] = b[i] + 3.0 * c[i];
    t.comp_end_ns = now_ns();
    return 24 * static_cast<double>(v.elements) / slowest_s(t);
}

struct Best {
    double harness = 0, bare = 0;
};

/// Best rates over sizes, the roofline's own for the harness. The two take turns at each size, and at who goes first.
Best best_matmuls(Operands& o, bool harness_first)
{
    Best best;
    for (const int64_t n : {512, 768, 1024, 1536, 2048, 3072}) {
        const bool of_roofline = n != 768 && n != 1536;
        if (of_roofline && harness_first) best.harness = std::max(best.harness, harness_matmul(o, n));
        best.bare = std::max(best.bare, bare_matmul(o, n));
        if (of_roofline && !harness_first) best.harness = std::max(best.harness, harness_matmul(o, n));
    }
    return best;
}

void print(const Session& session, const char* name, const std::vector<double>& harness, const std::vector<double>& bare)
{
    const Estimate ratio = paired_ratio(harness, bare);
    if (session.is_root())
        fmt::print("{:6} harness {:8.2f} G/s   bare {:8.2f} G/s   ratio {:.4f} [{:.4f}, {:.4f}]\n", name, median(harness) * 1e-9,
                   median(bare) * 1e-9, ratio.value, ratio.low, ratio.high);
}

} // namespace
} // namespace shardline

int main(int argc, char** argv)
{
    using namespace shardline;
    Session session(argc, argv);
    const int64_t bytes = (argc > 1 ? std::atoll(argv[1]) : 550) * 1'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
    const bool triad_alone = argc > 3 && std::string(argv[3]) == "triad";
    set_blas_threads(1);
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        if (triad_alone) break;
        Operands o;
        o.compute_type = o.wire_type = type;
        std::vector<double> harness, bare;
        for (int i = 0; i < rounds; ++i) {
            const Best best = best_matmuls(o, i % 2 == 0);
            harness.push_back(best.harness);
            bare.push_back(best.bare);
        }
        print(session, type == ElementType::f32 ? "C f32" : "C f64", harness, bare);
    }
    Vectors v;
    prepare(v, bytes / 8, ElementType::f64);
    std::vector<double> harness, bare;
    for (int i = -1; i < rounds; ++i) {
        const bool harness_first = i % 2 == 0; // who goes first alternates too
        double with = harness_first ? harness_triad(v) : 0;
        const double without = bare_triad(v);
        if (!harness_first) with = harness_triad(v);
        if (i < 0) continue; // warm-up
        harness.push_back(with);
        bare.push_back(without);
    }
    print(session, "M", harness, bare);
}
