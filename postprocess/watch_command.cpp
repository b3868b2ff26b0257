#include "postprocess/commands.hpp"

#include "experiment/experiment.hpp"
#include "model/error.hpp"
#include "model/samples.hpp"
#include "postprocess/output.hpp"
#include "postprocess/quantity.hpp"
#include "postprocess/watch_text.hpp"
#include "record/reader.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <thread>

namespace shardline {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct WatchOptions {
    std::string file;
    std::string interval = "2";
    bool once = false;
};

constexpr const char* watch_example = R"(Exit code: 0 the run is complete or, with --once, goes on; 1 it was stopped,
failed or is gone; 2 usage or input error.

Example:
  shardline watch crossover.h5     from another terminal than the run's)";

/// What the file says its experiment was; the defaults where that cannot be read, as in a file of another program.
Experiment experiment_of(const RunData& run)
{
    try {
        return parse_experiment(run.experiment_effective, run.path, {});
    } catch (const InputError&) {
        return {};
    }
}

/// Since the file changed, by the clock of whoever keeps it; 0 where that is ahead of ours.
double quiet_time_s(const std::string& path)
{
    std::error_code error;
    const auto changed = std::filesystem::last_write_time(path, error);
    if (error) return 0;
    return std::max(0.0, Seconds(std::filesystem::file_time_type::clock::now() - changed).count());
}

/// A run holds a lock on its file. Where locks do not reach (another node, another file system), silence must do: of a minute, and
/// far longer than any the run has made before.
RunLife life_of(const Look& look)
{
    if (look.run.status != RunStatus::running) return RunLife::ended;
    const double suspicious_s = std::max(60.0, 5 * look.progress.longest_pause_s);
    return look.is_held || look.quiet_s < suspicious_s ? RunLife::alive : RunLife::gone;
}

Look look_at(const std::string& file)
{
    Look look;
    look.is_held = is_being_written(file); // before reading: a run that ends meanwhile has said so in the file
    look.quiet_s = quiet_time_s(file);
    look.run = read_run(file);
    check_run(look.run);
    const Experiment experiment = experiment_of(look.run);
    look.target = {experiment.target_point, experiment.target_D_obs};
    look.progress = progress_of(look.run, {experiment.passes, experiment.time_budget_s, experiment.watchdog_s});
    look.precision = precision_of({&look.run, 1}, look.target);
    look.analysis = analyse({&look.run, 1});
    look.life = life_of(look);
    return look;
}

/// A file that was sound a moment ago may be caught while it is closed.
Look look_again_at(const std::string& file)
{
    for (int attempt = 1; attempt < 3; ++attempt) {
        try {
            return look_at(file);
        } catch (const InputError&) {
            std::this_thread::sleep_for(Seconds(0.5));
        }
    }
    return look_at(file);
}

int exit_code_of(const Look& look)
{
    const bool well = look.life == RunLife::alive || (look.life == RunLife::ended && look.run.status == RunStatus::complete);
    return well ? 0 : 1;
}

int columns() { return std::clamp(terminal_width(), 60, 100); }

/// Over what it showed before, on a terminal that can do that.
void show(const Look& look)
{
    const std::string text = watch_text(look, columns(), terminal_height());
    write_standard_output(terminal_obeys() ? "\x1b[H\x1b[J" + text : text);
}

int watch(const WatchOptions& options)
{
    const double interval_s = parse_positive("--interval", options.interval);
    if (interval_s > 86400) throw InputError(fmt::format("--interval is '{}' (over a day): give seconds, for example 2", options.interval));
    if (options.once || !is_terminal()) {
        const Look look = look_at(options.file);
        write_standard_output(watch_text(look, columns(), 1000));
        return exit_code_of(look);
    }
    Clock::time_point begun = Clock::now();
    Look look = look_at(options.file);
    while (true) {
        show(look);
        if (look.life != RunLife::alive) return exit_code_of(look);
        const Seconds it_took = Clock::now() - begun; // a large file is not read all the time
        std::this_thread::sleep_for(std::max(Seconds(interval_s), it_took));
        begun = Clock::now();
        look = look_again_at(options.file);
    }
}

} // namespace

Command add_watch_command(CLI::App& program)
{
    const auto options = std::make_shared<WatchOptions>();
    CLI::App* app = program.add_subcommand("watch", "How far a run is that is still going on");
    app->add_option("FILE.h5", options->file, "The file it writes")->required()->option_text(" ");
    app->add_option("--interval", options->interval, "Seconds between two looks (default 2)")->option_text("SECONDS");
    app->add_flag("--once", options->once, "Look once, as where standard output is no terminal");
    app->footer(watch_example);
    return {app, [options] { return watch(*options); }};
}

} // namespace shardline
