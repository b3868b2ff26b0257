#pragma once

#include "model/analysis.hpp"
#include "model/run_data.hpp"
#include "postprocess/output.hpp"

#include <span>
#include <vector>

namespace shardline {

/// The analysis as tidy tables, a file each: "points.csv", "crossovers.csv", ... The numbers are those of report_json;
/// docs/report.md lists the columns. `launches` are those that `analysis` was made from.
std::vector<NamedText> report_csv(const Analysis& analysis, std::span<const RunData> launches);

} // namespace shardline
