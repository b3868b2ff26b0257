#include "experiment/experiment.hpp"

#include "experiment/nearest_name.hpp"
#include "experiment/text_file.hpp"
#include "model/error.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <toml++/toml.h>

namespace shardline {
namespace {

/// A value as the user gave it, and where: "FILE:12" or "--set B=abc".
struct Given {
    std::string origin;
    std::string key;
    const toml::node& node;
};

/// Throws "ORIGIN: key 'KEY' PROBLEM: SUGGESTION".
[[noreturn]] void refuse(const std::string& origin, std::string_view key, std::string_view problem,
                         std::string_view suggestion)
{
    throw InputError(fmt::format("{}: key '{}' {}: {}", origin, key, problem, suggestion));
}

/// "the string 'abc'", "the integer 0", "a list": a value as an error message calls it.
std::string described(const toml::node& node)
{
    constexpr size_t longest_shown = 40;
    std::ostringstream text;
    node.visit([&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (toml::is_array<Value>)
            text << (value.empty() ? "an empty list" : "a list");
        else if constexpr (toml::is_table<Value>)
            text << "a table";
        else if constexpr (toml::is_string<Value>) {
            const std::string& string = value.get();
            text << "the string '" << string.substr(0, longest_shown) << (string.size() > longest_shown ? "..." : "") << "'";
        }
        else
            text << "the " << node.type() << " " << value;
    });
    return text.str();
}

// ---------------------------------------------------------------------------------------------------
// Kinds of value: how each is read, checked and written

struct Limits {
    int64_t least;
    int64_t most;
    std::string_view reason; ///< why not more
};

constexpr int64_t most_int32 = std::numeric_limits<int32_t>::max();
constexpr Limits dimension_limits{1, most_int32, "BLAS takes dimensions as 32-bit integers"};
constexpr Limits contraction_limits{1, most_int32, "BLAS takes dimensions as 32-bit integers, and D may fall to one rank"};
constexpr Limits visit_limits{1, most_int32, "the results file counts in 32 bits"};
constexpr int64_t most_repetitions = 1'000'000;
constexpr Limits repetition_limits{1, most_repetitions, "the readings of a visit travel in one MPI message; 'passes' give more"};
constexpr Limits warmup_limits{0, most_repetitions, "the readings of a visit travel in one MPI message"};
constexpr Limits seed_limits{0, std::numeric_limits<int64_t>::max(), "TOML integers have 64 bits with sign"};
constexpr Limits second_limits{0, 1'000'000'000, "no job runs longer"};
constexpr Limits segment_limits{0, most_int32, "MPI counts bytes of a message as a 32-bit integer"};
constexpr Limits message_limits{1, most_int32, "MPI counts bytes of a message as a 32-bit integer"};
constexpr Limits vector_limits{0, int64_t{1} << 40, "no rank has a tebibyte for each of three arrays"};
constexpr Limits tile_limits{0, 64, "smaller tiles cost more in start-up than they hide"};
constexpr Limits sleep_limits{0, 1'000'000, "a second without a look stops any network"};
constexpr Limits sharing_limits{2, most_int32, "MPI counts ranks as 32-bit integers"};
constexpr Limits rank_limits{0, most_int32, "MPI counts ranks as 32-bit integers"};
constexpr Limits visit_number_limits{0, most_int32, "the results file counts in 32 bits"};
constexpr Limits thread_limits{0, most_int32, "BLAS takes its number of threads as a 32-bit integer"};

std::string range_text(const Limits& limits)
{
    return fmt::format("an integer from {} to {}", limits.least, limits.most);
}

int64_t read_integer(const Given& given, const toml::node& node, const Limits& limits, std::string_view suggestion)
{
    const toml::value<int64_t>* integer = node.as_integer();
    if (!integer) refuse(given.origin, given.key, fmt::format("is {}", described(node)), suggestion);
    if (integer->get() < limits.least)
        refuse(given.origin, given.key, fmt::format("is {} (the least is {})", integer->get(), limits.least), suggestion);
    if (integer->get() > limits.most)
        refuse(given.origin, given.key,
               fmt::format("is {} (the most is {}: {})", integer->get(), limits.most, limits.reason), suggestion);
    return integer->get();
}

std::vector<int64_t> read_integers(const Given& given, const Limits& limits, std::string_view suggestion)
{
    const toml::array* list = given.node.as_array();
    if (!list) return {read_integer(given, given.node, limits, suggestion)};
    if (list->empty()) refuse(given.origin, given.key, "is an empty list (nothing would be measured)", suggestion);

    std::vector<int64_t> values;
    for (const toml::node& element : *list) values.push_back(read_integer(given, element, limits, suggestion));

    std::vector<int64_t> sorted = values;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        refuse(given.origin, given.key, fmt::format("lists {} twice (one point would be measured as two)", *twice),
               "list each value once; more samples of a point come from 'repetitions' and 'passes'");
    return values;
}

/// An integer or a finite float.
double read_number(const Given& given)
{
    const std::optional<double> number = given.node.value<double>();
    if (!number || !std::isfinite(*number)) refuse(given.origin, given.key, fmt::format("is {}", described(given.node)), "give a number");
    return *number;
}

/// Shortest text that reads back to the same number, a float in TOML's eyes.
std::string number_text(double value)
{
    const std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string read_string(const Given& given, const toml::node& node, std::string_view suggestion)
{
    const toml::value<std::string>* string = node.as_string();
    if (!string) refuse(given.origin, given.key, fmt::format("is {}", described(node)), suggestion);
    return string->get();
}

std::string read_name(const Given& given, const toml::node& node, std::span<const std::string_view> names)
{
    const std::string suggestion = fmt::format("give \"{}\"", fmt::join(names, "\" or \""));
    std::string name = read_string(given, node, suggestion);
    if (std::ranges::find(names, name) == names.end())
        refuse(given.origin, given.key, fmt::format("is {}, which is not known", described(node)), suggestion);
    return name;
}

std::string read_name(const Given& given, std::span<const std::string_view> names) { return read_name(given, given.node, names); }

/// One of the names, or a list of different ones.
std::vector<std::string> read_names(const Given& given, std::span<const std::string_view> names)
{
    const toml::array* list = given.node.as_array();
    if (!list) return {read_name(given, names)};
    if (list->empty()) refuse(given.origin, given.key, "is an empty list (nothing would be measured)", "name one at least");
    std::vector<std::string> result;
    for (const toml::node& element : *list) {
        result.push_back(read_name(given, element, names));
        if (std::count(result.begin(), result.end(), result.back()) > 1)
            refuse(given.origin, given.key, fmt::format("lists {} twice (it would be measured as two)", described(element)),
                   "list each name once");
    }
    return result;
}

std::string quoted(const std::string& text)
{
    std::ostringstream toml_text;
    toml_text << toml::toml_formatter(toml::value(text), toml::format_flags::none);
    return toml_text.str();
}

std::string list_text(const std::vector<int64_t>& values)
{
    return values.size() == 1 ? fmt::format("{}", values[0]) : fmt::format("[{}]", fmt::join(values, ", "));
}

std::string list_text(const std::vector<std::string>& texts)
{
    std::vector<std::string> all;
    for (const std::string& text : texts) all.push_back(quoted(text));
    return all.size() == 1 ? all[0] : fmt::format("[{}]", fmt::join(all, ", "));
}

// ---------------------------------------------------------------------------------------------------
// The keys

struct Key {
    std::string_view name;
    std::function<void(Experiment&, const Given&)> read;
    std::function<std::string(const Experiment&)> write; ///< value in TOML syntax
};

Key text(std::string_view name, std::string Experiment::*member)
{
    return {name,
            [=](Experiment& e, const Given& given) { e.*member = read_string(given, given.node, "give a string in quotes"); },
            [=](const Experiment& e) { return quoted(e.*member); }};
}

template <class Integer>
Key integer(std::string_view name, Integer Experiment::*member, const Limits& limits)
{
    return {name,
            [=](Experiment& e, const Given& given) {
                e.*member = static_cast<Integer>(read_integer(given, given.node, limits, "give " + range_text(limits)));
            },
            [=](const Experiment& e) { return fmt::format("{}", e.*member); }};
}

Key integers(std::string_view name, std::vector<int64_t> Experiment::*member, const Limits& limits)
{
    return {name,
            [=](Experiment& e, const Given& given) {
                e.*member = read_integers(given, limits, fmt::format("give {}, or a list of them", range_text(limits)));
            },
            [=](const Experiment& e) { return list_text(e.*member); }};
}

Key integers_or_auto(std::string_view name, std::optional<std::vector<int64_t>> Experiment::*member, const Limits& limits)
{
    return {name,
            [=](Experiment& e, const Given& given) {
                if (given.node.value<std::string_view>() == "auto")
                    e.*member = std::nullopt;
                else
                    e.*member = read_integers(
                        given, limits, fmt::format("give \"auto\", {}, or a list of them", range_text(limits)));
            },
            [=](const Experiment& e) { return e.*member ? list_text(*(e.*member)) : "\"auto\""; }};
}

Key element_types(std::string_view name, std::vector<ElementType> Experiment::*member)
{
    static constexpr std::string_view names[] = {name_of(ElementType::f32), name_of(ElementType::f64), name_of(ElementType::bf16)};
    return {name,
            [=](Experiment& e, const Given& given) {
                (e.*member).clear();
                for (const std::string& type : read_names(given, names)) (e.*member).push_back(*element_type_named(type));
            },
            [=](const Experiment& e) {
                std::vector<std::string> names_now;
                for (const ElementType type : e.*member) names_now.emplace_back(name_of(type));
                return list_text(names_now);
            }};
}

/// Not written where all ranks share D, so that files from before it was there pool with later ones.
Key ranks_key()
{
    return {"ranks",
            [](Experiment& e, const Given& given) {
                const auto word = given.node.value<std::string_view>();
                e.rank_choice = word == "all" ? RankChoice::all : word == "sweep" ? RankChoice::sweep : RankChoice::listed;
                e.ranks.clear();
                if (e.rank_choice == RankChoice::listed)
                    e.ranks = read_integers(given, sharing_limits,
                                            fmt::format("give \"all\", \"sweep\", {}, or a list of them", range_text(sharing_limits)));
            },
            [](const Experiment& e) {
                switch (e.rank_choice) {
                case RankChoice::all: return std::string();
                case RankChoice::sweep: return quoted("sweep");
                case RankChoice::listed: return list_text(e.ranks);
                }
                return std::string();
            }};
}

Key placement_key()
{
    static constexpr std::string_view names[] = {"as_started", "spread", "pack"}; // in the order of Placement
    return {"placement",
            [](Experiment& e, const Given& given) {
                e.placement = static_cast<Placement>(std::ranges::find(names, read_name(given, names)) - std::begin(names));
            },
            [](const Experiment& e) { return quoted(std::string(names[static_cast<size_t>(e.placement)])); }};
}

/// Written only where it is not the default, so that files from before the key was there pool with later ones.
Key unless_default(const Key& key)
{
    return {key.name, key.read, [write = key.write, usual = key.write(Experiment{})](const Experiment& e) {
                const std::string value = write(e);
                return value == usual ? std::string() : value;
            }};
}

constexpr std::string_view measure_names[] = {"crossover", "roofline", "links", "allreduce"}; // in the order of Measure

std::string_view name_of(Measure measure) { return measure_names[static_cast<size_t>(measure)]; }

Key measure_key()
{
    return {"measure",
            [](Experiment& e, const Given& given) {
                const auto found = std::ranges::find(measure_names, read_name(given, measure_names));
                e.measure = static_cast<Measure>(found - std::begin(measure_names));
            },
            [](const Experiment& e) { return quoted(std::string(name_of(e.measure))); }};
}

/// Words that another program gives meaning to: one, or a list of different ones.
Key names_of_others(std::string_view name, std::vector<std::string> Experiment::*member)
{
    return {name,
            [=](Experiment& e, const Given& given) {
                constexpr std::string_view suggestion = "give \"all\", \"default\", or names as the report shows them";
                const toml::array* list = given.node.as_array();
                std::vector<std::string> words;
                if (list)
                    for (const toml::node& element : *list) words.push_back(read_string(given, element, suggestion));
                else
                    words.push_back(read_string(given, given.node, suggestion));
                const auto is_word = [](const std::string& word) {
                    return !word.empty() && word.size() < 64 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
                };
                if (words.empty() || !std::ranges::all_of(words, is_word)) refuse(given.origin, given.key, "is no name", suggestion);
                for (const std::string& word : words)
                    if (std::ranges::count(words, word) > 1)
                        refuse(given.origin, given.key, fmt::format("lists '{}' twice (it would be measured as two)", word), "list each name once");
                e.*member = words;
            },
            [=](const Experiment& e) { return list_text(e.*member); }};
}

Key names_among(std::string_view name, std::vector<std::string> Experiment::*member, std::span<const std::string_view> names)
{
    return {name,
            [=](Experiment& e, const Given& given) { e.*member = read_names(given, names); },
            [=](const Experiment& e) { return list_text(e.*member); }};
}

Key fraction(std::string_view name, double Experiment::*member)
{
    return {name,
            [=](Experiment& e, const Given& given) {
                e.*member = read_number(given);
                if (!(e.*member > 0 && e.*member < 1))
                    refuse(given.origin, given.key, fmt::format("is {} (not between 0 and 1)", e.*member),
                           "give a relative half-width, for example 0.02 for 2 %");
            },
            [=](const Experiment& e) { return number_text(e.*member); }};
}

Key sync_key()
{
    static constexpr std::string_view names[] = {"barrier", "window"};
    return {"sync",
            [](Experiment& e, const Given& given) { e.sync = read_name(given, names) == "window" ? Sync::window : Sync::barrier; },
            [](const Experiment& e) { return quoted(e.sync == Sync::window ? "window" : "barrier"); }};
}

/// A key of the [inject] table: written only where something is injected.
Key injected(std::string_view name, std::function<void(Experiment&, const Given&)> read,
             std::function<std::string(const Injection&)> write)
{
    return {name, std::move(read), [write = std::move(write)](const Experiment& e) {
                return e.inject.what.empty() ? std::string() : write(e.inject);
            }};
}

/// Every key an experiment may hold, in the order in which they are written. A key of a table has the
/// dotted name that TOML gives it ("table.key").
const std::vector<Key>& keys()
{
    static const std::vector<Key> table{
        text("title", &Experiment::title),
        unless_default(measure_key()),
        integers("B", &Experiment::B, dimension_limits),
        integers("F", &Experiment::F, dimension_limits),
        integers_or_auto("D", &Experiment::D, contraction_limits),
        element_types("compute_type", &Experiment::compute_type),
        element_types("wire_type", &Experiment::wire_type),
        ranks_key(),
        unless_default(placement_key()),
        element_types("types", &Experiment::types),
        integers("message_bytes", &Experiment::message_bytes, message_limits),
        names_of_others("algorithms", &Experiment::algorithms),
        integer("vector_bytes", &Experiment::vector_bytes, vector_limits),
        names_among("strategy", &Experiment::strategy, strategy_names()),
        integer("segment_bytes", &Experiment::segment_bytes, segment_limits),
        integer("tiles", &Experiment::tiles, tile_limits),
        integer("poll_sleep_us", &Experiment::poll_sleep_us, sleep_limits),
        integer("passes", &Experiment::passes, visit_limits),
        integer("max_passes", &Experiment::max_passes, visit_limits),
        fraction("target_point", &Experiment::target_point),
        fraction("target_D_obs", &Experiment::target_D_obs),
        integer("time_budget_s", &Experiment::time_budget_s, second_limits),
        integer("repetitions", &Experiment::repetitions, repetition_limits),
        integer("warmups", &Experiment::warmups, warmup_limits),
        unless_default(integer("thin_above_ranks", &Experiment::thin_above_ranks, rank_limits)),
        integer("seed", &Experiment::seed, seed_limits),
        integer("blas_threads", &Experiment::blas_threads, thread_limits),
        sync_key(),
        integer("watchdog_s", &Experiment::watchdog_s, second_limits),
        injected("inject.what", [](Experiment& e, const Given& given) { e.inject.what = read_name(given, injection_names()); },
                 [](const Injection& i) { return quoted(i.what); }),
        injected("inject.rank", [](Experiment& e, const Given& given) {
                     e.inject.rank = read_integer(given, given.node, rank_limits, "give " + range_text(rank_limits));
                 },
                 [](const Injection& i) { return fmt::format("{}", i.rank); }),
        injected("inject.amount", [](Experiment& e, const Given& given) { e.inject.amount = read_number(given); },
                 [](const Injection& i) { return number_text(i.amount); }),
        injected("inject.visit", [](Experiment& e, const Given& given) {
                     e.inject.visit = read_integer(given, given.node, visit_number_limits, "give " + range_text(visit_number_limits));
                 },
                 [](const Injection& i) { return fmt::format("{}", i.visit); }),
    };
    return table;
}

/// Keys that mean something for these measures only. Those of every measure are not listed.
struct KeyOfMeasures {
    std::string_view key;
    std::vector<Measure> measures;
};

const std::vector<KeyOfMeasures>& keys_of_measures()
{
    using enum Measure;
    static const std::vector<KeyOfMeasures> table{
        {"B", {crossover, roofline}},
        {"F", {crossover, roofline}},
        {"D", {crossover, roofline}},
        {"compute_type", {crossover}},
        {"wire_type", {crossover, allreduce}},
        {"ranks", {crossover}},
        {"placement", {crossover, allreduce}},
        {"types", {roofline}},
        {"vector_bytes", {roofline}},
        {"message_bytes", {links, allreduce}},
        {"algorithms", {allreduce}},
        {"strategy", {crossover}},
        {"segment_bytes", {crossover}},
        {"tiles", {crossover}},
        {"poll_sleep_us", {crossover}},
        {"target_D_obs", {crossover}},
    };
    return table;
}

bool has_effect(std::string_view key, Measure measure)
{
    const auto found = std::ranges::find(keys_of_measures(), key, &KeyOfMeasures::key);
    return found == keys_of_measures().end() || std::ranges::find(found->measures, measure) != found->measures.end();
}

const Key& key_named(const std::string& name, const std::string& origin)
{
    const auto found = std::ranges::find(keys(), name, &Key::name);
    if (found != keys().end()) return *found;

    std::vector<std::string_view> names;
    for (const Key& key : keys()) names.push_back(key.name);
    const auto nearest = nearest_name(name, names);
    refuse(origin, name, "is unknown",
           nearest ? fmt::format("did you mean '{}'?", *nearest) : fmt::format("the keys are {}", fmt::join(names, ", ")));
}

bool is_table_of_keys(const std::string& name)
{
    return std::ranges::any_of(keys(), [&](const Key& key) { return key.name.starts_with(name + "."); });
}

// ---------------------------------------------------------------------------------------------------
// From text to an experiment

/// Where the value of each key was last given.
using Origins = std::map<std::string, std::string>;

/// toml++ descends into tables by recursion, also when it frees them, and the only limit it sets is on
/// values: a key of 10^5 dots would end the program without a message.
void refuse_deep_nesting(const std::string& toml_text, const std::string& name)
{
    constexpr int64_t most_dots = 10'000;
    int64_t dots = 0;
    std::istringstream lines(toml_text);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#')) dots += std::ranges::count(line, '.');
    if (dots > most_dots)
        throw InputError(fmt::format("{}: holds more than {} dots outside comments (an experiment is a short list of "
                                     "keys): is it an experiment file?", name, most_dots));
}

/// Applies every key of `table`, inner tables included. `origin_of` says where a node stands.
void apply(const toml::table& table, const std::string& prefix,
           const std::function<std::string(const toml::source_region&)>& origin_of, Experiment& experiment, Origins& origins)
{
    for (const auto& [key, node] : table) {
        const std::string name = prefix + std::string(key.str());
        const std::string origin = origin_of(key.source());
        if (node.is_table() && is_table_of_keys(name)) {
            apply(*node.as_table(), name + ".", origin_of, experiment, origins);
            continue;
        }
        key_named(name, origin).read(experiment, {origin, name, node});
        origins[name] = origin;
    }
}

void apply_file(const std::string& toml_text, const std::string& name, Experiment& experiment, Origins& origins)
{
    refuse_deep_nesting(toml_text, name);
    const auto origin_of = [&](const toml::source_region& region) { return fmt::format("{}:{}", name, region.begin.line); };
    try {
        apply(toml::parse(std::string_view(toml_text)), "", origin_of, experiment, origins);
    } catch (const toml::parse_error& error) {
        throw InputError(fmt::format("{}: is not TOML ({}): correct line {}", origin_of(error.source()), error.description(),
                                     error.source().begin.line));
    }
}

/// `value` as TOML takes it: as it is, or in quotes where it is bare words.
toml::table parse_override(const std::string& value, const std::string& origin)
{
    try {
        return toml::parse("value = " + value);
    } catch (const toml::parse_error& error) {
        const bool bare_words = value.find_first_of("\"'\\[]{}=#,") == std::string::npos &&
                                value.find_first_not_of(' ') != std::string::npos;
        if (bare_words) {
            try {
                return toml::parse("value = \"" + value + "\"");
            } catch (const toml::parse_error&) {
                // The first message is the one about what the user wrote.
            }
        }
        throw InputError(fmt::format("{}: the value is not TOML ({}): give an integer, a list like [1,2], or a string",
                                     origin, error.description()));
    }
}

void apply_override(const std::string& override_text, Experiment& experiment, Origins& origins)
{
    const std::string origin = "--set " + override_text;
    const size_t equals = override_text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError(fmt::format("{}: is not of the form key=value: give for example --set B=2048", origin));
    if (override_text.find_first_of("\n\r") != std::string::npos)
        throw InputError(fmt::format("{}: holds a line break (one --set gives one key): repeat --set for each key", origin));

    const size_t name_end = override_text.find_last_not_of(" \t", equals - 1);
    const std::string name = override_text.substr(0, name_end == std::string::npos ? 0 : name_end + 1);
    const Key& key = key_named(name, origin);
    const std::string value = override_text.substr(equals + 1);
    refuse_deep_nesting(value, origin);
    const toml::table parsed = parse_override(value, origin);
    key.read(experiment, {origin, name, *parsed.get("value")});
    origins[name] = origin;
}

/// Refuses two dimensions whose matrix would have more bytes than 64 bits count, at 8 bytes an element.
void check_matrix(const std::vector<int64_t>& rows, const char* row_key, const std::vector<int64_t>& columns,
                  const char* column_key, const Origins& origins)
{
    const int64_t most_elements = std::numeric_limits<int64_t>::max() / 8;
    const int64_t most_rows = std::ranges::max(rows), most_columns = std::ranges::max(columns);
    if (most_rows <= most_elements / most_columns) return;

    // The larger of the two is the one to lower, and it was given: no default comes near.
    const bool rows_larger = most_rows >= most_columns;
    refuse(origins.at(rows_larger ? row_key : column_key), rows_larger ? row_key : column_key,
           fmt::format("is too large ({} = {} and {} = {} make a matrix of more than 2^63 bytes)", row_key, most_rows,
                       column_key, most_columns),
           "give a smaller one");
}

void check_sizes(const Experiment& experiment, const Origins& origins)
{
    check_matrix(experiment.B, "B", experiment.F, "F", origins);
    if (!experiment.D) return;
    check_matrix(experiment.B, "B", *experiment.D, "D", origins);
    check_matrix(*experiment.D, "D", experiment.F, "F", origins);
}

void check_passes(const Experiment& experiment, const Origins& origins)
{
    const auto given = origins.find("max_passes");
    if (given == origins.end() || experiment.max_passes >= experiment.passes) return;
    refuse(given->second, "max_passes",
           fmt::format("is {} (less than the {} passes that every point gets)", experiment.max_passes, experiment.passes),
           "raise it, or lower 'passes'");
}

/// A key that has no effect was meant to have one.
void check_measure(const Experiment& experiment, const Origins& origins)
{
    for (const auto& [key, origin] : origins) {
        if (has_effect(key, experiment.measure)) continue;
        const Measure its = std::ranges::find(keys_of_measures(), key, &KeyOfMeasures::key)->measures.front();
        refuse(origin, key, fmt::format("has no effect with measure = \"{}\"", name_of(experiment.measure)),
               fmt::format("leave it out, or give measure = \"{}\"", name_of(its)));
    }
    if (experiment.measure == Measure::allreduce && experiment.wire_type.size() > 1)
        refuse(origins.at("wire_type"), "wire_type", "lists several types (one allreduce is of one type)", "name one, and start a run for each");
}

/// Keys of a table that has no effect were meant to have one.
void check_injection(const Experiment& experiment, const Origins& origins)
{
    if (!experiment.inject.what.empty()) return;
    for (const auto& [key, origin] : origins)
        if (key.starts_with("inject."))
            refuse(origin, key, "has no effect (nothing says what to inject)",
                   fmt::format("give inject.what = \"{}\"", fmt::join(injection_names(), "\" or \"")));
}

} // namespace

std::span<const std::string_view> strategy_names()
{
    static constexpr std::string_view names[] = {"mpi_allreduce",  "mpi_persistent", "mpi_iallreduce",
                                                 "segmented_ring", "pipelined_test", "pipelined_thread"};
    return names;
}

std::span<const std::string_view> injection_names()
{
    static constexpr std::string_view names[] = {"slow_rank", "late_rank", "drift", "hang",
                                                 "throw", "wrong_value", "nan", "clock_step"};
    return names;
}

Experiment read_experiment(const std::string& path, const std::vector<std::string>& overrides)
{
    return parse_experiment(read_text_file(path), path, overrides);
}

Experiment parse_experiment(const std::string& toml_text, const std::string& name,
                            const std::vector<std::string>& overrides)
{
    Experiment experiment;
    experiment.text = toml_text;
    experiment.overrides = overrides;

    Origins origins;
    apply_file(toml_text, name, experiment, origins);
    for (const std::string& override_text : overrides) apply_override(override_text, experiment, origins);
    check_measure(experiment, origins);
    check_sizes(experiment, origins);
    check_passes(experiment, origins);
    check_injection(experiment, origins);
    // A maximum below the minimum that was left at its default would only be a trap.
    experiment.max_passes = std::max(experiment.max_passes, experiment.passes);
    return experiment;
}

std::string to_toml(const Experiment& experiment)
{
    std::string toml_text;
    for (const Key& key : keys())
        if (const std::string value = key.write(experiment); !value.empty() && has_effect(key.name, experiment.measure))
            toml_text += fmt::format("{} = {}\n", key.name, value);
    return toml_text;
}

} // namespace shardline
