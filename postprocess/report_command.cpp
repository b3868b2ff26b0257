#include "postprocess/commands.hpp"

#include "model/analysis.hpp"
#include "model/error.hpp"
#include "postprocess/exit_code.hpp"
#include "postprocess/figure_folder.hpp"
#include "postprocess/figures.hpp"
#include "postprocess/forecast_text.hpp"
#include "postprocess/launches.hpp"
#include "postprocess/new_file.hpp"
#include "postprocess/output.hpp"
#include "postprocess/preset_folder.hpp"
#include "postprocess/quantity.hpp"
#include "postprocess/report_csv.hpp"
#include "postprocess/report_html.hpp"
#include "postprocess/report_json.hpp"
#include "postprocess/report_text.hpp"
#include "postprocess/text_plot.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace shardline {
namespace {

struct ReportOptions {
    std::vector<std::string> files;
    std::optional<std::string> json, csv, html, figures;
    bool plot = false, force = false;
    std::string tolerance = "1.25";
    bool strict = false, models = false;
    std::optional<std::string> tokens, presets, allreduce_rules;
};

constexpr const char* report_example = R"(Exit code: 0 the law holds, or the measured efficiencies explain why not;
1 refuted (with --strict also when explained); 3 inconclusive; 2 usage or
input error.

Example:
  shardline report run1.h5 run2.h5 --json report.json --csv tables)";

double parse_tolerance(const std::string& text)
{
    const double tolerance = parse_positive("--tolerance", text);
    if (tolerance <= 1)
        throw InputError(fmt::format("--tolerance is '{}' (the factor between D_obs and D_law that still holds): give a number "
                                     "above 1, for example 1.25", text));
    return tolerance;
}

/// Which layers of known models these ranks would wait for; empty where that is not asked.
std::string models_part(const ReportOptions& options, std::span<const RunData> launches)
{
    if (!options.models) {
        if (options.tokens || options.presets)
            throw InputError("--tokens or --presets is given without --models (nothing else depends on it): give --models too");
        return "";
    }
    const std::vector<PointSamples> points = collect_samples(launches);
    const Sweep measured = forecast(points, {}).measured;
    const int64_t tokens = options.tokens ? parse_count("--tokens", *options.tokens, std::numeric_limits<int32_t>::max()) : measured.B;
    const auto layers = layer_forecasts(known_presets(options.presets).models, measured_D_star(points, {}, tokens));
    const std::string basis = fmt::format("a batch of {} tokens, by the measurements, {} on the wire", tokens, name_of(measured.wire_type));
    return "\n" + models_text(layers, basis, std::clamp(terminal_width(), 60, 100));
}

/// Open MPI's file of dynamic rules, which a later run can be given.
void write_rules(const std::string& path, const Analysis& analysis)
{
    if (!analysis.allreduce)
        throw InputError("--allreduce-rules has nothing to write (no algorithms of an allreduce were measured): run experiments/allreduce.toml");
    if (analysis.allreduce->rules.empty())
        throw InputError("--allreduce-rules has nothing to write (no algorithm is better than the default for certain): leave it out");
    if (std::filesystem::exists(path)) throw InputError(fmt::format("{} exists (it may be rules written by hand): name another file", path));
    std::ofstream out(path);
    out << analysis.allreduce->rules;
    if (!out.flush()) throw InputError(fmt::format("cannot write {}: name a file in a folder that exists and has space", path));
}

/// The page, and the figures in a folder. What keeps figures from being drawn is said, and changes nothing else.
void write_page_and_figures(const Analysis& analysis, const std::vector<RunData>& launches, const ReportOptions& options)
{
    const Figures figures = figures_of(analysis, launches);
    const DrawnFigures drawn = draw(figures.drawn, options.figures ? Formats::all : Formats::svg);
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    if (options.html) write_new_file(*options.html, report_html(analysis, launches, figures, drawn), existing);
    if (options.figures) return write_figures(*options.figures, figures, drawn, existing);
    for (const std::string& problem : drawn.problems) print_message(problem);
}

int report(const ReportOptions& options)
{
    if (options.plot && options.json == "-")
        throw InputError("--plot and --json - (both go to standard output): give a path to --json, or leave out one of them");
    const AnalysisOptions analysis_options{parse_tolerance(options.tolerance)};
    const std::vector<RunData> launches = read_launches(options.files);
    const Analysis analysis = analyse(launches, analysis_options);
    const std::string models = models_part(options, launches);

    if (options.csv) write_folder(*options.csv, report_csv(analysis, launches), options.force ? Existing::replace : Existing::keep);
    if (options.html || options.figures) write_page_and_figures(analysis, launches, options);
    if (options.json == "-") {
        write_standard_output(report_json(analysis, launches));
    } else {
        if (options.json) write_file(*options.json, report_json(analysis, launches));
        const int width = std::min(terminal_width(), 100);
        write_standard_output(report_text(analysis, launches, {colour_wanted(), width}) + models +
                              (options.plot ? crossover_plots(analysis, width) : ""));
    }
    if (options.allreduce_rules) write_rules(*options.allreduce_rules, analysis);
    return exit_code_of(analysis.verdict, options.strict ? Strictness::strict : Strictness::normal);
}

} // namespace

Command add_report_command(CLI::App& program)
{
    const auto options = std::make_shared<ReportOptions>();
    CLI::App* app = program.add_subcommand("report", "Where computation and communication cross, and why");
    app->add_option("FILE.h5", options->files, "Runs; several are pooled as launches of one\nexperiment")
        ->required()
        ->option_text("...");
    app->add_option("--json", options->json, "Write the analysis as JSON to PATH too; with -\nonly that, to standard output")
        ->option_text("PATH");
    app->add_option("--csv", options->csv, "Write the analysis as CSV tables into the folder\nDIR: points.csv, crossovers.csv, findings.csv, ...")
        ->option_text("DIR");
    app->add_option("--html", options->html, "Write the report as a page, with its figures, to\nPATH: one file, for a browser or for paper")
        ->option_text("PATH");
    app->add_flag("--plot", options->plot, "Plot the times over D as text too");
    app->add_option("--figures", options->figures, "Draw the figures into the folder DIR, each as SVG,\nPDF and PNG with its gnuplot script and numbers")
        ->option_text("DIR");
    app->add_flag("--force", options->force, "Replace files that exist (not those of --json)");
    app->add_option("--tolerance", options->tolerance, "Factor between D_obs and D_law within which the\nlaw holds (default 1.25)")
        ->option_text("FACTOR");
    app->add_option("--allreduce-rules", options->allreduce_rules, "Write Open MPI's dynamic rules for the best\nalgorithms to PATH, which must not exist")
        ->option_text("PATH");
    app->add_flag("--models", options->models, "Which row-parallel layers of known models would\nbe compute-bound on these ranks, in a table");
    app->add_option("--tokens", options->tokens, "With --models: the batch (default: the run's B)")->option_text("N");
    app->add_option("--presets", options->presets, "With --models: folder with more models (*.toml)")->option_text("DIR");
    app->add_flag("--strict", options->strict, "Exit with 1 unless the law itself holds");
    app->footer(report_example);
    return {app, [options] { return report(*options); }};
}

} // namespace shardline
