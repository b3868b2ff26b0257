#pragma once

// Where the numbers of a run come from, as far as it is the same on every rank.

#include "model/run_data.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shardline {

/// Versions, build, command line, time and user-visible settings of this run.
Provenance find_provenance(int argc, char** argv);

/// OMPI_*, SLURM_*, OPENBLAS_* and other variables that change what is measured, sorted by name.
std::vector<std::pair<std::string, std::string>> relevant_environment();

} // namespace shardline
