#pragma once

// How fast the allreduce was, in a number that can be put beside the link's.

#include "model/samples.hpp"
#include "model/statistics.hpp"

#include <span>
#include <string>
#include <vector>

namespace shardline {

/// An allreduce of one size.
struct AllreduceRate {
    int32_t P = 0;
    ElementType wire_type = ElementType::f32;
    std::string strategy;
    int64_t V_bytes = 0;
    bool in_sweep = false; ///< taken at the points of a sweep, all D together; else by its calibration
    Estimate t_s;
    /// 2(P−1)/P · V / t: bytes that a rank had to send, per second, so that the link's W is its bound whatever P is (the "bus
    /// bandwidth" of nccl-tests).
    Estimate bus_bytes_per_s;
};

/// Every size of every strategy that has usable samples and at least two ranks, by P, wire type, strategy and V.
std::vector<AllreduceRate> allreduce_rates(std::span<const PointSamples> points);

} // namespace shardline
