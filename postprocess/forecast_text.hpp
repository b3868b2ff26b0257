#pragma once

#include "experiment/presets.hpp"
#include "model/what_if.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// D* of a layer on P ranks; nothing where it cannot be told.
using DStarOfLayer = std::function<std::optional<double>(const RowParallelLayer& layer, int32_t P)>;

/// The layer on P ranks against its crossover.
struct LayerForecast {
    RowParallelLayer layer;
    int32_t P = 0;
    std::optional<double> D_star;
};

/// Ranks for which --models says what is bound by what.
inline constexpr int32_t ranks_of_models[] = {2, 4, 8};

std::vector<LayerForecast> layer_forecasts(const std::vector<ModelPreset>& models, const DStarOfLayer& D_star);

/// D* of each layer from what was measured, with a batch of `tokens`: that of the strategy with the lowest.
DStarOfLayer measured_D_star(std::span<const PointSamples> points, const WhatIf& what_if, int64_t tokens);

/// A table: for each layer D / D* on 2, 4 and 8 ranks, and which side that is. `basis` says where D* comes from.
std::string models_text(const std::vector<LayerForecast>& layers, const std::string& basis, int width);

/// `files` is what the forecast was made from, as the user named it.
std::string forecast_text(const Forecast& forecast, const std::string& files, int width);

/// One JSON object in SI units; docs/json.md defines its keys. `tokens` is the batch of the layers.
std::string forecast_json(const Forecast& forecast, const std::vector<std::string>& files, const std::vector<LayerForecast>& layers, int64_t tokens);

} // namespace shardline
