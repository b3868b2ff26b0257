#pragma once

// The small text files in which the kernel describes itself and the machine.

#include <string>

namespace shardline {

/// First line of a file, empty where it cannot be read.
std::string first_line_of(const std::string& path);

/// Value of the first "key : value" line, empty where there is none.
std::string field_of(const std::string& path, const std::string& key);

} // namespace shardline
