#pragma once

// Runs of the other measures on machines that are known exactly.

#include "model/run_data.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shardline {

/// "n0", "n0", "n1", "n1", ...: the host of each rank.
std::vector<std::string> synthetic_hosts(int count, int ranks_each = 1);

/// Hosts whose links carry `W` from rank to rank; 40 µs there and back, and a jump of 100 µs above 64 KiB.
struct SyntheticNetwork {
    int hosts = 4;
    double noise = 0.02;
    uint64_t seed = 1;
    double both_share = 1; ///< of W while as much comes the other way
    std::function<double(int from, int to)> W = [](int, int) { return 1.2e8; };
    int ranks_on_host = 1;
    double core_share = 0; ///< of a core that each rank gets; 0: not measured
};

/// measure = "links".
RunData synthetic_links(const SyntheticNetwork& network);

/// The run with two used repetitions of each point.
RunData few_samples_of(RunData run);

/// An algorithm of the allreduce; empty name: the MPI chooses.
struct SyntheticAlgorithm {
    std::string name;
    std::function<double(double bytes)> cost_s;
};

/// measure = "allreduce", of P ranks whose link carries W.
RunData synthetic_allreduce(const std::vector<SyntheticAlgorithm>& algorithms, int32_t P, double W, double noise = 0.01, uint64_t seed = 1);

/// A processor with C and M, two ranks of it.
struct SyntheticProcessor {
    double C = 1e11, M = 1e10;
    double dot_share = 1;       ///< of M that a dot product moves
    double packing = 1;         ///< a matmul reads Y at M / packing
    double matmul_overlap = 1;  ///< exponent with which matmuls grow with B
    int64_t vector_bytes = int64_t{1} << 30;
    int64_t cache_bytes = int64_t{64} << 20;
    std::vector<int64_t> B{1, 2, 4, 8, 16, 32, 64, 128, 256};
};

/// measure = "roofline".
RunData synthetic_roofline(const SyntheticProcessor& processor);

} // namespace shardline
