#include "postprocess/report_html.hpp"

#include "postprocess/explanation.hpp"
#include "postprocess/headline.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/run_texts.hpp"
#include "postprocess/scaling_text.hpp"
#include "postprocess/study_text.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>

namespace shardline {
namespace {

constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --ink: #1a1a1a; --faint: #5c5c5c; --paper: #ffffff; --line: #c8c8c8; --shade: #f4f4f4;
  --good: #00694d; --bad: #a34700; --open: #7a5200; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --faint: #a8a8a8; --paper: #17191c; --line: #484c52; --shade: #212429; --good: #4fc9a4; --bad: #ff9a57; --open: #f0c35e; } }
@media print {
  :root { color-scheme: light; --ink: #000; --faint: #444; --paper: #fff; --line: #999; --shade: #fff; --good: #00553e; --bad: #8a3c00; --open: #5e3f00; }
  body { max-width: none !important; padding: 0 !important; font-size: 10pt !important; }
  h2, h3 { break-after: avoid; } .wide { overflow: visible !important; } pre { font-size: 7pt !important; white-space: pre-wrap !important; overflow-wrap: anywhere; }
  .figures { display: block !important; } figure { width: 78%; margin: 0 auto 1.2em !important; } table { font-size: 8pt !important; } }
@page { margin: 15mm; }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
h1, h2, h3, p, li, figcaption, td { overflow-wrap: break-word; }
p, li { max-width: 48rem; } .faint, figcaption { color: var(--faint); }
.verdict { border-left: .4rem solid; padding: .4rem 0 .4rem 1rem; font-size: 1.15rem; }
.verdict strong { text-transform: uppercase; letter-spacing: .04em; display: block; font-size: .85rem; }
.good { border-color: var(--good); } .good strong { color: var(--good); } .bad { border-color: var(--bad); } .bad strong { color: var(--bad); }
.open { border-color: var(--open); } .open strong { color: var(--open); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.5rem; }
figure { margin: 0; max-width: 46rem; break-inside: avoid; } figure svg { display: block; width: 100%; height: auto; color: var(--ink); }
figcaption { font-size: .875rem; }
figure svg :is([fill="black"], [fill="rgb(  0,   0,   0)"]) { fill: var(--ink); } figure svg :is([color="black"], [color="rgb(  0,   0,   0)"]) { color: var(--ink); }
figure svg :is([stroke="black"], [stroke="rgb(  0,   0,   0)"]) { stroke: var(--ink); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; white-space: nowrap; } td.number, th.number { text-align: right; white-space: nowrap; } thead { display: table-header-group; } tr { break-inside: avoid; }
pre { background: var(--shade); border: 1px solid var(--line); padding: .7rem; overflow-x: auto; font-size: .8125rem; }
)css";

// ---------------------------------------------------------------------------------------------------
// Pieces of a page. Whatever comes from a file passes through html_text().

std::string element(std::string_view tag, std::string_view text) { return fmt::format("<{0}>{1}</{0}>\n", tag, html_text(text)); }
std::string paragraph(std::string_view text) { return element("p", text); }
std::string faint(std::string_view text) { return fmt::format("<p class=\"faint\">{}</p>\n", html_text(text)); }

std::string list(const std::vector<std::string>& items)
{
    std::string html = "<ul>\n";
    for (const std::string& item : items) html += element("li", item);
    return html + "</ul>\n";
}

/// Lines as they are, each safe.
std::string preformatted(std::string_view text)
{
    std::string html = "<pre>";
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        html += html_text(text.substr(0, end)) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return html + "</pre>\n";
}

class HtmlTable {
public:
    enum class Kind { words, number };
    void add_column(std::string heading, Kind kind = Kind::number) { columns_.push_back({std::move(heading), kind}); }
    void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    std::string html() const
    {
        std::string head, body;
        for (const Column& column : columns_) head += cell("th", column, column.heading);
        for (const auto& row : rows_) {
            body += "<tr>";
            for (size_t i = 0; i < columns_.size() && i < row.size(); ++i) body += cell("td", columns_[i], row[i]);
            body += "</tr>\n";
        }
        return fmt::format("<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n", head, body);
    }

private:
    struct Column {
        std::string heading;
        Kind kind;
    };
    static std::string cell(std::string_view tag, const Column& column, std::string_view text)
    {
        return fmt::format("<{0}{1}>{2}</{0}>", tag, column.kind == Kind::number ? " class=\"number\"" : "", html_text(text));
    }
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

constexpr auto words = HtmlTable::Kind::words;

/// "9.360 [9.210, 9.510]", in a unit that has so many in the SI unit; "-" without one.
std::string interval_cell(const std::optional<Estimate>& estimate, double per_unit = 1)
{
    return estimate ? estimate_text(*estimate, per_unit) : "-";
}

std::string class_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::holds:
    case Verdict::explained: return "good";
    case Verdict::refuted: return "bad";
    case Verdict::inconclusive: return "open";
    }
    return "";
}

// ---------------------------------------------------------------------------------------------------
// From top to bottom

std::string title_of(std::span<const RunData> launches)
{
    std::string title = launches.empty() ? "" : quoted_title(launches.front());
    if (title.size() >= 2 && title.front() == '"' && title.back() == '"') title = title.substr(1, title.size() - 2);
    return title.empty() ? "shardline report" : title;
}

std::string what_was_run(std::span<const RunData> launches)
{
    std::vector<std::string> names;
    for (const RunData& run : launches) names.push_back(file_name(run));
    constexpr size_t most_named = 6;
    const std::string files = launches.size() == 1 ? names.front() : fmt::format("{} launches pooled: {}", launches.size(), shortened_list(names, most_named));
    std::string html = faint(fmt::format("{} · {}", files, counted(launches.front().ranks.size(), "rank")));
    for (const RunData& run : launches)
        if (const std::string status = status_text(run); !status.empty()) html += paragraph(status);
    return html;
}

std::string verdict_section(const Analysis& analysis)
{
    std::string html = fmt::format("<p class=\"verdict {}\"><strong>{}</strong>{}</p>\n", class_of(analysis.verdict), name_of(analysis.verdict),
                                   html_text(headline(analysis)));
    const auto serious = std::ranges::count_if(analysis.findings, [](const Finding& finding) { return finding.severity != Severity::note; });
    if (serious > 0)
        html += fmt::format("<p>{}: see <a href=\"#findings\">what was noticed</a>.</p>\n", counted(static_cast<size_t>(serious), "warning"));
    return html;
}

std::string without(std::string text, std::string_view begin, std::string_view end)
{
    const size_t from = text.find(begin), to = from == std::string::npos ? from : text.find(end, from + begin.size());
    return to == std::string::npos ? text : text.erase(from, to + end.size() - from);
}

std::string replaced(std::string text, std::string_view what, std::string_view with)
{
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
    return text;
}

/// gnuplot's SVG as it may stand in a page beside others: without what makes it a file, and with names that only it has.
std::string inline_svg(const std::string& file, const Figure& figure)
{
    std::string svg = file.substr(std::min(file.find("<svg"), file.size()));
    svg = without(std::move(svg), "<title>", "</title>");
    svg = without(std::move(svg), "<desc>", "</desc>");
    svg = without(std::move(svg), " xmlns=\"", "\"");
    svg = without(std::move(svg), " xmlns:xlink=\"", "\"");
    svg = replaced(std::move(svg), "xlink:href='#", fmt::format("href='#{}-", figure.name));
    svg = replaced(std::move(svg), "url(#", fmt::format("url(#{}-", figure.name));
    svg = replaced(std::move(svg), " id='", fmt::format(" id='{}-", figure.name));
    svg = replaced(std::move(svg), " id=\"", fmt::format(" id=\"{}-", figure.name));
    return replaced(std::move(svg), "<svg", fmt::format("<svg role=\"img\" aria-label=\"{}\"", html_text(figure.title)));
}

std::string figures_section(const Figures& figures, const DrawnFigures& drawn)
{
    std::string html;
    for (const Figure& figure : figures.drawn) {
        const auto file = std::ranges::find(drawn.files, figure.name + ".svg", &NamedText::name);
        if (file == drawn.files.end() || file->text.empty()) continue;
        html += fmt::format("<figure id=\"figure-{}\">\n{}<figcaption>{}</figcaption>\n</figure>\n", figure.name, inline_svg(file->text, figure),
                            html_text(figure.caption));
    }
    std::string section = "<h2>Figures</h2>\n";
    if (!html.empty()) section += fmt::format("<div class=\"figures\">\n{}</div>\n", html);
    for (const std::string& problem : drawn.problems) section += paragraph(problem);
    for (const std::string& omitted : figures.omitted) section += faint(omitted);
    return section;
}

std::string calibration_table(const Calibration& calibration)
{
    if (!calibration.C_flop_per_s && !calibration.W_bytes_per_s && !calibration.alpha_s) return "";
    HtmlTable table;
    table.add_column("", words);
    table.add_column("value [95 % interval]");
    table.add_column("unit", words);
    table.add_column("meaning", words);
    table.add_row({"C", interval_cell(calibration.C_flop_per_s, 1e-9), "GFLOP/s", "rate of one rank's matmul, all at work"});
    table.add_row({"W", interval_cell(calibration.W_bytes_per_s, 1e-6), "MB/s", "sent by one rank while as much comes in"});
    table.add_row({"alpha", interval_cell(calibration.alpha_s, 1e6), "µs", "start-up time of one message"});
    std::string html = "<h3>Calibration, by samples that are not part of the sweep</h3>\n" + table.html();
    if (calibration.W_segment_bytes > 0) html += faint(fmt::format("W was reached in segments of {} bytes.", calibration.W_segment_bytes));
    return html;
}

std::string crossovers_table(const Analysis& analysis)
{
    if (analysis.crossovers.empty()) return "";
    HtmlTable table;
    for (const char* heading : {"B", "F", "P"}) table.add_column(heading);
    for (const char* heading : {"matmul", "wire", "strategy"}) table.add_column(heading, words);
    for (const char* heading : {"D_law", "D_model", "D_obs", "D_obs/D_law"}) table.add_column(heading);
    table.add_column("verdict", words);
    for (const Crossover& c : analysis.crossovers)
        table.add_row({std::to_string(c.B), std::to_string(c.F), std::to_string(c.P), std::string(name_of(c.compute_type)), std::string(name_of(c.wire_type)),
                       c.strategy, D_estimate_text(c.D_law), D_estimate_text(c.D_model), D_estimate_text(c.D_obs), c.ratio ? fmt::format("{:.3f}", *c.ratio) : "-",
                       std::string(name_of(c.verdict))});
    std::vector<std::string> reasons;
    for (const Crossover& c : analysis.crossovers)
        reasons.push_back(fmt::format("{}: {}: {}", sweep_text(sweep_of(c)), name_of(c.verdict), c.reason));
    return "<h3>Crossovers, in elements of D [95 % interval]</h3>\n" + table.html() +
           faint("D_law: s(P-1)C/W, from the calibration. D_model: where the fitted curves cross. D_obs: where the measured times cross.") + list(reasons);
}

std::string factors_tables(const Analysis& analysis)
{
    std::string html;
    for (const Crossover& crossover : analysis.crossovers) {
        if (!crossover.ratio || crossover.factors.empty()) continue;
        std::vector<Factor> factors = crossover.factors;
        std::ranges::stable_sort(factors, std::greater{}, [](const Factor& factor) { return std::abs(std::log(factor.value)); });
        HtmlTable table;
        table.add_column("factor");
        table.add_column("meaning", words);
        for (const Factor& factor : factors) table.add_row({fmt::format("{:.3f}", factor.value), factor.meaning});
        html += fmt::format("<h3>{}</h3>\n", html_text(fmt::format("D_obs/D_law = {:.3f} is the product of ({})", *crossover.ratio, sweep_text(sweep_of(crossover)))));
        html += table.html();
    }
    return html;
}

std::string points_table(const Sweep& sweep, const std::vector<const PointSummary*>& points)
{
    if (points.empty()) return "";
    double longest_s = 0;
    for (const PointSummary* point : points)
        for (const auto& time : {point->t_comp_s, point->t_comm_s, point->t_step_s})
            if (time) longest_s = std::max(longest_s, time->value);
    const TimeUnit unit = time_unit_for(longest_s);
    HtmlTable table;
    table.add_column("D");
    for (const char* name : {"t_comp", "t_comm", "t_step"}) table.add_column(fmt::format("{} ({})", name, unit.name));
    table.add_column("longer", words);
    table.add_column("t_step in bounds", words);
    table.add_column("repetitions");
    table.add_column("confidence");
    for (const PointSummary* point : points) {
        table.add_row({std::to_string(point->point.D), interval_cell(point->t_comp_s, unit.per_second), interval_cell(point->t_comm_s, unit.per_second),
                       interval_cell(point->t_step_s, unit.per_second), std::string(side_text(*point)), std::string(name_of(step_check(*point))),
                       std::to_string(fewest_samples(*point)), fmt::format("{:.0f} %", 100 * least_confidence(*point).value_or(0))});
    }
    return element("h3", "Points: " + sweep_text(sweep)) + table.html();
}

std::string points_tables(const Analysis& analysis)
{
    std::string html;
    for (const Sweep& sweep : sweeps_of(analysis)) html += points_table(sweep, points_of(analysis, sweep));
    if (!html.empty())
        html += faint("Medians over repetitions, each that of the slowest rank, with their 95 % interval (or the confidence given). longer: which of t_comp and "
                      "t_comm; ?: their intervals do not tell. Bounds of a step: max(t_comp, t_comm) and t_comp + t_comm.");
    return html;
}

std::string allreduce_table(const Analysis& analysis)
{
    if (analysis.allreduce_rates.empty()) return "";
    HtmlTable table;
    table.add_column("P");
    table.add_column("wire", words);
    table.add_column("strategy", words);
    table.add_column("V (bytes)");
    table.add_column("time (µs)");
    table.add_column("bus bandwidth (MB/s)");
    table.add_column("measured in", words);
    for (const AllreduceRate& rate : analysis.allreduce_rates)
        table.add_row({std::to_string(rate.P), std::string(name_of(rate.wire_type)), rate.strategy, std::to_string(rate.V_bytes), interval_cell(rate.t_s, 1e6),
                       interval_cell(rate.bus_bytes_per_s, 1e-6), rate.in_sweep ? "sweep" : "calibration"});
    return "<h3>Allreduce</h3>\n" + table.html() +
           faint("Bus bandwidth: the 2(P-1)/P·V bytes that a rank has to send, over the time; W is its bound.");
}

std::string overlap_table(const Analysis& analysis)
{
    if (analysis.overlap.empty()) return "";
    HtmlTable table;
    for (const char* heading : {"B", "F", "P", "D"}) table.add_column(heading);
    table.add_column("strategy", words);
    for (const char* heading : {"t_step/max", "t_step/sum", "OSU (%)", "IMB-NBC (%)"}) table.add_column(heading);
    for (const OverlapPoint& point : analysis.overlap)
        table.add_row({std::to_string(point.point.B), std::to_string(point.point.F), std::to_string(point.point.P), std::to_string(point.point.D),
                       point.point.strategy, interval_cell(point.step_over_max), interval_cell(point.step_over_sum),
                       significant(point.overlap.osu_percent, 4), significant(point.overlap.imb_nbc_percent, 4)});
    return "<h3>Overlap</h3>\n" + table.html() +
           faint("t_step against the longer of its parts alone, and against their sum. OSU, IMB-NBC: overlap as those benchmarks define it.");
}

/// What runs of other measures say: their tables as the text report has them, and what they tested.
std::string studies(const Analysis& analysis)
{
    constexpr size_t columns = 100;
    std::string html;
    for (const auto& sections : {study_sections(analysis, columns), scaling_sections(analysis, columns)})
        for (const Section& section : sections) html += element("h3", section.heading) + preformatted(section.body);
    std::vector<std::string> claims;
    for (const Claim& claim : analysis.claims) claims.push_back(fmt::format("{}: {}", name_of(claim.verdict), claim.reason));
    return claims.empty() ? html : html + "<h3>What was tested</h3>\n" + list(claims);
}

std::string findings_section(const std::vector<Finding>& findings)
{
    std::string html = "<h2 id=\"findings\">What was noticed</h2>\n";
    if (findings.empty()) return html + paragraph("Nothing.");
    std::vector<Finding> sorted = findings;
    std::ranges::stable_sort(sorted, std::greater{}, &Finding::severity);
    HtmlTable table;
    table.add_column("severity", words);
    table.add_column("finding", words);
    table.add_column("rank", words);
    table.add_column("", words);
    for (const Finding& finding : sorted)
        table.add_row({std::string(name_of(finding.severity)), finding.code, finding.rank < 0 ? "" : std::to_string(finding.rank), finding.text});
    return html + table.html();
}

std::string pairs_table(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    HtmlTable table;
    table.add_column("name", words);
    table.add_column("value", words);
    for (const auto& [name, value] : pairs) table.add_row({name, value});
    return table.html();
}

std::string ranks_table(const RunData& run)
{
    HtmlTable table;
    table.add_column("rank");
    for (const char* heading : {"host", "processor", "BLAS kernels", "allowed cores"}) table.add_column(heading, words);
    table.add_column("BLAS threads");
    for (size_t rank = 0; rank < run.ranks.size(); ++rank) {
        const RankInfo& info = run.ranks[rank];
        table.add_row({std::to_string(rank), info.host, info.cpu_model, info.blas_kernel, info.allowed_cores, std::to_string(info.blas_threads)});
    }
    return table.html();
}

std::string provenance_section(std::span<const RunData> launches)
{
    std::string html = "<h2>Where it was measured</h2>\n";
    for (const RunData& run : launches) {
        html += element("h3", file_name(run));
        html += ranks_table(run) + pairs_table(run.provenance);
        if (!run.environment.empty()) html += "<h3>Environment</h3>\n" + pairs_table(run.environment);
    }
    return html;
}

std::string experiment_section(const RunData& run)
{
    std::string html = "<h2>The experiment</h2>\n" + paragraph("As used, every key:") + preformatted(run.experiment_effective);
    if (!run.experiment_text.empty()) html += paragraph("As written:") + preformatted(run.experiment_text);
    if (!run.overrides.empty()) html += paragraph("Changed on the command line:") + list(run.overrides);
    return html;
}

/// One word of a shell's command line, whatever is in it.
std::string shell_word(std::string_view text)
{
    const std::string safe = printable(text);
    constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+=:,-";
    if (!safe.empty() && safe.front() != '-' && safe.find_first_not_of(harmless) == std::string::npos) return safe;
    return "'" + replaced(safe, "'", "'\\''") + "'";
}

std::string reproduction_section(std::span<const RunData> launches)
{
    std::string files;
    for (const RunData& run : launches) files += " " + shell_word(run.path.empty() ? "run.h5" : run.path);
    const std::string commands = fmt::format("mpirun -n {} shardline-run experiment.toml -o new.h5\n"
                                             "shardline report new.h5 --html new.html\n"
                                             "shardline compare{} --against new.h5\n",
                                             launches.front().ranks.size(), files);
    return "<h2>To measure it again</h2>\n" + paragraph("With the experiment above, as used, in experiment.toml:") + preformatted(commands) +
           paragraph("This page again, and its figures for a publication:") +
           preformatted(fmt::format("shardline report{} --html report.html --figures figures\n", files));
}

} // namespace

std::string html_text(std::string_view text) { return markup_escaped(printable(text)); }

std::string report_html(const Analysis& analysis, std::span<const RunData> launches, const Figures& figures, const DrawnFigures& drawn)
{
    const std::string title = html_text(title_of(launches));
    std::string html = fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                                   "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
                                   title, style);
    html += what_was_run(launches);
    html += verdict_section(analysis);
    html += figures_section(figures, drawn);
    html += "<h2>What it means</h2>\n" + list(explanation(analysis));
    html += "<h2>Numbers</h2>\n" + calibration_table(analysis.calibration) + crossovers_table(analysis) + factors_tables(analysis) + points_tables(analysis) +
            allreduce_table(analysis) + overlap_table(analysis) + studies(analysis);
    html += findings_section(analysis.findings);
    html += provenance_section(launches);
    html += experiment_section(launches.front());
    html += reproduction_section(launches);
    return html + "</body>\n</html>\n";
}

} // namespace shardline
