// Every row of the table of reference numbers, and the law's general form.

#include "model/law.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

// Peak FLOP/s, memory bandwidth and one-way link bandwidth as the book gives them.
constexpr double v5e_bf16 = 1.97e14, v5e_int8 = 3.94e14, v5e_hbm = 8.2e11, v5e_link = 4.5e10;
constexpr double h100_bf16 = 9.89e14, h100_hbm = 3.35e12;
constexpr double v6e_bf16 = 9.1e14, v6e_hbm = 1.6e12;
constexpr double very_large = 1e9;

TEST(ReferenceTable, OneTeraFlopTakesAboutAMillisecond)
{
    // 2 · 1000 · 10 000 · 50 000 = 1e12
    EXPECT_DOUBLE_EQ(matmul_flops(1000, 10000, 50000), 1e12);
    EXPECT_NEAR(comp_time_s(1000, 10000, 50000, 1, h100_bf16), 1.011122e-3, 1e-9);
    EXPECT_NEAR(comp_time_s(1000, 10000, 50000, 1, v6e_bf16), 1.098901e-3, 1e-9);
    EXPECT_NEAR(comp_time_s(1000, 10000, 50000, 1, h100_bf16), 1.01e-3, 0.005e-3);
    EXPECT_NEAR(comp_time_s(1000, 10000, 50000, 1, v6e_bf16), 1.10e-3, 0.005e-3);
}

TEST(ReferenceTable, CriticalIntensityOfV5e)
{
    const double critical = critical_intensity(v5e_bf16, v5e_hbm);
    EXPECT_NEAR(critical, 240, 0.5);
    EXPECT_NEAR(critical, 240.2439, 1e-4);
    EXPECT_LT(dot_intensity(very_large, 2), critical); // memory-bound
    EXPECT_NEAR(critical_batch(2, v5e_bf16, v5e_hbm), 240.2439, 1e-4);
    EXPECT_LT(matmul_intensity(240, very_large, very_large, 2, 2, 2), critical);
    EXPECT_GT(matmul_intensity(241, very_large, very_large, 2, 2, 2), critical);
}

TEST(ReferenceTable, CriticalBatchOfH100)
{
    EXPECT_NEAR(critical_batch(2, h100_bf16, h100_hbm), 295, 0.5);
    EXPECT_NEAR(critical_batch(2, h100_bf16, h100_hbm), 295.2239, 1e-4);
}

TEST(ReferenceTable, Int8MatmulOnV5e)
{
    const double B = 64;
    EXPECT_NEAR(matmul_intensity(B, very_large, very_large, 1, 1, 1), 2 * B, 1e-4);
    EXPECT_NEAR(critical_batch(1, v5e_int8, v5e_hbm), 240, 0.5);
    EXPECT_NEAR(critical_batch(1, v5e_int8, v5e_hbm), 240.2439, 1e-4);
}

TEST(ReferenceTable, Int8WeightsWithBf16Activations)
{
    const double B = 64;
    EXPECT_NEAR(matmul_intensity(B, very_large, very_large, 2, 1, 2), 2 * B, 1e-4);
    EXPECT_NEAR(critical_batch(1, v5e_bf16, v5e_hbm), 120, 0.5);
    EXPECT_NEAR(critical_batch(1, v5e_bf16, v5e_hbm), 120.1220, 1e-4);
}

TEST(ReferenceTable, OneInt8MatrixPerBatchRowIsAlwaysMemoryBound)
{
    // B rows, each with a matrix of its own: B times the FLOPs and B times the bytes of one row.
    EXPECT_NEAR(matmul_intensity(1, very_large, very_large, 1, 1, 1), 2, 1e-8);
    EXPECT_LT(matmul_intensity(1, very_large, very_large, 1, 1, 1), critical_intensity(v5e_int8, v5e_hbm));
}

TEST(ReferenceTable, TwoChipsThatShareD)
{
    EXPECT_NEAR(D_star(2, 2, v5e_bf16, v5e_link), 8755.56, 0.005);
    EXPECT_NEAR(D_star(2, 2, v5e_bf16, v5e_link) / 2, 4377.78, 0.005);
    // The book's own form for this case: D > 2 · (FLOP/s) / bandwidth.
    EXPECT_DOUBLE_EQ(D_star(2, 2, v5e_bf16, v5e_link), 2 * v5e_bf16 / v5e_link);
}

TEST(ReferenceTable, CriticalIntensityFromHbm)
{
    EXPECT_NEAR(critical_intensity(h100_bf16, h100_hbm), 295.2239, 1e-4);
    EXPECT_NEAR(critical_intensity(v6e_bf16, v6e_hbm), 568.75, 1e-9);
}

TEST(Law, TwoIsTheBytesOfABf16AndNotAConstantOfNature)
{
    const double C = 2.2e11, W = 1.19e8;
    EXPECT_DOUBLE_EQ(D_star(4, 2, C, W), 4 * C / W);
    EXPECT_DOUBLE_EQ(D_star(8, 4, C, W), 24 * C / W);
    EXPECT_DOUBLE_EQ(D_star(2, 9, C, W), 16 * C / W);
}

TEST(Law, CrossoverIsWhereTheTwoTimesAreEqual)
{
    const double C = 3e11, W = 2e9;
    const int64_t B = 512, F = 2048;
    for (int64_t P : {2, 3, 8})
        for (double s : {2.0, 4.0, 8.0}) {
            const double V = s * 512 * 2048;
            const auto D =
                static_cast<int64_t>(D_star(s, P, C, W)) / P * P; // a multiple of P, so that ⌈D/P⌉ = D/P
            const double t_comm = allreduce_bandwidth_bound_s(V, P, W);
            EXPECT_LE(comp_time_s(B, D, F, P, C), t_comm) << "P = " << P << ", s = " << s;
            EXPECT_GT(comp_time_s(B, D + P, F, P, C), t_comm) << "P = " << P << ", s = " << s;
        }
}

TEST(Law, RingCrossoverIncludesTheStartUpTime)
{
    const double C = 3e11, W = 2e9, alpha = 2e-5, B = 512, F = 2048, s = 4;
    const int64_t P = 4;
    const double D = D_star_ring(s, P, C, W, alpha, B, F);
    EXPECT_DOUBLE_EQ(D, D_star(s, P, C, W) + 12 * alpha * C / (B * F));
    const double t_comp = matmul_flops(B, D / 4, F) / C;
    EXPECT_NEAR(t_comp, allreduce_time_s(AllreduceAlgorithm::ring, s * B * F, P, alpha, W), 1e-12);
    // In the bandwidth regime the batch does not matter.
    EXPECT_NEAR(D_star_ring(s, P, C, W, alpha, 1e6, F) / D_star(s, P, C, W), 1, 1e-4);
}

TEST(Law, AllreduceTimes)
{
    const double V = 1e6, W = 1e8, alpha = 1e-4;
    EXPECT_DOUBLE_EQ(allreduce_bandwidth_bound_s(V, 2, W), 0.01);
    EXPECT_DOUBLE_EQ(allreduce_bandwidth_bound_s(V, 4, W), 0.015);
    EXPECT_DOUBLE_EQ(allreduce_time_s(AllreduceAlgorithm::ring, V, 4, alpha, W), 6e-4 + 0.015);
    EXPECT_DOUBLE_EQ(allreduce_time_s(AllreduceAlgorithm::recursive_doubling, V, 4, alpha, W),
                     2 * (1e-4 + 0.01));
    EXPECT_DOUBLE_EQ(allreduce_time_s(AllreduceAlgorithm::recursive_doubling, V, 5, alpha, W),
                     3 * (1e-4 + 0.01));
    EXPECT_DOUBLE_EQ(allreduce_time_s(AllreduceAlgorithm::tree, V, 4, alpha, W), 4 * (1e-4 + 0.01));
}

// algorithmic bandwidth V/t, bus bandwidth 2(P-1)/P V/t = W · (bound / t)
TEST(Law, BusBandwidthIsAlgorithmicBandwidthForTwoRanksOnly)
{
    const double V = 1e6, W = 1e8, t = 0.02;
    const auto bus_bandwidth = [&](int P) { return W * allreduce_bandwidth_bound_s(V, P, W) / t; };
    EXPECT_DOUBLE_EQ(bus_bandwidth(2), V / t);
    EXPECT_DOUBLE_EQ(bus_bandwidth(4), 1.5 * V / t);
    EXPECT_DOUBLE_EQ(bus_bandwidth(8), 1.75 * V / t);
}

TEST(Law, OneRankHasNothingToSum)
{
    EXPECT_EQ(allreduce_bandwidth_bound_s(1e6, 1, 1e8), 0);
    EXPECT_EQ(D_star(4, 1, 1e11, 1e8), 0);
    for (auto algorithm :
         {AllreduceAlgorithm::ring, AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::tree})
        EXPECT_EQ(allreduce_time_s(algorithm, 1e6, 1, 1e-4, 1e8), 0);
}

TEST(Law, TheLargestShardDecides)
{
    EXPECT_DOUBLE_EQ(comp_time_s(10, 100, 10, 3, 1e9), 2.0 * 10 * 34 * 10 / 1e9);
    EXPECT_DOUBLE_EQ(comp_time_s(1, 1, 1, 3, 1e9), 2e-9); // D < P: one rank has all
}

TEST(Law, StepBounds)
{
    const StepBounds bounds = step_bounds(3.0, 2.0);
    EXPECT_EQ(bounds.lower_s, 3.0);
    EXPECT_EQ(bounds.upper_s, 5.0);
    EXPECT_LE(bounds.upper_s, 2 * bounds.lower_s);
}

TEST(Law, Intensities)
{
    EXPECT_DOUBLE_EQ(dot_intensity(1000, 2), 1999.0 / (2 * 2001.0));
    EXPECT_NEAR(dot_intensity(very_large, 2), 0.5, 1e-8);
    EXPECT_NEAR(dot_intensity(very_large, 4), 0.25, 1e-8);
    // The limit for small B is B, not F/(F + B).
    EXPECT_NEAR(matmul_intensity(8, 1e6, 1e6, 2, 2, 2), 8, 1e-3);
    EXPECT_DOUBLE_EQ(matmul_intensity(2, 3, 5, 4, 4, 4), 60.0 / (4 * (6 + 15 + 10)));
}

TEST(Law, LinkIntensityReachesCOverWAtTheCrossover)
{
    const double C = 2e11, W = 1.25e8;
    for (const int64_t P : {2, 4, 5}) {
        const double D = D_star(2, P, C, W);
        EXPECT_NEAR(link_intensity(static_cast<int64_t>(D), 2, P), C / W, 1e-3 * C / W);
    }
    EXPECT_DOUBLE_EQ(link_intensity(10, 4, 3), 4.0 * 3 / (4 * 2)) << "the largest shard decides: 4 of 10 columns";
}

TEST(Law, SizesBeyond32BitsDoNotOverflow)
{
    EXPECT_DOUBLE_EQ(comp_time_s(65536, int64_t{1} << 33, 65536, 2, 1.0), 2.0 * 65536 * 65536 * 4294967296.0);
}

} // namespace
} // namespace shardline
