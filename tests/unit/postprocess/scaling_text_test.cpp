#include "postprocess/headline.hpp"
#include "postprocess/report_text.hpp"
#include "postprocess/scaling_text.hpp"
#include "postprocess/utf8.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace shardline {
namespace {

using testing::HasSubstr;
using testing::Not;

RunData run_over(const std::vector<int64_t>& Bs, const std::vector<int32_t>& ranks, const std::vector<ElementType>& wires)
{
    std::vector<RunData> runs;
    SyntheticPlan plan;
    plan.machine.alpha_s = 1e-3;
    for (const int64_t B : Bs)
        for (const int32_t P : ranks)
            for (const ElementType wire : wires) {
                plan.B = B;
                plan.P = P;
                plan.wire_type = wire;
                ++plan.seed;
                runs.push_back(synthetic_run(plan));
            }
    return joined(runs);
}

std::string report_of(const RunData& run) { return report_text(analyse({&run, 1}), {&run, 1}); }

size_t count(const std::string& text, const std::string& what)
{
    size_t times = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
}

TEST(ScalingSections, AreThereForWhatDiffers)
{
    EXPECT_THAT(report_of(run_over({64, 1024}, {2}, {ElementType::f32})), HasSubstr("D* over B, F = 1024, P = 2: f32 matmul, f32 on the wire, mpi_allreduce"));
    const std::string ranks = report_of(run_over({1024}, {2, 3, 4}, {ElementType::f32}));
    EXPECT_THAT(ranks, HasSubstr("D* over ranks, B = 1024, F = 1024: "));
    EXPECT_LT(ranks.find("Not powers of two:"), ranks.find("\n  3 "));
    EXPECT_THAT(report_of(run_over({1024}, {2}, {ElementType::f32, ElementType::bf16})), HasSubstr("D* over types, B = 1024, F = 1024, P = 2: mpi_allreduce"));
    EXPECT_THAT(report_of(run_over({1024}, {2}, {ElementType::f32})), Not(HasSubstr("D* over")));
}

TEST(ScalingSections, SayEachLegendOnceAndFitTheWidth)
{
    const RunData run = run_over({64, 1024}, {2, 16}, {ElementType::f32, ElementType::f64});
    const Analysis analysis = analyse({&run, 1});
    std::string all;
    for (const Section& section : scaling_sections(analysis, 80)) all += section.body;
    EXPECT_EQ(scaling_sections(analysis, 80).size(), 4u + 4u + 4u);
    for (const char* legend : {"ratio: D_obs/D_law", "C (GFLOP/s), W (MB/s), D_law = s(P-1)C/W", "ratio: D_obs by"}) EXPECT_EQ(count(all, legend), 1u) << legend;
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(character_count(line), 80u) << line;
}

TEST(ScalingSections, StandBesideAVerdictOfTheirClaims)
{
    const RunData run = run_over({16, 1024}, {2}, {ElementType::f32});
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(analysis.verdict, Verdict::explained) << analysis.reason;
    EXPECT_THAT(report_of(run), HasSubstr("\nClaims\n  explained: from B = 16 to 1024"));
    EXPECT_THAT(headline(analysis), HasSubstr(": from B = 16 to 1024"));
}

} // namespace
} // namespace shardline
