#include "postprocess/text_plot.hpp"

#include "fake_analysis.hpp"
#include "postprocess/utf8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace shardline {
namespace {

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(TextPlot, FitsTheWidthAndHasNoEscapes)
{
    for (const int width : {40, 80, 100}) {
        const std::string text = crossover_plots(test::explained_analysis(), width);
        size_t widest = 0;
        for (const std::string& line : lines_of(text)) widest = std::max(widest, character_count(line));
        EXPECT_LE(widest, static_cast<size_t>(width)) << text;
        EXPECT_GE(widest, static_cast<size_t>(width) - 2) << text;
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
}

TEST(TextPlot, ShowsEveryPointWhereItLies)
{
    Analysis analysis = test::explained_analysis();
    analysis.points.back().t_step_s = test::estimate(2, 0.01); // in a row of its own
    const std::vector<std::string> lines = lines_of(crossover_plots(analysis, 80));
    // Heading after an empty line, then 16 rows, the highest first. t_step at the largest D is the largest time, t_comp at the smallest D the smallest.
    ASSERT_GT(lines.size(), 18u);
    EXPECT_TRUE(lines[2].ends_with("#")) << lines[2];
    EXPECT_TRUE(lines[2].find(" s +") != std::string::npos) << "a tick with its unit";
    EXPECT_EQ(lines[17].find('x'), 11u) << "column 0 of the plot: " << lines[17];
    size_t comp = 0;
    for (const std::string& line : lines) comp += static_cast<size_t>(std::ranges::count(line.substr(std::min<size_t>(10, line.size())), 'x'));
    EXPECT_GE(comp, 6u) << "six points";
}

TEST(TextPlot, MarksTheCrossovers)
{
    const std::vector<std::string> lines = lines_of(crossover_plots(test::explained_analysis(), 80));
    const auto column_of = [&](const std::string& mark) {
        for (const std::string& line : lines)
            if (const size_t at = line.find(mark); at != std::string::npos) return at;
        return std::string::npos;
    };
    const size_t law = column_of("^law"), obs = column_of("^obs");
    // 69 columns from 512 to 81920 in logarithms, after 11.
    EXPECT_EQ(law, 11 + std::lround(std::log(7395.0 / 512) / std::log(160.0) * 68));
    EXPECT_EQ(obs, 11 + std::lround(std::log(10597.0 / 512) / std::log(160.0) * 68));
}

TEST(TextPlot, SaysWhereThereIsNothing)
{
    Analysis analysis;
    EXPECT_NE(crossover_plots(analysis, 80).find("Nothing to plot"), std::string::npos);
    analysis = test::explained_analysis();
    analysis.crossovers[0].D_obs.reset();
    EXPECT_NE(crossover_plots(analysis, 80).find("do not cross"), std::string::npos);
    for (PointSummary& point : analysis.points) point.t_comp_s = point.t_comm_s = point.t_step_s = std::nullopt;
    EXPECT_NE(crossover_plots(analysis, 80).find("nothing to plot"), std::string::npos);
}

} // namespace
} // namespace shardline
