#pragma once

// One rank's own roofline: how fast it computes (C), how fast it reads and writes memory (M), and where dot products and
// matmuls lie under min(C, M · intensity).

#include "model/claim.hpp"
#include "model/run_data.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Bytes of each of the triad's arrays on a rank so that those of a machine's ranks together are four times its last-level
/// caches, as STREAM demands. Where a machine's caches are not known they are taken for 64 MiB.
int64_t least_vector_bytes(std::span<const RankInfo> ranks);

/// What was measured at a point, beside what the roofline allows.
struct RooflinePoint {
    Point point;
    Estimate t_s;
    Estimate rate_flop_per_s;
    double intensity_flop_per_byte = 0;     ///< infinity for arithmetic in registers
    std::optional<double> bound_flop_per_s; ///< min(C, M·intensity); of C's own matmuls: the arithmetic's rate
    bool memory_bound = false;              ///< the bound is M·intensity
    std::optional<double> reached;          ///< rate / bound
    std::string suspect;                    ///< the first thing to look at where little is reached
};

/// C of one element type.
struct ComputeRate {
    ElementType type = ElementType::f32;
    std::optional<Estimate> C_flop_per_s;    ///< of the best matmul with operands in caches
    std::optional<Estimate> arithmetic_flop_per_s; ///< its bound
    std::optional<double> ridge_flop_per_byte; ///< C / M
};

/// From which batch on a matmul X[B,D] · Y[D,F] from memory is compute-bound.
struct BatchCrossover {
    ElementType type = ElementType::f32;
    int64_t D = 0, F = 0;
    std::optional<double> B_law;   ///< where its intensity is C/M
    std::optional<Estimate> B_obs; ///< time at the smallest B / time per row at the largest
    double memory_efficiency = 0;  ///< bound / measured at the smallest B
    double compute_efficiency = 0; ///< at the largest
};

struct Roofline {
    std::vector<ComputeRate> compute;
    std::optional<Estimate> M_bytes_per_s; ///< triad, as STREAM counts: two reads and a write; nothing where it ran in a cache
    int64_t vector_bytes = 0;              ///< of each array on a rank
    std::vector<RooflinePoint> points;     ///< by kind, type, shape
    std::vector<BatchCrossover> batches;
    std::vector<Claim> claims;
    std::vector<Finding> findings; ///< "cache_resident"
};

/// Nothing where no point is of a roofline.
std::optional<Roofline> roofline_of(std::span<const RunData> launches, std::span<const PointSamples> points);

/// B at which X[B,D]·Y[D,F] with s-byte elements has that intensity; infinity where it never has.
double batch_of_intensity(double intensity, double D, double F, double s);

} // namespace shardline
