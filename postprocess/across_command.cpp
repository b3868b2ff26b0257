#include "postprocess/commands.hpp"

#include "postprocess/across.hpp"
#include "postprocess/exit_code.hpp"
#include "postprocess/figure_folder.hpp"
#include "postprocess/launches.hpp"
#include "postprocess/output.hpp"
#include "record/reader.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace shardline {
namespace {

struct AcrossOptions {
    std::vector<std::string> files;
    std::optional<std::string> json, figures;
    bool force = false;
};

constexpr const char* across_example = R"(Exit code: that of the worst crossover: 0 the law holds, or the measured
efficiencies explain why not; 1 refuted; 3 inconclusive, or no crossover;
2 usage or input error.

Example:
  shardline across ethernet.h5 infiniband.h5 shared.h5 --figures figures)";

int across(const AcrossOptions& options)
{
    std::vector<AnalysedRun> runs;
    for (const std::string& file : options.files) {
        RunData run = read_run(file);
        for (const AnalysedRun& other : runs) refuse_same_launch(run, {&other.run, 1});
        Analysis analysis = analyse({&run, 1});
        runs.push_back({std::move(run), std::move(analysis)});
    }
    if (options.figures) {
        const Figures figures = figures_across(runs);
        write_figures(*options.figures, figures, draw(figures.drawn, Formats::all), options.force ? Existing::replace : Existing::keep);
    }
    if (options.json == "-") {
        write_standard_output(across_json(runs));
    } else {
        if (options.json) write_file(*options.json, across_json(runs));
        write_standard_output(across_text(runs, static_cast<size_t>(std::clamp(terminal_width(), 60, 100))));
    }
    return exit_code_of(verdict_across(runs).verdict, Strictness::normal);
}

} // namespace

Command add_across_command(CLI::App& program)
{
    const auto options = std::make_shared<AcrossOptions>();
    CLI::App* app = program.add_subcommand("across", "D* over links, machines or ranks against the law");
    app->add_option("FILE.h5", options->files, "Runs; each is analysed by itself")->required()->option_text("...");
    app->add_option("--json", options->json, "Write the result as JSON to PATH too; with -\nonly that, to standard output")->option_text("PATH");
    app->add_option("--figures", options->figures, "Draw D* against the law into the folder DIR; and\nwhere one of the runs measured memory, the\nroofline of memory and link")
        ->option_text("DIR");
    app->add_flag("--force", options->force, "Replace files of DIR that exist");
    app->footer(across_example);
    return {app, [options] { return across(*options); }};
}

} // namespace shardline
