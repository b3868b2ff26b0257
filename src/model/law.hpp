#pragma once

// The law: when does a matmul whose contraction dimension D is split over P ranks stop waiting for the
// network? Source: "How to Scale Your Model", chapter "All About Rooflines"
// (jax-ml.github.io/scaling-book). Symbols and units:
//   B, D, F  X[B,D] · Y[D,F] = Z[B,F], elements     P  ranks that share D
//   s  bytes of an element of Z on the wire         C  FLOP/s of one rank
//   W  bytes/s one rank sends while receiving as many    alpha  start-up time of a message, s
//   M  memory bandwidth of one rank, bytes/s             V = s·B·F  message, bytes

#include <cstdint>

namespace shardline {

/// FLOPs of X[B,D] · Y[D,F]: 2·B·D·F.
double matmul_flops(double B, double D, double F);

/// Time in s of the largest shard's matmul: 2·B·F·⌈D/P⌉ / C.
double comp_time_s(int64_t B, int64_t D, int64_t F, int64_t P, double C);

/// Least time in s for an allreduce of V bytes over P ranks: 2·(P−1)/P · V / W (each rank must send and
/// receive that much). 0 for one rank.
double allreduce_bandwidth_bound_s(double V, int64_t P, double W);

/// Crossover in elements of D in the bandwidth regime: s·(P−1)·C / W. Compute-bound above.
double D_star(double s, int64_t P, double C, double W);

/// The same with the start-up time of a ring allreduce: s·(P−1)·C/W + P·(P−1)·alpha·C/(B·F).
double D_star_ring(double s, int64_t P, double C, double W, double alpha, double B, double F);

/// FLOP of one rank's matmul per byte that it has to send: ⌈D/P⌉·P / (s·(P−1)). The step is compute-bound where this exceeds C/W.
/// Needs P >= 2.
double link_intensity(int64_t D, double s, int64_t P);

enum class AllreduceAlgorithm { ring, recursive_doubling, tree };

/// Modelled time in s of an allreduce of V bytes over P ranks:
/// ring 2(P−1)·alpha + 2(P−1)/P·V/W; recursive doubling ⌈log2 P⌉·(alpha + V/W); tree 2⌈log2 P⌉·(alpha + V/W).
double allreduce_time_s(AllreduceAlgorithm algorithm, double V, int64_t P, double alpha, double W);

/// Bounds in s of a step that may overlap: max(t_comp, t_comm) ≤ t_step ≤ t_comp + t_comm.
struct StepBounds {
    double lower_s;
    double upper_s;
};
StepBounds step_bounds(double t_comp_s, double t_comm_s);

/// FLOP per byte of a dot product of two N-vectors of s-byte elements: (2N−1)/(s·(2N+1)).
double dot_intensity(double N, double s);

/// FLOP per byte of X[B,D] · Y[D,F] with s_x, s_y, s_z bytes per element: 2BDF/(s_x·BD + s_y·DF + s_z·BF).
double matmul_intensity(double B, double D, double F, double s_x, double s_y, double s_z);

/// Intensity in FLOP per byte above which an operation is compute-bound in memory terms: C / M.
double critical_intensity(double C, double M);

/// Batch above which a matmul with B ≪ D, F is compute-bound: its intensity 2B/s_weights exceeds C/M, so
/// s_weights·C/(2M); for bf16 B > C/M.
double critical_batch(double s_weights, double C, double M);

} // namespace shardline
