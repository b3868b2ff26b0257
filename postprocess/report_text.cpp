#include "postprocess/report_text.hpp"

#include "postprocess/explanation.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/run_texts.hpp"
#include "postprocess/scaling_text.hpp"
#include "postprocess/study_text.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace shardline {
namespace {

using Align = TextTable::Align;

constexpr size_t most_listed = 6; ///< hosts, files or values of D named before "and 12 more"

// ---------------------------------------------------------------------------------------------------
// Colour

enum class Colour { bold, red, green, yellow };

class Painter {
public:
    explicit Painter(bool colour) : colour_(colour) {}
    std::string operator()(Colour colour, std::string_view text) const
    {
        if (!colour_) return std::string(text);
        return fmt::format("\x1b[{}m{}\x1b[0m", code(colour), text);
    }

private:
    static int code(Colour colour)
    {
        switch (colour) {
        case Colour::bold: return 1;
        case Colour::red: return 31;
        case Colour::green: return 32;
        case Colour::yellow: return 33;
        }
        return 0;
    }
    bool colour_;
};

Colour colour_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::holds:
    case Verdict::explained: return Colour::green;
    case Verdict::refuted: return Colour::red;
    case Verdict::inconclusive: return Colour::yellow;
    }
    return Colour::bold;
}

struct Layout {
    Painter paint;
    size_t width;

    std::string heading(std::string_view text) const { return fmt::format("\n{}", paint(Colour::bold, wrapped(text, width, 0))); }
    std::string sentence(std::string_view text, size_t at = indent) const { return wrapped(text, width, at); }

    /// "WORD: text", the word in colour, the lines after the first further in.
    std::string labelled(Colour colour, std::string_view label, std::string_view text) const
    {
        std::string lines = wrapped(fmt::format("{}: {}", label, text), width - indent, indent);
        for (size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1))
            lines.insert(at + 1, indent, ' ');
        return lines.replace(indent, label.size(), paint(colour, label));
    }
};

// ---------------------------------------------------------------------------------------------------
// What was run

/// The values over all ranks, each once, in order of rank.
template <class Member>
std::vector<std::string> distinct(const RunData& run, Member value_of)
{
    std::vector<std::string> values;
    std::set<std::string> seen;
    for (const RankInfo& rank : run.ranks) {
        std::string value = printable(value_of(rank));
        if (!value.empty() && seen.insert(value).second) values.push_back(std::move(value));
    }
    return values;
}

std::string hosts_text(const RunData& run)
{
    const auto hosts = distinct(run, [](const RankInfo& rank) { return rank.host; });
    return fmt::format("{} on {} ({})", counted(run.ranks.size(), "rank"), counted(hosts.size(), "host"),
                       shortened_list(hosts, most_listed));
}

std::string blas_text(const RunData& run)
{
    const auto kernels = distinct(run, [](const RankInfo& rank) { return rank.blas_kernel; });
    const auto threads = distinct(run, [](const RankInfo& rank) { return std::to_string(rank.blas_threads); });
    const std::string per_rank = threads.size() == 1 && threads[0] == "0"   ? "threads not known"
                                 : threads.size() == 1 && threads[0] == "1" ? "1 thread a rank"
                                                                            : shortened_list(threads, most_listed) + " threads a rank";
    return kernels.empty() ? per_rank : fmt::format("BLAS kernels {}, {}", shortened_list(kernels, most_listed), per_rank);
}

std::string run_text(std::span<const RunData> launches, const Layout& layout)
{
    if (launches.empty()) return "";
    std::vector<std::string> names;
    for (const RunData& run : launches) names.push_back(file_name(run));
    const RunData& first = launches.front();

    std::string lines = layout.paint(Colour::bold, "shardline report") + "\n";
    if (const std::string title = quoted_title(first); !title.empty()) lines += layout.sentence(title);
    lines += layout.sentence(launches.size() == 1 ? names[0]
                                                  : fmt::format("{} launches pooled: {}", launches.size(),
                                                                shortened_list(names, most_listed)));
    lines += layout.sentence(fmt::format("{}; {}", hosts_text(first), blas_text(first)));
    for (const RunData& run : launches)
        if (const std::string status = status_text(run); !status.empty())
            lines += layout.labelled(Colour::yellow, "status", status);
    return lines;
}

// ---------------------------------------------------------------------------------------------------
// Findings

std::string finding_text(const Finding& finding, const Layout& layout)
{
    const std::string rank = finding.rank < 0 ? "" : fmt::format(", rank {}", finding.rank);
    const std::string label = fmt::format("{} ({}{})",
                                          name_of(finding.severity),
                                          printable(finding.code), rank);
    const Colour colour = finding.severity == Severity::invalid   ? Colour::red
                          : finding.severity == Severity::warning ? Colour::yellow
                                                                  : Colour::bold;
    return layout.labelled(colour, label, printable(finding.text));
}

/// Findings from `least` to `most` severe, the worst first; of one code only the first few, and how many more.
std::string findings_text(const std::vector<Finding>& findings, Severity least, Severity most, const Layout& layout)
{
    constexpr size_t most_of_a_code = 4;
    std::vector<const Finding*> chosen;
    for (const Finding& finding : findings)
        if (finding.severity >= least && finding.severity <= most) chosen.push_back(&finding);
    std::ranges::stable_sort(chosen, std::greater{}, &Finding::severity);

    std::string lines;
    std::map<std::string, size_t> shown;
    for (const Finding* finding : chosen)
        if (++shown[finding->code] <= most_of_a_code) lines += finding_text(*finding, layout);
    for (const auto& [code, count] : shown)
        if (count > most_of_a_code)
            lines += layout.sentence(fmt::format("{} more of the kind \"{}\" (--json lists all)", count - most_of_a_code, printable(code)));
    return lines;
}

// ---------------------------------------------------------------------------------------------------
// Calibration

std::vector<std::string> calibration_row(std::string_view symbol, const std::optional<Estimate>& estimate, double scale,
                                         std::string_view unit, std::string_view meaning)
{
    if (!estimate) return {std::string(symbol), "-", std::string(unit), "not measured", std::string(meaning)};
    return {std::string(symbol), significant(estimate->value * scale, 4), std::string(unit),
            interval_text(*estimate, scale), std::string(meaning)};
}

std::string calibration_text(const Calibration& calibration, const Layout& layout)
{
    TextTable table;
    table.add_column("", Align::left);
    table.add_column("", Align::right);
    for (int i = 0; i < 3; ++i) table.add_column("", Align::left);
    table.add_row(calibration_row("C", calibration.C_flop_per_s, 1e-9, "GFLOP/s", "one rank's matmul, all at work"));
    table.add_row(calibration_row("W", calibration.W_bytes_per_s, 1e-6, "MB/s", "sent while as much comes in"));
    table.add_row(calibration_row("alpha", calibration.alpha_s, 1e6, "µs", "start-up of one message"));

    std::string note = "GFLOP = 10^9 FLOP, MB = 10^6 bytes, [95 % interval].";
    if (calibration.W_segment_bytes > 0) note += fmt::format(" W was reached in segments of {} bytes.", calibration.W_segment_bytes);
    for (const auto& [symbol, estimate] : {std::pair{"C", calibration.C_flop_per_s}, {"W", calibration.W_bytes_per_s}, {"alpha", calibration.alpha_s}})
        if (estimate && !estimate->reaches_95())
            note += fmt::format(" {}: the range of {}, which covers less than 95 %.", symbol, counted(static_cast<size_t>(estimate->n), "sample"));
    return layout.heading("Calibration, by samples that are not part of the sweep") + table.text(indent) + layout.sentence(note);
}

// ---------------------------------------------------------------------------------------------------
// Points

/// How one column of times is written: one unit and one number of decimals for all rows.
struct TimeFormat {
    TimeUnit unit{"s", 1};
    int decimals = 0;

    std::string cell(const std::optional<Estimate>& t) const
    {
        if (!t) return "-";
        return fmt::format("{:.{}f} ± {:.{}f}", t->value * unit.per_second, decimals,
                           (t->high - t->low) / 2 * unit.per_second, decimals);
    }
};

using Time = std::optional<Estimate> PointSummary::*;

/// The largest time of the column reads as 1 to 1000, or as 1000 to 10^6 where the smallest would be lost
/// otherwise; the smallest has three digits, as far as three decimals reach.
TimeFormat time_format(const std::vector<const PointSummary*>& points, Time time)
{
    double least = INFINITY, most = 0;
    for (const PointSummary* point : points)
        if (const auto& t = point->*time; t && t->value > 0) {
            least = std::min(least, t->value);
            most = std::max(most, t->value);
        }
    if (most == 0) return {};
    TimeFormat format{time_unit_for(most), 0};
    if (least * format.unit.per_second < 0.1) format.unit = time_unit_for(most / 1000);
    format.decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(least * format.unit.per_second))), 0, 3);
    return format;
}

std::string points_table(const std::vector<const PointSummary*>& points)
{
    struct Column {
        Time time;
        std::string_view name;
        TimeFormat format;
    };
    Column columns[] = {{&PointSummary::t_comp_s, "t_comp", {}}, {&PointSummary::t_comm_s, "t_comm", {}},
                        {&PointSummary::t_step_s, "t_step", {}}};
    TextTable table;
    table.add_column("D", Align::right);
    for (Column& column : columns) {
        column.format = time_format(points, column.time);
        table.add_column(fmt::format("{} ({})", column.name, column.format.unit.name), Align::right);
    }
    table.add_column("side", Align::left);
    table.add_column("step", Align::left);
    table.add_column("n", Align::right);
    for (const PointSummary* point : points) {
        std::vector<std::string> row{std::to_string(point->point.D)};
        for (const Column& column : columns) row.push_back(column.format.cell(point->*column.time));
        row.emplace_back(side_text(*point));
        row.emplace_back(name_of(step_check(*point)));
        row.push_back(std::to_string(fewest_samples(*point)));
        table.add_row(std::move(row));
    }
    return table.text(indent);
}

/// "t_step lies within its bounds at 7 of 9 points; above them at D = 128, 256."
std::string step_sentence(const std::vector<const PointSummary*>& points)
{
    size_t checked = 0, within = 0;
    std::vector<std::string> below, above;
    for (const PointSummary* point : points) {
        const StepCheck check = step_check(*point);
        checked += check != StepCheck::unknown;
        within += check == StepCheck::within;
        if (check == StepCheck::below) below.push_back(std::to_string(point->point.D));
        if (check == StepCheck::above) above.push_back(std::to_string(point->point.D));
    }
    if (checked == 0) return "";
    std::string sentence = within == checked ? fmt::format("t_step lies within its bounds at all {}", counted(checked, "point"))
                                             : fmt::format("t_step lies within its bounds at {} of {}", within, counted(checked, "point"));
    if (!below.empty()) sentence += "; below them at D = " + shortened_list(below, most_listed);
    if (!above.empty()) sentence += "; above them at D = " + shortened_list(above, most_listed);
    return sentence + ".";
}

/// Where samples are too few for the interval that the legend promises.
std::string confidence_sentence(const std::vector<const PointSummary*>& points)
{
    std::vector<std::string> short_of_95;
    for (const PointSummary* point : points) {
        const auto falls_short = [](const std::optional<Estimate>& t) { return t && !t->reaches_95(); };
        if (falls_short(point->t_comp_s) || falls_short(point->t_comm_s) || falls_short(point->t_step_s))
            short_of_95.push_back(std::to_string(point->point.D));
    }
    if (short_of_95.empty()) return "";
    return fmt::format("Fewer than {} repetitions at D = {}: there ± is half of their range, which covers less than 95 %.",
                       min_samples_for_95, shortened_list(short_of_95, most_listed));
}

constexpr std::string_view points_legend =
    "Times are medians over repetitions, each that of the slowest rank, with half of the 95 % interval. side: which of t_comp and "
    "t_comm is longer; ?: their intervals do not tell. step: where t_step lies against its bounds, max(t_comp, t_comm) and "
    "t_comp + t_comm. n: repetitions used.";

// ---------------------------------------------------------------------------------------------------
// Crossovers

std::vector<std::string> crossover_row(std::string_view symbol, const std::optional<Estimate>& D, std::string_view meaning)
{
    if (!D) return {std::string(symbol), "-", "", std::string(meaning)};
    return {std::string(symbol), D_text(D->value), fmt::format("[{}, {}]", D_text(D->low), D_text(D->high)), std::string(meaning)};
}

/// "D_obs/D_law = 1.433 is the product of", then each factor with what it means, the weightiest first.
std::string factors_text(const Crossover& crossover, const Layout& layout)
{
    if (!crossover.ratio || crossover.factors.empty()) return "";
    std::vector<Factor> factors = crossover.factors;
    std::ranges::stable_sort(factors, std::greater{}, [](const Factor& factor) { return std::abs(std::log(factor.value)); });

    std::string lines = layout.sentence(fmt::format("D_obs/D_law = {:.3f} is the product of", *crossover.ratio));
    for (const Factor& factor : factors) {
        const std::string number = fmt::format("{:.3f}", factor.value);
        const size_t column = 2 * indent + number.size() + 2;
        std::string text = wrapped(printable(factor.meaning), layout.width, column);
        lines += text.replace(2 * indent, number.size(), number);
    }
    return lines;
}

/// A single crossover's verdict is that of the whole and stands at the end, once.
enum class VerdictAt { crossover, end };

std::string crossover_text(const Crossover& crossover, VerdictAt verdict_at, const Layout& layout)
{
    TextTable table;
    table.add_column("", Align::left);
    table.add_column("", Align::right);
    table.add_column("", Align::left);
    table.add_column("", Align::left);
    table.add_row(crossover_row("D_law", crossover.D_law, "s(P-1)C/W, from the calibration"));
    table.add_row(crossover_row("D_model", crossover.D_model, "where the fitted curves cross"));
    table.add_row(crossover_row("D_obs", crossover.D_obs, "where the measured times cross"));

    std::string lines = fmt::format("\n{}", table.text(indent));
    lines += factors_text(crossover, layout);
    if (verdict_at == VerdictAt::end) return lines;
    return lines + layout.labelled(colour_of(crossover.verdict), name_of(crossover.verdict), printable(crossover.reason));
}

std::string sweep_report(const Sweep& sweep, const Analysis& analysis, const Layout& layout)
{
    const std::vector<const PointSummary*> points = points_of(analysis, sweep);
    const VerdictAt verdict_at = analysis.crossovers.size() == 1 ? VerdictAt::end : VerdictAt::crossover;
    std::string lines = layout.heading(printable(sweep_text(sweep)));
    if (!points.empty()) lines += points_table(points);
    for (const std::string& sentence : {step_sentence(points), confidence_sentence(points)})
        if (!sentence.empty()) lines += layout.sentence(sentence);
    for (const Crossover& crossover : analysis.crossovers)
        if (sweep_of(crossover) == sweep) lines += crossover_text(crossover, verdict_at, layout);
    return lines;
}

// ---------------------------------------------------------------------------------------------------
// Overlap

/// Adding zero makes a rounded -0 a 0.
std::string percent_cell(double percent) { return fmt::format("{:.0f} %", std::round(percent) + 0.0); }

std::string ratio_cell(const Estimate& ratio) { return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio.value, ratio.low, ratio.high); }

std::string overlap_table(const std::vector<const OverlapPoint*>& points)
{
    TextTable table;
    table.add_column("D", Align::right);
    table.add_column("strategy", Align::left);
    table.add_column("t_step/max", Align::right);
    table.add_column("OSU", Align::right);
    table.add_column("IMB-NBC", Align::right);
    table.add_column("matmul", Align::right);
    table.add_column("floor", Align::right);
    for (const OverlapPoint* point : points) {
        const double longer_s = std::max(point->t_comp_s.value, point->t_comm_s.value);
        table.add_row({std::to_string(point->point.D), printable(point->point.strategy), ratio_cell(point->step_over_max),
                       percent_cell(point->overlap.osu_percent), percent_cell(point->overlap.imb_nbc_percent),
                       fmt::format("{:.2f}", point->t_comp_in_step_s.value / point->t_comp_s.value),
                       point->floor_s ? fmt::format("{:.2f}", *point->floor_s / longer_s) : "-"});
    }
    return table.text(indent);
}

/// Names the steps that take longer than their parts one after the other.
std::string negative_overlap_sentence(const std::vector<const OverlapPoint*>& points)
{
    std::vector<std::string> negative;
    for (const OverlapPoint* point : points)
        if (point->step_over_sum.low > 1) negative.push_back(fmt::format("{} at D = {}", printable(point->point.strategy), point->point.D));
    if (negative.empty()) return "";
    return fmt::format("Overlap is negative, the step longer than its parts one after the other, for {}.", shortened_list(negative, most_listed));
}

constexpr std::string_view overlap_legend =
    "t_step/max: of the longer of the matmul alone and the strategy's own exchange alone; 1 is the lower bound of a step. OSU, IMB-NBC: overlap as those "
    "benchmarks define it, not clamped; IMB-NBC does not count what is taken from the matmul. matmul: its time within the step against alone. "
    "floor: max(t_comp + CPU time of the exchange, t_comm) as t_step/max, where one core does both.";

std::string overlap_text(const Analysis& analysis, const Layout& layout)
{
    if (analysis.overlap.empty()) return "";
    std::map<Sweep, std::vector<const OverlapPoint*>> groups;
    for (const OverlapPoint& point : analysis.overlap) groups[shape_of(sweep_of(point.point))].push_back(&point);
    std::string lines;
    for (const auto& [sweep, points] : groups) {
        lines += layout.heading(fmt::format("Overlap, B = {}, F = {}, P = {}: {} matmul, {} on the wire", sweep.B, sweep.F, sweep.P,
                                            name_of(sweep.compute_type), name_of(sweep.wire_type)));
        lines += overlap_table(points);
        if (const std::string sentence = negative_overlap_sentence(points); !sentence.empty()) lines += layout.sentence(sentence);
    }
    lines += fmt::format("\n{}", layout.sentence(overlap_legend));
    for (const std::string& sentence : advice_sentences(analysis.advice)) lines += layout.labelled(Colour::bold, "advice", printable(sentence));
    return lines;
}

/// A single claim's verdict is that of the whole and stands at the end, once.
std::string claims_text(const Analysis& analysis, const Layout& layout)
{
    const std::vector<Claim>& claims = analysis.claims;
    if (claims.empty() || (claims.size() == 1 && analysis.crossovers.empty())) return "";
    std::string lines = layout.heading("Claims");
    for (const Claim& claim : claims) lines += layout.labelled(colour_of(claim.verdict), name_of(claim.verdict), printable(claim.reason));
    return lines;
}

} // namespace

std::string report_text(const Analysis& analysis, std::span<const RunData> launches, const TextStyle& style)
{
    const Layout layout{Painter(style.colour), static_cast<size_t>(std::max(60, style.width))};

    std::string text = run_text(launches, layout);
    text += findings_text(analysis.findings, Severity::warning, Severity::invalid, layout);
    const std::vector<Section> studies = study_sections(analysis, layout.width);
    if (studies.empty()) text += calibration_text(analysis.calibration, layout);
    for (const Section& section : studies) text += layout.heading(section.heading) + section.body;
    for (const Section& section : scaling_sections(analysis, layout.width)) text += layout.heading(section.heading) + section.body;
    text += claims_text(analysis, layout);
    for (const Sweep& sweep : sweeps_of(analysis)) text += sweep_report(sweep, analysis, layout);
    if (!analysis.points.empty()) text += fmt::format("\n{}", layout.sentence(points_legend));
    text += overlap_text(analysis, layout);
    text += findings_text(analysis.findings, Severity::note, Severity::note, layout);
    const std::string label = fmt::format("Verdict: {}", name_of(analysis.verdict));
    return text + fmt::format("\n{}", layout.labelled(colour_of(analysis.verdict), label, printable(analysis.reason)));
}

} // namespace shardline
