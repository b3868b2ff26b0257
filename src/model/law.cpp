#include "model/law.hpp"

#include "model/shard.hpp"

#include <algorithm>
#include <cmath>

namespace shardline {

double matmul_flops(double B, double D, double F) { return 2 * B * D * F; }

double comp_time_s(int64_t B, int64_t D, int64_t F, int64_t P, double C)
{
    const auto width = static_cast<double>(largest_shard_width(D, P));
    return matmul_flops(static_cast<double>(B), width, static_cast<double>(F)) / C;
}

double allreduce_bandwidth_bound_s(double V, int64_t P, double W)
{
    const auto ranks = static_cast<double>(P);
    return 2 * (ranks - 1) / ranks * V / W;
}

double D_star(double s, int64_t P, double C, double W) { return s * static_cast<double>(P - 1) * C / W; }

double D_star_ring(double s, int64_t P, double C, double W, double alpha, double B, double F)
{
    const auto ranks = static_cast<double>(P);
    return D_star(s, P, C, W) + ranks * (ranks - 1) * alpha * C / (B * F);
}

double link_intensity(int64_t D, double s, int64_t P)
{
    const auto ranks = static_cast<double>(P);
    return static_cast<double>(largest_shard_width(D, P)) * ranks / (s * (ranks - 1));
}

double allreduce_time_s(AllreduceAlgorithm algorithm, double V, int64_t P, double alpha, double W)
{
    const auto ranks = static_cast<double>(P);
    const double rounds = std::ceil(std::log2(ranks));
    switch (algorithm) {
    case AllreduceAlgorithm::ring: return 2 * (ranks - 1) * alpha + allreduce_bandwidth_bound_s(V, P, W);
    case AllreduceAlgorithm::recursive_doubling: return rounds * (alpha + V / W);
    case AllreduceAlgorithm::tree: return 2 * rounds * (alpha + V / W);
    }
    return 0;
}

StepBounds step_bounds(double t_comp_s, double t_comm_s)
{
    return {std::max(t_comp_s, t_comm_s), t_comp_s + t_comm_s};
}

double dot_intensity(double N, double s) { return (2 * N - 1) / (s * (2 * N + 1)); }

double matmul_intensity(double B, double D, double F, double s_x, double s_y, double s_z)
{
    return matmul_flops(B, D, F) / (s_x * B * D + s_y * D * F + s_z * B * F);
}

double critical_intensity(double C, double M) { return C / M; }

double critical_batch(double s_weights, double C, double M) { return s_weights * C / (2 * M); }

} // namespace shardline
