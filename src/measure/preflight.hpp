#pragma once

// What the ground under the ranks means for the numbers, found out before anything is timed. Pure functions of the
// facts; docs/preflight.md lists every finding.

#include "measure/rank_facts.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// BLAS threads each rank shall ask for: `experiment_threads` if above 0; else the number the user put into the environment;
/// else an equal part of the cores that the ranks of a machine with the same binding share, and of their quota.
std::vector<int> blas_threads_of(const std::vector<RankFacts>& ranks, int64_t experiment_threads);

/// Findings about the placement, threads, processors, clocks and network of a run's ranks. Of one kind there is one finding, about
/// the first rank or group of ranks it holds for; its text names the others.
std::vector<Finding> preflight_findings(const std::vector<RankFacts>& ranks);

/// Codes of the findings that stop a run before it measures, as its numbers would mean nothing.
std::span<const std::string_view> stopping_codes();

/// Throws InputError where findings stop the run and the user has not allowed them by their code.
void refuse_meaningless(const std::vector<Finding>& findings, const std::vector<std::string>& allowed);

} // namespace shardline
