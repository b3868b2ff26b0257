#pragma once

// Numbers as a reader wants them in a sentence: four significant digits, SI prefixes.

#include <string>
#include <string_view>

namespace shardline {

/// Four significant digits: "8756", "10600", "0.6923", "1.97e+14".
std::string number_text(double value);

/// Four significant digits with an SI prefix: si_text(1.97e14, "FLOP/s") is "197 TFLOP/s".
std::string si_text(double value, std::string_view unit);

/// Three decimals, and no minus before a zero: exponents and factors near 1.
std::string decimal_text(double value);

/// Whole percent: percent_text(0.692) is "69 %".
std::string percent_text(double ratio);

} // namespace shardline
