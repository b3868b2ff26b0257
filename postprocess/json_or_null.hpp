#pragma once

#include <nlohmann/json.hpp>

#include <optional>

namespace shardline {

using Json = nlohmann::ordered_json; // keys in the order of docs/json.md

/// null where there is no value.
template <class T> Json json_or_null(const std::optional<T>& value) { return value ? Json(*value) : Json(); }

} // namespace shardline
