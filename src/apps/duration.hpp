#pragma once

#include <cstdint>
#include <string>

namespace shardline {

/// Seconds of "90", "90s", "20m" or "2h". Throws CLI::ValidationError for anything else.
int64_t duration_s(const std::string& text);

} // namespace shardline
