#include "experiment/experiment.hpp"
#include "model/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace shardline {
namespace {

namespace fs = std::filesystem;

class ExperimentFile : public testing::Test {
protected:
    void SetUp() override
    {
        folder_ = fs::temp_directory_path() / ("shardline-experiment-" + std::to_string(getpid()));
        fs::create_directory(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& content) const
    {
        std::ofstream(folder_ / name, std::ios::binary) << content;
        return folder_ / name;
    }

    static std::string refusal(const std::string& path)
    {
        try {
            read_experiment(path, {});
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder_;
};

TEST_F(ExperimentFile, IsReadVerbatim)
{
    const std::string text = "# why\nB = 3 # rows\r\n";
    const Experiment e = read_experiment(write("e.toml", text), {"F=4"});
    EXPECT_EQ(e.text, text);
    EXPECT_EQ(e.B, std::vector<int64_t>{3});
    EXPECT_EQ(e.F, std::vector<int64_t>{4});
}

TEST_F(ExperimentFile, ErrorsNameTheFileAsGiven)
{
    const std::string path = write("e.toml", "\nB = 0\n");
    EXPECT_EQ(refusal(path).substr(0, path.size() + 17), path + ":2: key 'B' is 0 ");
}

// A missing file, a folder, a file of another program, an empty file, one of a million lines: one line each.
TEST_F(ExperimentFile, WhatIsNoExperimentIsRefusedInOneLine)
{
    const std::string missing = folder_ / "missing.toml", folder = folder_;
    EXPECT_EQ(refusal(missing), missing + ": cannot be read (No such file or directory): give the path of an experiment file, "
                                          "for example experiments/crossover.toml");
    EXPECT_EQ(refusal(folder).substr(0, folder.size() + 33), folder + ": cannot be read (it is a folder)");
    EXPECT_NE(refusal(write("binary", std::string("B = 1\0", 6))).find("is a binary file"), std::string::npos);
    EXPECT_NE(refusal(write("run.h5", "\x89HDF\r\n\x1a\n")).find("shardline report"), std::string::npos);
    EXPECT_NE(refusal(write("huge.toml", std::string((1 << 20) + 1, '\n'))).find("larger than 1 MiB"), std::string::npos);
    EXPECT_NE(refusal("/dev/zero"), "");
    EXPECT_NE(refusal(""), "");
    EXPECT_EQ(refusal(write("largest.toml", std::string(1 << 20, '\n'))), "");
    EXPECT_EQ(refusal(write("empty.toml", "")), "");
}

TEST_F(ExperimentFile, AnUnreadableFileIsRefused)
{
    if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
    const std::string path = write("secret.toml", "");
    fs::permissions(path, fs::perms::none);
    EXPECT_NE(refusal(path).find("Permission denied"), std::string::npos);
}

TEST(ShippedExperiments, AreAllReadable)
{
    int found = 0;
    for (const auto& entry : fs::directory_iterator(SHARDLINE_EXPERIMENTS)) {
        if (entry.path().extension() != ".toml") continue;
        ++found;
        Experiment e;
        EXPECT_NO_THROW(e = read_experiment(entry.path(), {})) << entry.path();
        EXPECT_NE(e.title, "") << entry.path();
        EXPECT_TRUE(e.text.starts_with("# ")) << entry.path() << " begins with its hypothesis";
    }
    EXPECT_GE(found, 1);
}

} // namespace
} // namespace shardline
