#pragma once

#include <string>

namespace shardline {

/// Content of a small text file written by hand. Throws InputError with one line where `path` is missing,
/// unreadable, a directory, binary, or larger than 1 MiB (which no such file is).
std::string read_text_file(const std::string& path);

} // namespace shardline
