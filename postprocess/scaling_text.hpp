#pragma once

// How D* changes over B, F, ranks and types, as the report says it.

#include "postprocess/study_text.hpp"

namespace shardline {

/// A section for each set of crossovers that differ in one thing, none wider than `width` columns.
std::vector<Section> scaling_sections(const Analysis& analysis, size_t width);

} // namespace shardline
