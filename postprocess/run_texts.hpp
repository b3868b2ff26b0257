#pragma once

// What a report says of a run as a whole: safe to print.

#include "model/run_data.hpp"

#include <string>

namespace shardline {

/// The experiment's title as its TOML quotes it, or nothing where it has none.
std::string quoted_title(const RunData& run);

/// The path of its file, or "this run".
std::string file_name(const RunData& run);

/// A sentence that says in how far it is not complete, or nothing.
std::string status_text(const RunData& run);

} // namespace shardline
