#include "postprocess/commands.hpp"

#include "postprocess/exit_code.hpp"
#include "postprocess/explanation.hpp"
#include "postprocess/launches.hpp"
#include "postprocess/output.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/quantity.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace shardline {
namespace {

struct ExplainOptions {
    std::vector<std::string> files;
    std::optional<std::string> D;
};

constexpr const char* explain_example = R"(Exit code: 0; 2 usage or input error.

Example:
  shardline explain overlap.h5 --at 4096)";

int explain(const ExplainOptions& options)
{
    const int64_t D = options.D ? parse_count("--at", *options.D, std::numeric_limits<int64_t>::max()) : 0;
    const Analysis analysis = analyse(read_launches(options.files));
    const auto width = static_cast<size_t>(std::clamp(terminal_width(), 60, 100));
    std::string text;
    for (const std::string& sentence : explanation(analysis, D)) text += (text.empty() ? "" : "\n") + wrapped(printable(sentence), width, 0);
    write_standard_output(text);
    return 0;
}

} // namespace

Command add_explain_command(CLI::App& program)
{
    const auto options = std::make_shared<ExplainOptions>();
    CLI::App* app = program.add_subcommand("explain", "What bounds a step, and what to do about it");
    app->add_option("FILE.h5", options->files, "Runs; several are pooled as launches of one\nexperiment")->required()->option_text("...");
    app->add_option("--at", options->D, "Advise on a strategy at the measured D nearest to\nthis one only")
        ->option_text("D");
    app->footer(explain_example);
    return {app, [options] { return explain(*options); }};
}

} // namespace shardline
