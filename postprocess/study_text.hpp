#pragma once

// What a report says of the measures other than crossovers.

#include "model/analysis.hpp"

#include <string>
#include <vector>

namespace shardline {

/// A heading and the lines below it, which end in a line break.
struct Section {
    std::string heading, body;
};

/// Sections of whatever the analysis holds beside crossovers, none wider than `width` columns.
std::vector<Section> study_sections(const Analysis& analysis, size_t width);

} // namespace shardline
