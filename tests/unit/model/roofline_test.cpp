// A machine whose C and M are known: what the analysis makes of its times.

#include "model/analysis.hpp"
#include "model/law.hpp"
#include "model/roofline.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardline {
namespace {

using Machine = SyntheticProcessor;

const Claim& claim_of(const Analysis& analysis, std::string_view begins)
{
    return *std::ranges::find_if(analysis.claims, [&](const Claim& claim) { return claim.name.starts_with(begins); });
}

TEST(LeastVectorBytes, AreFourTimesTheCachesOfAMachineOverItsRanks)
{
    std::vector<RankInfo> ranks(3);
    ranks[0].machine = ranks[1].machine = "a", ranks[2].machine = "b";
    for (RankInfo& rank : ranks) rank.cache_bytes = 100;
    EXPECT_EQ(least_vector_bytes(ranks), 400); // b has one rank
    EXPECT_EQ(least_vector_bytes(std::span(ranks).first(2)), 200);
    ranks[2].cache_bytes = 0;
    EXPECT_EQ(least_vector_bytes(ranks), int64_t{4} * 64 << 20);
}

TEST(BatchOfIntensity, InvertsTheIntensity)
{
    for (const double B : {1.0, 30.0, 1000.0})
        EXPECT_NEAR(batch_of_intensity(matmul_intensity(B, 4096, 2048, 4, 4, 4), 4096, 2048, 4), B, 1e-9 * B);
    EXPECT_TRUE(std::isinf(batch_of_intensity(1000, 512, 512, 4))); // such small matrices never reach it
}

TEST(Roofline, GivesBackWhatWasPlanted)
{
    const Machine machine;
    const RunData run = synthetic_roofline(machine);
    const Analysis analysis = analyse({&run, 1});
    ASSERT_TRUE(analysis.roofline);
    const Roofline& roofline = *analysis.roofline;
    EXPECT_NEAR(roofline.M_bytes_per_s->value, machine.M, 0.01 * machine.M);
    const auto f32 = std::ranges::find(roofline.compute, ElementType::f32, &ComputeRate::type);
    EXPECT_NEAR(f32->C_flop_per_s->value, machine.C, 0.01 * machine.C);
    EXPECT_NEAR(f32->arithmetic_flop_per_s->value, 1.1 * machine.C, 0.011 * machine.C);
    EXPECT_NEAR(*f32->ridge_flop_per_byte, 10, 0.2);
    ASSERT_EQ(roofline.batches.size(), 1u);
    EXPECT_NEAR(*roofline.batches[0].B_law, 20.2, 0.3); // s·C/(2M), and a little for X and Z
    EXPECT_NEAR(roofline.batches[0].B_obs->value, 20, 0.6);
    EXPECT_EQ(analysis.verdict, Verdict::holds) << analysis.reason;
    for (const RooflinePoint& point : roofline.points) {
        if (!point.reached || point.point.kind == PointKind::matmul) continue;
        EXPECT_NEAR(*point.reached, 1, 0.02) << name_of(point.point);
    }
}

TEST(Roofline, ArraysWithinTheCachesGiveNoMemoryBandwidth)
{
    Machine machine;
    machine.cache_bytes = int64_t{1} << 30; // two ranks' arrays are twice the cache
    const RunData run = synthetic_roofline(machine);
    const Analysis analysis = analyse({&run, 1});
    EXPECT_FALSE(analysis.roofline->M_bytes_per_s);
    EXPECT_EQ(std::ranges::count(analysis.findings, "cache_resident", &Finding::code), 1);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
}

TEST(Roofline, ADotProductBelowMemoryIsRefuted)
{
    Machine machine;
    machine.dot_share = 0.5;
    const RunData run = synthetic_roofline(machine);
    const Analysis analysis = analyse({&run, 1});
    EXPECT_EQ(claim_of(analysis, "dot_at").verdict, Verdict::refuted);
    const auto dot = std::ranges::find_if(analysis.roofline->points, [](const auto& p) { return p.point.kind == PointKind::dot; });
    EXPECT_NEAR(*dot->reached, 0.5, 0.01);
    EXPECT_FALSE(dot->suspect.empty());
}

TEST(Roofline, ReadsThatATriadDoesNotCountExplainAFasterDotProduct)
{
    Machine machine;
    machine.dot_share = 1.33;
    const RunData run = synthetic_roofline(machine);
    EXPECT_EQ(claim_of(analyse({&run, 1}), "dot_at").verdict, Verdict::explained);
    machine.dot_share = 2;
    const RunData cached = synthetic_roofline(machine);
    EXPECT_EQ(claim_of(analyse({&cached, 1}), "dot_at").verdict, Verdict::refuted);
}

TEST(Roofline, PackingExplainsALargerCriticalBatch)
{
    Machine machine;
    machine.packing = 3;
    const RunData run = synthetic_roofline(machine);
    const Analysis analysis = analyse({&run, 1});
    const Claim& claim = claim_of(analysis, "compute_bound_batch");
    EXPECT_EQ(claim.verdict, Verdict::explained) << claim.reason;
    EXPECT_NE(claim.reason.find("33 % of M"), std::string::npos) << claim.reason;
    EXPECT_NEAR(analysis.roofline->batches[0].B_obs->value, 60, 2);
}

TEST(Roofline, TimesThatGrowFromTheFirstRowOnRefuteTheRidge)
{
    Machine machine;
    machine.matmul_overlap = 0.9;
    const RunData run = synthetic_roofline(machine);
    EXPECT_EQ(claim_of(analyse({&run, 1}), "compute_bound_batch").verdict, Verdict::refuted);
}

TEST(Roofline, BatchesOnOneSideOfTheRidgeAreInconclusive)
{
    Machine machine;
    machine.B = {1, 2, 4, 8};
    const RunData run = synthetic_roofline(machine);
    const Claim claim = claim_of(analyse({&run, 1}), "compute_bound_batch");
    EXPECT_EQ(claim.verdict, Verdict::inconclusive);
    EXPECT_NE(claim.reason.find("give B on both sides"), std::string::npos);
}

TEST(Roofline, ARunOfCrossoversHasNone)
{
    RunData run = synthetic_roofline({});
    std::erase_if(run.points, [](const Point&) { return true; });
    run.repetitions = {};
    run.repetitions.ranks = 2;
    EXPECT_FALSE(analyse({&run, 1}).roofline);
}

} // namespace
} // namespace shardline
