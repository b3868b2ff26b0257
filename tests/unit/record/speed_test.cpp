// How long the file takes: an append between two visits must not show, and a long run must open at once.
// The limits are far above what is expected, as the machine may be busy.

#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>

namespace shardline {
namespace {

using namespace test;

double seconds_of(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Speed, OfAppendingAVisit)
{
    for (const int32_t ranks : {2, 64}) {
        ScratchFolder scratch;
        RunWriter writer(scratch.path("run.h5"), sample_header(ranks), Overwrite::refuse);
        const auto visit = sample_repetitions(ranks, 0, 10);
        constexpr int visits = 1000;
        const double each_s = seconds_of([&] {
            for (int i = 0; i < visits; ++i) writer.append(visit);
        }) / visits;
        std::printf("append of 10 repetitions of %d ranks: %.3f ms (expected: below 1)\n", ranks, each_s * 1e3);
        EXPECT_LT(each_s, 10e-3);
    }
}

TEST(Speed, OfReadingAMillionRepetitions)
{
    constexpr int32_t ranks = 2;
    ScratchFolder scratch;
    const auto path = scratch.path("run.h5");
    {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        const auto rows = sample_repetitions(ranks, 0, 10'000);
        for (int i = 0; i < 100; ++i) writer.append(rows);
        writer.close(RunStatus::complete);
    }
    const double read_s = seconds_of([&] { EXPECT_EQ(read_run(path).repetitions.size(), 1'000'000u); });
    std::printf("reading 1e6 repetitions of %d ranks: %.2f s (expected: below 1)\n", ranks, read_s);
    EXPECT_LT(read_s, 10);
}

} // namespace
} // namespace shardline
