#pragma once

// What the data themselves say about how far they can be trusted.

#include "model/observation.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Points whose results failed their check, one finding of Severity::invalid for each: code "wrong_result", or
/// "ranks_disagree" where only the ranks' bits differ.
std::vector<Finding> failed_checks(std::span<const RunData> launches);

/// All findings seen in the data of launches that passed check_run.
std::vector<Finding> findings_in(std::span<const RunData> launches, std::span<const PointSamples> points);

} // namespace shardline
