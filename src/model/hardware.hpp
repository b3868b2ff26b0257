#pragma once

// Hardware for predictions on paper. presets/hardware.toml holds the figures, with their source.

#include <optional>
#include <string>
#include <string_view>

namespace shardline {

/// Figures of one chip or rank; one that the source does not give is missing.
struct Hardware {
    std::string name; ///< as a user gives it
    std::string description;
    std::optional<double> C_bf16_flop_per_s, C_int8_flop_per_s, C_f32_flop_per_s, C_f64_flop_per_s;
    std::optional<double> M_bytes_per_s; ///< memory (HBM) bandwidth
    std::optional<double> W_bytes_per_s; ///< link bandwidth each way
};

/// FLOP/s of matmuls of that type ("bf16", "int8", "f32", "f64"), or nothing where the source gives none.
std::optional<double> rate_of(const Hardware& hardware, std::string_view type);

} // namespace shardline
