#include "postprocess/figures.hpp"

#include "fake_analysis.hpp"
#include "model/detectors.hpp"
#include "model/law.hpp"
#include "postprocess/gnuplot.hpp"
#include "tests/unit/model/synthetic_run.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace shardline {
namespace {

using Block = std::vector<std::vector<double>>;

std::vector<std::string> names_of(const Figures& figures)
{
    std::vector<std::string> names;
    for (const Figure& figure : figures.drawn) names.push_back(figure.name);
    return names;
}

Figure figure_named(const Figures& figures, const std::string& name)
{
    const auto found = std::ranges::find(figures.drawn, name, &Figure::name);
    if (found == figures.drawn.end()) throw std::runtime_error("no figure " + name);
    return *found;
}

bool omits(const Figures& figures, const std::string& words)
{
    return std::ranges::any_of(figures.omitted, [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

/// The block of a data file whose heading begins with these words.
Block block_of(const Figure& figure, const std::string& heading)
{
    Block block;
    bool inside = false;
    std::istringstream lines(figure.data);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) inside = line.starts_with("# " + heading);
        if (!inside || line.empty() || line[0] == '#') continue;
        std::istringstream cells(line);
        block.emplace_back();
        for (double cell = 0; cells >> cell;) block.back().push_back(cell);
    }
    return block;
}

Figures figures_of(const std::vector<RunData>& launches) { return shardline::figures_of(analyse(launches), launches); }

Figures figures_of(const SyntheticPlan& plan) { return figures_of(std::vector{synthetic_run(plan)}); }

TEST(Figures, OfOneSweepAreThoseItHasSomethingFor)
{
    const Figures figures = figures_of(SyntheticPlan{});
    EXPECT_EQ(names_of(figures), (std::vector<std::string>{"crossover", "roofline", "regimes", "allreduce", "repetitions"}));
    EXPECT_TRUE(omits(figures, "overlap"));
    EXPECT_TRUE(omits(figures, "D* across launches"));
    EXPECT_TRUE(omits(figures, "ranks"));
}

TEST(Figures, OfOneRankAreNone)
{
    SyntheticPlan plan;
    plan.P = 1;
    const Figures figures = figures_of(plan);
    EXPECT_TRUE(figures.drawn.empty());
    EXPECT_EQ(figures.omitted.size(), 1u) << "a sentence for all";
}

TEST(Figures, OfTheCrossoverHoldTheNumbersOfTheAnalysis)
{
    const RunData run = synthetic_run({});
    const Analysis analysis = analyse({&run, 1});
    const Figure& figure = figure_named(shardline::figures_of(analysis, {&run, 1}), "crossover");
    const Block comp = block_of(figure, "D, t_comp"), comm = block_of(figure, "D, t_comm"), step = block_of(figure, "D, t_step"),
                bounds = block_of(figure, "D, max(");
    ASSERT_EQ(comp.size(), analysis.points.size());
    for (size_t i = 0; i < comp.size(); ++i) {
        const PointSummary& point = analysis.points[i];
        const auto D = static_cast<double>(point.point.D);
        EXPECT_EQ(comp[i], (std::vector{D, point.t_comp_s->value, point.t_comp_s->low, point.t_comp_s->high}));
        EXPECT_EQ(comm[i], (std::vector{D, point.t_comm_s->value, point.t_comm_s->low, point.t_comm_s->high}));
        EXPECT_EQ(step[i], (std::vector{D, point.t_step_s->value, point.t_step_s->low, point.t_step_s->high}));
        const StepBounds of_step = step_bounds(point.t_comp_s->value, point.t_comm_s->value);
        EXPECT_EQ(bounds[i], (std::vector{D, of_step.lower_s, of_step.upper_s}));
    }
    for (const char* symbol : {"D_law = ", "D_model = ", "D_obs = "}) EXPECT_NE(figure.plot.find(symbol), std::string::npos) << symbol;
}

TEST(Figures, OfTheCrossoverMarkNoCrossingThatWasNotSeen)
{
    SyntheticPlan plan;
    plan.D = {2, 4, 8};
    const Figures figures = figures_of(plan);
    const Figure& figure = figure_named(figures, "crossover");
    EXPECT_EQ(figure.plot.find("D_obs"), std::string::npos);
    EXPECT_NE(figure.plot.find("D_law"), std::string::npos);
    EXPECT_NE(figure.caption.find("do not cross"), std::string::npos);
}

TEST(Figures, OfTheRooflinePutStepsBelowTheRoof)
{
    SyntheticPlan plan;
    plan.noise = 1e-3;
    const Figures figures = figures_of(plan);
    const Figure& figure = figure_named(figures, "roofline");
    const Block roof = block_of(figure, "FLOP per byte, roof"), steps = block_of(figure, "FLOP per byte, rate");
    ASSERT_EQ(roof.size(), 6u) << "two roofs of three corners";
    EXPECT_NEAR(roof[1][0], 2e11 / 1.2e8, 0.01 * 2e11 / 1.2e8) << "the edge lies at C/W";
    EXPECT_NEAR(roof[1][1], 2e11, 0.01 * 2e11);
    ASSERT_EQ(steps.size(), 9u);
    for (const auto& step : steps) EXPECT_LT(step[1], std::min(1.01 * 2e11, 1.01 * 1.2e8 * step[0]));
}

TEST(Figures, OfTheRooflineTellRoofsApartOnlyWhereTheyAreTwo)
{
    SyntheticPlan plan;
    plan.noise = 1e-3;
    const auto of = [](const SyntheticPlan& its) { const Figures figures = figures_of(its); return figure_named(figures, "roofline").plot; };
    EXPECT_EQ(of(plan).find("waits at the lower only"), std::string::npos) << "an allreduce that reaches W";
    plan.machine.allreduce_efficiency = 0.7;
    EXPECT_NE(of(plan).find("waits at the lower only"), std::string::npos);
}

TEST(Figures, OfTheMemoryPutWhatWasMeasuredBelowItsRoof)
{
    Analysis analysis;
    Roofline roofline;
    roofline.M_bytes_per_s = test::estimate(1e10, 0.01);
    roofline.compute = {{ElementType::f32, test::estimate(1e11, 0.01), std::nullopt, 10}};
    const auto add = [&](PointKind kind, double intensity, double rate) {
        RooflinePoint point;
        point.point.kind = kind;
        point.rate_flop_per_s = test::estimate(rate, 0.02);
        point.intensity_flop_per_byte = intensity;
        roofline.points.push_back(point);
    };
    add(PointKind::dot, 0.25, 2.4e9);
    add(PointKind::cold_matmul, 40, 0.9e11);
    add(PointKind::arithmetic, INFINITY, 1.2e11); // in registers: no place on the axis
    analysis.roofline = roofline;
    Figures figures;
    add_memory_roofline_figures(analysis, figures);
    const Figure& figure = figure_named(figures, "memory-roofline");
    EXPECT_EQ(block_of(figure, "FLOP per byte, roof")[1], (Block::value_type{10, 1e11})) << "the edge lies at C/M";
    EXPECT_EQ(block_of(figure, "FLOP per byte, rate of a dot"), (Block{{0.25, 2.4e9, 2.4e9 * 0.98, 2.4e9 * 1.02}}));
    EXPECT_EQ(block_of(figure, "FLOP per byte, rate of a matmul").size(), 1u);
}

TEST(Figures, OfTheAllreduceHoldEverySize)
{
    const Figures figures = figures_of(SyntheticPlan{});
    const Block rates = block_of(figure_named(figures, "allreduce"), "V (byte), bus");
    ASSERT_EQ(rates.size(), 5u);
    for (const auto& rate : rates) EXPECT_NEAR(rate[1], 1.2e8, 0.05 * 1.2e8);
}

TEST(Figures, OfTheRegimesBendWithTheStartUp)
{
    SyntheticPlan plan;
    plan.machine.alpha_s = 1e-3;
    const Figures figures = figures_of(plan);
    const Block line = block_of(figure_named(figures, "regimes"), "B, D* with");
    ASSERT_GT(line.size(), 2u);
    EXPECT_GT(line.front()[1], 1.5 * line.back()[1]) << "small batches pay the start-up";
}

TEST(Figures, OfSeveralLaunchesPutEachAgainstTheLaw)
{
    std::vector<RunData> launches;
    for (const double W : {0.5e8, 1e8, 2e8}) {
        SyntheticPlan plan;
        plan.machine.W_bytes_per_s = W;
        plan.noise = 1e-3;
        launches.push_back(synthetic_run(plan));
    }
    const Block points = block_of(figure_named(figures_of(launches), "law"), "x, D_obs");
    ASSERT_EQ(points.size(), 3u);
    for (size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(points[i][0] / (2e11 / (0.5e8 * (1 << i))), 1, 0.02) << "C/W";
        EXPECT_NEAR(points[i][1] / points[i][0], 1, 0.03) << "D_obs/(s(P-1))";
    }
}

Crossover crossover_at(int32_t P, ElementType compute_type, double D_law)
{
    Crossover crossover = test::explained_crossover();
    crossover.P = P;
    crossover.compute_type = crossover.wire_type = compute_type;
    crossover.D_law = test::estimate(D_law, 0.01);
    crossover.D_obs = test::estimate(1.1 * D_law, 0.01);
    return crossover;
}

/// The law at each place of the figure, per byte and rank beside the first.
Block law_of(std::vector<Crossover> crossovers)
{
    Analysis analysis;
    analysis.crossovers = std::move(crossovers);
    const RunData run;
    Figures figures;
    add_law_figure(analysis, {&run, 1}, figures);
    return block_of(figure_named(figures, "law"), "x, law (");
}

TEST(Figures, OfOneLaunchHoldTheLawOfEachNumberOfRanksAndType)
{
    // s(P-1)C/W = 4·C/W on two ranks, 12·C/W on four, whose C/W is half; then 8·C/W in f64.
    const Block over_P = law_of({crossover_at(2, ElementType::f32, 4000), crossover_at(4, ElementType::f32, 6000)});
    EXPECT_EQ(over_P, (Block{{2, 1000}, {4, 500}}));
    const Block over_types = law_of({crossover_at(2, ElementType::f32, 4000), crossover_at(2, ElementType::f64, 4000)});
    ASSERT_GT(over_types.size(), 2u);
    for (const auto& row : over_types) EXPECT_EQ(row[0], row[1]) << "over C/W";
    EXPECT_LT(over_types.front()[0], 500);
    EXPECT_GT(over_types.back()[0], 1000);
}

TEST(Figures, OfRanksAppearWhereOneIsSlow)
{
    SyntheticPlan plan;
    plan.P = 4;
    plan.slow_rank = 2;
    const Figures figures = figures_of(plan);
    const Block medians = block_of(figure_named(figures, "ranks"), "rank, median");
    ASSERT_EQ(medians.size(), 4u);
    EXPECT_NEAR(medians[2][1], 2, 0.1);
    EXPECT_NEAR(medians[0][1], 1, 0.1);
}

TEST(Figures, OfManyRepetitionsStaySmall)
{
    SyntheticPlan plan;
    plan.passes = 30;
    plan.repetitions = 40;
    const Figures figures = figures_of(plan);
    const Figure& figure = figure_named(figures, "repetitions");
    EXPECT_LT(std::ranges::count(figure.data, '\n'), 4100);
    const Block comp = block_of(figure, "D, t_comp");
    const auto ratio = [](const auto& row) { return row[1]; };
    EXPECT_LT(std::ranges::min(comp, {}, ratio)[1], 0.95) << "the extremes are among them";
    EXPECT_GT(std::ranges::max(comp, {}, ratio)[1], 1.05);
}

TEST(Figures, AreOneForEachStrategyOrShape)
{
    RunData run = synthetic_run({});
    SyntheticPlan other;
    other.B = 512;
    RunData second = synthetic_run(other);
    const auto first_of_second = static_cast<int32_t>(run.points.size());
    run.points.insert(run.points.end(), second.points.begin(), second.points.end());
    for (int32_t& point : second.repetitions.point) point += first_of_second;
    append(run.repetitions, second.repetitions);
    const Figures figures = figures_of(std::vector{run});
    EXPECT_EQ(names_of(figures), (std::vector<std::string>{"crossover-1", "crossover-2", "roofline-1", "roofline-2", "regimes", "allreduce", "law",
                                                           "repetitions-1", "repetitions-2"}));
    EXPECT_EQ(block_of(figure_named(figures, "regimes"), "B, D_obs").size(), 2u);
    const Block law = block_of(figure_named(figures, "law"), "x, D_obs");
    ASSERT_EQ(law.size(), 2u) << "over V, in which the shapes differ";
    EXPECT_EQ(law[0][0], 4.0 * 1024 * 1024);
    EXPECT_EQ(law[1][0], 4.0 * 512 * 1024);
}

DirectedLink link(int32_t from, int32_t to, double bytes_per_s, bool within_host = false)
{
    DirectedLink its;
    its.from = from;
    its.to = to;
    its.within_host = within_host;
    its.W_bytes_per_s = test::estimate(bytes_per_s, 0.02);
    return its;
}

Figures link_figures(const LinkMap& map)
{
    Analysis analysis;
    analysis.links = map;
    return shardline::figures_of(analysis, {});
}

TEST(Figures, OfLinksPutTheSenderInTheRowAndRanksOfAHostTogether)
{
    LinkMap map;
    map.host_of_rank = {"a", "b", "a", "b"}; // on the axes: 0, 2, 1, 3
    map.links = {link(0, 1, 1e8), link(1, 0, 0.5e8), link(2, 3, 0.9e8), link(3, 2, 0.9e8), link(0, 2, 8e8, true), link(2, 0, 8e8, true)};
    const Figures figures = link_figures(map);
    EXPECT_EQ(names_of(figures), std::vector<std::string>{"links"});
    EXPECT_TRUE(figures.omitted.empty());
    const Figure& figure = figure_named(figures, "links");
    const Block cells = block_of(figure, "place of the receiver");
    ASSERT_EQ(cells.size(), 6u);
    EXPECT_EQ(cells[1], (Block::value_type{0, 2, 0.5e8, 0.5e8 * 0.98, 0.5e8 * 1.02, 1, 0}));
    EXPECT_EQ(cells[4], (Block::value_type{1, 0, 8e8, 8e8 * 0.98, 8e8 * 1.02, 0, 2}));
    EXPECT_NE(figure.setup.find("set cbrange [50:100]"), std::string::npos) << "the scale is that of links between hosts\n" << figure.setup;
    EXPECT_NE(figure.plot.find("slowest: 1 → 0, 50.00 MB/s, 50 % of the best"), std::string::npos) << figure.plot;
    EXPECT_NE(figure.plot.find("most uneven: 0 → 1, 100.0 MB/s; 1 → 0, 50.00 MB/s"), std::string::npos) << figure.plot;
    EXPECT_NE(figure.caption.find("1 → 0: 50.00 [49.00, 51.00]"), std::string::npos) << figure.caption;
    EXPECT_NE(figure.setup.find("set object rectangle from -0.5,1.5 to 0.5,2.5 front"), std::string::npos) << "the slowest is framed\n" << figure.setup;
}

TEST(Figures, OfEvenLinksCallNoPairUneven)
{
    LinkMap map;
    map.host_of_rank = {"a", "b"};
    map.links = {link(0, 1, 1e8), link(1, 0, 0.99e8)};
    const Figures figures = link_figures(map);
    const Figure& figure = figure_named(figures, "links");
    EXPECT_NE(figure.plot.find("slowest: 1 → 0"), std::string::npos);
    EXPECT_EQ(figure.plot.find("uneven"), std::string::npos);
    EXPECT_NE(figure.setup.find("set cbrange [50:100]"), std::string::npos) << "noise is no colour";
}

TEST(Figures, OfManyLinksNumberFewRanks)
{
    const RunData run = synthetic_links({.hosts = 24});
    const Figures figures = figures_of(std::vector{run});
    const Figure& figure = figure_named(figures, "links");
    EXPECT_EQ(block_of(figure, "place of the receiver").size(), 24u * 23);
    const std::string x_tics = figure.setup.substr(figure.setup.find("set xtics"), figure.setup.find('\n', figure.setup.find("set xtics")) - figure.setup.find("set xtics"));
    EXPECT_LE(std::ranges::count(x_tics, ','), 15);
    EXPECT_EQ(figure.plot.find("with labels"), std::string::npos);
}

TEST(Figures, OfAlgorithmsTellAllOfThemApart)
{
    std::vector<SyntheticAlgorithm> algorithms{{"", [](double V) { return 1e-5 + V / 1e8; }}};
    for (int i = 0; i < 8; ++i) algorithms.push_back({"algorithm" + std::to_string(i), [i](double V) { return 1e-5 + (i + 2) * V / 1e9; }});
    const RunData run = synthetic_allreduce(algorithms, 4, 1e9);
    const Analysis analysis = analyse({&run, 1});
    const Figures figures = shardline::figures_of(analysis, {&run, 1});
    EXPECT_EQ(names_of(figures), std::vector<std::string>{"allreduce-algorithms"});
    const Figure& figure = figure_named(figures, "allreduce-algorithms");
    std::set<std::string> looks, markers_and_dashes;
    std::istringstream lines(figure.plot);
    for (std::string line; std::getline(lines, line);)
        if (const size_t at = line.find("with linespoints "); at != std::string::npos) {
            const std::string its = line.substr(at, line.find(" title") - at);
            looks.insert(its);
            markers_and_dashes.insert(its.substr(its.find(" pt ")));
        }
    EXPECT_EQ(looks.size(), 9u);
    EXPECT_EQ(markers_and_dashes.size(), 9u) << "in black and white too";
    const Block rates = block_of(figure, "V (byte), bus"); // all of them, one block after the other
    ASSERT_EQ(rates.size(), 9u * 6);
    const AlgorithmTime& first = analysis.allreduce->sizes.front().algorithms.front();
    EXPECT_EQ(std::ranges::count_if(rates, [&](const auto& row) { return std::abs(row[1] / first.bus_bytes_per_s - 1) < 1e-9; }), 1);
    EXPECT_NE(figure.plot.find("bound: the link, W"), std::string::npos);
}

constexpr const char* hostile = "a'b\"c`touch pwned`$(touch pwned)\n!touch pwned\n@x {/Bold y}^2_3 <script>alert(1)</script> \\ \x1b[31m";

TEST(GnuplotString, IsOneConstantWhateverIsInIt)
{
    EXPECT_EQ(gnuplot_string("plain"), "'plain'");
    EXPECT_EQ(gnuplot_string("it's"), "'it''s'");
    const std::string quoted = gnuplot_string(hostile);
    EXPECT_EQ(quoted.find('\n'), std::string::npos);
    EXPECT_EQ(quoted.find('\x1b'), std::string::npos);
    EXPECT_EQ(std::ranges::count(quoted, '\'') % 2, 0) << "every quote within is doubled";
}

TEST(Figures, HoldTextOfAFileOnlyAsConstantsOfTheLanguage)
{
    RunData run = synthetic_run({});
    for (Point& point : run.points)
        if (!point.strategy.empty()) point.strategy = hostile;
    const Figures figures = figures_of(std::vector{run});
    ASSERT_EQ(figures.drawn.size(), 5u);
    for (const Figure& figure : figures.drawn) {
        EXPECT_EQ(figure.data.find("touch"), std::string::npos) << figure.name << ": numbers alone";
        std::string script = script_of(figure, Formats::all);
        EXPECT_NE(script.find("touch"), std::string::npos) << figure.name;
        // Without its single-quoted constants nothing of the text is left.
        std::string outside;
        bool inside = false;
        for (const char c : script) {
            if (c == '\'') inside = !inside;
            else if (!inside) outside += c;
            else ASSERT_NE(c, '\n') << figure.name << ": a constant ends in its line";
        }
        for (const char* word : {"touch", "script>", "`", "$(t", "Bold"}) EXPECT_EQ(outside.find(word), std::string::npos) << figure.name << ": " << word;
    }
}

TEST(Figures, TurnOffEnhancedTextInEveryFormat)
{
    const std::string script = script_of(figure_named(figures_of(SyntheticPlan{}), "crossover"), Formats::all);
    size_t terminals = 0;
    for (size_t at = script.find("set terminal "); at != std::string::npos; at = script.find("set terminal ", at + 1)) {
        ++terminals;
        EXPECT_NE(script.substr(at, script.find('\n', at) - at).find(" noenhanced "), std::string::npos);
    }
    EXPECT_EQ(terminals, 3u);
    EXPECT_EQ(script_of(figure_named(figures_of(SyntheticPlan{}), "crossover"), Formats::svg).find("png"), std::string::npos);
}

} // namespace
} // namespace shardline
