// A machine whose C and M are known: what the analysis makes of its times.

#include "model/analysis.hpp"
#include "model/law.hpp"
#include "model/roofline.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardline {
namespace {

struct Machine {
    double C = 1e11, M = 1e10;
    double dot_share = 1;       ///< of M that a dot product moves
    double packing = 1;         ///< a matmul reads Y at M / packing
    double matmul_overlap = 1;  ///< exponent with which matmuls grow with B
    int64_t vector_bytes = int64_t{1} << 30;
    int64_t cache_bytes = int64_t{64} << 20;
    std::vector<int64_t> B{1, 2, 4, 8, 16, 32, 64, 128, 256};
};

void add(RunData& run, PointKind kind, int64_t B, int64_t K, int64_t F, double seconds)
{
    constexpr int32_t P = 2;
    run.points.push_back({.kind = kind, .B = B, .D = K * P, .F = F, .P = P, .strategy = "", .tiles = ""});
    run.points.back().compute_type = kind == PointKind::triad ? ElementType::f64 : ElementType::f32;
    Repetitions& r = run.repetitions;
    for (int32_t i = 0; i < 24; ++i) {
        begin_row(r, run.points.size() - 1, i / 3, i % 3);
        for (int rank = 0; rank < P; ++rank) {
            const double noise = 1 + 0.002 * ((i * 7 + rank * 3) % 5 - 2);
            r.comp_begin_ns.push_back(1000);
            r.comp_end_ns.push_back(1000 + std::llround(1e9 * seconds * noise));
            for (auto* column : {&r.comm_begin_ns, &r.comm_end_ns, &r.main_cpu_ns, &r.comm_cpu_ns}) column->push_back(-1);
            r.peer.push_back(-1);
        }
    }
}

RunData run_on(const Machine& machine)
{
    RunData run;
    run.repetitions.ranks = 2;
    for (int rank = 0; rank < 2; ++rank) {
        run.ranks.push_back({});
        run.ranks.back().machine = "m";
        run.ranks.back().cache_bytes = machine.cache_bytes;
    }
    const double bytes = static_cast<double>(machine.vector_bytes);
    add(run, PointKind::triad, 1, machine.vector_bytes / 8, 1, 3 * bytes / machine.M);
    add(run, PointKind::arithmetic, 1, 1 << 30, 1, 2.0 * (1 << 30) / (1.1 * machine.C));
    add(run, PointKind::dot, 1, machine.vector_bytes / 4, 1, 2 * bytes / (machine.dot_share * machine.M));
    for (const int64_t n : {512, 1024}) add(run, PointKind::matmul, n, n, n, 2 * std::pow(static_cast<double>(n), 3) / machine.C);
    for (const int64_t B : machine.B) {
        const double b = static_cast<double>(B), n = 4096;
        const double memory_s = 4 * (2 * b * n + n * n) * machine.packing / machine.M;
        const double compute_s = matmul_flops(b, n, n) / machine.C;
        const double seconds = machine.matmul_overlap == 1 ? std::max(memory_s, compute_s) : memory_s * std::pow(b, machine.matmul_overlap);
        add(run, PointKind::cold_matmul, B, 4096, 4096, seconds);
    }
    return run;
}

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
    const RunData run = run_on(machine);
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
    const RunData run = run_on(machine);
    const Analysis analysis = analyse({&run, 1});
    EXPECT_FALSE(analysis.roofline->M_bytes_per_s);
    EXPECT_EQ(std::ranges::count(analysis.findings, "cache_resident", &Finding::code), 1);
    EXPECT_EQ(analysis.verdict, Verdict::inconclusive);
}

TEST(Roofline, ADotProductBelowMemoryIsRefuted)
{
    Machine machine;
    machine.dot_share = 0.5;
    const RunData run = run_on(machine);
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
    const RunData run = run_on(machine);
    EXPECT_EQ(claim_of(analyse({&run, 1}), "dot_at").verdict, Verdict::explained);
    machine.dot_share = 2;
    const RunData cached = run_on(machine);
    EXPECT_EQ(claim_of(analyse({&cached, 1}), "dot_at").verdict, Verdict::refuted);
}

TEST(Roofline, PackingExplainsALargerCriticalBatch)
{
    Machine machine;
    machine.packing = 3;
    const RunData run = run_on(machine);
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
    const RunData run = run_on(machine);
    EXPECT_EQ(claim_of(analyse({&run, 1}), "compute_bound_batch").verdict, Verdict::refuted);
}

TEST(Roofline, BatchesOnOneSideOfTheRidgeAreInconclusive)
{
    Machine machine;
    machine.B = {1, 2, 4, 8};
    const RunData run = run_on(machine);
    const Claim claim = claim_of(analyse({&run, 1}), "compute_bound_batch");
    EXPECT_EQ(claim.verdict, Verdict::inconclusive);
    EXPECT_NE(claim.reason.find("give B on both sides"), std::string::npos);
}

TEST(Roofline, ARunOfCrossoversHasNone)
{
    RunData run = run_on({});
    std::erase_if(run.points, [](const Point&) { return true; });
    run.repetitions = {};
    run.repetitions.ranks = 2;
    EXPECT_FALSE(analyse({&run, 1}).roofline);
}

} // namespace
} // namespace shardline
