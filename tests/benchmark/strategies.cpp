// How long a step takes with each strategy, beside the matmul, its tiles and the exchange alone, all alternating in one job: where
// the time of an overlapped step goes.
// strategies B F D repetitions segment_bytes tiles strategy...
// tiles: as B:128,448,64 (rows) or F:512,512 (columns), or auto for equal eighths; pipelined_thread@1000: with a sleep of 1000 us between looks

#include "measure/blas.hpp"
#include "measure/clock.hpp"
#include "measure/exchange.hpp"
#include "measure/session.hpp"
#include "measure/timed_step.hpp"
#include "model/statistics.hpp"
#include "model/tiles.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace shardline;

namespace {

double slowest_ms(int64_t ns)
{
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return static_cast<double>(ns) * 1e-6;
}

std::string text(const std::vector<double>& ms)
{
    const Estimate e = median_estimate(ms);
    return fmt::format("{:7.1f} [{:6.1f}, {:6.1f}]", e.value, e.low, e.high);
}

struct Times {
    std::vector<double> comp, tiles_alone, comm, comm_cpu, step, comp_in_step, step_cpu;
    double interrupts_ms = 0; ///< over all steps, on rank 0's core
};

/// What the kernel has spent in interrupts on this core so far, from /proc/stat; counted in hundredths of a second.
double interrupts_ms()
{
    std::ifstream stat("/proc/stat");
    const std::string wanted = fmt::format("cpu{}", sched_getcpu());
    for (std::string line, name; std::getline(stat, line);) {
        std::istringstream fields(line);
        double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
        fields >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
        if (name == wanted) return 10 * (irq + softirq);
    }
    return 0;
}

/// The exchange's tiles one after the other, with nothing sent.
int64_t tiles_alone_ns(Operands& o, const Exchange& exchange)
{
    int64_t sum = 0;
    for (const int64_t size : exchange.tiles.sizes) {
        Readings t;
        timed_tile(o, size, t);
        sum += t.comp_end_ns - t.comp_begin_ns;
    }
    return sum;
}

} // namespace

int main(int argc, char** argv)
{
    const Session session(argc, argv);
    if (argc < 8) {
        if (session.is_root()) fmt::print("usage: strategies B F D repetitions segment_bytes tiles strategy...\n");
        return 2;
    }
    const int64_t B = std::atoll(argv[1]), F = std::atoll(argv[2]), D = std::atoll(argv[3]), repetitions = std::atoll(argv[4]);
    const int64_t segment_bytes = std::atoll(argv[5]);
    const std::string tiles = std::string(argv[6]) == "auto" ? text_of({cheaper_axis(B, F), equal_tiles(std::max(B, F), 8)}) : argv[6];
    set_blas_threads(1);

    Operands o;
    prepare(o, B, F, shard_of(D, session.size(), session.rank()));
    const WireType wire(ElementType::f32);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int i = 7; i < argc; ++i) {
        const std::string given = argv[i];
        const size_t at = given.find('@');
        const int64_t sleep_us = at == std::string::npos ? 500 : std::atoll(argv[i] + at + 1);
        exchanges.push_back(std::make_unique<Exchange>(wire, session.work(), sleep_us));
        exchanges.back()->prepare({.B = B, .D = D, .F = F, .segment_bytes = segment_bytes, .strategy = given.substr(0, at), .tiles = tiles}, o);
    }
    std::vector<Times> all(exchanges.size());
    for (int64_t repetition = -1; repetition < repetitions; ++repetition)
        for (size_t i = 0; i < exchanges.size(); ++i) {
            Exchange& exchange = *exchanges[i];
            const auto thread_cpu = [&] { return exchange.strategy == Strategy::pipelined_thread ? exchange.thread->cpu_ns() : 0; };
            Readings apart, step;
            MPI_Barrier(session.work());
            timed_phases(o, exchange, apart);
            const int64_t comm_cpu = thread_cpu();
            MPI_Barrier(session.work());
            const int64_t tiles_ns = tiles_alone_ns(o, exchange);
            MPI_Barrier(session.work());
            const double interrupts_before_ms = interrupts_ms();
            timed_step(o, exchange, step);
            if (repetition >= 0) all[i].interrupts_ms += interrupts_ms() - interrupts_before_ms;
            const double values[] = {slowest_ms(apart.comp_end_ns - apart.comp_begin_ns), slowest_ms(tiles_ns), slowest_ms(apart.comm_end_ns - apart.comm_begin_ns),
                                     slowest_ms(comm_cpu), slowest_ms(step.comm_end_ns - step.comp_begin_ns),
                                     slowest_ms(step.comp_end_ns - step.comp_begin_ns), slowest_ms(thread_cpu())};
            if (repetition < 0) continue; // warm-up
            std::vector<double>* columns[] = {&all[i].comp, &all[i].tiles_alone, &all[i].comm, &all[i].comm_cpu, &all[i].step, &all[i].comp_in_step, &all[i].step_cpu};
            for (size_t c = 0; c < std::size(columns); ++c) columns[c]->push_back(values[c]);
        }
    if (!session.is_root()) return 0;
    std::vector<double> comp;
    for (const Times& times : all) comp.insert(comp.end(), times.comp.begin(), times.comp.end());
    fmt::print("B = {}, F = {}, D = {}, P = {}, {}: median [95 %] in ms; matmul alone {}\n", B, F, D, session.size(), blas_kernel_name(), text(comp));
    fmt::print("{:<21}{:>25}{:>25}{:>25}{:>25}{:>9}{:>8}{:>11}\n", "strategy", "exchange alone", "step", "matmul in step", "its tiles alone", "comm CPU",
               "in step", "interrupts");
    for (size_t i = 0; i < all.size(); ++i)
        fmt::print("{:<21}{:>25}{:>25}{:>25}{:>25}{:>9.1f}{:>8.1f}{:>11.1f}\n", argv[7 + static_cast<int>(i)], text(all[i].comm), text(all[i].step),
                   text(all[i].comp_in_step), text(all[i].tiles_alone), median(all[i].comm_cpu), median(all[i].step_cpu),
                   all[i].interrupts_ms / static_cast<double>(repetitions));
    for (size_t i = 0; i < all.size(); ++i) {
        const std::vector<int64_t>& sizes = exchanges[i]->tiles.sizes;
        if (sizes.size() < 2 || exchanges[i]->strategy != Strategy::pipelined_thread) continue;
        const auto model_ms = [&](double comm_cpu_ms) {
            return 1e3 * overlap_time_s(sizes, {.t_comp_s = 1e-3 * median(comp),
                                                .repack_s = 1e-3 * (median(all[i].tiles_alone) - median(comp)) / static_cast<double>(sizes.size() - 1),
                                                .t_comm_s = 1e-3 * median(all[i].comm), .comm_cpu_s = 1e-3 * comm_cpu_ms});
        };
        // After the last tile the thread spins, so that this part of its CPU time is not the exchange's.
        const double spun_ms = median(all[i].step) - median(all[i].comp_in_step);
        fmt::print("{}: the model of a step says {:.1f} ms with the CPU time of the exchange alone, {:.1f} ms with that within the step\n",
                   argv[7 + static_cast<int>(i)], model_ms(median(all[i].comm_cpu)), model_ms(median(all[i].step_cpu) - spun_ms));
    }
    fmt::print("tiles {}, segments of {} bytes\n", tiles, segment_bytes);
    return 0;
}
