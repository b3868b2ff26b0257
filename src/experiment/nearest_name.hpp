#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace shardline {

/// The one of `names` that `word` was most likely meant to be: equal but for case, a few edits away, or begun by it.
/// Nothing where none is near enough to be worth suggesting.
std::optional<std::string_view> nearest_name(std::string_view word, std::span<const std::string_view> names);

} // namespace shardline
