#pragma once

// How much of the smaller part of a step was hidden behind the larger one, and which strategy hides most.

#include "model/run_data.hpp"
#include "model/samples.hpp"
#include "model/statistics.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Overlap in percent as others define it, so that numbers can be put beside published ones; not clamped: below 0
/// the step takes longer than its parts one after the other. t_comp is the matmul alone, t_comm the exchange alone, both
/// of the same fixed work as in the step.
struct OverlapMeasures {
    double osu_percent = 0;      ///< OSU micro-benchmarks, osu_iallreduce: 100·(1 − (t_step − t_comp)/t_comm)
    double imb_nbc_percent = 0;  ///< IMB-NBC: 100·(t_comm + t_CPU − t_step)/min(t_comm, t_CPU), t_CPU the matmul within the step
    double imb_async_over_comm_s = 0; ///< IMB-ASYNC: t_step − t_CPU, what communication adds after the matmul
    double imb_async_over_calc_s = 0; ///< IMB-ASYNC: t_CPU − t_comp, what it costs the matmul
};

/// t_comp_in_step_s is t_CPU above. All positive.
OverlapMeasures overlap_measures(double t_comp_s, double t_comm_s, double t_step_s, double t_comp_in_step_s);

/// One point of one strategy against the bounds of a step.
struct OverlapPoint {
    Point point;
    Estimate t_comp_s, t_comm_s, t_step_s; ///< t_comp: the same matmul of all strategies at this D
    Estimate t_comp_in_step_s;
    Estimate step_over_max; ///< t_step / max(t_comp, t_comm)
    Estimate step_over_sum; ///< t_step / (t_comp + t_comm)
    OverlapMeasures overlap;
    std::optional<double> comm_cpu_s; ///< of the thread that communicates, the exchange alone; nothing without such a thread
    std::optional<double> floor_s; ///< max(t_comp + comm_cpu, t_comm): least where the rank's only core also runs its network
};

/// Every point of a sweep with all its times, by B, F, P, types, D and strategy.
std::vector<OverlapPoint> overlap_points(std::span<const PointSamples> points);

/// A strategy against another: t_step of the other / t_step of this one.
struct StrategySpeed {
    std::string strategy;
    Estimate speedup;
};

/// Which strategy to use at one D, and which not.
struct StrategyAdvice {
    Point at;     ///< the best strategy's point
    double t_step_s = 0;
    std::string against;   ///< the strategy it is compared with: mpi_allreduce where measured, else the slowest
    Estimate speedup;      ///< t_step of that one / t_step of the best
    bool certain = false;  ///< the interval of the speed-up lies above 1
    std::vector<std::string> as_good;  ///< other strategies whose intervals reach down to the best one's
    std::vector<StrategySpeed> losing; ///< those that take over 5 % longer than `against`, and longer for certain
};

/// For every (B, F, P, types, D) at which more than one strategy was measured.
std::vector<StrategyAdvice> advise(std::span<const OverlapPoint> points);

} // namespace shardline
