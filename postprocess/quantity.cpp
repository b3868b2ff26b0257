#include "postprocess/quantity.hpp"

#include "model/error.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace shardline {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, std::string_view reason, std::string_view suggestion)
{
    throw InputError(fmt::format("{} is '{}' ({}): {}", option, text, reason, suggestion));
}

struct Number {
    double value;
    std::string_view rest; ///< what follows the digits
};

Number parse_leading_number(const std::string& option, const std::string& text, std::string_view suggestion)
{
    const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* const end = text.data() + text.size();
    Number number{};
    const auto [stop, error] = std::from_chars(begin, end, number.value);
    if (error == std::errc::result_out_of_range) refuse(option, text, "too large or too small for a number", suggestion);
    if (error != std::errc()) refuse(option, text, "not a number", suggestion);
    if (!std::isfinite(number.value)) refuse(option, text, "not a finite number", suggestion);
    number.rest = {stop, static_cast<size_t>(end - stop)};
    return number;
}

/// Only once all of `text` is known to be a number: "0x10" is not zero.
void require_positive(const Number& number, const std::string& option, const std::string& text, std::string_view suggestion)
{
    if (number.value <= 0) refuse(option, text, "not greater than zero", suggestion);
}

struct ByteUnit {
    std::string_view name;
    double bytes;
};

constexpr double kibi = 1024;
constexpr ByteUnit byte_units[] = {
    {"", 1},    {"B", 1},
    {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
    {"kbit", 1e3 / 8}, {"Mbit", 1e6 / 8}, {"Gbit", 1e9 / 8}, // as links are sold
    {"KiB", kibi}, {"MiB", kibi * kibi}, {"GiB", kibi * kibi * kibi}, {"TiB", kibi * kibi * kibi * kibi},
};

} // namespace

double parse_positive(const std::string& option, const std::string& text)
{
    constexpr std::string_view suggestion = "give a positive number, such as 1.25, 2e-6 or 1.97e14";
    const Number number = parse_leading_number(option, text, suggestion);
    if (!number.rest.empty()) refuse(option, text, "not a number in decimal", suggestion);
    require_positive(number, option, text, suggestion);
    return number.value;
}

double parse_bytes(const std::string& option, const std::string& text, const std::string& suffix)
{
    const std::string suggestion = fmt::format("give a positive number of bytes{0}, for example 80e9, 80GB{0} or 80GiB{0}", suffix);
    Number number = parse_leading_number(option, text, suggestion);
    if (number.rest.starts_with(' ')) number.rest.remove_prefix(1);
    if (!suffix.empty() && number.rest.ends_with(suffix)) number.rest.remove_suffix(suffix.size());
    for (const ByteUnit& unit : byte_units)
        if (number.rest == unit.name) {
            require_positive(number, option, text, suggestion);
            if (!std::isfinite(number.value * unit.bytes)) refuse(option, text, "too large for a number", suggestion);
            return number.value * unit.bytes;
        }
    refuse(option, text, fmt::format("'{}' is no unit of bytes", number.rest), suggestion);
}

int64_t parse_count(const std::string& option, const std::string& text, int64_t most)
{
    const std::string suggestion = fmt::format("give an integer from 1 to {}", most);
    const char* const end = text.data() + text.size();
    int64_t count = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc::result_out_of_range) refuse(option, text, "too large", suggestion);
    if (error != std::errc() || stop != end) refuse(option, text, "not an integer", suggestion);
    if (count < 1) refuse(option, text, "the least is 1", suggestion);
    if (count > most) refuse(option, text, "too large", suggestion);
    return count;
}

} // namespace shardline
