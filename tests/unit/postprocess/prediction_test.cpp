#include "postprocess/prediction.hpp"

#include "experiment/presets.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace shardline {
namespace {

const NumberType bf16{"bf16", 2}, f32{"f32", 4}, f64{"f64", 8}, int8{"int8", 1};

PaperInputs inputs_for(const char* name, const NumberType& type, int64_t P)
{
    static const Presets presets = read_presets({SHARDLINE_PRESETS});
    const Hardware& hardware = *hardware_named(presets, name);
    PaperInputs in;
    in.P = P;
    in.wire = type.name == "int8" ? bf16 : type;
    in.compute = in.weights = type;
    in.C_flop_per_s = rate_of(hardware, type.name);
    in.W_bytes_per_s = hardware.W_bytes_per_s;
    in.M_bytes_per_s = hardware.M_bytes_per_s;
    return in;
}

// The reference numbers of the law's source.

TEST(Prediction, TwoChipsCrossAt8755)
{
    const PaperPrediction p = predict(inputs_for("tpu-v5e", bf16, 2));
    EXPECT_NEAR(*p.D_star, 8755.56, 0.005);
    EXPECT_NEAR(*p.D_star / 2, 4377.78, 0.005);
}

TEST(Prediction, TheFactorTwoIsTheBytesOfABf16)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 2);
    in.wire = f32;
    EXPECT_DOUBLE_EQ(*predict(in).D_star, 4 * 1.97e14 / 4.5e10);
    in.wire = f64;
    in.P = 4;
    EXPECT_DOUBLE_EQ(*predict(in).D_star, 24 * 1.97e14 / 4.5e10);
}

TEST(Prediction, ATrillionFlopsTakeAMillisecond)
{
    for (const auto& [name, milliseconds] : {std::pair{"h100", 1.01}, {"tpu-v6e", 1.10}}) {
        PaperInputs in = inputs_for(name, bf16, 1);
        in.B = 10'000;
        in.D = 10'000;
        in.F = 5'000;
        EXPECT_NEAR(*predict(in).t_comp_s * 1e3, milliseconds, 0.005) << name;
    }
}

TEST(Prediction, CriticalIntensityAndBatch)
{
    const PaperPrediction v5e = predict(inputs_for("tpu-v5e", bf16, 1));
    EXPECT_NEAR(*v5e.critical_intensity, 240, 0.5);
    EXPECT_NEAR(*v5e.critical_batch, 240, 0.5);
    EXPECT_LT(v5e.dot_intensity, *v5e.critical_intensity);
    EXPECT_NEAR(*predict(inputs_for("h100", bf16, 1)).critical_batch, 295, 0.5);
    EXPECT_NEAR(*predict(inputs_for("tpu-v5e", int8, 1)).critical_batch, 240, 0.5);
    PaperInputs int8_weights = inputs_for("tpu-v5e", bf16, 1);
    int8_weights.weights = int8;
    EXPECT_NEAR(*predict(int8_weights).critical_batch, 120, 0.5);
}

TEST(Prediction, OneInt8MatrixPerRowIsAlwaysMemoryBound)
{
    PaperInputs in = inputs_for("tpu-v5e", int8, 1);
    in.B = 1;
    in.D = in.F = 1 << 20;
    EXPECT_NEAR(*predict(in).matmul_intensity, 2, 1e-4);
    EXPECT_LT(*predict(in).matmul_intensity, *predict(in).critical_intensity);
}

// Beyond the reference numbers.

TEST(Prediction, OneRankHasNothingToSum)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 1);
    in.B = in.D = in.F = 64;
    const PaperPrediction p = predict(in);
    EXPECT_EQ(p.D_star, std::nullopt);
    EXPECT_EQ(p.t_comm_s, 0.0);
    EXPECT_EQ(p.t_step_upper_s, p.t_comp_s);
    EXPECT_NE(prediction_text(in, p).find("One rank has nothing to sum"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(prediction_json(in, p))["D_star"], nullptr);
}

TEST(Prediction, TimesAgreeWithTheSideOfTheCrossover)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 2);
    in.B = in.F = 1024;
    for (const auto& [D, bound] : {std::pair{8754, Bound::communication}, {8758, Bound::computation}}) {
        in.D = D;
        const PaperPrediction p = predict(in);
        EXPECT_EQ(p.bound, bound) << D;
        EXPECT_EQ(*p.t_comp_s > *p.t_comm_s, bound == Bound::computation);
        EXPECT_EQ(*p.t_step_lower_s, std::max(*p.t_comp_s, *p.t_comm_s));
        EXPECT_EQ(*p.t_step_upper_s, *p.t_comp_s + *p.t_comm_s);
    }
}

TEST(Prediction, DAloneTellsTheSide)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 2);
    in.D = 100;
    EXPECT_EQ(predict(in).bound, Bound::communication);
    EXPECT_EQ(predict(in).t_comp_s, std::nullopt);
}

TEST(Prediction, StartUpMovesTheCrossoverByTheBatch)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 4);
    in.alpha_s = 1e-5;
    in.B = in.F = 512;
    const PaperPrediction p = predict(in);
    EXPECT_DOUBLE_EQ(*p.D_star_ring, *p.D_star + 4 * 3 * 1e-5 * 1.97e14 / (512.0 * 512.0));
    EXPECT_DOUBLE_EQ(*p.t_comm_s, 2 * 3 * 1e-5 + 2 * 3.0 / 4 * (2.0 * 512 * 512) / 4.5e10);
}

TEST(Prediction, CountsTheMemoryOfOneRank)
{
    PaperInputs in = inputs_for("tpu-v5e", bf16, 3);
    in.B = 10;
    in.D = 100; // shards of 34, 33, 33
    in.F = 20;
    in.wire = f32;
    in.weights = int8;
    const PaperPrediction p = predict(in);
    EXPECT_EQ(p.memory->X_bytes, 2 * 10 * 34);
    EXPECT_EQ(p.memory->Y_bytes, 1 * 34 * 20);
    EXPECT_EQ(p.memory->Z_bytes, 2 * 4 * 10 * 20);

    in.memory_bytes = p.memory->total_bytes();
    EXPECT_NE(prediction_text(in, p).find("two Z of one rank fit"), std::string::npos);
    in.memory_bytes = p.memory->total_bytes() - 1;
    EXPECT_NE(prediction_text(in, p).find("do not fit"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(prediction_json(in, p))["memory"]["fits"], false);
}

} // namespace
} // namespace shardline
