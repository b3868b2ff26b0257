#pragma once

// A finished analysis with the numbers one sees on 1 Gbit/s Ethernet, and the run it could come from.

#include "model/analysis.hpp"

namespace shardline::test {

inline Estimate estimate(double value, double relative_half_width, int64_t n = 30)
{
    return {value, value * (1 - relative_half_width), value * (1 + relative_half_width), n};
}

inline Point point_at(int64_t D, int64_t B = 1024)
{
    Point point;
    point.B = B;
    point.D = D;
    point.F = 1024;
    point.P = 2;
    point.message_bytes = 4 * B * 1024;
    point.strategy = "mpi_allreduce";
    return point;
}

inline PointSummary summary_at(int64_t D, int64_t B = 1024)
{
    const double t_comp = 2.0 * static_cast<double>(B) * 1024 * static_cast<double>(D) / 2 / 2.2e11, t_comm = 50.5e-3;
    return {point_at(D, B), estimate(t_comp, 0.01), estimate(t_comm, 0.02), estimate(t_comp + t_comm, 0.015)};
}

inline Crossover explained_crossover(int64_t B = 1024)
{
    Crossover crossover;
    crossover.B = B;
    crossover.F = 1024;
    crossover.P = 2;
    crossover.strategy = "mpi_allreduce";
    crossover.D_law = estimate(7395, 0.01);
    crossover.D_model = estimate(10640, 0.02);
    crossover.D_obs = estimate(10597, 0.02);
    crossover.ratio = 10597.0 / 7395;
    crossover.factors = {{"allreduce_bandwidth", 1.44, "MPI_Allreduce reaches 69 % of the link"},
                         {"matmul_efficiency", 0.995, "the matmul reaches 100 % of its calibrated rate"}};
    crossover.verdict = Verdict::explained;
    crossover.reason = "D* is 10600, the law says 7395; of the factor 1.433, 1.44: MPI_Allreduce reaches 69 % of the link";
    return crossover;
}

inline Analysis explained_analysis()
{
    Analysis analysis;
    analysis.calibration.C_flop_per_s = estimate(2.2e11, 0.005);
    analysis.calibration.W_bytes_per_s = estimate(1.19e8, 0.003);
    analysis.calibration.alpha_s = estimate(41e-6, 0.05);
    analysis.calibration.W_segment_bytes = 131072;
    for (int64_t D : {512, 2048, 5120, 10240, 20480, 81920}) analysis.points.push_back(summary_at(D));
    analysis.crossovers = {explained_crossover()};
    analysis.findings = {{"trend", Severity::note, -1, "times creep up by 0.1 % a repetition at D = 512"},
                         {"oversubscribed", Severity::warning, 1,
                          "4 ranks share 2 cores, so that the matmul of one waits for that of another: start fewer ranks"}};
    analysis.verdict = Verdict::explained;
    analysis.reason = analysis.crossovers.front().reason;
    return analysis;
}

inline RunData finished_run(const std::string& path = "run.h5")
{
    RunData run;
    run.path = path;
    run.status = RunStatus::complete;
    run.experiment_effective = "title = \"Crossover on slow Ethernet\"\nB = 1024\n";
    run.provenance = {{"started_utc", "2024-05-01T12:00:00Z"}};
    for (const char* host : {"n0", "n1"}) {
        RankInfo rank;
        rank.host = host;
        rank.blas_kernel = "SkylakeX";
        rank.blas_threads = 1;
        run.ranks.push_back(rank);
    }
    return run;
}

} // namespace shardline::test
