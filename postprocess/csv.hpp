#pragma once

// Tables for spreadsheets, R and pandas: comma-separated values by RFC 4180.

#include "model/statistics.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// A number with as many digits as tell it from every other; empty where it is not finite, as null in the JSON.
std::string csv_number(double value);
template <std::integral Integer> std::string csv_number(Integer value) { return std::to_string(value); }
template <class Number> std::string csv_number(const std::optional<Number>& value) { return value ? csv_number(*value) : ""; }

/// A text that came from a file or a user: escaped as printable() does, so that it stays in its line, and with an apostrophe before a
/// character that would make a spreadsheet take it for a formula.
std::string csv_text(std::string_view text);

std::string csv_bool(bool value);

using Cells = std::vector<std::string>;

void append(Cells& cells, const Cells& more);

/// "t_comp_s, t_comp_low_s, t_comp_high_s"; without a unit no suffix.
Cells estimate_headings(const std::string& name, const std::string& unit = "");
Cells estimate_cells(const std::optional<Estimate>& estimate);

/// A table with one line of headings; a cell is quoted where it has to be.
class CsvTable {
public:
    explicit CsvTable(const std::vector<std::string>& headings) { add_row(headings); }
    void add_row(const std::vector<std::string>& cells);
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

} // namespace shardline
