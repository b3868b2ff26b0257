#include "model/analysis.hpp"

#include "model/error.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardline {
namespace {

Analysis analysis_of(const SyntheticPlan& plan)
{
    const RunData run = synthetic_run(plan);
    return analyse({&run, 1});
}

bool mentions(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

double product_of(const std::vector<Factor>& factors)
{
    double product = 1;
    for (const Factor& factor : factors) product *= factor.value;
    return product;
}

TEST(Analyse, AMachineThatFollowsTheLawHolds)
{
    const SyntheticPlan plan;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::holds);
    ASSERT_EQ(analysis.crossovers.size(), 1u);
    const Crossover& crossover = analysis.crossovers[0];
    ASSERT_TRUE(crossover.D_law && crossover.D_model && crossover.D_obs && crossover.ratio);
    EXPECT_NEAR(*crossover.ratio, 1, 0.03);
    EXPECT_EQ(crossover.B, plan.B);
    EXPECT_EQ(crossover.strategy, "mpi_allreduce");
    EXPECT_NEAR(product_of(crossover.factors) / *crossover.ratio, 1, 1e-12);
    EXPECT_EQ(crossover.factors.size(), 5u);
    EXPECT_TRUE(analysis.findings.empty());
    EXPECT_EQ(analysis.reason, crossover.reason);
    EXPECT_TRUE(mentions(analysis.reason, "the law says")) << analysis.reason;
}

TEST(Analyse, PointsAreListedByDWithAllThreeTimes)
{
    const Analysis analysis = analysis_of({});
    ASSERT_EQ(analysis.points.size(), 9u);
    EXPECT_TRUE(
        std::is_sorted(analysis.points.begin(), analysis.points.end(),
                       [](const PointSummary& a, const PointSummary& b) { return a.point.D < b.point.D; }));
    for (const PointSummary& point : analysis.points) {
        ASSERT_TRUE(point.t_comp_s && point.t_comm_s && point.t_step_s);
        EXPECT_EQ(point.t_comp_s->n, 30);
        EXPECT_NEAR(point.t_step_s->value / (point.t_comp_s->value + point.t_comm_s->value), 1, 0.05);
    }
}

TEST(Analyse, SlowAllreduceIsExplained)
{
    SyntheticPlan plan;
    plan.machine.allreduce_efficiency = 0.69;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::explained);
    EXPECT_NEAR(*analysis.crossovers[0].ratio, 1 / 0.69, 0.05);
    EXPECT_TRUE(mentions(analysis.reason, "mpi_allreduce reaches 69 % of the link") ||
                mentions(analysis.reason, "mpi_allreduce reaches 70 % of the link") ||
                mentions(analysis.reason, "mpi_allreduce reaches 68 % of the link"))
        << analysis.reason;
    EXPECT_NEAR(product_of(analysis.crossovers[0].factors) / *analysis.crossovers[0].ratio, 1, 1e-12);
}

TEST(Analyse, StartUpTimeIsExplained)
{
    SyntheticPlan plan;
    plan.B = plan.F = 64;
    plan.machine.W_bytes_per_s = 1e9;
    plan.machine.alpha_s = 40e-6; // V/W is 16 µs
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::explained) << analysis.reason;
    const auto& factors = analysis.crossovers[0].factors;
    const auto start_up = std::find_if(factors.begin(), factors.end(),
                                       [](const Factor& factor) { return factor.name == "start_up"; });
    ASSERT_NE(start_up, factors.end());
    EXPECT_GT(start_up->value, 3);
}

TEST(Analyse, CommunicationSlowerThanItsCalibrationIsRefuted)
{
    for (double factor : {2.0, 4.0, 0.4})
        for (double noise : {0.01, 0.1}) {
            SyntheticPlan plan;
            plan.comm_factor_in_sweep = factor;
            plan.noise = noise;
            for (int i = -6; i <= 6; ++i)
                plan.D.push_back(2 * std::lround(true_crossover(plan) / 2 * std::pow(2, i / 2.0)));
            int refuted = 0;
            for (plan.seed = 1; plan.seed <= 20; ++plan.seed)
                refuted += analysis_of(plan).verdict == Verdict::refuted;
            EXPECT_GE(refuted, 19) << "factor " << factor << ", noise " << noise;
        }
}

TEST(Analyse, AnInvertedOrderIsRefuted)
{
    SyntheticPlan plan;
    plan.comp_exponent = -1;
    for (plan.seed = 1; plan.seed <= 10; ++plan.seed) {
        const Analysis analysis = analysis_of(plan);
        EXPECT_EQ(analysis.verdict, Verdict::refuted);
        EXPECT_TRUE(mentions(analysis.reason, "the order is wrong")) << analysis.reason;
    }
}

TEST(Analyse, ATimeThatDoesNotDependOnDIsNotBracketed)
{
    SyntheticPlan plan;
    plan.comp_exponent = 0;
    EXPECT_EQ(analysis_of(plan).verdict, Verdict::inconclusive);
}

TEST(Analyse, PointsOnOneSideAreInconclusiveAndSayWhatToAdd)
{
    SyntheticPlan plan;
    plan.D = {10000, 20000, 40000};
    Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(analysis.reason, "all points are compute-bound: add D below 10000"))
        << analysis.reason;
    EXPECT_FALSE(analysis.crossovers[0].D_obs);
    plan.D = {1000, 2000, 4000};
    analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(analysis.reason, "all points are communication-bound: add D above 4000"))
        << analysis.reason;
}

TEST(Analyse, TooMuchNoiseIsInconclusive)
{
    SyntheticPlan plan;
    plan.noise = 0.8;
    plan.noise_kind = NoiseKind::visit_shift;
    for (plan.seed = 1; plan.seed <= 20; ++plan.seed) {
        const Analysis analysis = analysis_of(plan);
        EXPECT_EQ(analysis.verdict, Verdict::inconclusive) << analysis.reason;
        EXPECT_TRUE(mentions(analysis.reason, "add")) << analysis.reason; // what to change
    }
}

TEST(Analyse, TwoModesAreNeverRefuted)
{
    SyntheticPlan plan;
    plan.second_mode = 1.9;
    for (plan.seed = 1; plan.seed <= 30; ++plan.seed) EXPECT_NE(analysis_of(plan).verdict, Verdict::refuted);
}

TEST(Analyse, FewSamplesAreInconclusive)
{
    SyntheticPlan plan;
    plan.passes = 1;
    plan.repetitions = 4;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(analysis.reason, "only 4 usable samples")) << analysis.reason;
}

TEST(Analyse, AFailedCheckIsInconclusive)
{
    SyntheticPlan plan;
    plan.wrong_point = 2;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(analysis.reason, "the result is wrong at B = 1024, D = ")) << analysis.reason;
    ASSERT_FALSE(analysis.findings.empty());
    EXPECT_EQ(analysis.findings[0].severity, Severity::invalid);
}

TEST(Analyse, AnInvalidFindingOfTheRunIsInconclusive)
{
    RunData run = synthetic_run({});
    run.findings.push_back({"shared_core", Severity::invalid, 1, "ranks 0 and 1 share core 3"});
    run.findings.push_back({"oversubscribed", Severity::warning, -1, "4 ranks on 2 cores"});
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_EQ(analysis.reason, "ranks 0 and 1 share core 3");
    EXPECT_EQ(analysis.findings.size(), 2u);
    run.findings.erase(run.findings.begin());
    EXPECT_EQ(analyse({&run, 1}).verdict, Verdict::holds); // a warning is no obstacle
}

// One rank: no division by P − 1.
TEST(Analyse, OneRankIsCalibrationOnly)
{
    SyntheticPlan plan;
    plan.P = 1;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_EQ(analysis.reason, "one rank has nothing to sum: calibration only; start 2 or more ranks");
    EXPECT_TRUE(analysis.crossovers.empty());
    EXPECT_TRUE(analysis.calibration.C_flop_per_s);
}

TEST(Analyse, OneRankWithASweepIsCalibrationOnlyToo)
{
    SyntheticPlan plan;
    RunData run = synthetic_run(plan);
    for (Point& point : run.points) point.P = 1;
    const Analysis analysis = analyse({&run, 1});
    EXPECT_TRUE(analysis.crossovers.empty());
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_EQ(analysis.points.size(), 9u);
}

TEST(Analyse, ASweepWithoutCalibrationHasNoLawToCompareWith)
{
    SyntheticPlan plan;
    plan.calibrated = false;
    const Analysis analysis = analysis_of(plan);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(analysis.crossovers[0].D_obs);
    EXPECT_FALSE(analysis.crossovers[0].ratio);
    EXPECT_TRUE(mentions(analysis.reason, "no law to compare with")) << analysis.reason;
}

TEST(Analyse, ARunThatIsStillGoingOnIsAnalysedWithWhatItHas)
{
    RunData run = synthetic_run({});
    run.status = RunStatus::running;
    Repetitions& r = run.repetitions;
    const size_t kept = r.size() / 50;
    r.point.resize(kept);
    r.mode.resize(kept);
    r.pass.resize(kept);
    r.repetition.resize(kept);
    r.warmup.resize(kept);
    r.late.resize(kept);
    r.start_skew_ns.resize(kept);
    r.peer.resize(kept * 2);
    for (auto* column : {&r.comp_begin_ns, &r.comp_end_ns, &r.comm_begin_ns, &r.comm_end_ns, &r.main_cpu_ns, &r.comm_cpu_ns})
        column->resize(kept * 2);
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    run.repetitions = {};
    run.repetitions.ranks = 2;
    EXPECT_EQ(analyse({&run, 1}).verdict, Verdict::inconclusive);
    run.points.clear();
    run.checks.clear();
    EXPECT_TRUE(mentions(analyse({&run, 1}).reason, "no sweep over D"));
}

TEST(Analyse, NoRunIsAnInputError) { EXPECT_THROW(analyse({}), InputError); }

TEST(Analyse, ABadTimeIsADataError)
{
    RunData run = synthetic_run({});
    const auto first_reading =
        std::find_if(run.repetitions.comm_end_ns.begin(), run.repetitions.comm_end_ns.end(),
                     [](int64_t t) { return t > 0; });
    *first_reading = 1;
    EXPECT_THROW(analyse({&run, 1}), DataError);
}

/// Two sweeps in one file: B = 512 and B = 1024.
RunData two_sweeps(double comm_factor_of_second)
{
    SyntheticPlan plan;
    plan.B = 512;
    RunData run = synthetic_run(plan);
    plan.B = 1024;
    plan.comm_factor_in_sweep = comm_factor_of_second;
    const RunData second = synthetic_run(plan);
    const auto offset = static_cast<int32_t>(run.points.size());
    run.points.insert(run.points.end(), second.points.begin(), second.points.end());
    Repetitions more = second.repetitions;
    for (int32_t& point : more.point) point += offset;
    append(run.repetitions, more);
    return run;
}

TEST(Analyse, AgreementWithAWThatTheAllreduceBeatsIsNone)
{
    SyntheticPlan plan; // every allreduce is one and a half times as fast as the calibrated link allows
    plan.noise = 0.01;
    plan.machine.allreduce_efficiency = 1.5;
    const RunData run = synthetic_run(plan);
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(analysis.reason, "W is not what the link can do")) << analysis.reason;
}

TEST(Analyse, OnlyTheLastPrecisionOfAResumedRunIsShown)
{
    RunData run = synthetic_run({});
    run.findings = {{"precision", Severity::note, -1, "B = 1, F = 1: old"}, {"precision", Severity::note, -1, "B = 1, F = 2: other"},
                    {"precision", Severity::note, -1, "B = 1, F = 1: new"}, {"precision", Severity::note, -1, "B = 1, F = 16: third"}};
    const Analysis analysis = analyse({&run, 1});
    std::vector<std::string> shown;
    for (const Finding& finding : analysis.findings)
        if (finding.code == "precision") shown.push_back(finding.text);
    EXPECT_EQ(shown, (std::vector<std::string>{"B = 1, F = 2: other", "B = 1, F = 1: new", "B = 1, F = 16: third"}));
}

TEST(Analyse, EachBatchHasItsCrossoverAndTheLawDoesNotDependOnIt)
{
    const RunData run = two_sweeps(1);
    const Analysis analysis = analyse({&run, 1});
    ASSERT_EQ(analysis.crossovers.size(), 2u);
    EXPECT_EQ(analysis.verdict, Verdict::holds);
    EXPECT_NEAR(analysis.crossovers[0].D_obs->value / analysis.crossovers[1].D_obs->value, 1, 0.04);
}

TEST(Analyse, TheWholeIsAsGoodAsItsWorstCrossover)
{
    const RunData run = two_sweeps(1.9);
    const Analysis analysis = analyse({&run, 1});
    ASSERT_EQ(analysis.crossovers.size(), 2u);
    EXPECT_EQ(analysis.crossovers[0].verdict, Verdict::holds);
    EXPECT_EQ(analysis.crossovers[1].verdict, Verdict::refuted);
    EXPECT_EQ(analysis.verdict, Verdict::refuted);
    EXPECT_TRUE(mentions(analysis.reason, "B = 1024, F = 1024, P = 2: ")) << analysis.reason;
}

TEST(Analyse, LaunchesPoolAndTheirSpreadIsInTheInterval)
{
    SyntheticPlan plan;
    plan.noise = 0.01;
    std::vector<RunData> launches;
    for (double C : {1.9e11, 2.0e11, 2.1e11}) {
        plan.machine.C_flop_per_s = C;
        plan.D = {1000, 2000, 4000, 6000, 8000, 12000, 24000};
        ++plan.seed;
        launches.push_back(synthetic_run(plan));
    }
    const Analysis pooled = analyse(launches), first = analyse({launches.data(), 1});
    EXPECT_EQ(pooled.points[0].t_comp_s->n, 90);
    EXPECT_GT(pooled.crossovers[0].D_obs->relative_half_width(), 0.08);
    EXPECT_LT(first.crossovers[0].D_obs->relative_half_width(), 0.02);
    EXPECT_TRUE(pooled.crossovers[0].D_obs->contains(4 * 2e11 / 1.2e8));
}

TEST(Differences, LaunchesOfOneExperimentDifferInNothingThatMatters)
{
    SyntheticPlan plan;
    const RunData a = synthetic_run(plan);
    plan.seed = 2;
    RunData b = synthetic_run(plan);
    b.ranks[0].host = "elsewhere";
    b.experiment_effective += "time_budget_s = 60\n";
    EXPECT_TRUE(differences_between(a, b).empty());
}

TEST(Differences, AreNamedOneLineEach)
{
    SyntheticPlan plan;
    const RunData a = synthetic_run(plan);
    plan.P = 3;
    plan.B = 2048;
    RunData b = synthetic_run(plan);
    b.ranks[0].cpu_model = "another CPU";
    b.ranks[1].blas_kernel = "another kernel";
    b.provenance = {{"mpi_version", "2"}, {"blas_version", "3"}};
    const auto differences = differences_between(a, b);
    ASSERT_EQ(differences.size(), 6u);
    EXPECT_EQ(differences[0], "ranks: 2 / 3");
    EXPECT_EQ(differences[1], "CPU models: synthetic CPU / another CPU, synthetic CPU");
    EXPECT_EQ(differences[2], "experiment: B = [1024] / B = [2048]");
    EXPECT_EQ(differences[3], "MPI: synthetic MPI 1.0 / 2");
    EXPECT_EQ(differences[4], "BLAS: synthetic BLAS 1.0 / 3");
    EXPECT_EQ(differences[5], "BLAS kernels: synthetic kernel / another kernel, synthetic kernel");
}

} // namespace
} // namespace shardline
