#include "experiment/presets.hpp"
#include "model/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace shardline {
namespace {

namespace fs = std::filesystem;

class PresetFiles : public testing::Test {
protected:
    void SetUp() override
    {
        folder_ = fs::temp_directory_path() / ("shardline-presets-" + std::to_string(getpid()));
        fs::create_directory(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& content) const { std::ofstream(folder_ / name) << content; }

    std::string refusal(const std::string& content) const
    {
        write("a.toml", content);
        try {
            read_presets({folder_});
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder_;
};

const Presets& shipped()
{
    static const Presets presets = read_presets({SHARDLINE_PRESETS});
    return presets;
}

TEST(ShippedPresets, HaveTheFiguresOfTheirSourceAndNoOthers)
{
    EXPECT_EQ(hardware_named(shipped(), "H100"), hardware_named(shipped(), "h100"));
    EXPECT_EQ(hardware_named(shipped(), "h200"), nullptr);
    EXPECT_EQ(hardware_named(shipped(), "h100")->W_bytes_per_s, std::nullopt);
    EXPECT_EQ(hardware_named(shipped(), "tpu-v6e")->M_bytes_per_s, 1.6e12);
    EXPECT_EQ(rate_of(*hardware_named(shipped(), "h100"), "int8"), std::nullopt);
    EXPECT_EQ(rate_of(*hardware_named(shipped(), "tpu-v5e"), "int8"), 3.94e14);
    EXPECT_EQ(rate_of(*hardware_named(shipped(), "tpu-v5e"), "f32"), std::nullopt);
}

TEST(ShippedPresets, NameADozenModelsWithTheirSources)
{
    EXPECT_GE(shipped().models.size(), 12u);
    for (const ModelPreset& model : shipped().models) {
        EXPECT_FALSE(model.source.empty()) << model.name;
        EXPECT_GT(model.ffn, model.hidden) << model.name;
    }
}

TEST(ShippedPresets, MakeTwoLayersOfAModel)
{
    const auto layers = row_parallel_layers({{"m", 4096, 11008, ""}});
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(layers[0].D, 4096);
    EXPECT_EQ(layers[0].F, 4096);
    EXPECT_EQ(layers[1].D, 11008);
    EXPECT_EQ(layers[1].F, 4096);
}

TEST_F(PresetFiles, AddToOthersAndReplaceThemByName)
{
    write("mine.toml", "[[hardware]]\nname = \"laptop\"\nC_f32_flop_per_s = 1e11\nC_f64_flop_per_s = 5e10\nW_bytes_per_s = 1.2e8\n"
                       "[[hardware]]\nname = \"H100\"\nW_bytes_per_s = 5e10\n[[model]]\nname = \"tiny\"\nhidden = 8\nffn = 32\n");
    write("notes.txt", "not read");
    const Presets presets = read_presets({SHARDLINE_PRESETS, folder_});
    EXPECT_EQ(rate_of(*hardware_named(presets, "laptop"), "f32"), 1e11);
    EXPECT_EQ(rate_of(*hardware_named(presets, "laptop"), "f64"), 5e10);
    EXPECT_EQ(hardware_named(presets, "h100")->W_bytes_per_s, 5e10);
    EXPECT_EQ(hardware_named(presets, "h100")->M_bytes_per_s, std::nullopt);
    EXPECT_EQ(presets.hardware.size(), shipped().hardware.size() + 1);
    EXPECT_EQ(presets.models.back().hidden, 8);
}

TEST_F(PresetFiles, AreRefusedWithFileAndLine)
{
    EXPECT_NE(refusal("[[hardware]]\nname = \"x\"\nC_f16_flop_per_s = 1\n").find("a.toml:3: key 'C_f16_flop_per_s' is not known"), std::string::npos);
    EXPECT_NE(refusal("[[hardware]]\nname = \"x\"\nM_bytes_per_s = -1\n").find("a.toml:3: key 'M_bytes_per_s' is no number above 0"), std::string::npos);
    EXPECT_NE(refusal("[[hardware]]\nname = \"x\"\nM_bytes_per_s = inf\n").find("M_bytes_per_s"), std::string::npos);
    EXPECT_NE(refusal("[[hardware]]\nname = \"x\"\nM_bytes_per_s = \"fast\"\n").find("M_bytes_per_s"), std::string::npos);
    EXPECT_NE(refusal("[[hardware]]\nM_bytes_per_s = 1\n").find("has no name"), std::string::npos);
    EXPECT_NE(refusal("[[model]]\nname = \"x\"\nhidden = 8\n").find("no 'ffn'"), std::string::npos);
    EXPECT_NE(refusal("[[model]]\nname = \"x\"\nhidden = 8.5\nffn = 8\n").find("key 'hidden'"), std::string::npos);
    EXPECT_NE(refusal("[model]\nname = \"x\"\n").find("[[model]]"), std::string::npos);
    EXPECT_NE(refusal("[[modle]]\nname = \"x\"\n").find("'modle' is not known"), std::string::npos);
    EXPECT_NE(refusal("[[model]\n").find("a.toml:1: "), std::string::npos);
    EXPECT_THROW(read_presets({folder_ / "missing"}), InputError);
}

} // namespace
} // namespace shardline
