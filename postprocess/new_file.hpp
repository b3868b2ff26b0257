#pragma once

#include "postprocess/output.hpp"

#include <string>
#include <string_view>

namespace shardline {

/// Writes `text` to the file `path`, whole or not at all. Throws InputError where it cannot be written, exists and is to be kept, or is an
/// HDF5 file, which could be a run's only copy.
void write_new_file(const std::string& path, std::string_view text, Existing existing);

} // namespace shardline
