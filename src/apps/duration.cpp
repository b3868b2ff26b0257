#include "apps/duration.hpp"

#include <CLI/CLI.hpp>

#include <charconv>

namespace shardline {

int64_t duration_s(const std::string& text)
{
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string unit(rest, end);
    const int64_t seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    constexpr int64_t longest_s = 1'000'000'000;
    if (error != std::errc{} || seconds == 0 || number < 1 || number > longest_s / seconds)
        throw CLI::ValidationError("--time-budget " + text, "is not a time: give for example 90s, 20m or 2h");
    return number * seconds;
}

} // namespace shardline
