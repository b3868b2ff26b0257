#include "postprocess/across.hpp"

#include "postprocess/text_layout.hpp"
#include "tests/unit/model/synthetic_run.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace shardline {
namespace {

AnalysedRun analysed(RunData run, const std::string& path)
{
    run.path = path;
    Analysis analysis = analyse({&run, 1});
    return {std::move(run), std::move(analysis)};
}

AnalysedRun sweep(const std::string& path, double W, int32_t P = 2, double comm_factor = 1)
{
    SyntheticPlan plan;
    plan.machine.W_bytes_per_s = W;
    plan.P = P;
    plan.comm_factor_in_sweep = comm_factor;
    plan.noise = 2e-3;
    return analysed(synthetic_run(plan), path);
}

/// On the processors of the sweeps.
AnalysedRun roofline(const std::vector<RankInfo>& ranks)
{
    RunData run = synthetic_roofline({});
    run.ranks = ranks;
    for (RankInfo& rank : run.ranks) rank.cache_bytes = 1 << 20;
    return analysed(std::move(run), "roofline.h5");
}

const Figure* found_figure(const Figures& figures, const std::string& name)
{
    const auto found = std::ranges::find(figures.drawn, name, &Figure::name);
    return found == figures.drawn.end() ? nullptr : &*found;
}

TEST(Across, PutsEachFileAgainstItsOwnLaw)
{
    const std::vector<AnalysedRun> runs{sweep("slow.h5", 0.5e8), sweep("fast.h5", 2e8), sweep("four.h5", 1e8, 4)};
    const Figures figures = figures_across(runs);
    const Figure* figure = found_figure(figures, "across");
    ASSERT_TRUE(figure);
    std::vector<std::vector<double>> rows;
    std::istringstream lines(figure->data.substr(figure->data.find("# D_law")));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '#') {
            std::istringstream cells(line);
            rows.emplace_back();
            for (double cell = 0; cells >> cell;) rows.back().push_back(cell);
        }
    ASSERT_EQ(rows.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        const Crossover& crossover = runs[i].analysis.crossovers.front();
        EXPECT_EQ(rows[i], (std::vector{crossover.D_law->value, crossover.D_obs->value, crossover.D_law->low, crossover.D_law->high, crossover.D_obs->low,
                                        crossover.D_obs->high}));
    }
    EXPECT_NE(figure->plot.find("'four.h5, P = 4, f32'"), std::string::npos) << figure->plot;
    EXPECT_EQ(verdict_across(runs).verdict, Verdict::holds);
    const std::string text = across_text(runs, 80);
    const auto law = [&](size_t i) { return D_text(runs[i].analysis.crossovers.front().D_law->value); };
    EXPECT_NE(text.find("The law spans D = " + law(1) + " to " + law(2)), std::string::npos) << text;
}

TEST(Across, SaysWhichFileIsWorst)
{
    const std::vector<AnalysedRun> runs{sweep("good.h5", 1e8), sweep("bad.h5", 1e8, 2, 2)};
    const AcrossVerdict verdict = verdict_across(runs);
    EXPECT_EQ(verdict.verdict, Verdict::refuted);
    EXPECT_TRUE(verdict.reason.starts_with("bad.h5, B = 1024")) << verdict.reason;
    EXPECT_EQ(verdict_across({}).verdict, Verdict::inconclusive);
}

TEST(Across, DrawsMemoryAndLinkInOneRooflineWhereTheProcessorsAreTheSame)
{
    const AnalysedRun link = sweep("link.h5", 1e8);
    const AnalysedRun memory = roofline(link.run.ranks);
    ASSERT_TRUE(memory.analysis.roofline->M_bytes_per_s);
    const std::vector<AnalysedRun> both{memory, link};
    const Figures figures = figures_across(both);
    const Figure* figure = found_figure(figures, "roofline");
    ASSERT_TRUE(figure);
    for (const char* words : {"'roof: memory, M'", "'roof: the link, W'", "'waits for the link only'", "'matmul, per byte of memory'"})
        EXPECT_NE(figure->plot.find(words), std::string::npos) << words;

    std::vector<RankInfo> other = link.run.ranks;
    other[0].cpu_model = "another";
    const std::vector<AnalysedRun> differ{roofline(other), link};
    EXPECT_FALSE(found_figure(figures_across(differ), "roofline"));
    EXPECT_FALSE(found_figure(figures_across({&link, 1}), "roofline"));
}

TEST(Across, TakesMemoryOnlyFromAsManyRanksOfAMachine)
{
    RunData apart, together;
    for (const char* machine : {"a", "b"}) {
        apart.ranks.emplace_back().machine = machine;
        together.ranks.emplace_back().machine = "a";
    }
    EXPECT_TRUE(same_processors(apart, apart));
    EXPECT_FALSE(same_processors(apart, together)) << "two ranks share the memory";
}

} // namespace
} // namespace shardline
