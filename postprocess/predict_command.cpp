#include "postprocess/commands.hpp"

#include "model/error.hpp"
#include "model/law.hpp"
#include "postprocess/forecast_text.hpp"
#include "postprocess/launches.hpp"
#include "postprocess/output.hpp"
#include "postprocess/prediction.hpp"
#include "postprocess/preset_folder.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/quantity.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace shardline {
namespace {

using Text = std::optional<std::string>;

/// Options as the user wrote them; nothing where not given, which is not the same as empty.
struct PredictOptions {
    Text flops, bandwidth, memory_bandwidth, alpha, memory;
    Text ranks, wire, compute, weights, hardware;
    Text B, D, F;
    Text json, presets;
    bool list_hardware = false, models = false;
    std::vector<std::string> from; ///< files of runs, instead of figures
    Text bandwidth_factor;
};

constexpr const char* predict_example = R"(Examples:
  shardline predict --flops 1.97e14 --bandwidth 4.5e10 --wire bf16 --ranks 2
      D* = 8755.56, the crossover of two TPU v5e chips that share D
  shardline predict --hardware tpu-v5e --B 1024 --D 16384 --F 4096 --memory 16GB
  shardline predict --flops 2e11 --bandwidth 119MB/s --wire f32 --ranks 4 \
      --alpha 4e-5 --B 1024 --F 1024
  shardline predict --from crossover.h5 --ranks 8 --bandwidth-factor 2
      the same cluster with 8 ranks and links twice as fast)";

const NumberType number_types[] = {{"f32", 4}, {"f64", 8}, {"bf16", 2}, {"int8", 1}};

NumberType parse_type(const std::string& option, const std::string& name, std::span<const NumberType> types)
{
    std::vector<std::string> names;
    for (const NumberType& type : types) {
        if (type.name == name) return type;
        names.push_back(type.name);
    }
    throw InputError(fmt::format("{} is '{}', which is not known: give {}", option, name, fmt::join(names, " or ")));
}

const Hardware* parse_hardware(const Text& name, const Presets& presets)
{
    if (!name) return nullptr;
    if (const Hardware* hardware = hardware_named(presets, *name)) return hardware;
    std::vector<std::string_view> names;
    for (const Hardware& hardware : presets.hardware) names.push_back(hardware.name);
    throw InputError(fmt::format("--hardware is '{}', which is not known: give {}, or the figures themselves with --flops and "
                                 "--bandwidth", *name, fmt::join(names, " or ")));
}

/// The figure given by `text`, else that of the hardware, else nothing.
template <class Parse>
std::optional<double> figure(const Text& text, const std::optional<double>& preset, Parse parse)
{
    return text ? std::optional(parse(*text)) : preset;
}

constexpr int64_t most_exact = int64_t{1} << 53; ///< in a double

std::optional<int64_t> optional_count(const std::string& option, const Text& text)
{
    return text ? std::optional(parse_count(option, *text, most_exact)) : std::nullopt;
}

[[noreturn]] void refuse_missing(const Hardware* hardware, std::string_view figure_name, std::string_view suggestion)
{
    if (hardware)
        throw InputError(fmt::format("{} has no {} (its preset does not say): {}",
                                     hardware->name, figure_name, suggestion));
    throw InputError(fmt::format("the {} is not known (it is a factor of the law): {}, or name a preset with --hardware", figure_name,
                                 suggestion));
}

/// Refuses options that would silently change nothing.
void check_company(const PredictOptions& options)
{
    if (options.B.has_value() != options.F.has_value())
        throw InputError("--B and --F are one without the other (a message holds B x F elements): give both");
    if (options.alpha && !options.B)
        throw InputError("--alpha is given without --B and --F (its share depends on the message of B x F elements): give both");
    if (options.memory && !(options.B && options.D))
        throw InputError("--memory is given without a shape (X, Y and Z are what has to fit): give --B, --D and --F");
}

/// Figures of a preset are those of its own types, so bf16 is what one means by naming one.
PaperInputs inputs_of(const PredictOptions& options, const Presets& presets)
{
    check_company(options);
    const Hardware* hardware = parse_hardware(options.hardware, presets);
    const std::span<const NumberType> types(number_types), wire_types = types.first(3); // no sums of int8

    PaperInputs in;
    in.hardware = hardware ? hardware->name : "";
    in.P = parse_count("--ranks", options.ranks.value_or("2"), std::numeric_limits<int32_t>::max());
    in.wire = parse_type("--wire", options.wire.value_or(hardware ? "bf16" : "f32"), wire_types);
    in.compute = options.compute ? parse_type("--compute", *options.compute, types) : in.wire;
    in.weights = options.weights ? parse_type("--weights", *options.weights, types) : in.compute;

    const auto rate = hardware ? rate_of(*hardware, in.compute.name) : std::nullopt;
    in.C_flop_per_s = figure(options.flops, rate, [](auto& text) { return parse_positive("--flops", text); });
    in.W_bytes_per_s = figure(options.bandwidth, hardware ? hardware->W_bytes_per_s : std::nullopt,
                              [](auto& text) { return parse_bytes("--bandwidth", text, "/s"); });
    in.M_bytes_per_s = figure(options.memory_bandwidth, hardware ? hardware->M_bytes_per_s : std::nullopt,
                              [](auto& text) { return parse_bytes("--memory-bandwidth", text, "/s"); });
    in.alpha_s = figure(options.alpha, std::nullopt, [](auto& text) { return parse_positive("--alpha", text); });
    in.memory_bytes = figure(options.memory, std::nullopt, [](auto& text) { return parse_bytes("--memory", text); });
    in.B = optional_count("--B", options.B);
    in.D = optional_count("--D", options.D);
    in.F = optional_count("--F", options.F);

    if (!in.C_flop_per_s)
        refuse_missing(hardware, fmt::format("rate of {} matmuls", in.compute.name), "give --flops FLOP_PER_S");
    if (!in.W_bytes_per_s && in.P > 1)
        refuse_missing(hardware, "link bandwidth", "give --bandwidth BYTES_PER_S, or --ranks 1 for one rank alone");
    return in;
}

// ---------------------------------------------------------------------------------------------------
// --list-hardware

std::string hardware_text(const std::vector<Hardware>& known)
{
    TextTable table;
    table.add_column("name", TextTable::Align::left);
    table.add_column("hardware", TextTable::Align::left);
    for (const char* heading : {"bf16 FLOP/s", "int8 FLOP/s", "memory B/s", "link B/s each way"})
        table.add_column(heading, TextTable::Align::right);
    const auto cell = [](const std::optional<double>& value) { return value ? fmt::format("{:g}", *value) : "-"; };
    for (const Hardware& h : known)
        table.add_row({printable(h.name), printable(h.description), cell(h.C_bf16_flop_per_s), cell(h.C_int8_flop_per_s),
                       cell(h.M_bytes_per_s), cell(h.W_bytes_per_s)});
    return table.text(0);
}

std::string hardware_json(const std::vector<Hardware>& known)
{
    using Json = nlohmann::ordered_json;
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json list = Json::array();
    for (const Hardware& h : known)
        list.push_back({{"name", h.name},
                        {"description", h.description},
                        {"C_bf16_flop_per_s", number(h.C_bf16_flop_per_s)},
                        {"C_int8_flop_per_s", number(h.C_int8_flop_per_s)},
                        {"C_f32_flop_per_s", number(h.C_f32_flop_per_s)},
                        {"C_f64_flop_per_s", number(h.C_f64_flop_per_s)},
                        {"M_bytes_per_s", number(h.M_bytes_per_s)},
                        {"W_bytes_per_s", number(h.W_bytes_per_s)}});
    constexpr int spaces = 2;
    return Json{{"schema", "shardline-hardware"}, {"schema_version", 1}, {"hardware", list}}.dump(spaces, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---------------------------------------------------------------------------------------------------

int print(const std::string& text, const std::string& json, const Text& json_path)
{
    if (json_path == "-") {
        write_standard_output(json);
        return 0;
    }
    if (json_path) write_file(*json_path, json);
    write_standard_output(text);
    return 0;
}

// ---------------------------------------------------------------------------------------------------
// --from: not the law on paper, but what was measured

/// Options that speak of figures which a run has measured.
void refuse_figures(const PredictOptions& options)
{
    const std::pair<const char*, bool> figures[] = {
        {"--flops", options.flops.has_value()},     {"--hardware", options.hardware.has_value()},
        {"--compute", options.compute.has_value()}, {"--weights", options.weights.has_value()},
        {"--alpha", options.alpha.has_value()},     {"--memory", options.memory.has_value()},
        {"--memory-bandwidth", options.memory_bandwidth.has_value()}};
    for (const auto& [name, given] : figures)
        if (given) throw InputError(fmt::format("{} is given with --from (the run has measured what it stands for): leave one of them out", name));
}

WhatIf what_if_of(const PredictOptions& options)
{
    const std::span<const NumberType> types(number_types);
    WhatIf what_if;
    what_if.B = optional_count("--B", options.B);
    what_if.F = optional_count("--F", options.F);
    if (options.D) what_if.D = {parse_count("--D", *options.D, most_exact)};
    if (options.ranks) what_if.P = static_cast<int32_t>(parse_count("--ranks", *options.ranks, std::numeric_limits<int32_t>::max()));
    if (options.wire) what_if.wire_type = element_type_named(parse_type("--wire", *options.wire, types.first(3)).name);
    if (options.bandwidth) what_if.W_bytes_per_s = parse_bytes("--bandwidth", *options.bandwidth, "/s");
    if (options.bandwidth_factor) what_if.bandwidth_factor = parse_positive("--bandwidth-factor", *options.bandwidth_factor);
    return what_if;
}

int predict_from_runs(const PredictOptions& options)
{
    refuse_figures(options);
    const WhatIf what_if = what_if_of(options);
    const std::vector<RunData> launches = read_launches(options.from);
    for (const RunData& run : launches) check_run(run);
    const std::vector<PointSamples> points = collect_samples(launches);
    const Forecast its = forecast(points, what_if);
    if (its.W_bytes_per_s && !std::isnormal(*its.W_bytes_per_s))
        throw InputError("the link asked for is beyond what numbers hold (no link is so fast or so slow): give another --bandwidth or --bandwidth-factor");
    std::vector<LayerForecast> layers;
    if (options.models)
        layers = layer_forecasts(known_presets(options.presets).models, measured_D_star(points, what_if, its.asked.B));
    const int width = std::clamp(terminal_width(), 60, 100);
    std::string text = forecast_text(its, fmt::format("{}", fmt::join(options.from, ", ")), width);
    if (options.models)
        text += "\n" + models_text(layers, fmt::format("a batch of {} tokens, by the measurements, {} on the wire", its.asked.B, name_of(its.asked.wire_type)), width);
    return print(text, forecast_json(its, options.from, layers, its.asked.B), options.json);
}

// ---------------------------------------------------------------------------------------------------

/// By the law alone, which knows no batch; with a start-up time that of --B.
std::string models_on_paper(const PaperInputs& in, const Presets& presets)
{
    if (!in.W_bytes_per_s) throw InputError("--models is given without a link (D* of a layer depends on it): give --bandwidth BYTES_PER_S");
    const auto D_star_of = [&](const RowParallelLayer& layer, int32_t P) -> std::optional<double> {
        const auto s = static_cast<double>(in.wire.bytes);
        if (!in.alpha_s || !in.B) return D_star(s, P, *in.C_flop_per_s, *in.W_bytes_per_s);
        return D_star_ring(s, P, *in.C_flop_per_s, *in.W_bytes_per_s, *in.alpha_s, static_cast<double>(*in.B), static_cast<double>(layer.F));
    };
    const std::string basis = in.alpha_s && in.B ? fmt::format("a batch of {} tokens, by the law with a ring's start-up", *in.B) : "any batch, by the law";
    return models_text(layer_forecasts(presets.models, D_star_of), fmt::format("{}, {} on the wire", basis, in.wire.name), 80);
}

int run_predict(const PredictOptions& options)
{
    if (!options.from.empty()) return predict_from_runs(options);
    if (options.bandwidth_factor)
        throw InputError("--bandwidth-factor is given without --from (there is no measured link to multiply): give --bandwidth");
    const Presets presets = known_presets(options.presets);
    if (options.list_hardware) return print(hardware_text(presets.hardware), hardware_json(presets.hardware), options.json);
    const PaperInputs inputs = inputs_of(options, presets);
    const PaperPrediction prediction = predict(inputs);
    if (const std::string_view what = beyond_numbers(prediction); !what.empty())
        throw InputError(fmt::format("{} is beyond what numbers hold (no machine has such figures): give C in FLOP/s and W in bytes/s, such as "
                                     "--flops 1.97e14 --bandwidth 4.5e10", what));
    std::string text = prediction_text(inputs, prediction);
    if (options.models) text += "\n" + models_on_paper(inputs, presets);
    return print(text, prediction_json(inputs, prediction), options.json);
}

} // namespace

Command add_predict_command(CLI::App& program)
{
    const auto options = std::make_shared<PredictOptions>();
    CLI::App* app = program.add_subcommand("predict", "The law on paper, or a forecast from runs");
    const auto add = [&](const char* name, Text& value, const char* placeholder, const char* meaning) {
        return app->add_option(name, value, meaning)->option_text(placeholder);
    };
    add("--flops", options->flops, "FLOP_PER_S", "C, the rate of one rank's matmul");
    add("-W,--bandwidth", options->bandwidth, "BYTES_PER_S", "W, what one rank sends one way\nwhile it receives as much");
    add("-P,--ranks", options->ranks, "P", "Ranks that share D (default 2)");
    add("--wire", options->wire, "TYPE", "Type of Z on the wire: f32, f64 or bf16\n(default f32; with --hardware bf16)");
    add("--compute", options->compute, "TYPE", "Type of the matmul: f32, f64, bf16 or int8\n(default: that of the wire)");
    add("--weights", options->weights, "TYPE", "Type of Y in memory\n(default: that of the matmul)");
    add("--hardware", options->hardware, "NAME", "Preset for the figures that are not given");
    app->add_flag("--list-hardware", options->list_hardware, "Print the presets and leave");
    app->add_option("--from", options->from, "Forecast from what these runs measured, not\nfrom the law: with other ranks, another link,\nshape or wire type")
        ->option_text("FILE.h5 ...");
    add("--bandwidth-factor", options->bandwidth_factor, "X", "With --from: a link X times as fast");
    app->add_flag("--models", options->models, "Which row-parallel layers of known models would\nbe compute-bound");
    add("--presets", options->presets, "DIR", "Folder with more presets (*.toml)");
    add("--B", options->B, "N", "Rows of X and Z");
    add("--D", options->D, "N", "Contraction dimension: columns of X, rows of Y");
    add("--F", options->F, "N", "Columns of Y and Z");
    add("--alpha", options->alpha, "SECONDS", "Start-up time of a message: adds the ring's\nstart-up term (with --B and --F)");
    add("--memory", options->memory, "BYTES", "Memory of one rank: do X, Y and Z fit?\n80e9, 80GB = 80*10^9 or 80GiB = 80*2^30");
    add("--memory-bandwidth", options->memory_bandwidth, "BYTES_PER_S", "M, for the critical intensity and batch");
    add("--json", options->json, "[PATH]", "JSON alone to standard output,\nor to PATH beside the text")
        ->expected(0, 1)
        ->default_str("-");
    app->footer(predict_example);
    return {app, [options] { return run_predict(*options); }};
}

} // namespace shardline
