#pragma once

#include "model/run_data.hpp"

#include <string>

namespace shardline {

/// What `read` makes of the file, read by a child process: HDF5 believes much of what a file's metadata say, and a file made
/// on purpose can crash it, keep it busy for ever, or have it take all memory. That then ends the child only, whose time and
/// memory are bounded by the size of the file. Throws the InputError that `read` threw, or one of its own where the child came
/// to such an end.
RunData read_in_a_process_of_its_own(const std::string& path, RunData (*read)(const std::string& path));

} // namespace shardline
