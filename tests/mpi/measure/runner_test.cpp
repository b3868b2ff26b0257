#include "experiment/plan.hpp"
#include "measure/allreduce_algorithms.hpp"
#include "measure/runner.hpp"
#include "model/error.hpp"
#include "model/links.hpp"
#include "model/samples.hpp"
#include "model/thinning.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace shardline {
namespace {

using test::session;

Experiment quick_experiment()
{
    Experiment experiment;
    experiment.B = {8};
    experiment.F = {12};
    experiment.D = {{1, 2, 3, 100, 101}};
    experiment.passes = experiment.max_passes = 2;
    experiment.repetitions = 2;
    experiment.warmups = 1;
    return experiment;
}

/// Keeps the first `most` of what a run hands out, as the file of a run that is killed then; on rank 0.
class Recorder {
public:
    explicit Recorder(RunData earlier = {}, int64_t most = std::numeric_limits<int64_t>::max())
        : data(std::move(earlier)), most_(most)
    {
        data.repetitions.ranks = session->size();
    }

    RunOutput output()
    {
        return {
            .points = [this](std::span<const Point> points) {
                count();
                data.points.insert(data.points.end(), points.begin(), points.end());
            },
            .repetitions = [this](const Repetitions& rows) {
                count();
                append(data.repetitions, rows);
            },
            .check = [this](const Check& check) {
                count();
                data.checks.push_back(check);
            },
            .finding = [this](const Finding& finding) {
                count();
                data.findings.push_back(finding);
            },
            .clocks = [this](std::span<const ClockModel> clocks) {
                count();
                data.clocks.insert(data.clocks.end(), clocks.begin(), clocks.end());
            },
            .rank_summaries = [this](std::span<const RankSummary> summaries) {
                count();
                data.rank_summaries.insert(data.rank_summaries.end(), summaries.begin(), summaries.end());
            },
            .progress = [](const Progress&) {},
        };
    }

    RunData data;
    int64_t calls = 0;

private:
    void count()
    {
        if (calls == most_) throw InputError("killed");
        ++calls;
    }

    int64_t most_;
};

/// Kept repetitions of each D, pass and mode of the sweep.
using Kept = std::map<std::tuple<int64_t, int32_t, int>, int>;

Kept kept_of(const RunData& data)
{
    Kept kept;
    const Repetitions& rows = data.repetitions;
    std::set<std::tuple<int32_t, int32_t, int, int32_t>> seen;
    for (size_t row = 0; row < rows.size(); ++row) {
        EXPECT_TRUE(seen.insert({rows.point[row], rows.pass[row], rows.mode[row], rows.repetition[row]}).second)
            << "point " << rows.point[row] << ", pass " << rows.pass[row] << ", repetition " << rows.repetition[row] << " twice";
        const Point& point = data.points[static_cast<size_t>(rows.point[row])];
        if (point.kind == PointKind::crossover && !rows.warmup[row]) ++kept[{point.D, rows.pass[row], rows.mode[row]}];
    }
    return kept;
}

Kept planned(const Experiment& experiment)
{
    Kept kept;
    if (session->size() == 1) return kept; // nothing to sweep
    for (int64_t D : *experiment.D)
        for (int32_t pass = 1; pass <= experiment.passes; ++pass)
            for (int mode : {0, 1}) kept[{D, pass, mode}] = static_cast<int>(experiment.repetitions);
    return kept;
}

void expect_whole(const RunData& data, const Experiment& experiment)
{
    if (!session->is_root()) return;
    EXPECT_EQ(kept_of(data), planned(experiment));
    for (size_t i = 0; i < data.points.size(); ++i)
        EXPECT_EQ(std::ranges::count(data.points, data.points[i]), 1) << "a point twice";
    std::map<int64_t, int> checks;
    for (const Check& check : data.checks) {
        EXPECT_TRUE(check.passed());
        ++checks[data.points[static_cast<size_t>(check.point)].D];
    }
    for (const auto& [D, times] : checks) EXPECT_EQ(times, 2) << "checks at D = " << D;
    EXPECT_EQ(checks.size(), session->size() == 1 ? 0u : experiment.D->size());
}

TEST(RunExperiment, HandsOutEverythingThatItKeeps)
{
    const Experiment experiment = quick_experiment();
    Recorder recorder;
    const RunOutcome outcome = run_experiment(*session, experiment, {}, recorder.output());
    EXPECT_FALSE(outcome.stopped);
    if (session->is_root()) {
        EXPECT_EQ(recorder.data.points, outcome.data.points);
        EXPECT_EQ(recorder.data.repetitions.comm_end_ns, outcome.data.repetitions.comm_end_ns);
        EXPECT_EQ(recorder.data.checks.size(), outcome.data.checks.size());
        EXPECT_EQ(recorder.data.clocks.size(), outcome.data.clocks.size());
    } else {
        EXPECT_EQ(recorder.calls, 0) << "output on another rank than 0";
    }
    expect_whole(outcome.data, experiment);
}

struct Survivor {
    RunData data;
    int64_t deaths = 0;
};

/// One run that dies again and again, after as many calls as `calls_until_death` gives for the deaths before, and goes on each time.
Survivor survivor_of(const Experiment& experiment, int64_t too_many_deaths, const std::function<int64_t(int64_t)>& calls_until_death,
                     RunData beginning = {})
{
    Survivor its{std::move(beginning)};
    for (;;) {
        Recorder recorder(its.data, calls_until_death(its.deaths));
        bool died = false;
        try {
            run_experiment(*session, experiment, its.data, recorder.output());
        } catch (const InputError&) {
            died = true;
        }
        its.data = recorder.data;
        if (!died) return its;
        if (++its.deaths < too_many_deaths) continue;
        ADD_FAILURE() << "the run makes no headway";
        return its;
    }
}

TEST(RunExperiment, GoesOnAfterADeathAtAnyMoment)
{
    const Experiment experiment = quick_experiment();
    Recorder whole;
    run_experiment(*session, experiment, {}, whole.output());
    int64_t calls = whole.calls;
    MPI_Bcast(&calls, 1, MPI_INT64_T, 0, session->control());

    // Each time a little further on: at the first calls, and so that about a dozen deaths cover the whole of it.
    const auto [data, deaths] = survivor_of(experiment, 100, [calls](int64_t before) { return before == 0 ? 1 : std::max<int64_t>(3, calls / 10); });
    EXPECT_GE(deaths, 5);
    expect_whole(data, experiment);
}

/// What a run begins with that is to be thinned.
RunData to_be_thinned()
{
    RunData data;
    data.repetitions.kept = kept_readings;
    return data;
}

TEST(RunExperiment, ThinsAndSummarisesEveryRankInEveryPass)
{
    const Experiment experiment = quick_experiment();
    Recorder recorder(to_be_thinned());
    const RunOutcome outcome = run_experiment(*session, experiment, to_be_thinned(), recorder.output());
    expect_whole(outcome.data, experiment);
    if (!session->is_root()) return;
    const RunData& data = recorder.data;
    EXPECT_EQ(data.repetitions.rank, outcome.data.repetitions.rank);
    EXPECT_EQ(data.repetitions.comm_end_ns.size(), data.repetitions.size() * kept_readings);
    EXPECT_NO_THROW(check_run(data));
    std::map<int32_t, int32_t> ranks_of_pass;
    for (const RankSummary& its : data.rank_summaries) {
        EXPECT_EQ(its.rank, ranks_of_pass[its.pass]++ % session->size());
        EXPECT_GT(its.relative_comp, 0);
    }
    EXPECT_TRUE(ranks_of_pass.contains(0)); // the calibration's
    for (const auto& [pass, ranks] : ranks_of_pass) EXPECT_EQ(ranks % session->size(), 0) << "pass " << pass;
    if (session->size() == 1) return; // no sweep
    EXPECT_GE(data.rank_summaries.size(), static_cast<size_t>(min_samples_for_95 * session->size())); // in two passes, too
    for (const PointSamples& samples : collect_samples({&data, 1}))
        if (samples.point.kind == PointKind::crossover) {
            EXPECT_EQ(samples.comp_mean_s.size(), static_cast<size_t>(experiment.passes * experiment.repetitions));
        }
}

TEST(RunExperiment, GoesOnAfterADeathWhereItIsThinned)
{
    const Experiment experiment = quick_experiment();
    Survivor survivor = survivor_of(experiment, 100, [](int64_t before) { return before == 0 ? 1 : 12; }, to_be_thinned());
    expect_whole(survivor.data, experiment);
    if (session->is_root()) {
        EXPECT_NO_THROW(check_run(survivor.data));
    }
}

TEST(RunExperiment, GoesOnInTheMiddleOfAVisit)
{
    const Experiment experiment = quick_experiment();
    Recorder recorder;
    RunData data = run_experiment(*session, experiment, {}, recorder.output()).data;
    if (session->is_root()) { // as a stop leaves it: the last visit has its warm-up and one repetition, each in its modes
        Repetitions& rows = data.repetitions;
        const bool both_modes = data.points[static_cast<size_t>(rows.point.back())].kind == PointKind::crossover;
        const size_t size = rows.size() - (both_modes ? 2 : 1);
        for (auto* column : {&rows.point, &rows.pass, &rows.repetition}) column->resize(size);
        for (auto* column : {&rows.mode, &rows.warmup, &rows.late}) column->resize(size);
        rows.start_skew_ns.resize(size);
        rows.peer.resize(size * static_cast<size_t>(session->size()));
        for (auto* column : {&rows.comp_begin_ns, &rows.comp_end_ns, &rows.comm_begin_ns, &rows.comm_end_ns, &rows.main_cpu_ns,
                             &rows.comm_cpu_ns})
            column->resize(size * static_cast<size_t>(session->size()));
    }
    Recorder rest(session->is_root() ? data : RunData{});
    const RunOutcome outcome = run_experiment(*session, experiment, session->is_root() ? data : RunData{}, rest.output());
    expect_whole(outcome.data, experiment);
}

TEST(RunExperiment, MeasuresNothingOfARunThatIsComplete)
{
    const Experiment experiment = quick_experiment();
    Recorder first;
    RunData data = run_experiment(*session, experiment, {}, first.output()).data;
    if (!session->is_root()) data = {};
    const size_t rows = data.repetitions.size();
    Recorder second;
    const RunOutcome outcome = run_experiment(*session, experiment, std::move(data), second.output());
    EXPECT_EQ(outcome.data.repetitions.size(), rows);
    EXPECT_EQ(second.data.repetitions.size(), 0u);
    EXPECT_EQ(second.data.points.size(), 0u);
    EXPECT_EQ(second.data.checks.size(), 0u);
}

TEST(RunExperiment, RefusesTimesThatCannotBeOnEveryRank)
{
    if (session->size() == 1) return; // without a sweep nothing is analysed on the way
    Experiment experiment = quick_experiment();
    experiment.D = std::nullopt;
    experiment.inject = {.what = "clock_step", .rank = 1, .amount = -1e5};
    Recorder recorder;
    EXPECT_THROW(run_experiment(*session, experiment, {}, recorder.output()), InputError);
}

/// Of each point of the sweep: the passes that visited it.
std::map<int32_t, std::set<int32_t>> passes_of_points(const RunData& run)
{
    std::map<int32_t, std::set<int32_t>> passes;
    for (size_t row = 0; row < run.repetitions.size(); ++row)
        if (run.points[static_cast<size_t>(run.repetitions.point[row])].kind == PointKind::crossover)
            passes[run.repetitions.point[row]].insert(run.repetitions.pass[row]);
    return passes;
}

bool has_finding(const RunData& run, const std::string& code)
{
    return std::any_of(run.findings.begin(), run.findings.end(), [&](const Finding& finding) { return finding.code == code; });
}

TEST(RunExperiment, TakesPassesUntilTheMaximumWhereTheTargetIsOutOfReach)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    Experiment experiment = quick_experiment();
    experiment.max_passes = 4;
    experiment.target_point = experiment.target_D_obs = 1e-12;
    Recorder recorder;
    const RunData run = run_experiment(*session, experiment, {}, recorder.output()).data;
    if (!session->is_root()) return;
    const auto passes = passes_of_points(run);
    EXPECT_EQ(passes.size(), experiment.D->size());
    for (const auto& [point, visited] : passes) EXPECT_EQ(visited.size(), 4u) << "point " << point;
    EXPECT_TRUE(has_finding(run, "precision")) << "what was reached is not stored";
}

TEST(RunExperiment, StopsWhereEveryPointIsWithinTheTarget)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    Experiment experiment = quick_experiment();
    experiment.passes = 3;
    experiment.max_passes = 200;
    experiment.target_point = experiment.target_D_obs = 1e6; // what any interval reaches, however noisy the machine
    Recorder recorder;
    const RunData run = run_experiment(*session, experiment, {}, recorder.output()).data;
    if (!session->is_root()) return;
    for (const auto& [point, visited] : passes_of_points(run)) {
        EXPECT_GE(visited.size(), 3u) << "point " << point;
        EXPECT_LT(visited.size(), 200u) << "point " << point;
    }
    EXPECT_TRUE(has_finding(run, "precision")) << "what was reached is not stored";
}

TEST(RunExperiment, ModelsTheClocksAtTheStartAndAgainDuringTheRun)
{
    if (session->size() == 1) GTEST_SKIP() << "one clock";
    const Experiment experiment = quick_experiment();
    Recorder recorder;
    run_experiment(*session, experiment, {}, recorder.output());
    if (!session->is_root()) return;
    std::map<int32_t, int> models;
    for (const ClockModel& clock : recorder.data.clocks) {
        ++models[clock.rank];
        if (clock.rank != 0) { EXPECT_GT(clock.error_ns, 0) << "no bound of the error"; }
    }
    EXPECT_EQ(models.size(), static_cast<size_t>(session->size()));
    for (const auto& [rank, times] : models) EXPECT_GE(times, 1 + experiment.passes) << "rank " << rank;
    for (int64_t skew_ns : recorder.data.repetitions.start_skew_ns) EXPECT_GE(skew_ns, 0) << "a skew is not known";
}

// ---------------------------------------------------------------------------------------------------
// Several numbers of ranks, several types

Experiment quick_ranks()
{
    Experiment experiment = quick_experiment();
    experiment.rank_choice = RankChoice::sweep;
    experiment.D = {{1, 100}};
    return experiment;
}

/// Readings of the ranks that share a point, and of no other; every crossover has its points, each with its repetitions and checks.
void expect_crossovers(const RunData& run, const Experiment& experiment)
{
    const auto ranks = static_cast<size_t>(session->size());
    const Repetitions& r = run.repetitions;
    std::map<int32_t, int64_t> kept;
    for (size_t row = 0; row < r.size(); ++row) {
        const Point& point = run.points[static_cast<size_t>(r.point[row])];
        kept[r.point[row]] += !r.warmup[row];
        for (size_t rank = 0; rank < ranks; ++rank) {
            const size_t i = row * ranks + rank;
            const bool shares = static_cast<int32_t>(rank) < point.P;
            EXPECT_EQ(r.comp_begin_ns[i] >= 0 || r.comm_begin_ns[i] >= 0, shares) << name_of(point) << ", P = " << point.P << ", rank " << rank;
        }
        EXPECT_GE(r.start_skew_ns[row], 0);
    }
    EXPECT_NO_THROW(check_run(run));
    size_t points = 0;
    for (const int32_t P : ranks_of(experiment, session->size()))
        for (const Shape& shape : shapes_of(experiment))
            for (const std::string& strategy : experiment.strategy)
                for (const int64_t D : *experiment.D) {
                    const auto index = static_cast<int32_t>(std::ranges::find(run.points, sweep_point(shape, D, P, strategy)) - run.points.begin());
                    ASSERT_LT(static_cast<size_t>(index), run.points.size()) << "P = " << P << ", D = " << D;
                    EXPECT_EQ(kept[index], 2 * experiment.passes * experiment.repetitions) << "P = " << P << ", D = " << D;
                    EXPECT_EQ(std::ranges::count(run.checks, index, &Check::point), 2);
                    ++points;
                }
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(run.points, PointKind::crossover, &Point::kind)), points);
    for (const Check& check : run.checks) EXPECT_TRUE(check.passed()) << name_of(run.points[static_cast<size_t>(check.point)]);
}

TEST(RunOverRanks, MeasuresEachNumberOnTheFirstRanksAlone)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    for (const Sync sync : {Sync::barrier, Sync::window}) {
        Experiment experiment = quick_ranks();
        experiment.sync = sync;
        Recorder recorder;
        run_experiment(*session, experiment, {}, recorder.output());
        if (session->is_root()) expect_crossovers(recorder.data, experiment);
    }
}

TEST(RunOverRanks, SumsByEveryStrategy)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    Experiment experiment = quick_ranks();
    experiment.strategy = {"mpi_allreduce", "segmented_ring", "mpi_iallreduce", "pipelined_test", "pipelined_thread"};
    experiment.wire_type = {ElementType::bf16, ElementType::f64};
    Recorder recorder;
    run_experiment(*session, experiment, {}, recorder.output());
    if (session->is_root()) expect_crossovers(recorder.data, experiment);
}

TEST(RunOverRanks, GoesOnAfterADeathAtAnyMoment)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    Experiment experiment = quick_ranks();
    const auto [data, deaths] = survivor_of(experiment, 30, [](int64_t before) { return 5 + 40 * before; });
    EXPECT_GE(deaths, 2);
    if (session->is_root()) expect_crossovers(data, experiment);
}

TEST(RunOverRanks, NotesWhatTheJobDoesNotHave)
{
    Experiment experiment = quick_experiment();
    experiment.rank_choice = RankChoice::listed;
    experiment.ranks = {64, 2};
    if (session->size() == 1) {
        EXPECT_THROW(require_feasible(*session, experiment), InputError);
        EXPECT_THROW(plan_experiment(*session, experiment), InputError);
        return;
    }
    EXPECT_NO_THROW(require_feasible(*session, experiment));
    Recorder recorder;
    const RunData run = run_experiment(*session, experiment, {}, recorder.output()).data;
    if (session->is_root()) {
        expect_crossovers(run, experiment);
        EXPECT_TRUE(has_finding(run, "ranks_left_out"));
    }
    experiment.ranks = {64};
    EXPECT_THROW(require_feasible(*session, experiment), InputError);
}

TEST(RunOverTypes, MeasuresEveryPairing)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no sweep";
    Experiment experiment = quick_experiment();
    experiment.D = {{100}};
    experiment.compute_type = {ElementType::f64, ElementType::f32};
    experiment.wire_type = {ElementType::f32, ElementType::bf16, ElementType::f64};
    Recorder recorder;
    const RunData run = run_experiment(*session, experiment, {}, recorder.output()).data;
    if (!session->is_root()) return;
    expect_crossovers(run, experiment);
    const auto matmuls = [&](ElementType wire) {
        return std::ranges::count_if(run.points, [&](const Point& point) { return point.kind == PointKind::matmul && point.wire_type == wire; });
    };
    EXPECT_GT(matmuls(ElementType::f32), 0);
    EXPECT_EQ(matmuls(ElementType::bf16), 0) << "a matmul is calibrated once for all wire types";
}

TEST(PlanOverRanksAndTypes, CountsEveryCrossover)
{
    Experiment experiment = quick_ranks();
    experiment.wire_type = {ElementType::f32, ElementType::bf16};
    const Plan plan = plan_experiment(*session, experiment);
    EXPECT_EQ(plan.shapes.size(), 2 * ranks_of(experiment, session->size()).size());
    for (const PlannedShape& shape : plan.shapes) EXPECT_GT(shape.seconds, 0);
    EXPECT_EQ(plan.shapes.front().message_bytes, 2 * plan.shapes[1].message_bytes);
    EXPECT_EQ(plan.shapes.back().P, session->size());
}

/// Of a measure other than crossovers: every point has its visits, whatever the number of ranks, and there is a time of every rank.
void expect_visited(const RunData& run, const Experiment& experiment, const std::vector<Point>& planned)
{
    ASSERT_EQ(run.points.size(), planned.size());
    std::vector<int64_t> kept(planned.size());
    for (size_t row = 0; row < run.repetitions.size(); ++row) kept[static_cast<size_t>(run.repetitions.point[row])] += !run.repetitions.warmup[row];
    for (size_t i = 0; i < planned.size(); ++i) {
        EXPECT_TRUE(run.points[i] == planned[i]) << i;
        EXPECT_EQ(kept[i], experiment.passes * experiment.repetitions) << name_of(planned[i]);
    }
    EXPECT_NO_THROW(check_run(run));
}

Experiment quick_roofline()
{
    Experiment experiment = quick_experiment();
    experiment.measure = Measure::roofline;
    experiment.D = std::nullopt;
    experiment.B = {1, 3};
    experiment.vector_bytes = 4096;
    return experiment;
}

TEST(RunRoofline, VisitsEveryPoint)
{
    const Experiment experiment = quick_roofline();
    Recorder recorder;
    run_experiment(*session, experiment, {}, recorder.output());
    if (session->is_root()) expect_visited(recorder.data, experiment, roofline_points(experiment, experiment.vector_bytes, session->size()));
}

TEST(RunRoofline, GoesOnWhereItWasKilled)
{
    const Experiment experiment = quick_roofline();
    Recorder first({}, 12);
    EXPECT_THROW(run_experiment(*session, experiment, {}, first.output()), InputError);
    Recorder rest(session->is_root() ? first.data : RunData{});
    run_experiment(*session, experiment, session->is_root() ? first.data : RunData{}, rest.output());
    if (session->is_root()) expect_visited(rest.data, experiment, roofline_points(experiment, experiment.vector_bytes, session->size()));
}

Experiment quick_links()
{
    Experiment experiment = quick_experiment();
    experiment.measure = Measure::links;
    experiment.message_bytes = {1, 1000, 100'000};
    return experiment;
}

/// All ranks of the test are on one host: as many rounds as pairs.
std::vector<Point> planned_links(const Experiment& experiment)
{
    const auto P = static_cast<size_t>(session->size());
    return link_points(experiment, P * (P - 1) / 2, session->size());
}

TEST(RunLinks, TimesEveryPairAndNoOneElse)
{
    if (session->size() == 1) {
        EXPECT_THROW(require_feasible(*session, quick_links()), InputError);
        return;
    }
    const Experiment experiment = quick_links();
    Recorder recorder;
    run_experiment(*session, experiment, {}, recorder.output());
    if (!session->is_root()) return;
    expect_visited(recorder.data, experiment, planned_links(experiment));
    const Repetitions& r = recorder.data.repetitions;
    const auto ranks = static_cast<size_t>(session->size());
    for (size_t row = 0; row < r.size(); ++row) {
        const Point& point = recorder.data.points[static_cast<size_t>(r.point[row])];
        if (point.kind == PointKind::arithmetic) {
            for (size_t i = row * ranks; i < (row + 1) * ranks; ++i) EXPECT_GT(r.main_cpu_ns[i], 0) << "no CPU time beside the elapsed one";
            continue;
        }
        const bool all = point.algorithm == link_all_at_once;
        size_t timed = 0;
        for (size_t rank = 0; rank < ranks; ++rank) {
            const size_t i = row * ranks + rank;
            timed += r.comm_begin_ns[i] >= 0;
            const int32_t peer = r.peer[i];
            EXPECT_EQ(all || peer >= 0, r.comm_begin_ns[i] >= 0);
            if (peer < 0) continue;
            EXPECT_EQ(r.peer[row * ranks + static_cast<size_t>(peer)], static_cast<int32_t>(rank)) << "a peer that has another peer";
        }
        EXPECT_EQ(timed, all ? ranks : 2);
    }
}

TEST(RunLinks, GoesOnWhereItWasKilled)
{
    if (session->size() == 1) GTEST_SKIP() << "one rank has no link";
    const Experiment experiment = quick_links();
    Recorder first({}, 12);
    EXPECT_THROW(run_experiment(*session, experiment, {}, first.output()), InputError);
    Recorder rest(session->is_root() ? first.data : RunData{});
    run_experiment(*session, experiment, session->is_root() ? first.data : RunData{}, rest.output());
    if (session->is_root()) expect_visited(rest.data, experiment, planned_links(experiment));
}

Experiment quick_allreduce()
{
    Experiment experiment = quick_experiment();
    experiment.measure = Measure::allreduce;
    experiment.message_bytes = {4, 1000, 1'002, 65'536};
    return experiment;
}

TEST(RunAllreduce, TimesEverySizeByEveryAlgorithm)
{
    const Experiment experiment = quick_allreduce();
    if (session->size() == 1) {
        EXPECT_THROW(require_feasible(*session, experiment), InputError);
        return;
    }
    const std::vector<std::string> names = AllreduceAlgorithms(session->work()).names();
    Recorder recorder;
    run_experiment(*session, experiment, {}, recorder.output());
    if (!session->is_root()) return;
    std::map<std::pair<int64_t, std::string>, int64_t> kept;
    const Repetitions& r = recorder.data.repetitions;
    for (size_t row = 0; row < r.size(); ++row) {
        const Point& point = recorder.data.points[static_cast<size_t>(r.point[row])];
        if (point.kind == PointKind::collective && !r.warmup[row]) ++kept[{point.message_bytes, point.algorithm}];
    }
    EXPECT_EQ(kept.size(), 3 * (1 + names.size())) << "1002 bytes are 1000 in whole elements";
    for (const auto& [point, n] : kept) EXPECT_EQ(n, experiment.passes * experiment.repetitions) << point.first << " by " << point.second;
    for (const std::string& name : names) EXPECT_TRUE(kept.contains({1000, name})) << name;
}

TEST(RequireFeasible, RefusesAlgorithmsThatTheMpiDoesNotKnow)
{
    if (session->size() == 1) GTEST_SKIP() << "refused before";
    Experiment experiment = quick_allreduce();
    experiment.algorithms = {"default"};
    EXPECT_NO_THROW(require_feasible(*session, experiment));
    experiment.algorithms = {"telepathy"};
    EXPECT_THROW(require_feasible(*session, experiment), InputError);
}

TEST(RequireFeasible, RefusesVectorsThatNoMemoryHolds)
{
    Experiment experiment = quick_roofline();
    EXPECT_NO_THROW(require_feasible(*session, experiment));
    experiment.vector_bytes = int64_t{1} << 40;
    EXPECT_THROW(require_feasible(*session, experiment), InputError);
    experiment.vector_bytes = 0; // as many as the caches ask for
    std::vector<RankInfo> ranks(static_cast<size_t>(session->size()));
    for (RankInfo& rank : ranks) rank.machine = "m", rank.cache_bytes = int64_t{1} << 40;
    EXPECT_THROW(require_feasible(*session, experiment, ranks), InputError);
}

TEST(RequireFeasible, RefusesWhatNoMemoryHoldsWithNeedAndHave)
{
    Experiment experiment = quick_experiment();
    EXPECT_NO_THROW(require_feasible(*session, experiment));
    experiment.B = experiment.F = {1'000'000};
    try {
        require_feasible(*session, experiment);
        FAIL() << "10^12 elements were accepted";
    } catch (const InputError& e) {
        if (!session->is_root()) return;
        EXPECT_NE(std::string(e.what()).find(" needs "), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find(" has "), std::string::npos) << e.what();
    }
}

TEST(PlanExperiment, CountsCallsOfMpiAndBytes)
{
    Experiment experiment = quick_experiment();
    experiment.B = experiment.F = {65536};
    const Plan plan = plan_experiment(*session, experiment);
    ASSERT_EQ(plan.shapes.size(), 1u);
    EXPECT_TRUE(plan.D_given);
    EXPECT_EQ(plan.shapes[0].mpi_calls, 3);
    EXPECT_EQ(plan.shapes[0].message_bytes, int64_t{17179869184});
    EXPECT_GT(plan.shapes[0].memory_per_rank_bytes, 2 * plan.shapes[0].message_bytes);
    EXPECT_EQ(plan.shapes[0].D, session->size() == 1 ? std::vector<int64_t>{} : *experiment.D);
}

} // namespace
} // namespace shardline
