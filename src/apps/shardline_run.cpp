// shardline-run: runs one experiment on the ranks that mpirun or srun started. The only program that links MPI.

#include "apps/doctor.hpp"
#include "apps/duration.hpp"
#include "apps/progress.hpp"
#include "apps/rescue.hpp"
#include "apps/resume.hpp"
#include "experiment/experiment.hpp"
#include "measure/folder.hpp"
#include "measure/launch.hpp"
#include "measure/memory.hpp"
#include "measure/placement.hpp"
#include "measure/preflight.hpp"
#include "measure/provenance.hpp"
#include "measure/rank_facts.hpp"
#include "measure/runner.hpp"
#include "measure/session.hpp"
#include "measure/stop_signal.hpp"
#include "measure/strategy.hpp"
#include "model/analysis.hpp"
#include "model/error.hpp"
#include "model/text.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/report_text.hpp"
#include "postprocess/text_layout.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace shardline {

namespace {

constexpr int exit_stopped = 4;
constexpr size_t terminal_width = 80;

struct CommandLine {
    std::string experiment;
    std::string output;
    std::string resume;
    std::vector<std::string> overrides;
    std::vector<std::string> allowed; ///< findings that shall not stop the run
    bool dry_run = false;
    bool doctor = false;
    bool force = false;
};

/// Before MPI is up, only the launcher's environment tells which process may speak.
bool may_speak()
{
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK",
                             "SLURM_PROCID"})
        if (const char* rank = std::getenv(name)) return std::string(rank) == "0";
    return true;
}

/// A standard stream that is closed would hand its number to the next file or socket, and text for it would go there.
void occupy_closed_streams()
{
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY); // takes the lowest free number; writing to it fails
}

/// One message on standard error, in one line whatever names it quotes, on a terminal in lines one can read; where nobody can hear it, the
/// exit code has to do.
void say(const std::string& message)
{
    constexpr size_t readable = 80;
    std::fputs(message_text("shardline-run", message, stderr_reaches_a_terminal() ? readable : std::string::npos).c_str(), stderr);
}

/// `otherwise` says what remains when it cannot be written.
void print_results(const std::string& text, const std::string& otherwise)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    throw InputError(fmt::format("cannot write to standard output ({}): {}", std::strerror(errno), otherwise));
}

std::string version_text()
{
    return fmt::format("shardline-run {}\n{}\n", SHARDLINE_PROJECT_VERSION, hdf5_version_text());
}

/// Names that --allow knows.
std::vector<std::string> allowable()
{
    std::vector<std::string> names(stopping_codes().begin(), stopping_codes().end());
    names.emplace_back(other_hosts);
    return names;
}

/// The exit code where the command line says all there is to do (help, version, wrong usage), else nothing.
std::optional<int> parse(int argc, char** argv, CommandLine& command)
{
    CLI::App app{"Runs one experiment on the ranks it is started on and records every timing.", "shardline-run"};
    app.footer("Example:\n  mpirun -n 2 shardline-run experiments/crossover.toml -o crossover.h5\n"
               "  shardline report crossover.h5\n\n"
               "Exit codes: 0 the run is complete, 1 it failed, 2 wrong usage or input,\n"
               "4 it was stopped by SIGTERM, SIGUSR1 or SIGINT and can be resumed.");
    app.set_version_flag("--version", version_text());
    app.add_option("EXPERIMENT", command.experiment, "experiment file (TOML)");
    app.add_option("-o,--output", command.output, "HDF5 file to write");
    app.add_option("--resume", command.resume, "go on with the run of this file, where it was\nstopped or killed")
        ->type_name("FILE.h5");
    app.add_option("--set", command.overrides, "override a key of the experiment,\ne.g. --set B=2048")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_option_function<std::string>(
           "--time-budget",
           [&](const std::string& text) { command.overrides.push_back(fmt::format("time_budget_s={}", duration_s(text))); },
           "start no further visit after this time, e.g. 90s,\n20m, 2h")
        ->type_name("TIME");
    app.add_option("--allow", command.allowed, "measure in spite of a finding that stops a run")
        ->allow_extra_args(false)
        ->check(CLI::IsMember(allowable()))
        ->type_name("NAME");
    app.add_flag("--dry-run", command.dry_run, "print the plan: points, memory, counts, time; only\na first probe is measured");
    app.add_flag("--doctor", command.doctor, "print launch, network, binding, BLAS and folder,\nand what to change; nothing is measured");
    app.add_flag("--force", command.force, "overwrite the output file");
    try {
        app.parse(argc, argv);
        if (command.doctor) {
            if (!command.resume.empty() || command.dry_run || command.force)
                throw CLI::ExcludesError("--doctor", "--resume, --dry-run and --force");
        } else if (command.resume.empty()) {
            if (command.experiment.empty()) throw CLI::RequiredError("EXPERIMENT.toml");
            if (command.output.empty() && !command.dry_run) throw CLI::RequiredError("-o FILE.h5");
            std::error_code absent; // then they cannot be the same
            if (std::filesystem::equivalent(command.output, command.experiment, absent))
                throw CLI::ValidationError("-o " + command.output, "is the experiment file: name another file");
        } else if (!command.output.empty() || command.dry_run || command.force) {
            throw CLI::ExcludesError("--resume", "-o, --dry-run and --force");
        }
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) { // help and version
            if (!may_speak()) return 0;
            app.exit(e);
            return std::cout.flush() ? 0 : 2;
        }
        // The others end quietly: a launcher that sees one of them fail would kill rank 0 before it has spoken.
        if (!may_speak()) return 0;
        say(fmt::format("{} (see shardline-run --help)", e.what()));
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
            // The doctor may come before there is an experiment.
            experiment = command.experiment.empty() ? parse_experiment("", "", command.overrides)
                                                    : read_experiment(command.experiment, command.overrides);
            return;
        }
        earlier = read_run(command.resume);
        experiment = experiment_to_resume(earlier, command.experiment, command.overrides);
    });
    const std::string text = broadcast_text(experiment.text, session.control());
    const std::string overrides = broadcast_text(fmt::format("{}", fmt::join(experiment.overrides, "\n")), session.control());
    return session.is_root() ? experiment : parse_experiment(text, command.experiment, lines_of(overrides));
}

std::string plan_text(const Plan& plan, const Experiment& experiment, int ranks)
{
    const auto many = [](int64_t n, std::string_view noun) { return counted(static_cast<size_t>(n), noun); };
    std::string text = wrapped(printable(experiment.title), terminal_width, 0) +
                       fmt::format("{}, {} pass{} of {} and {}{}\n", many(ranks, "rank"), experiment.passes,
                                   experiment.passes == 1 ? "" : "es", many(experiment.repetitions, "repetition"),
                                   many(experiment.warmups, "warm-up"),
                                   experiment.measure == Measure::crossover ? " in each of two modes" : "");
    if (ranks == 1 && experiment.measure == Measure::crossover) text += "one rank has nothing to sum: calibration only\n";
    text += "a first probe: C about " + si_text(plan.probed_flop_per_s, "FLOP/s");
    if (plan.probed_bytes_per_s > 0) text += ", W about " + si_text(plan.probed_bytes_per_s, "B/s");
    text += '\n';
    double seconds = 0;
    for (const PlannedPoints& block : plan.blocks) {
        seconds += block.seconds;
        text += fmt::format("  {} of kind {}\n", many(block.points, "point"), name_of(block.kind));
    }
    if (!plan.blocks.empty())
        text += fmt::format("  {:.1f} MB on each rank (MB = 10^6 bytes)\n", static_cast<double>(plan.memory_per_rank_bytes) / 1e6);
    for (const PlannedShape& shape : plan.shapes) {
        seconds += shape.seconds;
        text += fmt::format("\nB = {}, F = {}{}{}: V = {:.6g} MB of {} in {}\n", shape.B, shape.F,
                            experiment.rank_choice == RankChoice::all ? "" : fmt::format(", P = {}", shape.P),
                            experiment.compute_type.size() > 1 ? fmt::format(", {} matmul", name_of(shape.compute_type)) : "",
                            static_cast<double>(shape.message_bytes) / 1e6, name_of(shape.wire_type), many(shape.mpi_calls, "MPI call"));
        text += fmt::format("  {:.1f} MB on each rank (MB = 10^6 bytes)\n", static_cast<double>(shape.memory_per_rank_bytes) / 1e6);
        if (!shape.D.empty())
            text += wrapped(fmt::format("{}{}: D = {}", counted(shape.D.size(), "point"),
                                        plan.D_given ? "" : " around the D* of that probe", fmt::join(shape.D, ", ")),
                            terminal_width, 2);
    }
    if (seconds > 0) text += fmt::format("\nabout {:.3g} s by that probe, if nothing else runs on it\n", seconds);
    return text;
}

void print_findings(const std::vector<Finding>& findings)
{
    for (const Finding& finding : findings)
        say(fmt::format("{}: {}", name_of(finding.severity), finding.text));
}

std::vector<RankInfo> ranks_of(const std::vector<RankFacts>& facts)
{
    std::vector<RankInfo> ranks;
    for (const RankFacts& rank : facts) ranks.push_back(rank.info);
    return ranks;
}

int dry_run(const Session& session, const CommandLine& command, const Experiment& experiment)
{
    // Also so that the probe computes with the threads of a run.
    const auto facts = survey_ranks(experiment.blas_threads, session.control());
    const auto findings = preflight_findings(facts);
    const Plan plan = plan_experiment(session, experiment, ranks_of(facts));
    on_root(session, [&] {
        print_results(plan_text(plan, experiment, session.size()), "the plan is lost");
        print_findings(findings);
        refuse_meaningless(findings, command.allowed);
    });
    if (plan.memory_per_rank_bytes > 0) require_memory(plan.memory_per_rank_bytes, session);
    for (const PlannedShape& shape : plan.shapes) require_memory(shape.memory_per_rank_bytes, session);
    return 0;
}

/// Throws InputError, after all was printed, where a run would be refused.
int doctor(const Session& session, const CommandLine& command, const std::optional<Launch>& launch, const Experiment& experiment)
{
    const auto facts = survey_ranks(experiment.blas_threads, session.control());
    const FolderFacts folder = survey_folder(command.output, session);
    on_root(session, [&] {
        std::vector<Finding> findings = preflight_findings(facts);
        const std::vector<Finding> of_folder = folder_findings(folder);
        findings.insert(findings.end(), of_folder.begin(), of_folder.end());
        print_results(doctor_text(launch, facts, folder, findings), "ask again");
        refuse_meaningless(findings, command.allowed);
        if (!folder.writable) throw InputError(of_folder.front().text);
    });
    return 0;
}

/// Invalid, so that no analysis of such a run comes to a verdict.
Finding injection_finding(const Injection& inject)
{
    return {"injected", Severity::invalid, -1,
            fmt::format("[inject] {} on rank {} from visit {} on, amount {}: a fault made on purpose, so no number of this run is a "
                        "measurement; take [inject] out to measure",
                        inject.what, inject.rank, inject.visit, inject.amount)};
}

Finding thinning_finding(int32_t kept, int32_t ranks)
{
    return {"thinned", Severity::note, -1,
            fmt::format("of each repetition {} readings are kept, rank 0's and those of the slowest of {} ranks, so that every maximum over "
                        "ranks is there; of each rank's matmuls how long they take beside the others': thin_above_ranks = 0 keeps all",
                        kept, ranks)};
}

/// What is known before anything is measured. Collective.
RunData describe_run(const Session& session, const CommandLine& command, const Experiment& experiment, int argc, char** argv)
{
    const auto facts = survey_ranks(experiment.blas_threads, session.control());
    RunData header;
    header.experiment_text = experiment.text;
    header.overrides = experiment.overrides;
    header.experiment_effective = to_toml(experiment);
    header.provenance = find_provenance(argc, argv);
    header.provenance.emplace_back("hdf5_version", hdf5_version_text());
    header.provenance.emplace_back("allowed", fmt::format("{}", fmt::join(command.allowed, " ")));
    header.environment = relevant_environment();
    header.findings = preflight_findings(facts);
    if (!experiment.inject.what.empty()) header.findings.push_back(injection_finding(experiment.inject));
    header.ranks = ranks_of(facts);
    header.repetitions.kept = readings_kept(experiment, session.size());
    // A file to go on with has its own way, older ones than the key keep all, and says so itself.
    if (header.repetitions.kept > 0 && command.resume.empty()) header.findings.push_back(thinning_finding(header.repetitions.kept, session.size()));
    return header;
}

void print_table(const RunData& data)
{
    print_results(report_text(analyse({&data, 1}), {&data, 1}),
                  fmt::format("{0} is complete, shardline report {0} gives the table again", data.path));
}

/// Appends rows to the file; where it takes no more they go to a file beside it, and the error says where.
void append_or_rescue(RunWriter& writer, const Repetitions& rows, std::span<const Point> points, const std::string& path)
{
    try {
        writer.append(rows);
    } catch (const FileRemoved&) {
        throw; // the copy holds these rows too
    } catch (const InputError& e) {
        const std::string side_file = rescue(rows, points, path);
        throw InputError(fmt::format("{}; {}", e.what(),
                                     side_file.empty() ? "the samples of the last visit are lost, nowhere took them"
                                                       : "the samples of the last visit are in " + side_file));
    }
}

/// What is new about the ground since the run began: samples of both kinds will stand in the file.
void add_findings(RunWriter& writer, RunData& data, const std::vector<Finding>& findings)
{
    for (const Finding& finding : findings) {
        if (holds(data.findings, finding)) continue;
        writer.append(finding);
        data.findings.push_back(finding);
    }
}

int measure(const Session& session, const CommandLine& command, const Experiment& asked, RunData earlier, int argc, char** argv)
{
    Experiment experiment = asked;
    const std::vector<Finding> left_out = leave_out_unavailable(experiment.strategy);
    const bool resumes = !command.resume.empty();
    const std::string path = resumes ? command.resume : command.output;
    RunData data = describe_run(session, command, asked, argc, argv);
    data.findings.insert(data.findings.end(), left_out.begin(), left_out.end());
    require_feasible(session, experiment, data.ranks);
    install_stop_signals(); // before there is a file: from then on a signal ends the run in order
    std::optional<RunWriter> writer;
    on_root(session, [&] {
        std::vector<Finding> findings = data.findings;
        refuse_meaningless(findings, command.allowed);
        if (resumes) {
            for (const Finding& finding : compare_machines(earlier, data, command.allowed)) findings.push_back(finding);
            data = std::move(earlier);
            writer.emplace(RunWriter::reopen(path));
            add_findings(*writer, data, findings);
        } else {
            writer.emplace(path, data, command.force ? Overwrite::allow : Overwrite::refuse);
        }
        print_findings(findings);
    });

    std::vector<Point> points = data.points;
    RunOutcome outcome;
    {
        ProgressDisplay display;
        const RunOutput output{
            .points = [&](std::span<const Point> more) {
                points.insert(points.end(), more.begin(), more.end());
                writer->append(more);
            },
            .repetitions = [&](const Repetitions& rows) { append_or_rescue(*writer, rows, points, path); },
            .check = [&](const Check& check) { writer->append(check); },
            .finding = [&](const Finding& finding) { writer->append(finding); },
            .clocks = [&](std::span<const ClockModel> clocks) { writer->append(clocks); },
            .rank_summaries = [&](std::span<const RankSummary> summaries) { writer->append(summaries); },
            .progress = [&](const Progress& progress) { display.show(progress); },
        };
        outcome = run_experiment(session, experiment, std::move(data), output);
    }
    on_root(session, [&] {
        outcome.data.status = outcome.stopped ? RunStatus::stopped : RunStatus::complete;
        outcome.data.path = path;
        writer->close(outcome.data.status);
        if (outcome.stopped)
            say(fmt::format("stopped as asked; {0} holds all that was measured: go on with mpirun -n {1} shardline-run --resume {0}",
                            path, session.size()));
        else
            print_table(outcome.data);
    });
    return outcome.stopped ? exit_stopped : 0;
}

int run(Session& session, const CommandLine& command, const std::optional<Launch>& launch, int argc, char** argv)
{
    RunData earlier;
    const Experiment experiment = read_on_root(session, command, earlier);
    // Before anything is said of ranks: files, findings and messages speak in the run's order.
    if (experiment.placement != Placement::as_started) session.renumber(placement_order(hosts_of_ranks(session), experiment.placement));
    if (command.doctor) return doctor(session, command, launch, experiment);
    if (command.dry_run) return dry_run(session, command, experiment);
    return measure(session, command, experiment, std::move(earlier), argc, argv);
}

} // namespace

} // namespace shardline

int main(int argc, char** argv)
{
    using namespace shardline;
    occupy_closed_streams();
    // A reader that has gone, or a limit on file sizes, is an error of writing like any other.
    for (int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    CommandLine command;
    if (const auto code = parse(argc, argv, command)) return *code;

    const std::optional<Launch> launch = find_launch();
    // Outside the try: a rank that throws must not finalize while the others wait for it.
    Session session(argc, argv);
    try {
        refuse_lonely_launch(launch, session.size());
        return run(session, command, launch, argc, argv);
    } catch (const InputError& e) { // thrown by all ranks together; one has the text
        if (session.is_root() && *e.what() != '\0') say(e.what());
        return 2;
    } catch (const std::exception& e) {
        abort_run(e.what());
    }
}
