#pragma once

#include "model/statistics.hpp"

#include <vector>

namespace shardline {

/// Median over pairs of with / without, with its interval: what changes both of a pair cancels.
inline Estimate paired_ratio(const std::vector<double>& with, const std::vector<double>& without)
{
    std::vector<double> ratios;
    for (size_t i = 0; i < without.size(); ++i) ratios.push_back(with[i] / without[i]);
    return median_estimate(ratios);
}

} // namespace shardline
