#pragma once

// The law on paper: what `shardline predict` computes and prints.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardline {

/// A type of matrix elements on paper; unlike ElementType it need not be one that this program can measure.
struct NumberType {
    std::string name = "f32";
    int64_t bytes = 4;
};

/// What is known. Symbols as in model/law.hpp; a rate that is not given leaves out what needs it.
struct PaperInputs {
    std::string hardware; ///< name of the preset, empty without one
    int64_t P = 2;
    NumberType wire;    ///< of Z in a message: the law's s
    NumberType compute; ///< of X, and of Z in memory
    NumberType weights; ///< of Y in memory
    std::optional<double> C_flop_per_s, W_bytes_per_s, M_bytes_per_s, alpha_s;
    std::optional<int64_t> B, D, F;
    std::optional<double> memory_bytes; ///< of one rank
};

enum class Bound { communication, computation, balanced };

struct MemoryNeed {
    double X_bytes; ///< B × ⌈D/P⌉
    double Y_bytes; ///< ⌈D/P⌉ × F
    double Z_bytes; ///< two of B × F: the partial result and the sum
    double total_bytes() const { return X_bytes + Y_bytes + Z_bytes; }
};

/// Nothing where the inputs do not tell.
struct PaperPrediction {
    std::optional<double> D_star;      ///< bandwidth regime; nothing for one rank
    std::optional<double> D_star_ring; ///< with the start-up time of a ring
    std::optional<double> t_comp_s, t_comm_s, t_step_lower_s, t_step_upper_s;
    std::optional<Bound> bound;
    std::optional<double> critical_intensity; ///< FLOP per byte, C/M
    std::optional<double> critical_batch;
    double dot_intensity = 0; ///< FLOP per byte of a long dot product of the compute type
    std::optional<double> matmul_intensity; ///< FLOP per byte of one rank's matmul
    std::optional<MemoryNeed> memory;
};

PaperPrediction predict(const PaperInputs& inputs);

/// The first quantity that is too large, or too small, for a number, as the text calls it; empty where all can be told.
std::string_view beyond_numbers(const PaperPrediction& prediction);

std::string prediction_text(const PaperInputs& inputs, const PaperPrediction& prediction);

/// One JSON object in SI units, null where there is nothing; docs/json.md defines its keys.
std::string prediction_json(const PaperInputs& inputs, const PaperPrediction& prediction);

} // namespace shardline
