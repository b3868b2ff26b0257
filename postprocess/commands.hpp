#pragma once

// The subcommands of `shardline`. Each adds its options to the program and returns what runs it.

#include <CLI/CLI.hpp>
#include <functional>

namespace shardline {

/// A subcommand and what runs it after parsing: writes the results and returns the exit code.
struct Command {
    CLI::App* app;
    std::function<int()> run;
};

Command add_report_command(CLI::App& program);
Command add_explain_command(CLI::App& program);
Command add_compare_command(CLI::App& program);
Command add_across_command(CLI::App& program);
Command add_watch_command(CLI::App& program);
Command add_predict_command(CLI::App& program);

} // namespace shardline
