#include "model/factors.hpp"

#include "model/law.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

double product_of_all(const std::vector<Factor>& factors)
{
    double product = 1;
    for (const Factor& factor : factors) product *= factor.value;
    return product;
}

const Factor& factor_named(const std::vector<Factor>& factors, const std::string& name)
{
    for (const Factor& factor : factors)
        if (factor.name == name) return factor;
    ADD_FAILURE() << "no factor " << name;
    return factors.front();
}

/// A crossing of a machine of 220 GFLOP/s and 119 MB/s, where t_comp(D_obs) = t_comm = `t_s`.
struct Example {
    Sweep sweep{1024, 1024, 2, ElementType::f32, ElementType::f32, "mpi_allreduce"};
    CrossingFacts facts;

    explicit Example(double t_s)
    {
        facts.C_flop_per_s = 2.2e11;
        facts.W_bytes_per_s = 1.19e8;
        facts.t_s = t_s;
        facts.mean_over_max = 0.97;
        const double rate = 2e11;
        facts.D_obs = 2 * t_s * rate / (2.0 * 1024 * 1024);
    }
    double D_law() const { return D_star(4, 2, facts.C_flop_per_s, facts.W_bytes_per_s); }
};

TEST(Factors, ProductIsExactlyTheRatio)
{
    for (int32_t ranks : {2, 3, 8})
        for (ElementType wire : {ElementType::bf16, ElementType::f32, ElementType::f64})
            for (bool calibrated : {true, false}) {
                Example example(50e-3);
                example.sweep.P = ranks;
                example.sweep.wire_type = wire;
                example.facts.D_obs = 12345;
                if (calibrated) {
                    Line cost;
                    cost.a = 1e-3;
                    cost.b = 1.1e-8;
                    example.facts.allreduce_cost = cost;
                }
                const double D_law = D_star(static_cast<double>(bytes_of(wire)), ranks, 2.2e11, 1.19e8);
                EXPECT_NEAR(product_of_all(factors_of(example.sweep, example.facts)) / (12345 / D_law), 1, 1e-12);
            }
}

TEST(Factors, SayWhichPartIsToBlame)
{
    // 4 MiB in 50.5 ms where the link needs 35.2 ms.
    Example example(50.5e-3);
    Line cost;
    cost.b = 50.5e-3 / example.sweep.V();
    example.facts.allreduce_cost = cost;
    const auto factors = factors_of(example.sweep, example.facts);
    const Factor& bandwidth = factor_named(factors, "allreduce_bandwidth");
    EXPECT_NEAR(bandwidth.value, 1.433, 0.001);
    EXPECT_EQ(bandwidth.meaning, "mpi_allreduce reaches 70 % of the link");
    EXPECT_NEAR(factor_named(factors, "start_up").value, 1, 1e-12);
    EXPECT_NEAR(factor_named(factors, "beyond_model").value, 1, 1e-12);
    EXPECT_NEAR(factor_named(factors, "rank_imbalance").value, 0.97, 1e-12);
    EXPECT_NEAR(factor_named(factors, "matmul_efficiency").value, 2e11 / 0.97 / 2.2e11, 1e-12);
    ASSERT_EQ(factors.size(), 5u);
}

TEST(Factors, WithoutAnAllreduceCalibrationItsPartIsOneFactor)
{
    const Example example(50.5e-3);
    const auto factors = factors_of(example.sweep, example.facts);
    ASSERT_EQ(factors.size(), 3u);
    EXPECT_EQ(factors.back().name, "allreduce_efficiency");
    EXPECT_NEAR(product_of_all(factors), example.facts.D_obs / example.D_law(), 1e-12);
}

} // namespace
} // namespace shardline
