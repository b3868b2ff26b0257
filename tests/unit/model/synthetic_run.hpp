#pragma once

// Runs of a machine that is known exactly, for tests: what the analysis finds can be compared with what was
// planted.

#include "model/run_data.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shardline {

/// Begins a usable row of mode `phases`; the readings of its ranks are for the caller to add.
void begin_row(Repetitions& repetitions, size_t point, int32_t pass, int32_t repetition);

/// Kinds of noise, all multiplicative with median 1.
enum class NoiseKind {
    normal,
    lognormal,
    exponential,    ///< a sharp lower edge and a long upper tail
    autocorrelated, ///< normal, each repetition keeping half of the deviation of the one before
    visit_shift,    ///< normal, plus a shift of the same size that is common to a visit
};

/// A machine that follows the law. A matmul of width K takes overhead + 2·B·K·F/C, an allreduce
/// (ring) 2(P−1)·alpha + 2(P−1)/P·V/(efficiency·W), an exchange of m bytes alpha + m/W.
struct SyntheticMachine {
    double C_flop_per_s = 2e11;
    double W_bytes_per_s = 1.2e8;
    double alpha_s = 0;
    double matmul_overhead_s = 0;
    double allreduce_efficiency = 1;
};

/// A strategy of the sweep. A step takes t_comp + t_comm − hidden·min(t_comp, t_comm); one that hides something has tiles.
struct SyntheticStrategy {
    std::string name = "mpi_allreduce";
    double hidden = 0;
};

/// What is measured on it, and what is wrong with it. The defaults make a file with nothing wrong.
struct SyntheticPlan {
    SyntheticMachine machine;
    int64_t B = 1024, F = 1024;
    int32_t P = 2;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
    std::vector<SyntheticStrategy> strategies{SyntheticStrategy{}};
    std::vector<int64_t> D; ///< empty: nine multiples of P half an octave apart, about the crossover
    int32_t passes = 6, repetitions = 5, warmups = 1;
    bool calibrated = true;   ///< with matmul, exchange and allreduce points
    double noise = 0.02;      ///< standard deviation common to all ranks
    double rank_noise = 0.25; ///< standard deviation of each rank on top, as a share of `noise`
    NoiseKind noise_kind = NoiseKind::normal;
    uint64_t seed = 1;

    double comm_factor_in_sweep = 1; ///< the sweep's communication against what its calibration says
    double comp_exponent =
        1;                  ///< t_comp in the sweep grows as this power of D; negative turns the order round
    int32_t slow_rank = -1; ///< computes slow_factor times as long
    double slow_factor = 2;
    int32_t ranks_on_host = 1; ///< a slow rank makes all of its host slow
    double drift_over_run = 0; ///< relative growth of all times from the first row to the last
    double creep_per_repetition =
        0;                  ///< relative growth of all times from one repetition of a visit to the next
    double second_mode = 1; ///< half of the communications take this many times as long
    double second_mode_of_exchange = 1; ///< the same of the exchanges
    int64_t start_skew_ns = 1000;       ///< up to so much
    double step_factor = 1; ///< communication in step mode against phases mode
    double comp_in_step_factor = 1; ///< matmul in step mode against phases mode
    int32_t wrong_point = -1;       ///< this point of the sweep (by ascending D) fails its checks
    bool ranks_disagree = false;    ///< on that point
    double late_share = 0;          ///< of repetitions flagged late, their times spoilt
};

/// D at which the plan's machine takes equally long for both parts, as a real number.
double true_crossover(const SyntheticPlan& plan);

/// The run such a machine would record.
RunData synthetic_run(const SyntheticPlan& plan);

/// What shardline-run would have kept of it above thin_above_ranks.
RunData thinned_run(RunData run);

/// One run that measured all of this, on as many ranks as the widest; those beyond a point's own took no part in it.
RunData joined(const std::vector<RunData>& runs);

} // namespace shardline
