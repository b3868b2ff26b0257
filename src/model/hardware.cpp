#include "model/hardware.hpp"

#include <algorithm>
#include <cctype>

namespace shardline {
namespace {

constexpr auto not_given = std::nullopt;

constexpr Hardware table[] = {
    // name      description       C bf16    C int8     M        W each way
    {"h100",    "NVIDIA H100",    9.89e14,  not_given, 3.35e12, not_given},
    {"tpu-v5e", "Google TPU v5e", 1.97e14,  3.94e14,   8.2e11,  4.5e10},
    {"tpu-v6e", "Google TPU v6e", 9.1e14,   not_given, 1.6e12,  not_given},
};

bool equal_but_for_case(std::string_view a, std::string_view b)
{
    const auto lower = [](unsigned char c) { return std::tolower(c); };
    return std::ranges::equal(a, b, {}, lower, lower);
}

} // namespace

std::span<const Hardware> known_hardware() { return table; }

const Hardware* hardware_named(std::string_view name)
{
    for (const Hardware& hardware : table)
        if (equal_but_for_case(hardware.name, name)) return &hardware;
    return nullptr;
}

std::optional<double> rate_of(const Hardware& hardware, std::string_view type)
{
    if (type == "bf16") return hardware.C_bf16_flop_per_s;
    if (type == "int8") return hardware.C_int8_flop_per_s;
    return std::nullopt;
}

} // namespace shardline
