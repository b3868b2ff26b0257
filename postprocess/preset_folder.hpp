#pragma once

#include "experiment/presets.hpp"

#include <optional>
#include <string>

namespace shardline {

/// The presets that come with the program (share/shardline/presets beside the folder it is in), and those of `folder`, which may
/// replace them. Throws InputError where a file of either is wrong.
Presets known_presets(const std::optional<std::string>& folder);

} // namespace shardline
