#pragma once

// Plain text for a terminal: numbers a person reads, lines that fit, columns that line up.

#include "model/statistics.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// `value` with so many significant digits and no exponent between 1e-4 and 1e7: "0.0490", "50.5", "10600".
std::string significant(double value, int digits);

/// A value of D: whole from 100 on, else with three significant digits.
std::string D_text(double D);

/// "4983 [4906, 5029]", of elements of D; "-" without an estimate.
std::string D_estimate_text(const std::optional<Estimate>& D);

/// An estimate times `scale` with four significant digits, "9.360 [9.210, 9.510]", and its interval alone, "[9.210, 9.510]".
std::string estimate_text(const Estimate& estimate, double scale = 1);
std::string interval_text(const Estimate& estimate, double scale = 1);

/// `count` followed by its noun: "1 rank", "2 ranks".
std::string counted(size_t count, std::string_view noun);

/// A unit of time and how many of it make a second.
struct TimeUnit {
    std::string_view name;
    double per_second;
};

/// The unit in which `seconds` reads as a number from 1 up to 1000: ns, µs, ms or s.
TimeUnit time_unit_for(double seconds);

/// "50.5 ms".
std::string time_text(double seconds);

/// A time a person waits: "50 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

inline constexpr size_t indent = 2; ///< spaces before what stands under a heading

/// `text` broken between words into lines of at most `width` characters, each after `left` spaces; ends in a
/// line break. A word longer than a line is broken where the line ends.
std::string wrapped(std::string_view text, size_t width, size_t left);

/// "PROGRAM: MESSAGE", safe for a terminal, which ends in a line break: in one line, or within `width` characters, later lines indented.
std::string message_text(std::string_view program, std::string_view message, size_t width = std::string::npos);

/// The first names of a long list: "n0, n1, n2 and 13 more".
std::string shortened_list(const std::vector<std::string>& names, size_t most);

/// Columns that line up, two spaces apart, numbers to the right and words to the left.
class TextTable {
public:
    enum class Align { left, right };
    void add_column(std::string heading, Align align);
    void add_row(std::vector<std::string> cells);
    /// The table after `left` spaces, headings first unless all are empty; no blanks at the ends of lines. Words of the last
    /// column that would end beyond `width` go on in the next line.
    std::string text(size_t left, size_t width = std::string::npos) const;

private:
    std::vector<Align> aligns_;
    std::vector<std::vector<std::string>> rows_{1}; ///< headings, then cells
};

} // namespace shardline
