// A disk that takes no more, from any write on: one clear error, nothing committed lost, and no second
// failure when the writer goes out of scope.

#include "disk.hpp"
#include "model/error.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/// HDF5 itself leaks a buffer when a write fails.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace shardline {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int32_t ranks = 2;
constexpr size_t rows_of_a_visit = 400;
constexpr off_t page = 4096;

/// Takes `writes` writes, and of the next what lies on one page; then the disk is full.
class FullDisk {
public:
    explicit FullDisk(size_t writes, int error = ENOSPC)
        : left_(writes), error_(error), interposed_(
                             [this](int descriptor, const char* bytes, size_t count, off_t offset) -> ssize_t {
                                 if (left_ > 0) {
                                     --left_;
                                     return disk::really_pwrite(descriptor, bytes, count, offset);
                                 }
                                 const auto on_page = static_cast<size_t>(page - offset % page);
                                 if (std::exchange(part_left_, false) && on_page < count)
                                     return disk::really_pwrite(descriptor, bytes, on_page, offset);
                                 errno = error_;
                                 ++refused;
                                 return -1;
                             },
                             disk::really_ftruncate)
    {
    }

    size_t refused = 0;

private:
    size_t left_;
    int error_;
    bool part_left_ = true;
    disk::Interposed interposed_;
};

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

class DiskFull : public testing::Test {
protected:
    ScratchFolder scratch;
    std::string path = scratch.path("run.h5");
};

TEST_F(DiskFull, WhileAppendingKeepsWhatWasCommitted)
{
    size_t writes = 0;
    for (bool refused = true; refused; writes += 3) {
        SCOPED_TRACE(writes);
        RunWriter writer(path, sample_header(ranks), Overwrite::allow);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        size_t committed = 0;
        {
            const FullDisk disk(writes);
            const auto message = message_of([&] {
                for (; committed < 8 * rows_of_a_visit; committed += rows_of_a_visit)
                    writer.append(sample_repetitions(ranks, committed, rows_of_a_visit));
                writer.close(RunStatus::complete);
            });
            refused = disk.refused > 0;
            if (!refused) break;
            EXPECT_THAT(message, HasSubstr(path));
            EXPECT_THAT(message, HasSubstr("No space left on device"));
            EXPECT_THAT(message, HasSubstr("free space"));
            EXPECT_THAT(message, HasSubstr("recorded before is kept"));
            EXPECT_EQ(message_of([&] { writer.append(sample_repetitions(ranks, 0, 1)); }), message);
            EXPECT_EQ(message_of([&] { writer.close(RunStatus::failed); }), message);
            const RunWriter gone = std::move(writer);
        }
        const auto run = read_run(path);
        ASSERT_GE(run.repetitions.size(), committed);
        EXPECT_EQ(run.repetitions.comm_end_ns, sample_repetitions(ranks, 0, run.repetitions.size()).comm_end_ns);
        if (run.status != RunStatus::complete) {
            EXPECT_EQ(run.status, RunStatus::running);
        }
    }
    EXPECT_GT(writes, 100u);
}

TEST_F(DiskFull, QuotaAndFileSizeLimitAreNamedWithTheirRemedy)
{
    const std::pair<int, const char*> limits[] = {{EDQUOT, "your quota is used up: remove files"}, {EFBIG, "ulimit -f"}};
    for (const auto& [error, remedy] : limits) {
        RunWriter writer(path, sample_header(ranks), Overwrite::allow);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        const FullDisk disk(3, error);
        const auto message = message_of([&] { writer.append(sample_repetitions(ranks, 0, rows_of_a_visit)); });
        EXPECT_THAT(message, HasSubstr(remedy));
        EXPECT_THAT(message, HasSubstr("recorded before is kept"));
    }
}

TEST_F(DiskFull, AtTheStartLeavesNoFileAndKeepsTheOlderOne)
{
    RunData older = sample_header(1);
    older.experiment_text = "older";
    size_t writes = 0;
    for (bool refused = true; refused; writes += 5) {
        SCOPED_TRACE(writes);
        fs::remove(path);
        RunWriter(path, older, Overwrite::refuse).close(RunStatus::complete);
        {
            const FullDisk disk(writes);
            const auto message = message_of([&] { RunWriter(path, sample_header(ranks), Overwrite::allow); });
            refused = disk.refused > 0;
            if (!refused || message.empty()) break; // full only after the file had its name
            EXPECT_THAT(message, HasSubstr("No space left on device"));
            EXPECT_THAT(message, Not(HasSubstr("kept")));
        }
        EXPECT_EQ(read_run(path).experiment_text, "older");
        EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1);
    }
    EXPECT_GT(writes, 20u);
}

/// A small disk of its own, where this process may mount one.
class SmallDisk : public DiskFull {
protected:
    void SetUp() override
    {
        if (::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m") != 0)
            GTEST_SKIP() << "mounting a small disk needs root";
        mounted_ = true;
    }
    void TearDown() override
    {
        if (mounted_) ::umount2(scratch.path().c_str(), MNT_DETACH);
    }

private:
    bool mounted_ = false;
};

TEST_F(SmallDisk, FillsUpAndIsContinuedWhenThereIsSpaceAgain)
{
    size_t committed = 0;
    std::string message;
    {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        message = message_of([&] {
            for (;; committed += rows_of_a_visit) writer.append(sample_repetitions(ranks, committed, rows_of_a_visit));
        });
    }
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    const auto run = read_run(path);
    EXPECT_EQ(run.repetitions.size(), committed);
    EXPECT_GT(committed, 5 * rows_of_a_visit);

    ASSERT_EQ(::mount("tmpfs", scratch.path().c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    auto continued = RunWriter::reopen(path);
    continued.append(sample_repetitions(ranks, committed, rows_of_a_visit));
    continued.close(RunStatus::complete);
    const auto whole = read_run(path);
    EXPECT_EQ(whole.repetitions.comm_end_ns, sample_repetitions(ranks, 0, committed + rows_of_a_visit).comm_end_ns);
}

TEST_F(SmallDisk, DoesNotHoldUpTheEndOfTheProgram)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        message_of([&] {
            for (size_t rows = 0;; rows += rows_of_a_visit) writer.append(sample_repetitions(ranks, rows, rows_of_a_visit));
        });
        std::exit(3); // without destroying the writer
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

TEST_F(SmallDisk, FullFromTheStart)
{
    std::ofstream filler(scratch.path("filler"));
    filler << std::string(2 << 20, 'x');
    filler.close();
    const auto message = message_of([&] { RunWriter(path, sample_header(ranks), Overwrite::refuse); });
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    EXPECT_FALSE(fs::exists(path));
}

} // namespace
} // namespace shardline
