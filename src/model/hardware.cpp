#include "model/hardware.hpp"

namespace shardline {

std::optional<double> rate_of(const Hardware& hardware, std::string_view type)
{
    if (type == "bf16") return hardware.C_bf16_flop_per_s;
    if (type == "int8") return hardware.C_int8_flop_per_s;
    if (type == "f32") return hardware.C_f32_flop_per_s;
    if (type == "f64") return hardware.C_f64_flop_per_s;
    return std::nullopt;
}

} // namespace shardline
