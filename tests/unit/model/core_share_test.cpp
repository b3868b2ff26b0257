// Ranks that get a planted part of their core.

#include "model/core_share.hpp"
#include "model/links.hpp"
#include "model/samples.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace shardline {
namespace {

struct Ranks {
    std::vector<double> share;       ///< of each rank
    std::vector<std::string> cores;  ///< that each may use
    double noise = 0.05;
    uint64_t seed = 1;
    PointKind kind = PointKind::arithmetic;
};

RunData run_of(const Ranks& ranks)
{
    std::mt19937_64 random(ranks.seed);
    std::uniform_real_distribution<double> lost(0, ranks.noise);
    RunData run;
    run.repetitions.ranks = static_cast<int32_t>(ranks.share.size());
    for (size_t rank = 0; rank < ranks.share.size(); ++rank) {
        run.ranks.emplace_back();
        run.ranks.back().host = "n" + std::to_string(rank);
        run.ranks.back().machine = "one";
        run.ranks.back().allowed_cores = ranks.cores[rank];
    }
    run.points.push_back({.kind = ranks.kind, .B = 1, .D = 1000, .F = 1, .P = run.repetitions.ranks, .strategy = "", .tiles = ""});
    Repetitions& r = run.repetitions;
    for (int32_t i = 0; i < 12; ++i) {
        begin_row(r, 0, i / 3, i % 3);
        for (const double share : ranks.share) {
            const double elapsed_s = 0.1 / share * (1 + lost(random));
            r.comp_begin_ns.push_back(1000);
            r.comp_end_ns.push_back(1000 + std::llround(1e9 * elapsed_s));
            r.main_cpu_ns.push_back(std::llround(1e9 * 0.1));
            for (auto* column : {&r.comm_begin_ns, &r.comm_end_ns, &r.comm_cpu_ns}) column->push_back(Repetitions::no_reading);
            r.peer.push_back(-1);
        }
    }
    check_run(run);
    return run;
}

std::vector<int32_t> taken(const Ranks& ranks)
{
    const RunData run = run_of(ranks);
    std::vector<int32_t> names;
    for (const CoreShare& core : core_shares_of({&run, 1}))
        if (core.is_taken()) names.push_back(core.rank);
    return names;
}

using Names = std::vector<int32_t>;

TEST(CoreShare, NamesTheRankThatGetsHalfACore)
{
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        EXPECT_EQ(taken({.share = {1, 0.5, 1}, .cores = {"0", "1", "2"}, .seed = seed}), Names{1});
        EXPECT_EQ(taken({.share = {1, 1, 1}, .cores = {"0", "1", "2"}, .seed = seed}), Names{});
        EXPECT_EQ(taken({.share = {0.9, 0.8, 1}, .cores = {"0", "1", "2"}, .noise = 0.02, .seed = seed}), Names{});
    }
}

TEST(CoreShare, AllowsForRanksThatAreBoundToOneCore)
{
    EXPECT_EQ(taken({.share = {0.5, 1, 0.5}, .cores = {"0", "1", "0"}}), Names{});
    EXPECT_EQ(taken({.share = {0.33, 1, 0.33}, .cores = {"0", "1", "0"}}), (Names{0, 2}));
    EXPECT_EQ(taken({.share = {0.67, 0.67, 0.67}, .cores = {"0-1", "0-1", "0-1"}}), Names{});
    EXPECT_EQ(taken({.share = {0.5, 0.5}, .cores = {"0,4-6", "0,4-6"}}), (Names{0, 1}));
    EXPECT_EQ(taken({.share = {0.5, 1}, .cores = {"", "no list"}}), Names{0}) << "cores that are not known are taken for whole ones";
}

TEST(CoreShare, IsOfArithmeticWhoseCpuTimeWasRecorded)
{
    RunData run = run_of({.share = {0.5, 1}, .cores = {"0", "1"}});
    EXPECT_EQ(core_shares_of({&run, 1}).size(), 2u);
    run.repetitions.main_cpu_ns.assign(run.repetitions.main_cpu_ns.size(), Repetitions::no_reading);
    EXPECT_TRUE(core_shares_of({&run, 1}).empty());
    run = run_of({.share = {0.5, 1}, .cores = {"0", "1"}, .kind = PointKind::matmul});
    EXPECT_TRUE(core_shares_of({&run, 1}).empty());
}

TEST(CoreShare, IsAClaimOfLinks)
{
    const auto claim_of = [](double share) {
        RunData run = run_of({.share = {1, share}, .cores = {"0", "1"}});
        run.points.push_back({.kind = PointKind::link, .P = 2, .message_bytes = 8, .segment_bytes = 8, .strategy = "", .algorithm = "forth", .tiles = ""});
        const LinkMap map = *link_map_of({&run, 1});
        EXPECT_EQ(map.findings.size(), share < 0.75 ? 1u : 0u);
        for (const Finding& finding : map.findings) {
            EXPECT_EQ(finding.code, "core_taken");
            EXPECT_EQ(finding.rank, 1);
        }
        return map.claims.back();
    };
    EXPECT_EQ(claim_of(1).name, "whole_cores");
    EXPECT_EQ(claim_of(1).verdict, Verdict::holds);
    EXPECT_EQ(claim_of(0.5).verdict, Verdict::refuted);
    EXPECT_NE(claim_of(0.5).reason.find("rank 1 on host n1 gets 4"), std::string::npos) << claim_of(0.5).reason;
}

} // namespace
} // namespace shardline
