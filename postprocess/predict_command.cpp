#include "postprocess/commands.hpp"

#include "model/error.hpp"
#include "model/hardware.hpp"
#include "postprocess/output.hpp"
#include "postprocess/prediction.hpp"
#include "postprocess/quantity.hpp"
#include "postprocess/text_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace shardline {
namespace {

using Text = std::optional<std::string>;

/// Options as the user wrote them; nothing where not given, which is not the same as empty.
struct PredictOptions {
    Text flops, bandwidth, memory_bandwidth, alpha, memory;
    Text ranks, wire, compute, weights, hardware;
    Text B, D, F;
    Text json;
    bool list_hardware = false;
};

constexpr const char* example = R"(Examples:
  shardline predict --flops 1.97e14 --bandwidth 4.5e10 --wire bf16 --ranks 2
      D* = 8755.56, the crossover of two TPU v5e chips that share D
  shardline predict --hardware tpu-v5e --B 1024 --D 16384 --F 4096 --memory 16GB
  shardline predict --flops 2e11 --bandwidth 119MB/s --wire f32 --ranks 4 \
      --alpha 4e-5 --B 1024 --F 1024)";

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

const Hardware* parse_hardware(const Text& name)
{
    if (!name) return nullptr;
    if (const Hardware* hardware = hardware_named(*name)) return hardware;
    std::vector<std::string_view> names;
    for (const Hardware& hardware : known_hardware()) names.push_back(hardware.name);
    throw InputError(fmt::format("--hardware is '{}', which is not known: give {}, or the figures themselves with --flops and "
                                 "--bandwidth", *name, fmt::join(names, " or ")));
}

/// The figure given by `text`, else that of the hardware, else nothing.
template <class Parse>
std::optional<double> figure(const Text& text, const std::optional<double>& preset, Parse parse)
{
    return text ? std::optional(parse(*text)) : preset;
}

std::optional<int64_t> optional_count(const std::string& option, const Text& text)
{
    constexpr int64_t exact_in_double = int64_t{1} << 53;
    return text ? std::optional(parse_count(option, *text, exact_in_double)) : std::nullopt;
}

[[noreturn]] void refuse_missing(const Hardware* hardware, std::string_view figure_name, std::string_view suggestion)
{
    if (hardware)
        throw InputError(fmt::format("{} has no {} (the figures are those of the law's source, which does not say): {}",
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
PaperInputs inputs_of(const PredictOptions& options)
{
    check_company(options);
    const Hardware* hardware = parse_hardware(options.hardware);
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

std::string hardware_text()
{
    TextTable table;
    table.add_column("name", TextTable::Align::left);
    table.add_column("hardware", TextTable::Align::left);
    for (const char* heading : {"bf16 FLOP/s", "int8 FLOP/s", "memory B/s", "link B/s each way"})
        table.add_column(heading, TextTable::Align::right);
    const auto cell = [](const std::optional<double>& value) { return value ? fmt::format("{:g}", *value) : "-"; };
    for (const Hardware& h : known_hardware())
        table.add_row({std::string(h.name), std::string(h.description), cell(h.C_bf16_flop_per_s), cell(h.C_int8_flop_per_s),
                       cell(h.M_bytes_per_s), cell(h.W_bytes_per_s)});
    return table.text(0);
}

std::string hardware_json()
{
    using Json = nlohmann::ordered_json;
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json list = Json::array();
    for (const Hardware& h : known_hardware())
        list.push_back({{"name", h.name},
                        {"description", h.description},
                        {"C_bf16_flop_per_s", number(h.C_bf16_flop_per_s)},
                        {"C_int8_flop_per_s", number(h.C_int8_flop_per_s)},
                        {"M_bytes_per_s", number(h.M_bytes_per_s)},
                        {"W_bytes_per_s", number(h.W_bytes_per_s)}});
    constexpr int spaces = 2;
    return Json{{"schema", "shardline-hardware"}, {"schema_version", 1}, {"hardware", list}}.dump(spaces) + "\n";
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

int run_predict(const PredictOptions& options)
{
    if (options.list_hardware) return print(hardware_text(), hardware_json(), options.json);
    const PaperInputs inputs = inputs_of(options);
    const PaperPrediction prediction = predict(inputs);
    return print(prediction_text(inputs, prediction), prediction_json(inputs, prediction), options.json);
}

} // namespace

Command add_predict_command(CLI::App& program)
{
    const auto options = std::make_shared<PredictOptions>();
    CLI::App* app = program.add_subcommand("predict", "The law on paper: D*, times and bounds");
    const auto add = [&](const char* name, Text& value, const char* placeholder, const char* meaning) {
        return app->add_option(name, value, meaning)->option_text(placeholder);
    };
    add("--flops", options->flops, "FLOP_PER_S", "C, the rate of one rank's matmul");
    add("--bandwidth", options->bandwidth, "BYTES_PER_S", "W, what one rank sends one way\nwhile it receives as much");
    add("--ranks", options->ranks, "P", "Ranks that share D (default 2)");
    add("--wire", options->wire, "TYPE", "Type of Z on the wire: f32, f64 or bf16\n(default f32; with --hardware bf16)");
    add("--compute", options->compute, "TYPE", "Type of the matmul: f32, f64, bf16 or int8\n(default: that of the wire)");
    add("--weights", options->weights, "TYPE", "Type of Y in memory\n(default: that of the matmul)");
    add("--hardware", options->hardware, "NAME", "Preset for the figures that are not given");
    app->add_flag("--list-hardware", options->list_hardware, "Print the presets and leave");
    add("--B", options->B, "N", "Rows of X and Z");
    add("--D", options->D, "N", "Contraction dimension: columns of X, rows of Y");
    add("--F", options->F, "N", "Columns of Y and Z");
    add("--alpha", options->alpha, "SECONDS", "Start-up time of a message: adds the ring's\nstart-up term (with --B and --F)");
    add("--memory", options->memory, "BYTES", "Memory of one rank: do X, Y and Z fit?\n80e9, 80GB = 80*10^9 or 80GiB = 80*2^30");
    add("--memory-bandwidth", options->memory_bandwidth, "BYTES_PER_S", "M, for the critical intensity and batch");
    add("--json", options->json, "[PATH]", "JSON alone to standard output,\nor to PATH beside the text")
        ->expected(0, 1)
        ->default_str("-");
    app->footer(example);
    return {app, [options] { return run_predict(*options); }};
}

} // namespace shardline
