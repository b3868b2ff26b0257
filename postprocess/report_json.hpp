#pragma once

#include "model/analysis.hpp"
#include "model/run_data.hpp"

#include <span>
#include <string>

namespace shardline {

/// The analysis as one JSON object, in SI units, null where there is nothing; docs/json.md defines its keys.
/// Bytes that are not UTF-8 come out as U+FFFD. `launches` are those that `analysis` was made from.
std::string report_json(const Analysis& analysis, std::span<const RunData> launches);

} // namespace shardline
