#pragma once

#include "model/comparison.hpp"

#include <string>

namespace shardline {

/// What has changed, for a terminal of that width: the changes, place by place, and a line that sums up.
std::string comparison_text(const Comparison& comparison, const ComparisonOptions& options, int width);

} // namespace shardline
