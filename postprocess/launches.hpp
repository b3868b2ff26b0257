#pragma once

#include "model/run_data.hpp"

#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Reads the files as launches of one experiment. Throws InputError where one is given twice, or they do not pool.
std::vector<RunData> read_launches(const std::vector<std::string>& files);

/// Throws InputError where the run is one of the others, or a copy of one that went on.
void refuse_same_launch(const RunData& run, std::span<const RunData> others);

} // namespace shardline
