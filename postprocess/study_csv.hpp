#pragma once

// The tables of runs of other measures than a sweep.

#include "model/analysis.hpp"
#include "postprocess/output.hpp"

#include <vector>

namespace shardline {

/// All of them, each with its headings; without rows where the run measured something else. docs/report.md names the columns.
std::vector<NamedText> study_csv(const Analysis& analysis);

} // namespace shardline
