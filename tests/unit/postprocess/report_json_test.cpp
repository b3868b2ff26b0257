#include "postprocess/report_json.hpp"

#include "fake_analysis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace shardline {
namespace {

using Json = nlohmann::json;

Json json_of(const Analysis& analysis, const std::vector<RunData>& runs = {test::finished_run()})
{
    return Json::parse(report_json(analysis, runs));
}

TEST(ReportJson, HoldsTheVerdictAndWhatItRestsOn)
{
    const Json json = json_of(test::explained_analysis());
    EXPECT_EQ(json["schema"], "shardline-report");
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_EQ(json["verdict"], "explained");
    EXPECT_EQ(json["status"], "complete");
    EXPECT_EQ(json["files"][0]["path"], "run.h5");
    EXPECT_EQ(json["files"][0]["hosts"], (Json{"n0", "n1"}));
    EXPECT_EQ(json["findings"][1], (Json{{"code", "oversubscribed"}, {"severity", "warning"}, {"rank", 1},
                                         {"text", test::explained_analysis().findings[1].text}}));
    EXPECT_EQ(json["findings"][0]["rank"], nullptr);
}

TEST(ReportJson, HoldsEveryCrossover)
{
    const Json crossover = json_of(test::explained_analysis())["crossovers"][0];
    EXPECT_EQ(crossover["B"], 1024);
    EXPECT_EQ(crossover["F"], 1024);
    EXPECT_EQ(crossover["P"], 2);
    EXPECT_EQ(crossover["compute"], "f32");
    EXPECT_EQ(crossover["wire"], "f32");
    EXPECT_EQ(crossover["strategy"], "mpi_allreduce");
    EXPECT_EQ(crossover["D_law"], 7395);
    EXPECT_EQ(crossover["D_model"], 10640);
    EXPECT_EQ(crossover["D_obs"], 10597);
    EXPECT_EQ(crossover["D_obs_ci"], (Json{10597 * 0.98, 10597 * 1.02}));
    EXPECT_EQ(crossover["ratio"], 10597.0 / 7395);
    EXPECT_EQ(crossover["factors"]["allreduce_bandwidth"], 1.44);
    EXPECT_EQ(crossover["verdict"], "explained");
}

TEST(ReportJson, HoldsEveryPointInSeconds)
{
    const Json points = json_of(test::explained_analysis())["points"];
    ASSERT_EQ(points.size(), 6u);
    EXPECT_EQ(points[0]["B"], 1024);
    EXPECT_EQ(points[0]["F"], 1024);
    EXPECT_EQ(points[0]["D"], 512);
    EXPECT_EQ(points[0]["P"], 2);
    EXPECT_DOUBLE_EQ(points[0]["t_comm_s"].get<double>(), 50.5e-3);
    EXPECT_EQ(points[0]["t_comm_ci"].size(), 2u);
    EXPECT_EQ(points[0]["n"], 30);
    EXPECT_EQ(points[0]["confidence"], 0.95);
}

TEST(ReportJson, HoldsTheCalibration)
{
    const Json calibration = json_of(test::explained_analysis())["calibration"];
    EXPECT_EQ(calibration["C_flop_per_s"], 2.2e11);
    EXPECT_EQ(calibration["W_bytes_per_s"], 1.19e8);
    EXPECT_EQ(calibration["alpha_s"], 41e-6);
    EXPECT_EQ(calibration["C_ci"].size(), 2u);
    EXPECT_EQ(calibration["W_segment_bytes"], 131072);
}

TEST(ReportJson, IsNullWhereThereIsNothing)
{
    Analysis analysis = test::explained_analysis();
    analysis.calibration = {};
    analysis.crossovers[0].D_obs.reset();
    analysis.crossovers[0].ratio.reset();
    analysis.crossovers[0].D_law->high = INFINITY;
    analysis.points[0].t_comp_s.reset();
    const Json json = json_of(analysis, {});
    EXPECT_EQ(json["calibration"]["C_flop_per_s"], nullptr);
    EXPECT_EQ(json["calibration"]["C_ci"], nullptr);
    EXPECT_EQ(json["crossovers"][0]["D_obs"], nullptr);
    EXPECT_EQ(json["crossovers"][0]["D_obs_ci"], nullptr);
    EXPECT_EQ(json["crossovers"][0]["ratio"], nullptr);
    EXPECT_EQ(json["crossovers"][0]["D_law_ci"][1], nullptr);
    EXPECT_EQ(json["points"][0]["t_comp_s"], nullptr);
    EXPECT_EQ(json["points"][0]["t_comp_ci"], nullptr);
    EXPECT_EQ(json["files"], Json::array());
}

TEST(ReportJson, HasItsListsWhereTheyAreEmpty)
{
    const Json json = json_of(Analysis{}, {});
    for (const char* list : {"crossovers", "points", "findings", "files"}) EXPECT_EQ(json[list], Json::array()) << list;
    EXPECT_EQ(json["verdict"], "inconclusive");
}

TEST(ReportJson, TellsTheStatusOfTheFirstRunThatIsNotComplete)
{
    RunData running = test::finished_run("b.h5");
    running.status = RunStatus::running;
    EXPECT_EQ(json_of(test::explained_analysis(), {test::finished_run(), running})["status"], "running");
}

TEST(ReportJson, ReplacesBytesThatAreNotUtf8)
{
    RunData run = test::finished_run("\xff.h5");
    run.ranks[0].host = "n\xc3";
    run.provenance.emplace_back("\xfe", "\xfe");
    Analysis analysis = test::explained_analysis();
    analysis.findings[0].text = "\x1b\xff";
    analysis.crossovers[0].strategy = "\xff";
    Json json;
    ASSERT_NO_THROW(json = json_of(analysis, {run}));
    EXPECT_EQ(json["files"][0]["path"], "\xef\xbf\xbd.h5");
    EXPECT_EQ(report_json(analysis, std::vector{run}).find('\x1b'), std::string::npos);
}

} // namespace
} // namespace shardline
