#include "experiment/presets.hpp"

#include "experiment/text_file.hpp"
#include "model/error.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>
#include <toml++/toml.h>

namespace shardline {
namespace {

[[noreturn]] void refuse(const std::string& path, const toml::node& node, std::string_view problem)
{
    throw InputError(fmt::format("{}:{}: {}", path, node.source().begin.line, problem));
}

/// One table of a preset; every key is asked for once, and one that nobody asks for is refused.
class PresetTable {
public:
    PresetTable(const std::string& path, const toml::table& table, std::initializer_list<std::string_view> keys) : path_(path), table_(table)
    {
        for (const auto& [key, value] : table)
            if (std::ranges::find(keys, key.str()) == keys.end())
                refuse(path, value, fmt::format("key '{}' is not known (docs/report.md lists them): correct or remove it", key.str()));
    }

    std::string text(std::string_view key) const
    {
        const toml::node* node = table_.get(key);
        if (!node) return "";
        if (!node->is_string()) refuse(path_, *node, fmt::format("key '{}' is no text: put it in quotes", key));
        return node->as_string()->get();
    }

    std::string name() const
    {
        const std::string name = text("name");
        if (name.empty()) refuse(path_, table_, "a preset has no name: give it one with 'name'");
        return name;
    }

    std::optional<double> rate(std::string_view key) const
    {
        const toml::node* node = table_.get(key);
        if (!node) return std::nullopt;
        const auto value = node->value<double>();
        if (!node->is_number() || !value || !std::isfinite(*value) || *value <= 0)
            refuse(path_, *node, fmt::format("key '{}' is no number above 0: give a rate in SI units, as 1.97e14", key));
        return value;
    }

    int64_t size(std::string_view key) const
    {
        const toml::node* node = table_.get(key);
        if (!node) refuse(path_, table_, fmt::format("a model has no '{}': give both, hidden and ffn", key));
        constexpr int64_t widest = int64_t{1} << 31;
        if (!node->is_integer() || node->as_integer()->get() < 1 || node->as_integer()->get() >= widest)
            refuse(path_, *node, fmt::format("key '{}' is no whole number from 1 to 2^31 - 1: give the number of elements", key));
        return node->as_integer()->get();
    }

private:
    const std::string& path_;
    const toml::table& table_;
};

Hardware hardware_from(const std::string& path, const toml::table& table)
{
    const PresetTable preset(path, table, {"name", "description", "C_bf16_flop_per_s", "C_int8_flop_per_s", "C_f32_flop_per_s",
                                           "C_f64_flop_per_s", "M_bytes_per_s", "W_bytes_per_s"});
    return {preset.name(), preset.text("description"), preset.rate("C_bf16_flop_per_s"), preset.rate("C_int8_flop_per_s"),
            preset.rate("C_f32_flop_per_s"), preset.rate("C_f64_flop_per_s"), preset.rate("M_bytes_per_s"), preset.rate("W_bytes_per_s")};
}

ModelPreset model_from(const std::string& path, const toml::table& table)
{
    const PresetTable preset(path, table, {"name", "hidden", "ffn", "source"});
    return {preset.name(), preset.size("hidden"), preset.size("ffn"), preset.text("source")};
}

std::string lower(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

template <class Preset> void keep(std::vector<Preset>& presets, Preset preset)
{
    const auto same = std::ranges::find(presets, lower(preset.name), [](const Preset& other) { return lower(other.name); });
    if (same == presets.end())
        presets.push_back(std::move(preset));
    else
        *same = std::move(preset);
}

template <class Preset> void keep_all(std::vector<Preset>& presets, const std::string& path, const toml::node& list,
                                      Preset (*read)(const std::string&, const toml::table&))
{
    if (!list.is_array_of_tables()) refuse(path, list, "no list of tables: begin each preset with [[hardware]] or [[model]]");
    for (const toml::node& table : *list.as_array()) keep(presets, read(path, *table.as_table()));
}

void read_file(const std::string& path, Presets& presets)
{
    toml::table file;
    try {
        file = toml::parse(read_text_file(path), path);
    } catch (const toml::parse_error& error) {
        throw InputError(fmt::format("{}:{}: {}: correct it", path, error.source().begin.line, error.description()));
    }
    for (const auto& [key, value] : file) {
        if (key == "hardware")
            keep_all(presets.hardware, path, value, hardware_from);
        else if (key == "model")
            keep_all(presets.models, path, value, model_from);
        else
            refuse(path, value, fmt::format("'{}' is not known: begin each preset with [[hardware]] or [[model]]", key.str()));
    }
}

std::vector<std::string> toml_files_of(const std::string& folder)
{
    std::error_code error;
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".toml") files.push_back(entry->path().string());
    if (error) throw InputError(fmt::format("cannot read the presets in {} ({}): give a folder of TOML files", folder, error.message()));
    std::ranges::sort(files);
    return files;
}

} // namespace

Presets read_presets(const std::vector<std::string>& folders)
{
    Presets presets;
    for (const std::string& folder : folders)
        for (const std::string& file : toml_files_of(folder)) read_file(file, presets);
    return presets;
}

const Hardware* hardware_named(const Presets& presets, std::string_view name)
{
    const auto found = std::ranges::find(presets.hardware, lower(name), [](const Hardware& hardware) { return lower(hardware.name); });
    return found == presets.hardware.end() ? nullptr : &*found;
}

std::vector<RowParallelLayer> row_parallel_layers(const std::vector<ModelPreset>& models)
{
    std::vector<RowParallelLayer> layers;
    for (const ModelPreset& model : models) {
        layers.push_back({model.name, "attention out", model.hidden, model.hidden});
        layers.push_back({model.name, "MLP down", model.ffn, model.hidden});
    }
    return layers;
}

} // namespace shardline
