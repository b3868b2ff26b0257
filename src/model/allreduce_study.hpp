#pragma once

// Which of the algorithms of the MPI's allreduce is best for which size, and how far that is from the bandwidth bound.

#include "model/claim.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Name of the algorithm that the MPI chooses by itself, in texts; in a point it is empty.
inline constexpr std::string_view default_algorithm = "default";

/// One algorithm at one size.
struct AlgorithmTime {
    std::string algorithm;
    Estimate t_s;
    double bus_bytes_per_s = 0;    ///< 2(P−1)/P · V / t
    std::optional<double> reached; ///< bandwidth bound / t
};

/// All of them at one size.
struct AllreduceSize {
    int64_t bytes = 0;
    int32_t P = 0;
    std::optional<double> bound_s; ///< 2(P−1)/P · V / W
    std::vector<AlgorithmTime> algorithms; ///< the default first, then by time
    size_t best = 0;
    std::optional<Estimate> gain;  ///< t of the default / t of the best
    bool complete = true;          ///< every algorithm has samples
    bool certain = false;          ///< the gain is above 1.03, as many comparisons as there are considered
};

/// Sizes that follow each other and share their best algorithm: where the default is as good, the default.
struct AllreduceRange {
    int64_t first_bytes = 0, last_bytes = 0; ///< of the sizes measured
    std::string algorithm;
    double least_gain = 1, most_gain = 1; ///< against the default
};

struct AllreduceStudy {
    std::optional<Estimate> W_bytes_per_s;
    std::vector<AllreduceSize> sizes;   ///< by bytes
    std::vector<AllreduceRange> ranges; ///< by bytes
    std::string rules; ///< Open MPI's dynamic rules that choose so; empty where the default is never beaten
    std::vector<Claim> claims;
};

/// Nothing where no point is of a collective.
std::optional<AllreduceStudy> allreduce_study_of(std::span<const PointSamples> points);

} // namespace shardline
