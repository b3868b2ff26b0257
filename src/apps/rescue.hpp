#pragma once

#include "model/run_data.hpp"

#include <span>
#include <string>

namespace shardline {

/// Writes rows that the results file at `output_path` would not take as CSV, one line for each repetition and rank:
/// beside that file, or else in the temporary folder. Returns where, or "" where neither took them.
std::string rescue(const Repetitions& rows, std::span<const Point> points, const std::string& output_path);

} // namespace shardline
