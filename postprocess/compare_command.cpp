#include "postprocess/commands.hpp"

#include "model/analysis.hpp"
#include "model/comparison.hpp"
#include "model/error.hpp"
#include "postprocess/comparison_text.hpp"
#include "postprocess/exit_code.hpp"
#include "postprocess/junit.hpp"
#include "postprocess/launches.hpp"
#include "postprocess/output.hpp"
#include "postprocess/quantity.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>

namespace shardline {
namespace {

struct CompareOptions {
    std::vector<std::string> base, current;
    std::optional<std::string> junit;
    std::string threshold = "3";
    bool different = false;
};

constexpr const char* compare_example = R"(Exit code: 0 nothing has changed; 1 something has; 3 nothing could be
compared; 2 usage or input error.

Examples:
  shardline compare monday.h5 tuesday.h5
  shardline compare monday1.h5 monday2.h5 monday3.h5 --against today*.h5 \
      --junit compare.xml)";

void refuse_to_compare(const RunData& base, const RunData& current)
{
    const std::vector<std::string> differences = differences_between(base, current);
    if (differences.empty()) return;
    throw InputError(fmt::format("{} and {} differ in more than time ({}): compare runs of one experiment on one machine, or give "
                                 "--different if that is the question",
                                 base.path, current.path, fmt::join(differences, "; ")));
}

int compare_runs(const CompareOptions& options)
{
    std::vector<std::string> base_files = options.base, current_files = options.current;
    if (current_files.empty() && base_files.size() == 2) {
        current_files = {base_files.back()};
        base_files.pop_back();
    }
    if (current_files.empty())
        throw InputError("which runs are the new ones is not clear: give BASE.h5 NEW.h5, or BASE.h5... --against NEW.h5...");
    const double percent = parse_positive("--threshold", options.threshold);
    const std::vector<RunData> base = read_launches(base_files), current = read_launches(current_files);
    for (const RunData& run : base) refuse_same_launch(run, current);
    if (!options.different) refuse_to_compare(base.front(), current.front());
    for (const std::vector<RunData>* group : {&base, &current})
        for (const RunData& run : *group) check_run(run);

    const ComparisonOptions comparison_options{.threshold = percent / 100, .false_alarm = 0.05};
    const Comparison comparison = compare(base, current, comparison_options);
    if (options.junit) write_file(*options.junit, comparison_junit(comparison, comparison_options), "JUnit XML");
    write_standard_output(comparison_text(comparison, comparison_options, std::clamp(terminal_width(), 60, 100)));
    const bool compared = std::ranges::any_of(comparison.changes, [](const Change& change) { return change.ratio.has_value(); });
    return !compared ? 3 : comparison.changed() ? 1 : 0;
}

} // namespace

Command add_compare_command(CLI::App& program)
{
    const auto options = std::make_shared<CompareOptions>();
    CLI::App* app = program.add_subcommand("compare", "What has changed between two groups of launches");
    app->add_option("BASE.h5", options->base, "The runs before; with two files and no --against,\nthe second is the new one")
        ->required()
        ->option_text("...");
    app->add_option("--against", options->current, "The new runs")->option_text("NEW.h5 ...");
    app->add_option("--threshold", options->threshold, "Percent below which nothing is called a change\n(default 3)")->option_text("PERCENT");
    app->add_option("--junit", options->junit, "Write the result as JUnit XML to PATH too, for\ncontinuous integration: a test case a point")
        ->option_text("PATH");
    app->add_flag("--different", options->different, "Compare although machine, library or experiment\ndiffer");
    app->footer(compare_example);
    return {app, [options] { return compare_runs(*options); }};
}

} // namespace shardline
