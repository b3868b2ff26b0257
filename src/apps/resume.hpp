#pragma once

#include "experiment/experiment.hpp"
#include "model/run_data.hpp"

#include <string>
#include <vector>

namespace shardline {

/// The experiment of an earlier run, to go on with. Where the user names an experiment or overrides too, they must
/// mean the same (but for the time budget, which counts anew): else InputError with the keys that differ.
Experiment experiment_to_resume(const RunData& earlier, const std::string& experiment_path,
                                const std::vector<std::string>& overrides);

/// Throws InputError naming the differences where the run of `earlier` cannot go on here: other ranks, processors,
/// BLAS kernels or threads, MPI or BLAS. `now` is what describes the present run.
void refuse_other_machine(const RunData& earlier, const RunData& now);

/// Text cut at its line breaks; empty text has no lines.
std::vector<std::string> lines_of(const std::string& text);

} // namespace shardline
