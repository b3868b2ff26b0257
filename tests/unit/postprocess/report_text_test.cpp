#include "postprocess/report_text.hpp"

#include "fake_analysis.hpp"
#include "postprocess/explanation.hpp"
#include "postprocess/exit_code.hpp"
#include "postprocess/utf8.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace shardline {
namespace {

using test::estimate;

std::string text_of(const Analysis& analysis, const std::vector<RunData>& runs = {test::finished_run()}, const TextStyle& style = {})
{
    return report_text(analysis, runs, style);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t widest_line(const std::string& text)
{
    size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, character_count(line));
    return widest;
}

TEST(ReportText, SaysWhatWasRun)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_TRUE(holds(text, "\"Crossover on slow Ethernet\"")) << text;
    EXPECT_TRUE(holds(text, "run.h5"));
    EXPECT_TRUE(holds(text, "2 ranks on 2 hosts (n0, n1); BLAS kernels SkylakeX, 1 thread a rank"));
    EXPECT_TRUE(holds(text, "f32 matmul, f32 on the wire, mpi_allreduce"));
    EXPECT_FALSE(holds(text, "status"));
}

TEST(ReportText, GivesTheCalibrationWithUnitsAndIntervals)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_TRUE(holds(text, "C      220.0  GFLOP/s  [218.9, 221.1]")) << text;
    EXPECT_TRUE(holds(text, "W      119.0  MB/s     [118.6, 119.4]"));
    EXPECT_TRUE(holds(text, "alpha  41.00  \xc2\xb5s       [38.95, 43.05]"));
    EXPECT_TRUE(holds(text, "MB = 10^6 bytes"));
}

TEST(ReportText, ListsThePoints)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_TRUE(holds(text, "      D    t_comp (ms)  t_comm (ms)  t_step (ms)  side  step     n\n")) << text;
    EXPECT_TRUE(holds(text, "    512    2.44 \xc2\xb1 0.02   50.5 \xc2\xb1 1.0   52.9 \xc2\xb1 0.8  comm  within  30\n"));
    EXPECT_TRUE(holds(text, "  81920  390.45 \xc2\xb1 3.90   50.5 \xc2\xb1 1.0  441.0 \xc2\xb1 6.6  comp  within  30\n"));
    EXPECT_TRUE(holds(text, "t_step lies within its bounds at all 6 points."));
}

TEST(ReportText, NamesPointsWhoseStepLeavesItsBounds)
{
    Analysis analysis = test::explained_analysis();
    analysis.points[1].t_step_s = estimate(1e-3, 0.01);
    analysis.points[2].t_step_s = estimate(1, 0.01);
    const std::string text = text_of(analysis);
    EXPECT_TRUE(holds(text, "within its bounds at 4 of 6 points; below them at D = 2048; above\n  them at D = 5120.")) << text;
    EXPECT_TRUE(holds(text, "1000.00 \xc2\xb1 10.00  comm  above")) << "one unit for a column, small enough for its smallest time";
}

TEST(ReportText, SaysWhereSamplesAreTooFewForTheInterval)
{
    Analysis analysis = test::explained_analysis();
    analysis.points[0].t_comm_s->n = 3;
    analysis.points[0].t_comm_s->confidence = 0.75;
    const std::string text = text_of(analysis);
    EXPECT_TRUE(holds(text, "Fewer than 6 repetitions at D = 512: there")) << text;
    EXPECT_TRUE(holds(text, "  ?     within   3\n"));
}

TEST(ReportText, ExplainsTheCrossoverByFactorsTheWeightiestFirst)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_TRUE(holds(text, "D_law     7395  [7321, 7469]    s(P-1)C/W")) << text;
    EXPECT_TRUE(holds(text, "D_model  10640  [10427, 10853]"));
    EXPECT_TRUE(holds(text, "D_obs    10597  [10385, 10809]"));
    EXPECT_TRUE(holds(text, "  D_obs/D_law = 1.433 is the product of\n"
                            "    1.440  MPI_Allreduce reaches 69 % of the link\n"
                            "    0.995  the matmul"));
}

TEST(ReportText, GivesOneVerdictOnce)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_TRUE(holds(text, "\n  Verdict: explained: D* is 10600, the law says 7395;")) << text;
    EXPECT_EQ(text.find("the law says"), text.rfind("the law says"));
}

TEST(ReportText, GivesEachOfSeveralCrossoversItsVerdict)
{
    Analysis analysis = test::explained_analysis();
    for (int64_t D : {512, 20480}) analysis.points.push_back(test::summary_at(D, 256));
    Crossover second = test::explained_crossover(256);
    second.verdict = Verdict::inconclusive;
    second.D_obs.reset();
    second.ratio.reset();
    second.factors.clear();
    second.reason = "all points are communication-bound: add D above 20480";
    analysis.crossovers.push_back(second);
    analysis.verdict = Verdict::inconclusive;
    analysis.reason = "the worst counts";

    const std::string text = text_of(analysis);
    EXPECT_TRUE(holds(text, "B = 1024, F = 1024, P = 2")) << text;
    EXPECT_TRUE(holds(text, "B = 256, F = 1024, P = 2"));
    EXPECT_TRUE(holds(text, "  explained: D* is 10600"));
    EXPECT_TRUE(holds(text, "  inconclusive: all points are communication-bound: add D above 20480\n"));
    EXPECT_TRUE(holds(text, "  D_obs        -"));
    EXPECT_TRUE(holds(text, "Verdict: inconclusive: the worst counts"));
}

TEST(ReportText, PutsWarningsFirstAndNotesLast)
{
    const std::string text = text_of(test::explained_analysis());
    EXPECT_LT(text.find("warning (oversubscribed, rank 1): 4 ranks share"), text.find("Calibration"));
    EXPECT_GT(text.find("note (trend): times creep up"), text.find("D_obs"));
}

TEST(ReportText, ListsAFewFindingsOfAKindAndCountsTheRest)
{
    Analysis analysis = test::explained_analysis();
    analysis.findings.clear();
    for (int i = 0; i < 1000; ++i) analysis.findings.push_back({"failed_check", Severity::invalid, i, "wrong sum"});
    const std::string text = text_of(analysis);
    EXPECT_TRUE(holds(text, "invalid (failed_check, rank 3): wrong sum"));
    EXPECT_FALSE(holds(text, "rank 4)"));
    EXPECT_TRUE(holds(text, "996 more of the kind \"failed_check\" (--json lists all)"));
}

TEST(ReportText, SaysThatARunIsNotComplete)
{
    RunData run = test::finished_run();
    for (const auto& [status, words] : {std::pair{RunStatus::running, "the run still goes on, or was killed"},
                                        {RunStatus::stopped, "the run was stopped"},
                                        {RunStatus::failed, "the run ended in an error"}}) {
        run.status = status;
        EXPECT_TRUE(holds(text_of(test::explained_analysis(), {run}), words));
    }
}

TEST(ReportText, NamesTheLaunchesThatWerePooled)
{
    const std::string text = text_of(test::explained_analysis(), {test::finished_run("a.h5"), test::finished_run("b.h5")});
    EXPECT_TRUE(holds(text, "2 launches pooled: a.h5, b.h5")) << text;
}

// A run that is still in memory has no path; nothing measured leaves nothing to print.
TEST(ReportText, NeedsNeitherPathNorPointsNorRuns)
{
    EXPECT_TRUE(holds(text_of(test::explained_analysis(), {test::finished_run("")}), "this run"));
    Analysis nothing;
    nothing.reason = "one rank has nothing to sum";
    const std::string text = text_of(nothing, {});
    EXPECT_TRUE(holds(text, "not measured")) << text;
    EXPECT_TRUE(holds(text, "Verdict: inconclusive: one rank has nothing to sum"));
}

TEST(ReportText, PrintsHostileTextAsData)
{
    const std::string hostile = "\x1b[2J\x07\n\xff\xe2\x80\xae";
    RunData run = test::finished_run(hostile);
    run.experiment_effective = "title = \"" + std::string("\x1b[2J") + "\"\n";
    run.ranks[0].host = run.ranks[0].blas_kernel = hostile;
    run.status = RunStatus::running;
    Analysis analysis = test::explained_analysis();
    for (PointSummary& point : analysis.points) point.point.strategy = hostile;
    analysis.crossovers[0].strategy = hostile;
    analysis.crossovers[0].factors[0].meaning = hostile;
    analysis.crossovers[0].reason = analysis.reason = hostile;
    analysis.findings = {{hostile, Severity::invalid, 0, hostile}};
    for (int i = 0; i < 9; ++i) analysis.findings.push_back(analysis.findings[0]);

    for (char c : text_of(analysis, {run, run}))
        ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
    EXPECT_TRUE(holds(text_of(analysis, {run}), "\\x1b[2J\\x07\\n\\xff\\u{202e}"));
}

TEST(ReportText, Fits80ColumnsWhateverItHolds)
{
    Analysis analysis = test::explained_analysis();
    EXPECT_LE(widest_line(text_of(analysis)), 80u);

    RunData run = test::finished_run("/" + std::string(300, 'x') + ".h5");
    for (int i = 0; i < 1000; ++i) {
        run.ranks.push_back(run.ranks[0]);
        run.ranks.back().host = "compute-node-with-a-long-name-" + std::to_string(i) + ".cluster.example.org";
    }
    const std::string strategy(100, 's');
    for (PointSummary& point : analysis.points) {
        point.point.strategy = strategy;
        point.point.D *= 10'000;
        point.t_comp_s = estimate(point.t_comp_s->value * 1e3, 0.4, 100'000);
        point.t_comm_s = estimate(0.9e-6 * static_cast<double>(point.point.D), 0.4, 100'000);
    }
    analysis.crossovers[0].strategy = strategy;
    EXPECT_LE(widest_line(text_of(analysis, {run})), 80u) << text_of(analysis, {run});
}

TEST(ReportText, ColoursOnlyWhereAsked)
{
    EXPECT_FALSE(holds(text_of(test::explained_analysis()), "\x1b"));
    const std::string coloured = text_of(test::explained_analysis(), {test::finished_run()}, {true, 80});
    EXPECT_TRUE(holds(coloured, "\x1b[33mwarning (oversubscribed, rank 1)\x1b[0m: 4 ranks"));
    EXPECT_TRUE(holds(coloured, "\x1b[32mVerdict: explained\x1b[0m: D*"));
}

TEST(ReportText, TakesValuesThatAreNoNumbers)
{
    Analysis analysis = test::explained_analysis();
    analysis.crossovers[0].D_model = Estimate{NAN, 0, INFINITY, 0};
    analysis.crossovers[0].ratio = NAN;
    analysis.crossovers[0].factors[0].value = 0;
    analysis.points[0].t_comp_s = Estimate{0, 0, INFINITY, 1};
    analysis.calibration.alpha_s = Estimate{-1e-9, -INFINITY, 0, 1};
    EXPECT_FALSE(text_of(analysis).empty());
}

TEST(ExitCode, FollowsTheVerdict)
{
    EXPECT_EQ(exit_code_of(Verdict::holds, Strictness::normal), 0);
    EXPECT_EQ(exit_code_of(Verdict::holds, Strictness::strict), 0);
    EXPECT_EQ(exit_code_of(Verdict::explained, Strictness::normal), 0);
    EXPECT_EQ(exit_code_of(Verdict::explained, Strictness::strict), 1);
    EXPECT_EQ(exit_code_of(Verdict::refuted, Strictness::normal), 1);
    EXPECT_EQ(exit_code_of(Verdict::inconclusive, Strictness::strict), 3);
}

/// One place, two strategies: a plain step, and one that hides most of its exchange at some cost to the matmul.
Analysis analysis_with_overlap()
{
    Analysis analysis = test::explained_analysis();
    const Point plain = analysis.points.front().point;
    Point overlapping = plain;
    overlapping.strategy = "pipelined_thread";
    overlapping.tiles = "512,512";
    const auto point = [](const Point& at, double step, double inside, std::optional<double> floor) {
        return OverlapPoint{.point = at, .t_comp_s = estimate(0.14, 0.01), .t_comm_s = estimate(0.14, 0.01), .t_step_s = estimate(step, 0.01),
                            .t_comp_in_step_s = estimate(inside, 0.01), .step_over_max = estimate(step / 0.14, 0.01),
                            .step_over_sum = estimate(step / 0.28, 0.01), .overlap = overlap_measures(0.14, 0.14, step, inside),
                            .comm_cpu_s = std::nullopt, .floor_s = floor};
    };
    analysis.overlap = {point(plain, 0.30, 0.14, std::nullopt), point(overlapping, 0.182, 0.175, 0.16)};
    analysis.advice = {{overlapping, 0.182, "mpi_allreduce", estimate(1.65, 0.02), true, {}, {}}};
    return analysis;
}

TEST(ReportText, SetsEveryStrategyAgainstTheBoundsOfAStep)
{
    const std::string text = text_of(analysis_with_overlap());
    EXPECT_TRUE(holds(text, "mpi_allreduce     2.14 [2.12, 2.16]  -14 %    -14 %    1.00      -\n")) << text;
    EXPECT_TRUE(holds(text, "pipelined_thread  1.30 [1.29, 1.31]   70 %     95 %    1.25   1.14\n")) << text;
    EXPECT_TRUE(holds(text, "Overlap is negative, the step longer than its parts one after the other, for\n  mpi_allreduce at D = 512.")) << text;
    EXPECT_TRUE(holds(text, "use pipelined_thread")) << text;
    EXPECT_LE(widest_line(text), 80u);
    EXPECT_FALSE(holds(text_of(test::explained_analysis()), "Overlap"));
}

TEST(Explanation, SaysWhatBoundsWhatToChangeAndWhichStrategyToUse)
{
    const auto sentences = explanation(analysis_with_overlap());
    ASSERT_EQ(sentences.size(), 2u);
    EXPECT_TRUE(holds(sentences[0], "a step waits for the network, above it for its own arithmetic")) << sentences[0];
    EXPECT_TRUE(holds(sentences[0], "The one cause that moves it most: MPI_Allreduce reaches 69 % of the link; without it D* would be ")) << sentences[0];
    EXPECT_TRUE(holds(sentences[1], "use pipelined_thread (182 ms a step): 1.65")) << sentences[1];
    EXPECT_TRUE(holds(explanation(test::explained_analysis()).back(), "One strategy was measured"));
}

TEST(Explanation, SaysInOneSentenceWhatHoldsAtSeveralD)
{
    Analysis analysis = analysis_with_overlap();
    const Estimate half{.value = 0.5, .low = 0.45, .high = 0.55};
    analysis.advice.front().losing = {{"mpi_iallreduce", half}};
    analysis.advice.push_back(analysis.advice.front());
    analysis.advice.back().at.D = 100000;
    analysis.advice.back().speedup.value = 1.1;
    auto sentences = explanation(analysis);
    ASSERT_EQ(sentences.size(), 2u);
    EXPECT_TRUE(holds(sentences[1], "to 100000 use pipelined_thread: 1.10 to 1.65 times as fast as mpi_allreduce")) << sentences[1];
    EXPECT_TRUE(holds(sentences[1], "slower than mpi_allreduce by more than 5 % at one of these at least: mpi_iallreduce (0.50 to 0.50 times as fast)")) << sentences[1];

    analysis.advice.back().at.strategy = "mpi_allreduce";
    sentences = explanation(analysis);
    ASSERT_EQ(sentences.size(), 3u);
    EXPECT_TRUE(holds(sentences[1], "slower than mpi_allreduce by more than 5 %: mpi_iallreduce (0.50 [0.45, 0.55] times as fast)")) << sentences[1];
    EXPECT_TRUE(holds(sentences[2], "D = 100000 use mpi_allreduce (")) << sentences[2];
}

TEST(Explanation, AdvisesAtTheNearestDOnly)
{
    Analysis analysis = analysis_with_overlap();
    analysis.advice.push_back(analysis.advice.front());
    analysis.advice.back().at.D = 100000;
    const auto sentences = explanation(analysis, 90000);
    ASSERT_EQ(sentences.size(), 2u);
    EXPECT_TRUE(holds(sentences[1], "D = 100000")) << sentences[1];
}

} // namespace
} // namespace shardline
