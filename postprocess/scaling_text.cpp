#include "postprocess/scaling_text.hpp"

#include "model/text.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace shardline {
namespace {

using Align = TextTable::Align;

/// "1.04", and "-" without one.
std::string value_cell(const std::optional<Estimate>& estimate) { return estimate ? fmt::format("{:.3f}", estimate->value) : "-"; }
std::string scaled_cell(const std::optional<Estimate>& estimate, double scale) { return estimate ? significant(estimate->value * scale, 4) : "-"; }
std::string D_cell(const std::optional<Estimate>& D) { return D ? D_text(D->value) : "-"; }
std::string D_interval_cell(const std::optional<Estimate>& D) { return D ? fmt::format("[{}, {}]", D_text(D->low), D_text(D->high)) : ""; }

std::string factor_cell(const Crossover& crossover, std::string_view name)
{
    const auto its = std::ranges::find(crossover.factors, name, &Factor::name);
    return its == crossover.factors.end() ? "-" : fmt::format("{:.3f}", its->value);
}

// ---------------------------------------------------------------------------------------------------
// Tables

std::string size_table(const Scaling& scaling, const Analysis& analysis)
{
    TextTable table;
    for (const char* heading : {name_of(scaling.over).data(), "V", "D_law", "D_model", "D_obs"}) table.add_column(heading, Align::right);
    table.add_column("", Align::left);
    for (const char* heading : {"ratio", "alpha", "matmul"}) table.add_column(heading, Align::right);
    for (const ScalingRow& row : scaling.rows) {
        const Crossover& its = analysis.crossovers[row.crossover];
        table.add_row({std::to_string(scaling.over == ScalingOver::B ? its.B : its.F), fmt::format("{:.0f}", sweep_of(its).V()), D_cell(its.D_law), D_cell(its.D_model),
                       D_cell(its.D_obs), D_interval_cell(its.D_obs), its.ratio ? fmt::format("{:.3f}", *its.ratio) : "-", factor_cell(its, "start_up"),
                       factor_cell(its, "matmul_efficiency")});
    }
    return table.text(indent);
}

std::string ranks_table(const Scaling& scaling, const Analysis& analysis, bool powers_of_two)
{
    TextTable table;
    for (const char* heading : {"P", "C", "W", "D_law", "D_model", "D_obs"}) table.add_column(heading, Align::right);
    table.add_column("", Align::left);
    for (const char* heading : {"by law", "by model"}) table.add_column(heading, Align::right);
    bool some = false;
    for (const ScalingRow& row : scaling.rows) {
        const Crossover& its = analysis.crossovers[row.crossover];
        if (std::has_single_bit(static_cast<uint32_t>(its.P)) != powers_of_two) continue;
        some = true;
        table.add_row({std::to_string(its.P), scaled_cell(row.C_flop_per_s, 1e-9), scaled_cell(row.W_bytes_per_s, 1e-6), D_cell(its.D_law), D_cell(its.D_model),
                       D_cell(its.D_obs), D_interval_cell(its.D_obs), value_cell(row.observed), value_cell(row.unexplained)});
    }
    return some ? table.text(indent) : "";
}

std::string types_table(const Scaling& scaling, const Analysis& analysis)
{
    TextTable table;
    for (const char* heading : {"comp", "wire"}) table.add_column(heading, Align::left);
    for (const char* heading : {"D_law", "D_model", "D_obs"}) table.add_column(heading, Align::right);
    table.add_column("", Align::left);
    for (const char* heading : {"ratio", "of s·C", "times"}) table.add_column(heading, Align::right);
    const Crossover& first = analysis.crossovers[scaling.rows.front().crossover];
    for (const ScalingRow& row : scaling.rows) {
        const Crossover& its = analysis.crossovers[row.crossover];
        std::vector<std::string> cells{std::string(name_of(its.compute_type)), std::string(name_of(its.wire_type)), D_cell(its.D_law),
                                       D_cell(its.D_model), D_cell(its.D_obs), D_interval_cell(its.D_obs)};
        if (row.observed && its.D_obs && first.D_obs) {
            const double ratio = its.D_obs->value / first.D_obs->value;
            cells.insert(cells.end(), {fmt::format("{:.3f}", ratio), fmt::format("{:.3f}", ratio / row.observed->value), value_cell(row.observed)});
        } else {
            cells.insert(cells.end(), {"", "", ""});
        }
        table.add_row(std::move(cells));
    }
    return table.text(indent);
}

// ---------------------------------------------------------------------------------------------------
// Sentences

/// "As measured D* grows as B^-0.210 [-0.230, -0.190], by the fitted costs as B^-0.205 [...], by the law as B^0. Of the exponent ..."
std::string exponent_sentence(const Scaling& scaling)
{
    if (!scaling.exponent) return "";
    const bool ranks = scaling.over == ScalingOver::ranks;
    const std::string x = ranks ? "(P-1)" : std::string(name_of(scaling.over));
    std::string text = fmt::format("{} {}^{}", ranks ? "D_obs/D_law grows as" : "D_obs grows as", x, decimal_interval_text(*scaling.exponent));
    if (scaling.model_exponent) text += fmt::format(", {} as {}^{}", ranks ? "D_model/D_law" : "D_model", x, decimal_interval_text(*scaling.model_exponent));
    text += fmt::format("; by the law as {}^0.", x);
    std::string separator = " Of the exponent of D_obs ";
    for (const ExponentShare& share : scaling.shares) {
        text += fmt::format("{}{} is {}", separator, decimal_text(share.exponent), printable(share.factor));
        separator = ", ";
    }
    return scaling.shares.empty() ? text : text + ".";
}

std::string start_up_sentence(const Scaling& scaling)
{
    std::string text;
    if (scaling.start_up)
        text = fmt::format("The fitted cost of the allreduce is {} + V / ({} MB/s)", scaling.start_up->a_s > 0 ? time_text(scaling.start_up->a_s) : "0",
                           significant(1e-6 / scaling.start_up->b_s_per_byte, 4));
    if (scaling.start_up && scaling.start_up->a_s > 0)
        text += fmt::format(": by it D* comes within the tolerance of what it is for large messages from B·F = {} on",
                            significant(scaling.start_up->least_elements, 3));
    if (scaling.least_elements_observed)
        text += fmt::format("{} D* stays within the tolerance of that at the largest B·F from {:.0f} on", text.empty() ? "As measured" : "; as measured", *scaling.least_elements_observed);
    return text.empty() ? text : text + ".";
}

constexpr std::string_view size_legend =
    "V in bytes. ratio: D_obs/D_law; alpha and matmul: its factors start_up (the share of start-up in the allreduce's time) and matmul_efficiency (the matmul at "
    "D* by C).";
constexpr std::string_view ranks_legend = "C (GFLOP/s), W (MB/s), D_law = s(P-1)C/W and D_model are each of so many ranks. by law, by model: D_obs by D_law and by D_model.";
constexpr std::string_view types_legend = "comp, wire: types of matmul and message. ratio: D_obs by that of the first row; of s·C: the ratio that the law gives; times: the one by the other.";

std::string_view legend_of(ScalingOver over)
{
    switch (over) {
    case ScalingOver::B:
    case ScalingOver::F: return size_legend;
    case ScalingOver::ranks: return ranks_legend;
    case ScalingOver::types: return types_legend;
    }
    return "";
}

Section section_of(const Scaling& scaling, const Analysis& analysis, size_t width)
{
    const Crossover& first = analysis.crossovers[scaling.rows.front().crossover];
    const std::string types = fmt::format("{} matmul, {} on the wire, ", name_of(first.compute_type), name_of(first.wire_type));
    std::string heading, body;
    switch (scaling.over) {
    case ScalingOver::B:
    case ScalingOver::F:
        heading = scaling.over == ScalingOver::B ? fmt::format("D* over B, F = {}, P = {}: {}", first.F, first.P, types)
                                                 : fmt::format("D* over F, B = {}, P = {}: {}", first.B, first.P, types);
        body = size_table(scaling, analysis);
        break;
    case ScalingOver::ranks: {
        heading = fmt::format("D* over ranks, B = {}, F = {}: {}", first.B, first.F, types);
        const std::string others = ranks_table(scaling, analysis, false);
        body = ranks_table(scaling, analysis, true);
        if (!others.empty()) body += wrapped("Not powers of two:", width, indent) + others;
        break;
    }
    case ScalingOver::types:
        heading = fmt::format("D* over types, B = {}, F = {}, P = {}: ", first.B, first.F, first.P);
        body = types_table(scaling, analysis);
        break;
    }
    for (const std::string& sentence : {exponent_sentence(scaling), start_up_sentence(scaling)})
        if (!sentence.empty()) body += wrapped(sentence, width, indent);
    return {heading + printable(first.strategy), body};
}

} // namespace

std::vector<Section> scaling_sections(const Analysis& analysis, size_t width)
{
    std::vector<Section> sections;
    std::set<std::string_view> explained; // each legend once
    for (const Scaling& scaling : analysis.scalings) {
        sections.push_back(section_of(scaling, analysis, width));
        const std::string_view legend = legend_of(scaling.over);
        if (explained.insert(legend).second) sections.back().body += wrapped(legend, width, indent);
    }
    return sections;
}

} // namespace shardline
