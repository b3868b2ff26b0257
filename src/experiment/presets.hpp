#pragma once

// Hardware and models that a user can name instead of giving their figures: TOML files in folders.

#include "model/hardware.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shardline {

/// A transformer, as far as its row-parallel layers go.
struct ModelPreset {
    std::string name;
    int64_t hidden = 0; ///< width of the residual stream
    int64_t ffn = 0;    ///< width inside the MLP
    std::string source; ///< where the two are published
};

struct Presets {
    std::vector<Hardware> hardware;
    std::vector<ModelPreset> models;
};

/// All *.toml files of the folders, by name of file, with tables [[hardware]] and [[model]]. A name that comes again replaces the one
/// before. Throws InputError naming file, line and key, or a folder that cannot be read.
Presets read_presets(const std::vector<std::string>& folders);

/// The hardware of that name, whatever the case of its letters, or nullptr.
const Hardware* hardware_named(const Presets& presets, std::string_view name);

/// A matmul of a model whose contraction dimension is split over ranks: X[tokens, D] · Y[D, F].
struct RowParallelLayer {
    std::string model, layer;
    int64_t D = 0, F = 0;
};

/// "attention out" and "MLP down" of each model.
std::vector<RowParallelLayer> row_parallel_layers(const std::vector<ModelPreset>& models);

} // namespace shardline
