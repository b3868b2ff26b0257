#pragma once

#include "model/comparison.hpp"

#include <string>

namespace shardline {

/// Where it was measured: "B = 1024, D = 512, F = 1024, mpi_allreduce"; a D_obs has no D.
std::string place_text(const Change& change);

/// "t_comm 34.9 ms -> 45.1 ms: +29.2 % [+28.1 %, +30.3 %]".
std::string change_sentence(const Change& change);

/// What has changed, for a terminal of that width: the changes, place by place, and a line that sums up.
std::string comparison_text(const Comparison& comparison, const ComparisonOptions& options, int width);

} // namespace shardline
