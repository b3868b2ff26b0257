// `shardline`: what a run means (report, explain), what has changed (compare), how runs of different links lie
// to the law (across), how far one is (watch), and what the law says
// on paper (predict). Links no MPI.

#include "experiment/nearest_name.hpp"
#include "model/error.hpp"
#include "postprocess/commands.hpp"
#include "postprocess/exit_code.hpp"
#include "postprocess/output.hpp"
#include "record/reader.hpp"

#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace shardline {
namespace {

constexpr const char* example = R"(Examples:
  shardline report run.h5
  shardline predict --flops 1.97e14 --bandwidth 4.5e10 --wire bf16 --ranks 2)";

/// The word that stands where a subcommand should, where no subcommand is known by it.
std::optional<std::string> unknown_subcommand(const CLI::App& program, int argc, char** argv)
{
    if (!program.get_subcommands().empty() || argc < 2 || argv[1][0] == '-') return std::nullopt;
    return argv[1];
}

std::string suggestion_for(const CLI::App& program, const std::string& word)
{
    const auto all = [](const CLI::App*) { return true; };
    std::vector<std::string> names;
    for (const CLI::App* subcommand : program.get_subcommands(all)) names.push_back(subcommand->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = nearest_name(word, views);
    return nearest ? fmt::format("did you mean '{}'? See 'shardline --help'", *nearest)
                   : fmt::format("give {}, or see 'shardline --help'", fmt::join(names, " or "));
}

/// --help and --version come as exceptions that ask for success; everything else is a mistake in usage.
int leave(const CLI::App& program, const CLI::ParseError& stop, int argc, char** argv)
{
    if (dynamic_cast<const CLI::CallForVersion*>(&stop)) {
        write_standard_output(fmt::format("{}\n", stop.what()));
        return 0;
    }
    if (stop.get_exit_code() == 0) {
        write_standard_output(program.help()); // of the subcommand, where one was named
        return 0;
    }
    if (const auto word = unknown_subcommand(program, argc, argv))
        throw InputError(fmt::format("no subcommand '{}': {}", *word, suggestion_for(program, *word)));
    const auto chosen = program.get_subcommands();
    const std::string name = chosen.empty() ? "shardline" : "shardline " + chosen.front()->get_name();
    print_message(fmt::format("{}: see '{} --help'", stop.what(), name));
    return exit_usage;
}

int run(int argc, char** argv)
{
    CLI::App program("Where a sharded matrix multiply stops waiting for the network.", "shardline");
    program.set_version_flag("--version", [] { return fmt::format("shardline {}\n{}", SHARDLINE_VERSION, hdf5_version_text()); });
    program.require_subcommand(0, 1);
    program.footer(example);
    const Command commands[] = {add_report_command(program), add_explain_command(program), add_compare_command(program), add_across_command(program),
                                add_watch_command(program), add_predict_command(program)};
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& stop) {
        return leave(program, stop, argc, argv);
    }
    for (const Command& command : commands)
        if (command.app->parsed()) return command.run();
    throw InputError("no subcommand is given: give report, explain, compare, across, watch or predict, or see 'shardline --help'");
}

} // namespace
} // namespace shardline

int main(int argc, char** argv)
{
    std::signal(SIGXFSZ, SIG_IGN); // likewise a file that outgrows its limit
    std::signal(SIGPIPE, SIG_IGN); // a reader that leaves is then an error of write(), with a message
    try {
        return shardline::run(argc, argv);
    } catch (const shardline::InputError& error) {
        shardline::print_message(error.what());
    } catch (const std::bad_alloc&) {
        shardline::print_message("out of memory (the files hold more than fits): give fewer files, or use a larger machine");
    } catch (const std::exception& error) {
        shardline::print_message(fmt::format("internal error ({}): please report it with the command line", error.what()));
    }
    return shardline::exit_usage;
}
