#pragma once

#include "model/analysis.hpp"
#include "model/run_data.hpp"
#include "postprocess/figures.hpp"

#include <span>
#include <string>
#include <string_view>

namespace shardline {

/// The report as one page that needs nothing else, no network and no script: verdict, figures, tables, findings, provenance, the
/// experiment, and how to repeat it. `launches` are those that `analysis` and `figures` were made from, `drawn` the files that came of
/// the figures; one whose SVG is not among them is left out.
std::string report_html(const Analysis& analysis, std::span<const RunData> launches, const Figures& figures, const DrawnFigures& drawn);

/// `text` as it may stand between tags and in quoted attributes; control characters and the like as in printable().
std::string html_text(std::string_view text);

} // namespace shardline
