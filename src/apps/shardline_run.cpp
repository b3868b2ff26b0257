// shardline-run: runs one experiment on the ranks that mpirun or srun started. The only program that links MPI.

#include "apps/duration.hpp"
#include "apps/progress.hpp"
#include "apps/resume.hpp"
#include "experiment/experiment.hpp"
#include "measure/preflight.hpp"
#include "measure/runner.hpp"
#include "measure/session.hpp"
#include "measure/stop_signal.hpp"
#include "model/analysis.hpp"
#include "model/error.hpp"
#include "postprocess/report_text.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace shardline {

namespace {

constexpr int exit_stopped = 4;

struct CommandLine {
    std::string experiment;
    std::string output;
    std::string resume;
    std::vector<std::string> overrides;
    bool dry_run = false;
    bool force = false;
};

/// Before MPI is up, only the launcher's environment tells which process may speak.
bool may_speak()
{
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* rank = std::getenv(name)) return std::string(rank) == "0";
    return true;
}

std::string version_text()
{
    return fmt::format("shardline-run {}\n{}\n", SHARDLINE_PROJECT_VERSION, hdf5_version_text());
}

/// The exit code where the command line says all there is to do (help, version, wrong usage), else nothing.
std::optional<int> parse(int argc, char** argv, CommandLine& command)
{
    CLI::App app{"Runs one experiment on the ranks it is started on and records every timing.", "shardline-run"};
    app.footer("Example:\n  mpirun -n 2 shardline-run experiments/crossover.toml -o crossover.h5\n"
               "  shardline report crossover.h5\n\n"
               "Exit codes: 0 the run is complete, 1 it failed, 2 wrong usage or input, 4 it was stopped\n"
               "by SIGTERM, SIGUSR1 or SIGINT and can be resumed.");
    app.set_version_flag("--version", version_text());
    app.add_option("EXPERIMENT", command.experiment, "experiment file (TOML)");
    app.add_option("-o,--output", command.output, "HDF5 file to write");
    app.add_option("--resume", command.resume, "go on with the run of this file, where it was stopped or killed")
        ->type_name("FILE.h5");
    app.add_option("--set", command.overrides, "override a key of the experiment, e.g. --set B=2048")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_option_function<std::string>(
           "--time-budget",
           [&](const std::string& text) { command.overrides.push_back(fmt::format("time_budget_s={}", duration_s(text))); },
           "start no further visit after this time, e.g. 90s, 20m, 2h")
        ->type_name("TIME");
    app.add_flag("--dry-run", command.dry_run, "print the plan: points, memory, counts, time; measure nothing");
    app.add_flag("--force", command.force, "overwrite the output file");
    try {
        app.parse(argc, argv);
        if (command.resume.empty()) {
            if (command.experiment.empty()) throw CLI::RequiredError("EXPERIMENT.toml");
            if (command.output.empty() && !command.dry_run) throw CLI::RequiredError("-o FILE.h5");
        } else if (!command.output.empty() || command.dry_run || command.force) {
            throw CLI::ExcludesError("--resume", "-o, --dry-run and --force");
        }
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) { // help and version
            if (may_speak()) app.exit(e);
            return 0;
        }
        if (may_speak()) fmt::print(stderr, "shardline-run: {} (see shardline-run --help)\n", e.what());
        return 2;
    }
    return std::nullopt;
}

/// Rank 0 reads the experiment, or the file of the run to go on with, so that only its node needs to see it.
Experiment read_on_root(const Session& session, const CommandLine& command, RunData& earlier)
{
    Experiment experiment;
    on_root(session, [&] {
        if (command.resume.empty()) {
            experiment = read_experiment(command.experiment, command.overrides);
            return;
        }
        earlier = read_run(command.resume);
        experiment = experiment_to_resume(earlier, command.experiment, command.overrides);
    });
    const std::string text = broadcast_text(experiment.text, session.control());
    const std::string overrides = broadcast_text(fmt::format("{}", fmt::join(experiment.overrides, "\n")), session.control());
    return session.is_root() ? experiment : parse_experiment(text, command.experiment, lines_of(overrides));
}

void print_plan(const Plan& plan, const Experiment& experiment, int ranks)
{
    fmt::print("{}\n{} rank{}, {} passes of {} repetitions and {} warm-ups in each of two modes\n", experiment.title, ranks,
               ranks == 1 ? "" : "s", experiment.passes, experiment.repetitions, experiment.warmups);
    if (ranks == 1) fmt::print("one rank has nothing to sum: calibration only\n");
    double seconds = 0;
    for (const PlannedShape& shape : plan.shapes) {
        seconds += shape.seconds;
        fmt::print("\nB = {}, F = {}: V = {:.6g} MB (10^6 bytes) of {} in {} MPI call{}, {:.1f} MB on each rank\n", shape.B,
                   shape.F, static_cast<double>(shape.message_bytes) / 1e6, name_of(experiment.wire_type), shape.mpi_calls,
                   shape.mpi_calls == 1 ? "" : "s", static_cast<double>(shape.memory_per_rank_bytes) / 1e6);
        if (!shape.D.empty())
            fmt::print("  {} points{}: D = {}\n", shape.D.size(), plan.D_given ? "" : " around the D* of a first probe",
                       fmt::join(shape.D, ", "));
    }
    if (seconds > 0) fmt::print("\nabout {:.3g} s by a first probe of this machine, if nothing else runs on it\n", seconds);
}

int dry_run(const Session& session, const Experiment& experiment)
{
    const Plan plan = plan_experiment(session, experiment);
    if (session.is_root()) print_plan(plan, experiment, session.size());
    std::fflush(stdout);
    for (const PlannedShape& shape : plan.shapes) require_memory(shape.memory_per_rank_bytes, session);
    return 0;
}

/// What is known before anything is measured. Collective.
RunData describe_run(const Session& session, const Experiment& experiment, int argc, char** argv)
{
    const auto facts = gather_facts(find_rank_facts(experiment.blas_threads), session.control());
    RunData header;
    header.experiment_text = experiment.text;
    header.overrides = experiment.overrides;
    header.experiment_effective = to_toml(experiment);
    header.provenance = find_provenance(argc, argv);
    header.provenance.emplace_back("hdf5_version", hdf5_version_text());
    header.environment = relevant_environment();
    header.findings = placement_findings(facts);
    for (const RankFacts& rank : facts) header.ranks.push_back(rank.info);
    return header;
}

void print_findings(const std::vector<Finding>& findings)
{
    for (const Finding& finding : findings)
        fmt::print(stderr, "shardline-run: {}: {}\n", finding.severity == Severity::note ? "note" : "warning", finding.text);
}

void print_table(const RunData& data)
{
    fmt::print("{}", report_text(analyse({&data, 1}), {&data, 1}));
    if (std::fflush(stdout) != 0) throw InputError("cannot write to stdout: the table is lost, the file is complete");
}

int measure(const Session& session, const CommandLine& command, const Experiment& experiment, RunData earlier, int argc, char** argv)
{
    const bool resumes = !command.resume.empty();
    const std::string path = resumes ? command.resume : command.output;
    RunData data = describe_run(session, experiment, argc, argv);
    std::optional<RunWriter> writer;
    on_root(session, [&] {
        print_findings(data.findings);
        if (resumes) {
            refuse_other_machine(earlier, data);
            data = std::move(earlier);
            writer.emplace(RunWriter::reopen(path));
        } else {
            writer.emplace(path, data, command.force ? Overwrite::allow : Overwrite::refuse);
        }
    });

    install_stop_signals();
    RunOutcome outcome;
    {
        ProgressDisplay display;
        const RunOutput output{
            .points = [&](std::span<const Point> points) { writer->append(points); },
            .repetitions = [&](const Repetitions& rows) { writer->append(rows); },
            .check = [&](const Check& check) { writer->append(check); },
            .finding = [&](const Finding& finding) { writer->append(finding); },
            .clock = [&](const ClockModel& clock) { writer->append(clock); },
            .progress = [&](const Progress& progress) { display.show(progress); },
        };
        outcome = run_experiment(session, experiment, std::move(data), output);
    }
    on_root(session, [&] {
        outcome.data.status = outcome.stopped ? RunStatus::stopped : RunStatus::complete;
        outcome.data.path = path;
        writer->close(outcome.data.status);
        if (outcome.stopped)
            fmt::print(stderr, "shardline-run: stopped as asked; {0} holds all that was measured: go on with "
                               "mpirun -n {1} shardline-run --resume {0}\n", path, session.size());
        else
            print_table(outcome.data);
    });
    return outcome.stopped ? exit_stopped : 0;
}

int run(const Session& session, const CommandLine& command, int argc, char** argv)
{
    refuse_lonely_launch(session);
    RunData earlier;
    const Experiment experiment = read_on_root(session, command, earlier);
    if (command.dry_run) return dry_run(session, experiment);
    return measure(session, command, experiment, std::move(earlier), argc, argv);
}

} // namespace

} // namespace shardline

int main(int argc, char** argv)
{
    using namespace shardline;
    CommandLine command;
    if (const auto code = parse(argc, argv, command)) return *code;

    // Outside the try: a rank that throws must not finalize while the others wait for it.
    Session session(argc, argv);
    try {
        return run(session, command, argc, argv);
    } catch (const InputError& e) { // thrown by all ranks together; rank 0 has the text
        if (session.is_root()) fmt::print(stderr, "shardline-run: {}\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        abort_run(e.what());
    }
}
