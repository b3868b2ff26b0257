#pragma once

#include "model/run_data.hpp"

#include <string>

namespace shardline {

/// Reads a run's file: complete, still being written, or left by a killed run (then all that was
/// committed). Throws InputError with one line where the file is missing, foreign, truncated, of a
/// newer format version, or inconsistent; memory stays bounded by what the file really holds. A child process
/// does the reading: a file made to crash HDF5, or to keep it busy for ever, is refused like any other.
RunData read_run(const std::string& path);

/// Whether another program holds the file, as far as the file system's locks tell (false where it has none). A run of
/// status `running` whose file nobody holds was killed.
bool is_being_written(const std::string& path);

/// "HDF5 headers 1.10.8, library 1.10.8".
std::string hdf5_version_text();

} // namespace shardline
