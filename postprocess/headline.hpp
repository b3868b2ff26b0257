#pragma once

#include "model/analysis.hpp"

#include <string>

namespace shardline {

/// The verdict in a sentence for who does not know the law.
std::string headline(const Analysis& analysis);

} // namespace shardline
