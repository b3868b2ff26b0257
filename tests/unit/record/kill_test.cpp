// A writer killed at random moments: nothing that was committed may be lost, and the file stays one that
// HDF5's own tools open and a later run continues.

#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardline {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr int32_t ranks = 2;
constexpr size_t rows_of_a_visit = 10;
constexpr int kills = 100;

/// What the child says it has committed, in memory that outlives it.
struct Committed {
    std::atomic<size_t> rows{0};
    std::atomic<size_t> checks{0};
};

class SharedCommitted {
public:
    SharedCommitted()
        : memory_(::mmap(nullptr, sizeof(Committed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
          value_(new (memory_) Committed)
    {
    }
    ~SharedCommitted() { ::munmap(memory_, sizeof(Committed)); }
    SharedCommitted(const SharedCommitted&) = delete;
    SharedCommitted& operator=(const SharedCommitted&) = delete;
    Committed* operator->() const { return value_; }

private:
    void* memory_;
    Committed* value_;
};

/// Writes visits without a pause.
[[noreturn]] void write_for_ever(RunWriter writer, const SharedCommitted& committed)
{
    for (;;) {
        writer.append(sample_repetitions(ranks, committed->rows, rows_of_a_visit));
        committed->rows += rows_of_a_visit;
        writer.append(Check{0, static_cast<int32_t>(committed->checks.load()), 0, 0, true});
        ++committed->checks;
    }
}

/// Forks a child that opens a writer and never stops; kills it after `life`.
template <class Open> void write_until_killed(Open&& open, const SharedCommitted& committed, std::chrono::microseconds life)
{
    const pid_t child = ::fork();
    if (child == 0) write_for_ever(open(), committed);
    std::this_thread::sleep_for(life);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
}

RunWriter create(const std::string& path)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    const Point point = sample_point(100, ranks);
    writer.append(std::span(&point, 1));
    return writer;
}

/// Every committed row is there, and holds what was written.
void expect_committed(const RunData& run, const SharedCommitted& committed)
{
    ASSERT_GE(run.repetitions.size(), committed->rows);
    ASSERT_LE(run.repetitions.size(), committed->rows + rows_of_a_visit);
    ASSERT_GE(run.checks.size(), committed->checks);
    const auto written = sample_repetitions(ranks, 0, run.repetitions.size());
    EXPECT_EQ(run.repetitions.mode, written.mode);
    EXPECT_EQ(run.repetitions.start_skew_ns, written.start_skew_ns);
    EXPECT_EQ(run.repetitions.comp_begin_ns, written.comp_begin_ns);
    EXPECT_EQ(run.repetitions.comm_end_ns, written.comm_end_ns);
    for (size_t i = 0; i < run.checks.size(); ++i) EXPECT_EQ(run.checks[i].pass, static_cast<int32_t>(i));
}

bool runs(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

/// h5clear makes the file one for every tool, with nothing committed lost; h5dump prints it all, an append that
/// was not completed included, where h5clear also kept the length.
void expect_repaired_by_h5clear(const std::string& path, size_t rows)
{
    const auto copy = path + ".copy";
    for (const std::string options : {"-s", "-s --increment=0"}) {
        fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
        EXPECT_TRUE(runs("h5clear " + options + " " + copy));
        const auto run = read_run(copy);
        EXPECT_EQ(run.repetitions.size(), rows);
        EXPECT_EQ(run.repetitions.comm_end_ns, sample_repetitions(ranks, 0, rows).comm_end_ns);
    }
    EXPECT_TRUE(runs("h5dump " + copy));
    fs::remove(copy);
}

TEST(KilledWriter, LosesNothingCommittedAndIsContinued)
{
    const bool tools = runs("h5clear --version") && runs("h5dump --version");
    std::mt19937 random(20240102);
    int longest_life_us = 60'000;
    const auto life = [&] { return std::chrono::microseconds(std::uniform_int_distribution<int>(0, longest_life_us)(random)); };
    size_t with_rows = 0;
    for (int i = 0; i < kills && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const bool too_soon = 2 * with_rows < static_cast<size_t>(i); // for this machine, most kills come before the first row
        if (too_soon && longest_life_us < 5'000'000) longest_life_us += longest_life_us / 4;
        ScratchFolder scratch;
        const auto path = scratch.path("run.h5");
        SharedCommitted committed;
        write_until_killed([&] { return create(path); }, committed, life());
        if (!fs::exists(path)) continue; // killed before the file had its name: nothing was measured yet
        auto run = read_run(path);
        expect_committed(run, committed);
        EXPECT_EQ(run.status, RunStatus::running);
        with_rows += run.repetitions.size() > 0;
        if (tools) expect_repaired_by_h5clear(path, run.repetitions.size());

        // A second life, and a second death.
        committed->rows = run.repetitions.size();
        committed->checks = run.checks.size();
        if (run.points.empty()) continue;
        write_until_killed([&] { return RunWriter::reopen(path); }, committed, life());
        run = read_run(path);
        expect_committed(run, committed);
        RunWriter::reopen(path).close(RunStatus::complete);
        const auto closed = read_run(path);
        EXPECT_EQ(closed.status, RunStatus::complete);
        EXPECT_EQ(closed.repetitions.size(), run.repetitions.size());
        EXPECT_TRUE(!tools || runs("h5dump -H " + path));
    }
    EXPECT_GT(with_rows, static_cast<size_t>(kills / 3));
}

} // namespace
} // namespace shardline
