#pragma once

// Between the fields of a row and the bytes of a column's cells.

#include "model/run_data.hpp"
#include "record/schema.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace shardline::cells {

/// A cell that holds no value of its field's type.
struct BadCell : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::string_view cut_mark = "\u2026";

/// The whole text, or as much of it as fits with a mark that it was cut, never through a character.
inline std::string fitted(std::string_view text, size_t bytes)
{
    if (text.size() <= bytes) return std::string(text);
    if (bytes < cut_mark.size()) return std::string(text.substr(0, bytes));
    size_t kept = bytes - cut_mark.size();
    const auto continues_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; };
    while (kept > 0 && continues_character(text[kept])) --kept;
    return std::string(text.substr(0, kept)).append(cut_mark);
}

template <class Number>
    requires std::is_arithmetic_v<Number>
void encode(const Number& value, std::span<char> cell)
{
    static_assert(!std::is_same_v<Number, bool> || sizeof(bool) == 1);
    std::memcpy(cell.data(), &value, sizeof value);
}

inline void encode(Severity severity, std::span<char> cell) { cell[0] = static_cast<char>(severity); }

inline void encode(std::string_view text, std::span<char> cell)
{
    const auto stored = fitted(text, cell.size());
    std::copy(stored.begin(), stored.end(), cell.begin());
}

inline void encode(PointKind kind, std::span<char> cell)
{
    encode(name_of(kind), cell);
}

inline void encode(ElementType type, std::span<char> cell) { encode(name_of(type), cell); }

inline std::string_view text_in(std::span<const char> cell)
{
    const std::string_view text(cell.data(), cell.size());
    return text.substr(0, text.find_last_not_of('\0') + 1);
}

template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
void decode(std::span<const char> cell, Number& value)
{
    std::memcpy(&value, cell.data(), sizeof value);
}

inline void decode(std::span<const char> cell, bool& value) { value = cell[0] != 0; }
inline void decode(std::span<const char> cell, Severity& severity) { severity = static_cast<Severity>(cell[0]); }
inline void decode(std::span<const char> cell, std::string& text) { text = text_in(cell); }

inline void decode(std::span<const char> cell, PointKind& kind)
{
    const auto found = std::find(kind_names.begin(), kind_names.end(), text_in(cell));
    if (found == kind_names.end()) throw BadCell("not a kind of point");
    kind = static_cast<PointKind>(found - kind_names.begin());
}

inline void decode(std::span<const char> cell, ElementType& type)
{
    const auto named = element_type_named(text_in(cell));
    if (!named) throw BadCell("not an element type");
    type = *named;
}

/// Bytes a column of texts needs for each: those of the longest, at least one. 0 for other columns.
template <class Row, class Field> size_t longest_text(std::span<const Row> rows, Field Row::*field)
{
    size_t bytes = 0;
    if constexpr (std::is_same_v<Field, std::string>) {
        bytes = 1;
        for (const auto& row : rows) bytes = std::max(bytes, (row.*field).size());
    }
    return bytes;
}

/// One field of every row, as the cells of its column.
template <class Row, class Field>
std::vector<char> pack(std::span<const Row> rows, Field Row::*field, size_t cell_bytes)
{
    std::vector<char> column(rows.size() * cell_bytes);
    for (size_t i = 0; i < rows.size(); ++i)
        encode(rows[i].*field, std::span(column).subspan(i * cell_bytes, cell_bytes));
    return column;
}

} // namespace shardline::cells
