#include "postprocess/text_layout.hpp"

#include "postprocess/printable.hpp"

#include "postprocess/utf8.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shardline {
namespace {

/// Digits after the point that give `value` so many significant digits.
int decimals_for(double value, int digits)
{
    const double rounded = std::stod(fmt::format("{:.{}e}", value, digits - 1)); // 9.996 counts as 10.0
    return std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(rounded)))));
}

} // namespace

std::string significant(double value, int digits)
{
    if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
    if (std::abs(value) < 1e-4 || std::abs(value) >= 1e7) return fmt::format("{:.{}e}", value, digits - 1);
    return fmt::format("{:.{}f}", value, decimals_for(value, digits));
}

std::string D_text(double D) { return std::abs(D) >= 100 ? fmt::format("{:.0f}", D) : significant(D, 3); }

std::string D_estimate_text(const std::optional<Estimate>& D)
{
    return D ? fmt::format("{} [{}, {}]", D_text(D->value), D_text(D->low), D_text(D->high)) : "-";
}

std::string estimate_text(const Estimate& estimate, double scale)
{
    return fmt::format("{} {}", significant(estimate.value * scale, 4), interval_text(estimate, scale));
}

std::string interval_text(const Estimate& estimate, double scale)
{
    return fmt::format("[{}, {}]", significant(estimate.low * scale, 4), significant(estimate.high * scale, 4));
}

std::string counted(size_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

TimeUnit time_unit_for(double seconds)
{
    if (seconds < 0.9995e-6) return {"ns", 1e9};
    if (seconds < 0.9995e-3) return {"µs", 1e6};
    if (seconds < 0.9995) return {"ms", 1e3};
    return {"s", 1};
}

std::string time_text(double seconds)
{
    const TimeUnit unit = time_unit_for(seconds);
    return fmt::format("{} {}", significant(seconds * unit.per_second, 3), unit.name);
}

std::string duration_text(double seconds)
{
    const auto whole = static_cast<int64_t>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string wrapped(std::string_view text, size_t width, size_t left)
{
    const size_t room = width > left ? width - left : 1;
    std::string lines, line;
    size_t line_length = 0;
    const auto end_line = [&] {
        lines += std::string(left, ' ') + line + '\n';
        line.clear();
        line_length = 0;
    };
    while (!text.empty()) {
        const size_t blank = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, blank);
        text.remove_prefix(std::min(blank + 1, text.size()));
        if (word.empty()) continue;
        const size_t length = character_count(word);
        if (line_length > 0 && line_length + 1 + length > room) end_line();
        if (line_length > 0) {
            line += ' ';
            ++line_length;
        }
        for (; !word.empty(); ++line_length) {
            if (line_length == room) end_line();
            const size_t bytes = first_character(word).bytes;
            line += word.substr(0, bytes);
            word.remove_prefix(bytes);
        }
    }
    if (line_length > 0 || lines.empty()) end_line();
    return lines;
}

std::string message_text(std::string_view program, std::string_view message, size_t width)
{
    const std::string line = fmt::format("{}: {}", program, printable(message));
    if (width == std::string::npos) return line + "\n";
    return wrapped(line, width, indent).substr(indent);
}

std::string shortened_list(const std::vector<std::string>& names, size_t most)
{
    std::string list;
    for (size_t i = 0; i < names.size() && i < most; ++i) {
        if (i > 0) list += ", ";
        list += names[i];
    }
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

void TextTable::add_column(std::string heading, Align align)
{
    rows_.front().push_back(std::move(heading));
    aligns_.push_back(align);
}

void TextTable::add_row(std::vector<std::string> cells)
{
    cells.resize(aligns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::text(size_t left, size_t width) const
{
    std::vector<size_t> widths(aligns_.size(), 0);
    for (const auto& row : rows_)
        for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], character_count(row[c]));

    size_t last_column_at = left;
    for (size_t c = 0; c + 1 < widths.size(); ++c) last_column_at += widths[c] + 2;
    // Beside numbers that leave no room for a word a line is rather too long.
    const bool wraps = width != std::string::npos && last_column_at + 20 <= width && aligns_.back() == Align::left;

    std::string lines;
    const bool no_headings = std::ranges::all_of(rows_.front(), [](const std::string& cell) { return cell.empty(); });
    for (size_t r = no_headings ? 1 : 0; r < rows_.size(); ++r) {
        std::string line(left, ' ');
        for (size_t c = 0; c < rows_[r].size(); ++c) {
            const std::string padding(widths[c] - character_count(rows_[r][c]), ' ');
            if (c > 0) line += "  ";
            if (wraps && c + 1 == rows_[r].size()) {
                line += wrapped(rows_[r][c], width, last_column_at).substr(last_column_at);
                line.pop_back(); // its line break
                break;
            }
            line += aligns_[c] == Align::right ? padding + rows_[r][c] : rows_[r][c] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines += line + '\n';
    }
    return lines;
}

} // namespace shardline
