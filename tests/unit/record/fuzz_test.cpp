// A file with bytes changed or missing anywhere: read as far as it is consistent, or refused, always soon and
// in bounded memory. tests/fuzz searches further.

#include "model/error.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "metadata_blocks.hpp"
#include "sample_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardline {
namespace {

using namespace test;

constexpr unsigned seconds_allowed = 30;
constexpr rlim_t bytes_allowed = rlim_t{1} << 30;

/// How many damaged files to try; more by the environment for a long search.
int trials()
{
    const char* more = std::getenv("SHARDLINE_FUZZ_TRIALS");
    return more ? std::atoi(more) : 400;
}

std::string content_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_content(const std::string& path, const std::string& content)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void limit_this_process()
{
    ::alarm(seconds_allowed);
#ifndef SHARDLINE_SANITIZED // reserves terabytes of addresses
    const rlimit limit{bytes_allowed, bytes_allowed};
    ::setrlimit(RLIMIT_AS, &limit);
#endif
}

enum Outcome { was_read = 0, refused = 1, wrong_error = 2 };

Outcome try_to_read(const std::string& path)
{
    try {
        read_run(path);
        return was_read;
    } catch (const InputError& error) {
        const std::string_view message = error.what();
        return message.find('\n') == message.npos ? refused : wrong_error;
    } catch (const std::exception&) {
        return wrong_error;
    }
}

/// Status of a child that reads the file.
int read_in_a_child(const std::string& path)
{
    const pid_t child = ::fork();
    if (child == 0) {
        limit_this_process();
        ::_exit(try_to_read(path));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

std::string damaged(std::string content, std::mt19937& random)
{
    const auto anywhere = [&] { return std::uniform_int_distribution<size_t>(0, content.size() - 1)(random); };
    switch (random() % 4) {
    case 0: content[anywhere()] = static_cast<char>(random()); break;
    case 1: content.resize(anywhere()); break;
    case 2: // metadata comes first
        for (int i = 0; i < 4; ++i) content[anywhere() % std::min<size_t>(content.size(), 100'000)] ^= static_cast<char>(1 + random() % 255);
        break;
    case 3: {
        const size_t begin = anywhere(), length = std::min<size_t>(content.size() - begin, 1 + random() % 64);
        std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(begin), length, random() % 2 ? '\xff' : '\0');
        break;
    }
    }
    return content;
}

/// Changed where HDF5 would see it by the checksums, and these made right again: on purpose, not by accident.
std::string forged(std::string content, std::mt19937& random)
{
    auto* bytes = reinterpret_cast<uint8_t*>(content.data());
    const auto blocks = metadata_blocks(bytes, content.size());
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
        const MetadataBlock& block = blocks[random() % blocks.size()];
        bytes[block.begin + random() % block.size] = static_cast<uint8_t>(random());
        repair_checksum(bytes, block);
    }
    return content;
}

void write_run(const std::string& path, RunStatus* end)
{
    const int32_t ranks = 3;
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    for (int64_t D : {10, 100}) {
        const Point point = sample_point(D, ranks);
        writer.append(std::span(&point, 1));
    }
    for (size_t visit = 0; visit < 30; ++visit) writer.append(sample_repetitions(ranks, visit * 500, 500, visit % 2));
    writer.append(Check{1, 0, 0, 0, true});
    writer.append(std::vector{ClockModel{2, 1, 2, 0.5, 3}});
    if (end)
        writer.close(*end);
    else
        ::_exit(0); // as if killed
}

class Damaged : public testing::TestWithParam<bool> {
protected:
    void write(const std::string& path)
    {
        auto end = RunStatus::complete;
        const pid_t child = ::fork();
        if (child == 0) {
            write_run(path, GetParam() ? &end : nullptr);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }

    void try_many(std::string spoil(std::string content, std::mt19937& random), int trials)
    {
        const auto path = scratch.path("run.h5"), copy = scratch.path("damaged.h5");
        write(path);
        const auto content = content_of(path);
        ASSERT_EQ(read_in_a_child(path), 0);
        std::mt19937 random(GetParam() ? 1 : 2);
        int refusals = 0;
        for (int i = 0; i < trials; ++i) {
            write_content(copy, spoil(content, random));
            const int status = read_in_a_child(copy);
            const bool fine = WIFEXITED(status) && WEXITSTATUS(status) != wrong_error;
            EXPECT_TRUE(fine) << "trial " << i << (WIFSIGNALED(status) ? " ended by signal " : " ended with ")
                              << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            if (!fine && std::getenv("SHARDLINE_FUZZ_KEEP"))
                write_content(std::getenv("SHARDLINE_FUZZ_KEEP") + std::to_string(i), content_of(copy));
            refusals += WIFEXITED(status) && WEXITSTATUS(status) == refused;
        }
        EXPECT_GT(refusals, trials / 10);
    }

    ScratchFolder scratch;
};

TEST_P(Damaged, IsReadOrRefusedSoonAndInBoundedMemory) { try_many(damaged, trials()); }

TEST_P(Damaged, OnPurposeIsReadOrRefusedSoonAndInBoundedMemory)
{
#ifdef SHARDLINE_SANITIZED
    GTEST_SKIP() << "a sanitizer blames the reader for faults of HDF5; file_fuzzer tells them apart";
#endif
    try_many(forged, trials() / 4); // some keep HDF5 busy until their time is over
}

INSTANTIATE_TEST_SUITE_P(CompleteOrKilled, Damaged, testing::Bool());

} // namespace
} // namespace shardline
