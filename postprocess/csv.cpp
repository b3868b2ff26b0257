#include "postprocess/csv.hpp"

#include "postprocess/printable.hpp"

#include <cmath>
#include <fmt/format.h>

namespace shardline {
namespace {

/// Within quotes a quote is doubled; blanks at the ends are quoted too, as some readers drop them.
std::string quoted_where_needed(const std::string& cell)
{
    const bool needed = cell.find_first_of(",\"\r\n") != std::string::npos || cell.starts_with(' ') || cell.ends_with(' ');
    if (!needed) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

} // namespace

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string csv_text(std::string_view text)
{
    const std::string safe = printable(text);
    const size_t first = safe.find_first_not_of(' '); // some spreadsheets skip blanks
    const bool formula = first != std::string::npos && std::string_view("=+-@").find(safe[first]) != std::string_view::npos;
    return formula ? "'" + safe : safe;
}

std::string csv_bool(bool value) { return value ? "true" : "false"; }

void append(Cells& cells, const Cells& more) { cells.insert(cells.end(), more.begin(), more.end()); }

Cells estimate_headings(const std::string& name, const std::string& unit)
{
    const std::string suffix = unit.empty() ? "" : "_" + unit;
    return {name + suffix, name + "_low" + suffix, name + "_high" + suffix};
}

Cells estimate_cells(const std::optional<Estimate>& estimate)
{
    if (!estimate) return {"", "", ""};
    return {csv_number(estimate->value), csv_number(estimate->low), csv_number(estimate->high)};
}

void CsvTable::add_row(const std::vector<std::string>& cells)
{
    for (size_t i = 0; i < cells.size(); ++i) text_ += (i == 0 ? "" : ",") + quoted_where_needed(cells[i]);
    text_ += '\n';
}

} // namespace shardline
