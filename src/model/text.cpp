#include "model/text.hpp"

#include <cmath>
#include <cstdio>

namespace shardline {

namespace {

std::string formatted(const char* format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

double rounded_to_four_digits(double value)
{
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

} // namespace

std::string number_text(double value)
{
    // %.4g turns to exponents at 10 000, where a matrix size is still easier to read in full.
    const bool whole_number_reads_better = std::abs(value) >= 9999.5 && std::abs(value) < 1e9;
    return whole_number_reads_better ? formatted("%.0f", rounded_to_four_digits(value))
                                     : formatted("%.4g", value);
}

std::string si_text(double value, std::string_view unit)
{
    static constexpr const char* prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    static constexpr int no_prefix = 3, last = 9;
    int prefix = no_prefix;
    double scaled = rounded_to_four_digits(value);
    if (scaled != 0 && std::isfinite(scaled)) {
        for (; std::abs(scaled) >= 1000 && prefix < last; ++prefix) scaled /= 1000;
        for (; std::abs(scaled) < 1 && prefix > 0; --prefix) scaled *= 1000;
    }
    return formatted("%.4g", scaled) + " " + prefixes[prefix] + std::string(unit);
}

std::string decimal_text(double value)
{
    const std::string text = formatted("%.3f", value);
    return text == "-0.000" ? "0.000" : text;
}

std::string percent_text(double ratio) { return formatted("%.0f", 100 * ratio) + " %"; }

} // namespace shardline
