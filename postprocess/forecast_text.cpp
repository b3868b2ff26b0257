#include "postprocess/forecast_text.hpp"

#include "model/text.hpp"
#include "postprocess/json_or_null.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace shardline {
namespace {

std::string heading(const Forecast& its, const std::string& files, size_t width)
{
    const auto case_text = [](const Sweep& sweep, const std::optional<double>& W) {
        return fmt::format("B = {}, F = {}, P = {}, {} on the wire{}", sweep.B, sweep.F, sweep.P, name_of(sweep.wire_type),
                           W ? fmt::format(", W = {}", si_text(*W, "B/s")) : "");
    };
    return wrapped(fmt::format("Forecast for {}", case_text(its.asked, its.W_bytes_per_s)), width, 0) +
           wrapped(printable(fmt::format("from {}: {}", files, case_text(its.measured, its.W_measured_bytes_per_s))), width, 0);
}

std::string strategies_text(const Forecast& its)
{
    const bool other_link = std::ranges::any_of(its.strategies, [](const StrategyForecast& s) { return s.D_star_if_fixed.has_value(); });
    TextTable table;
    table.add_column("", TextTable::Align::left);
    table.add_column("t_comm", TextTable::Align::right);
    table.add_column("D*", TextTable::Align::left);
    if (other_link) table.add_column("D* if fixed", TextTable::Align::right);
    for (const StrategyForecast& strategy : its.strategies) {
        std::vector<std::string> row{printable(strategy.strategy), time_text(strategy.t_comm_s), D_estimate_text(strategy.D_star)};
        if (other_link) row.push_back(strategy.D_star_if_fixed ? D_text(*strategy.D_star_if_fixed) : "-");
        table.add_row(row);
    }
    return table.text(2);
}

std::string steps_text(const Forecast& its)
{
    TextTable table;
    for (const char* heading : {"D", "t_comp", "t_comm", "t_step"}) table.add_column(heading, TextTable::Align::right);
    for (const char* heading : {"side", "best strategy"}) table.add_column(heading, TextTable::Align::left);
    for (size_t i = 0; i < its.strategies.front().steps.size(); ++i) {
        const StrategyForecast& best = *quickest_at(its, i);
        const StepForecast& step = best.steps[i];
        table.add_row({std::to_string(step.D), time_text(step.t_comp_s), time_text(step.t_comm_s), time_text(step.t_step_s),
                       step.t_comp_s > step.t_comm_s ? "comp" : "comm", printable(best.strategy)});
    }
    return table.text(2);
}

// ---------------------------------------------------------------------------------------------------

Json json_of(const Sweep& sweep, const std::optional<double>& W)
{
    return {{"B", sweep.B}, {"F", sweep.F}, {"P", sweep.P}, {"compute", name_of(sweep.compute_type)}, {"wire", name_of(sweep.wire_type)},
            {"W_bytes_per_s", json_or_null(W)}};
}

void set_estimate(Json& object, const char* value_key, const char* interval_key, const std::optional<Estimate>& estimate)
{
    object[value_key] = estimate ? Json(estimate->value) : Json();
    object[interval_key] = estimate ? Json{estimate->low, estimate->high} : Json();
}

Json json_of(const StrategyForecast& strategy)
{
    Json json{{"strategy", strategy.strategy}, {"t_comm_s", strategy.t_comm_s}};
    set_estimate(json, "D_star", "D_star_ci", strategy.D_star);
    json["D_star_if_fixed"] = json_or_null(strategy.D_star_if_fixed);
    json["steps"] = Json::array();
    for (const StepForecast& step : strategy.steps)
        json["steps"].push_back({{"D", step.D}, {"t_comp_s", step.t_comp_s}, {"t_comm_s", step.t_comm_s}, {"hidden", step.hidden}, {"t_step_s", step.t_step_s}});
    return json;
}

Json json_of(const LayerForecast& its, int64_t tokens)
{
    return {{"model", its.layer.model}, {"layer", its.layer.layer}, {"B", tokens}, {"D", its.layer.D}, {"F", its.layer.F}, {"P", its.P},
            {"D_star", json_or_null(its.D_star)},
            {"bound", its.D_star ? Json(static_cast<double>(its.layer.D) > *its.D_star ? "compute" : "communication") : Json()}};
}

} // namespace

std::vector<LayerForecast> layer_forecasts(const std::vector<ModelPreset>& models, const DStarOfLayer& D_star)
{
    std::vector<LayerForecast> layers;
    for (const RowParallelLayer& layer : row_parallel_layers(models))
        for (const int32_t P : ranks_of_models) layers.push_back({layer, P, D_star(layer, P)});
    return layers;
}

DStarOfLayer measured_D_star(std::span<const PointSamples> points, const WhatIf& what_if, int64_t tokens)
{
    // Layers of one width share their D*: it does not depend on D.
    return [points, what_if, tokens, known = std::map<std::pair<int64_t, int32_t>, std::optional<double>>()](const RowParallelLayer& layer,
                                                                                                          int32_t P) mutable {
        const auto [its, is_new] = known.try_emplace({layer.F, P});
        if (!is_new) return its->second;
        WhatIf of_layer = what_if;
        of_layer.B = tokens;
        of_layer.F = layer.F;
        of_layer.P = P;
        of_layer.D = {layer.D};
        std::optional<double>& lowest = its->second;
        for (const StrategyForecast& strategy : forecast(points, of_layer).strategies)
            if (strategy.D_star) lowest = std::min(lowest.value_or(strategy.D_star->value), strategy.D_star->value);
        return lowest;
    };
}

std::string models_text(const std::vector<LayerForecast>& layers, const std::string& basis, int width)
{
    TextTable table;
    for (const char* heading : {"model", "layer"}) table.add_column(heading, TextTable::Align::left);
    for (const char* heading : {"D", "F"}) table.add_column(heading, TextTable::Align::right);
    for (const int32_t P : ranks_of_models) table.add_column(fmt::format("P = {}", P), TextTable::Align::right);
    std::vector<std::string> row;
    for (const LayerForecast& its : layers) {
        if (row.empty()) row = {printable(its.layer.model), its.layer.layer, std::to_string(its.layer.D), std::to_string(its.layer.F)};
        const double times = its.D_star ? static_cast<double>(its.layer.D) / *its.D_star : 0;
        row.push_back(its.D_star ? fmt::format("{:.2f} {}", times, times > 1 ? "comp" : "comm") : "-");
        if (its.P != *std::rbegin(ranks_of_models)) continue;
        table.add_row(row);
        row.clear();
    }
    return wrapped(printable(fmt::format("D over D* of row-parallel layers of known models, {}. Above 1 a step waits for its own arithmetic (comp), below for "
                                         "the network (comm).", basis)), static_cast<size_t>(width), 0) + table.text(2);
}

std::string forecast_text(const Forecast& its, const std::string& files, int width)
{
    const auto columns = static_cast<size_t>(width);
    std::string text = heading(its, files, columns) + "\n";
    if (its.D_law) text += wrapped(fmt::format("D_law {}  s(P-1)C/W, from the calibration", D_estimate_text(its.D_law)), columns, 2);
    text += strategies_text(its);
    if (std::ranges::any_of(its.strategies, [](const StrategyForecast& s) { return s.D_star_if_fixed.has_value(); }))
        text += wrapped("D* if fixed: where copies and sums, all that is beyond the link's own time, do not become quicker with the link.", columns, 2);
    text += "\n" + steps_text(its);
    if (!its.notes.empty()) text += "\n";
    for (const std::string& note : its.notes) text += wrapped(printable(note), columns, 0);
    return text;
}

std::string forecast_json(const Forecast& its, const std::vector<std::string>& files, const std::vector<LayerForecast>& layers, int64_t tokens)
{
    Json json{{"schema", "shardline-forecast"}, {"schema_version", 1}, {"files", files},
              {"measured", json_of(its.measured, its.W_measured_bytes_per_s)}, {"asked", json_of(its.asked, its.W_bytes_per_s)}};
    set_estimate(json, "D_law", "D_law_ci", its.D_law);
    json["strategies"] = Json::array();
    for (const StrategyForecast& strategy : its.strategies) json["strategies"].push_back(json_of(strategy));
    json["layers"] = Json::array();
    for (const LayerForecast& layer : layers) json["layers"].push_back(json_of(layer, tokens));
    json["notes"] = its.notes;
    constexpr int spaces = 2;
    return json.dump(spaces, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace shardline
