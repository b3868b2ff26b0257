#pragma once

#include "model/analysis.hpp"
#include "model/run_data.hpp"

#include <span>
#include <string>

namespace shardline {

struct TextStyle {
    bool colour = false;
    int width = 80; ///< columns of the terminal; at least 60 are used
};

/// The report a person reads: what was run, what is wrong with it, the calibration, every point, and for
/// each crossover where it is, where the law puts it, and why they differ. docs/report.md explains it line
/// by line. `launches` are those that `analysis` was made from.
std::string report_text(const Analysis& analysis, std::span<const RunData> launches, const TextStyle& style = {});

} // namespace shardline
