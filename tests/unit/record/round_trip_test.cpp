#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shardline {
namespace {

using namespace test;

void expect_equal(const Repetitions& a, const Repetitions& b)
{
    EXPECT_EQ(a.ranks, b.ranks);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.pass, b.pass);
    EXPECT_EQ(a.repetition, b.repetition);
    EXPECT_EQ(a.warmup, b.warmup);
    EXPECT_EQ(a.late, b.late);
    EXPECT_EQ(a.start_skew_ns, b.start_skew_ns);
    EXPECT_EQ(a.comp_begin_ns, b.comp_begin_ns);
    EXPECT_EQ(a.comp_end_ns, b.comp_end_ns);
    EXPECT_EQ(a.comm_begin_ns, b.comm_begin_ns);
    EXPECT_EQ(a.comm_end_ns, b.comm_end_ns);
    EXPECT_EQ(a.main_cpu_ns, b.main_cpu_ns);
    EXPECT_EQ(a.comm_cpu_ns, b.comm_cpu_ns);
    EXPECT_EQ(a.peer, b.peer);
    EXPECT_EQ(a.kept, b.kept);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.comp_mean_ns, b.comp_mean_ns);
}

void expect_equal(const RankInfo& a, const RankInfo& b)
{
    EXPECT_EQ(a.host, b.host);
    EXPECT_EQ(a.machine, b.machine);
    EXPECT_EQ(a.cpu_model, b.cpu_model);
    EXPECT_EQ(a.allowed_cores, b.allowed_cores);
    EXPECT_EQ(a.blas_kernel, b.blas_kernel);
    EXPECT_EQ(a.blas_threads, b.blas_threads);
    EXPECT_EQ(a.memory_available_bytes, b.memory_available_bytes);
}

void expect_equal(const Finding& a, const Finding& b)
{
    EXPECT_EQ(a.code, b.code);
    EXPECT_EQ(a.severity, b.severity);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.text, b.text);
}

template <class Row> void expect_equal(const std::vector<Row>& a, const std::vector<Row>& b)
{
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) expect_equal(a[i], b[i]);
}

class RoundTrip : public testing::TestWithParam<int32_t> {
protected:
    ScratchFolder scratch;
    std::string path = scratch.path("run.h5");
};

TEST_P(RoundTrip, KeepsEveryTable)
{
    const int32_t ranks = GetParam();
    auto run = sample_header(ranks);
    RunWriter writer(path, run, Overwrite::refuse);
    run.points = {sample_point(100, ranks), sample_point(200, ranks)};
    run.points[1].kind = PointKind::exchange;
    run.points[1].wire_type = ElementType::bf16;
    run.points[1].compute_type = ElementType::f64;
    run.points[1].segment_bytes = 4096;
    writer.append(run.points);
    for (size_t visit = 0; visit < 150; ++visit) {
        const auto rows = sample_repetitions(ranks, visit * 10, 10, visit % 2);
        append_rows(run.repetitions, rows);
        writer.append(rows);
    }
    const Finding late{"late", Severity::invalid, ranks - 1, "rank came late\x1b[2J\r\n\"\xff"};
    run.findings.push_back(late);
    writer.append(late);
    writer.append(Check{1, 2, 0.5, 0.25, false});
    writer.append(std::vector{ClockModel{ranks - 1, 10, -20, 1e-6, 30}});
    writer.close(RunStatus::complete);

    const auto read = read_run(path);
    EXPECT_EQ(read.path, path);
    EXPECT_EQ(read.status, RunStatus::complete);
    EXPECT_EQ(read.experiment_text, run.experiment_text);
    EXPECT_EQ(read.overrides, run.overrides);
    EXPECT_EQ(read.experiment_effective, run.experiment_effective);
    EXPECT_EQ(read.provenance, run.provenance);
    EXPECT_EQ(read.environment, run.environment);
    expect_equal(read.ranks, run.ranks);
    EXPECT_EQ(read.points, run.points);
    expect_equal(read.repetitions, run.repetitions);
    expect_equal(read.findings, run.findings);
    ASSERT_EQ(read.checks.size(), 1u);
    EXPECT_EQ(read.checks[0].point, 1);
    EXPECT_EQ(read.checks[0].pass, 2);
    EXPECT_EQ(read.checks[0].max_error, 0.5);
    EXPECT_EQ(read.checks[0].bound, 0.25);
    EXPECT_FALSE(read.checks[0].ranks_agree);
    ASSERT_EQ(read.clocks.size(), 1u);
    EXPECT_EQ(read.clocks[0].rank, ranks - 1);
    EXPECT_EQ(read.clocks[0].at_ns, 10);
    EXPECT_EQ(read.clocks[0].offset_ns, -20);
    EXPECT_EQ(read.clocks[0].drift, 1e-6);
    EXPECT_EQ(read.clocks[0].error_ns, 30);
}

TEST_P(RoundTrip, KeepsThinnedRepetitionsAndGoesOnWithThem)
{
    const int32_t ranks = GetParam();
    RunData run = sample_header(ranks);
    run.repetitions = thinned_repetitions(ranks, 0, 0);
    run.points = {sample_point(100, ranks)};
    {
        RunWriter writer(path, run, Overwrite::refuse);
        writer.append(run.points);
        EXPECT_THROW(writer.append(sample_repetitions(ranks, 0, 10)), std::logic_error);
        writer.append(thinned_repetitions(ranks, 0, 10));
        writer.append(std::vector{RankSummary{0, 1, 20, 0.5}});
        writer.close(RunStatus::stopped);
    }
    auto writer = RunWriter::reopen(path);
    writer.append(thinned_repetitions(ranks, 10, 10));
    writer.append(std::vector{RankSummary{ranks - 1, 2, 30, 1.5}});
    writer.close(RunStatus::complete);

    const auto read = read_run(path);
    expect_equal(read.repetitions, thinned_repetitions(ranks, 0, 20));
    ASSERT_EQ(read.rank_summaries.size(), 2u);
    EXPECT_EQ(read.rank_summaries[1].rank, ranks - 1);
    EXPECT_EQ(read.rank_summaries[1].pass, 2);
    EXPECT_EQ(read.rank_summaries[1].matmuls, 30);
    EXPECT_EQ(read.rank_summaries[1].relative_comp, 1.5);
}

TEST_P(RoundTrip, KeepsARunOfWhichNothingIsKnown)
{
    RunData run;
    run.ranks.resize(GetParam());
    RunWriter(path, run, Overwrite::refuse).close(RunStatus::stopped);
    const auto read = read_run(path);
    EXPECT_EQ(read.status, RunStatus::stopped);
    EXPECT_EQ(read.experiment_text, "");
    EXPECT_TRUE(read.overrides.empty() && read.provenance.empty() && read.environment.empty());
    EXPECT_TRUE(read.points.empty() && read.checks.empty() && read.findings.empty() && read.clocks.empty());
    EXPECT_EQ(read.repetitions.size(), 0u);
    EXPECT_EQ(read.repetitions.ranks, GetParam());
    expect_equal(read.ranks, run.ranks);
}

TEST_P(RoundTrip, KeepsExtremesOfEveryNumber)
{
    const int32_t ranks = GetParam();
    const auto least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
    auto rows = sample_repetitions(ranks, 0, 3);
    rows.start_skew_ns = {least, -1, greatest};
    rows.comp_begin_ns.assign(rows.comp_begin_ns.size(), Repetitions::no_reading);
    rows.comm_end_ns.assign(rows.comm_end_ns.size(), greatest);
    rows.comm_begin_ns.assign(rows.comm_begin_ns.size(), least);
    rows.pass = {0, 1, std::numeric_limits<int32_t>::max()};
    auto point = sample_point(greatest, ranks);
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    writer.append(std::span(&point, 1));
    writer.append(rows);
    for (const double error : {nan, infinity, std::numeric_limits<double>::denorm_min(), -0.0})
        writer.append(Check{0, 0, error, error, true});
    writer.append(std::vector{ClockModel{0, least, greatest, -infinity, greatest}});
    writer.close(RunStatus::failed);

    const auto read = read_run(path);
    EXPECT_EQ(read.status, RunStatus::failed);
    EXPECT_EQ(read.points[0].D, greatest);
    expect_equal(read.repetitions, rows);
    EXPECT_TRUE(std::isnan(read.checks[0].max_error));
    EXPECT_FALSE(read.checks[0].passed());
    EXPECT_EQ(read.checks[1].bound, infinity);
    EXPECT_EQ(read.checks[2].bound, std::numeric_limits<double>::denorm_min());
    EXPECT_TRUE(std::signbit(read.checks[3].bound));
    EXPECT_EQ(read.clocks[0].at_ns, least);
    EXPECT_EQ(read.clocks[0].drift, -infinity);
}

TEST_P(RoundTrip, KeepsTextsAsTheyAre)
{
    auto run = sample_header(GetParam());
    run.experiment_text = std::string("tab\t nul") + '\0' + "in the middle, \xc3\xa9, invalid \xff\xfe, \x1b[31m\r\n";
    run.experiment_effective = std::string(3'000'000, 'x');
    run.overrides.assign(50, "a=\"b c\"\n");
    run.provenance = {{"long", std::string(200'000, 'y')}, {"name with / and . and \n", "z"}, {"empty", ""}, {"a", "1"}};
    for (int i = 0; i < 300; ++i) run.provenance.emplace_back("fact " + std::to_string(i), std::to_string(i));
    run.environment.assign(100, {"NAME", std::string(5000, '\x7f')});
    RunWriter(path, run, Overwrite::refuse).close(RunStatus::complete);
    const auto read = read_run(path);
    EXPECT_EQ(read.experiment_text, run.experiment_text);
    EXPECT_EQ(read.experiment_effective, run.experiment_effective);
    EXPECT_EQ(read.overrides, run.overrides);
    EXPECT_EQ(read.provenance, run.provenance);
    EXPECT_EQ(read.environment, run.environment);
}

TEST_P(RoundTrip, CutsOnlyWhatExceedsAColumnAndBetweenCharacters)
{
    auto run = sample_header(GetParam());
    std::string umlauts;
    for (int i = 0; i < 2000; ++i) umlauts += "\u00fc";
    run.findings = {{std::string(64, 'c'), Severity::note, -1, std::string(2048, 't')}, {"code", Severity::note, -1, umlauts}};
    RunWriter(path, run, Overwrite::refuse).close(RunStatus::complete);
    const auto read = read_run(path);
    EXPECT_EQ(read.findings[0].code, run.findings[0].code);
    EXPECT_EQ(read.findings[0].text, run.findings[0].text);
    EXPECT_EQ(read.findings[1].text, umlauts.substr(0, 2044) + "\u2026");
}

TEST_P(RoundTrip, TheLaterOfTwoFactsOfOneNameCounts)
{
    auto run = sample_header(GetParam());
    run.provenance = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
    RunWriter(path, run, Overwrite::refuse).close(RunStatus::complete);
    EXPECT_EQ(read_run(path).provenance, (Provenance{{"b", "2"}, {"a", "3"}}));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RoundTrip, testing::Values(1, 2, 4, 300));

} // namespace
} // namespace shardline
