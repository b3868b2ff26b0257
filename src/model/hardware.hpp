#pragma once

// Hardware whose figures the law's source gives ("How to Scale Your Model", chapter "All About Rooflines"),
// for predictions on paper. A figure the source does not give is missing here.

#include <optional>
#include <span>
#include <string_view>

namespace shardline {

struct Hardware {
    std::string_view name; ///< as a user gives it
    std::string_view description;
    std::optional<double> C_bf16_flop_per_s;
    std::optional<double> C_int8_flop_per_s;
    std::optional<double> M_bytes_per_s; ///< memory (HBM) bandwidth
    std::optional<double> W_bytes_per_s; ///< link bandwidth each way
};

std::span<const Hardware> known_hardware();

/// The hardware of that name, whatever the case of its letters, or nullptr.
const Hardware* hardware_named(std::string_view name);

/// FLOP/s of matmuls of that type ("bf16", "int8", "f32", ...), or nothing where the source gives none.
std::optional<double> rate_of(const Hardware& hardware, std::string_view type);

} // namespace shardline
