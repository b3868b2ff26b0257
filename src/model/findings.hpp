#pragma once

// What the data say about how far they can be trusted, in words.

#include "model/crossover.hpp"
#include "model/run_data.hpp"
#include "model/samples.hpp"

#include <span>
#include <vector>

namespace shardline {

/// Points whose results failed their check, one finding of Severity::invalid for each: code "wrong_result",
/// or "ranks_disagree" where only the ranks' bits differ. With `sweep`, only that sweep's points.
std::vector<Finding> failed_checks(std::span<const RunData> launches, const Sweep* sweep = nullptr);

/// All findings seen in the data of launches that passed check_run. Codes: those of failed_checks,
/// "slow_rank", "trend", "trend_in_visit", "bimodal", "step_above_sum", "step_below_max", "slower_in_step",
/// "late_starts".
std::vector<Finding> findings_in(std::span<const RunData> launches, std::span<const PointSamples> points);

} // namespace shardline
