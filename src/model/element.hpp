#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardline {

/// Type of one matrix element, of the matmul (compute type) or of a message (wire type).
enum class ElementType { f32, f64, bf16 };

/// Bytes of one element: the law's s when `type` is the wire type.
constexpr int64_t bytes_of(ElementType type)
{
    switch (type) {
    case ElementType::f32: return 4;
    case ElementType::f64: return 8;
    case ElementType::bf16: return 2;
    }
    return 0;
}

/// "f32", "f64" or "bf16".
constexpr std::string_view name_of(ElementType type)
{
    switch (type) {
    case ElementType::f32: return "f32";
    case ElementType::f64: return "f64";
    case ElementType::bf16: return "bf16";
    }
    return "";
}

/// The type of that name, or nothing.
constexpr std::optional<ElementType> element_type_named(std::string_view name)
{
    for (auto type : {ElementType::f32, ElementType::f64, ElementType::bf16})
        if (name == name_of(type)) return type;
    return std::nullopt;
}

} // namespace shardline
