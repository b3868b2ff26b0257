#pragma once

#include "experiment/experiment.hpp"
#include "model/run_data.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// The experiment of an earlier run, to go on with. Where the user names an experiment or overrides too, they must
/// mean the same (but for the time budget, which counts anew): else InputError with the keys that differ.
Experiment experiment_to_resume(const RunData& earlier, const std::string& experiment_path,
                                const std::vector<std::string>& overrides);

/// Name under which --allow lets a run go on where all but its hosts is the same.
inline constexpr std::string_view other_hosts = "other_hosts";

/// Throws InputError naming the differences where the run of `earlier` cannot go on here: other ranks, placement, hosts,
/// processors, BLAS kernels or threads, MPI or BLAS. `now` is what describes the present run. Returns what was allowed.
std::vector<Finding> compare_machines(const RunData& earlier, const RunData& now, const std::vector<std::string>& allowed);

/// Text cut at its line breaks; empty text has no lines.
std::vector<std::string> lines_of(const std::string& text);

} // namespace shardline
