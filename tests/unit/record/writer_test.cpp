// What a writer does to the name it is given, who may share its file, and what can be read meanwhile.

#include "model/error.hpp"
#include "record/handle.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardline {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr int32_t ranks = 2;

RunData header_saying(const std::string& text)
{
    auto run = sample_header(ranks);
    run.experiment_text = text;
    return run;
}

/// The message with which an action fails.
std::string refusal(const std::function<void()>& action)
{
    try {
        action();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
        return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
}

class Writer : public testing::Test {
protected:
    std::string refused_to_create(const std::string& name, Overwrite overwrite = Overwrite::refuse) const
    {
        return refusal([&] { RunWriter(name, sample_header(ranks), overwrite); });
    }

    /// A sound, closed file with `rows` repetitions.
    void write(const std::string& name, size_t rows) const
    {
        RunWriter writer(name, header_saying("first"), Overwrite::refuse);
        add(writer, rows);
        writer.close(RunStatus::complete);
    }

    static void add(RunWriter& writer, size_t rows)
    {
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        writer.append(sample_repetitions(ranks, 0, rows));
    }

    size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(scratch.path()), {})); }

    ScratchFolder scratch;
    std::string path = scratch.path("run.h5");
};

// The name.

TEST_F(Writer, RefusesAnExistingFile)
{
    write(path, 10);
    EXPECT_THAT(refused_to_create(path), AllOf(HasSubstr(path), HasSubstr("it exists"), HasSubstr("another name")));
    EXPECT_EQ(read_run(path).repetitions.size(), 10u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, ReplacesAnExistingFileWhereAllowed)
{
    write(path, 10);
    RunWriter writer(path, header_saying("second"), Overwrite::allow);
    EXPECT_EQ(read_run(path).experiment_text, "second");
    writer.close(RunStatus::complete);
    EXPECT_EQ(read_run(path).repetitions.size(), 0u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, ReplacesWhatALinkPointsAtAndKeepsTheLink)
{
    const auto link = scratch.path("latest.h5");
    write(path, 10);
    fs::create_symlink(path, link);
    EXPECT_THAT(refused_to_create(link), HasSubstr("it exists"));
    RunWriter(link, header_saying("second"), Overwrite::allow).close(RunStatus::complete);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_run(path).experiment_text, "second");
}

TEST_F(Writer, RefusesWhatIsNoFile)
{
    EXPECT_THAT(refused_to_create(scratch.path(), Overwrite::allow), HasSubstr("it is a folder"));
    EXPECT_THAT(refused_to_create("/dev/full", Overwrite::allow), HasSubstr("it is a device or pipe"));
    EXPECT_THAT(refused_to_create("/dev/null", Overwrite::allow), HasSubstr("it is a device or pipe"));
    const auto pipe = scratch.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refused_to_create(pipe, Overwrite::allow), HasSubstr("it is a device or pipe"));
    EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Writer, SaysWhichFolderIsMissing)
{
    EXPECT_THAT(refused_to_create(scratch.path("no/run.h5")),
                AllOf(HasSubstr("folder " + scratch.path("no") + ": No such file"), HasSubstr("create the folder")));
    std::ofstream(scratch.path("file")) << "x";
    EXPECT_THAT(refused_to_create(scratch.path("file/run.h5")), HasSubstr("is not a folder"));
    EXPECT_THAT(refused_to_create(scratch.path(std::string(300, 'n'))), HasSubstr("shorter name"));
}

TEST_F(Writer, SaysWhichFolderIsReadOnly)
{
    if (::mount("tmpfs", scratch.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0)
        GTEST_SKIP() << "mounting a read-only folder needs root";
    EXPECT_THAT(refused_to_create(path), AllOf(HasSubstr("folder " + scratch.path() + ": Read-only"), HasSubstr("another folder")));
    ::umount2(scratch.path().c_str(), MNT_DETACH);
}

TEST_F(Writer, SaysWhichFolderForbidsIt)
{
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(refused_to_create(path), AllOf(HasSubstr("folder " + scratch.path()), HasSubstr("Permission denied")));
    fs::permissions(scratch.path(), fs::perms::owner_all);
}

TEST_F(Writer, TakesARelativeName)
{
    const auto before = fs::current_path();
    fs::current_path(scratch.path());
    write("here.h5", 1);
    EXPECT_EQ(read_run("here.h5").repetitions.size(), 1u);
    fs::current_path(before);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, OfTwoAtOnceOneGetsTheName)
{
    for (int round = 0; round < 20; ++round) {
        fs::remove(path);
        std::vector<pid_t> children;
        for (const char* name : {"a", "b", "c"}) {
            const pid_t child = ::fork();
            if (child == 0) {
                try {
                    RunWriter(path, header_saying(name), Overwrite::refuse).close(RunStatus::complete);
                    ::_exit(0);
                } catch (const InputError&) {
                    ::_exit(1);
                }
            }
            children.push_back(child);
        }
        int winners = 0;
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            ASSERT_TRUE(WIFEXITED(status));
            winners += WEXITSTATUS(status) == 0;
        }
        EXPECT_EQ(winners, 1);
        EXPECT_EQ(read_run(path).status, RunStatus::complete);
        EXPECT_EQ(files(), 1u);
    }
}

// The file while it is written.

TEST_F(Writer, CanBeReadInTheSameProcess)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    EXPECT_EQ(read_run(path).points.size(), 0u);
    add(writer, 25);
    const auto run = read_run(path);
    EXPECT_EQ(run.status, RunStatus::running);
    EXPECT_EQ(run.points.size(), 1u);
    EXPECT_EQ(run.repetitions.comm_end_ns, sample_repetitions(ranks, 0, 25).comm_end_ns);
    writer.append(sample_repetitions(ranks, 25, 5));
    EXPECT_EQ(read_run(path).repetitions.size(), 30u);
}

TEST_F(Writer, CanBeReadByAnotherProcessAtAnyTime)
{
    const pid_t child = ::fork();
    if (child == 0) {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        for (size_t rows = 0;; rows += 10) {
            writer.append(sample_repetitions(ranks, rows, 10));
            writer.append(Check{0, 0, 0, 0, true});
        }
    }
    while (!fs::exists(path)) ::usleep(1000);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    size_t rows = 0, reads = 0;
    for (; std::chrono::steady_clock::now() < end; ++reads) {
        const auto run = read_run(path);
        ASSERT_GE(run.repetitions.size(), rows);
        rows = run.repetitions.size();
        ASSERT_EQ(run.repetitions.comm_end_ns, sample_repetitions(ranks, 0, rows).comm_end_ns);
        EXPECT_TRUE(is_being_written(path));
    }
    EXPECT_GT(reads, 5u);
    EXPECT_GT(rows, 100u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(is_being_written(path));
    EXPECT_EQ(read_run(path).status, RunStatus::running);
}

TEST_F(Writer, WaitsForAReaderThatOnlyOpensTheFile)
{
    {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        writer.close(RunStatus::stopped);
    }
    const int reader = ::open(path.c_str(), O_RDONLY);
    ASSERT_EQ(::flock(reader, LOCK_SH), 0); // as HDF5 does
    std::thread leaves([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::close(reader);
    });
    EXPECT_NO_THROW(RunWriter::reopen(path));
    leaves.join();
}

TEST_F(Writer, LetsNoSecondWriterIn)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    add(writer, 10);
    EXPECT_THAT(refused_to_create(path, Overwrite::allow), HasSubstr("another program has it open"));
    EXPECT_THAT(refusal([&] { RunWriter::reopen(path); }), HasSubstr("another program has it open"));
    writer.append(sample_repetitions(ranks, 10, 10));
    writer.close(RunStatus::complete);
    EXPECT_EQ(read_run(path).repetitions.size(), 20u);
}

TEST_F(Writer, LetsNoOtherToolClearItsFlags)
{
    if (std::system("h5clear --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no h5clear";
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    add(writer, 10);
    EXPECT_NE(std::system(("h5clear -s " + path + " > /dev/null 2>&1").c_str()), 0);
    writer.append(sample_repetitions(ranks, 10, 10));
    writer.close(RunStatus::complete);
    EXPECT_EQ(read_run(path).repetitions.size(), 20u);
}

// Its end.

TEST_F(Writer, GoneWithoutCloseLeavesAFailedRun)
{
    {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        add(writer, 10);
    }
    const auto run = read_run(path);
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.repetitions.size(), 10u);
    EXPECT_FALSE(is_being_written(path));
}

TEST_F(Writer, MayBeMoved)
{
    RunWriter first(path, sample_header(ranks), Overwrite::refuse);
    RunWriter second(scratch.path("second.h5"), sample_header(ranks), Overwrite::refuse);
    second = std::move(first);
    add(second, 10);
    second.close(RunStatus::complete);
    EXPECT_EQ(read_run(path).repetitions.size(), 10u);
    EXPECT_EQ(read_run(scratch.path("second.h5")).status, RunStatus::failed);
}

TEST_F(Writer, RefusesRepetitionsOfAnotherShape)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    EXPECT_THROW(writer.append(sample_repetitions(ranks + 1, 0, 1)), std::logic_error);
    auto rows = sample_repetitions(ranks, 0, 2);
    rows.late.pop_back();
    EXPECT_THROW(writer.append(rows), std::logic_error);
    writer.append(sample_repetitions(ranks, 0, 0));
    EXPECT_THROW(RunWriter(scratch.path("none.h5"), RunData{}, Overwrite::refuse), std::logic_error);
}

// A second life.

TEST_F(Writer, ContinuesAStoppedRun)
{
    write(path, 10);
    auto writer = RunWriter::reopen(path);
    EXPECT_EQ(read_run(path).status, RunStatus::running);
    writer.append(sample_repetitions(ranks, 10, 1000));
    const Point second = sample_point(200, ranks);
    writer.append(std::span(&second, 1));
    writer.append(Finding{"later", Severity::note, 0, "text"});
    writer.close(RunStatus::stopped);
    const auto run = read_run(path);
    EXPECT_EQ(run.status, RunStatus::stopped);
    EXPECT_EQ(run.experiment_text, "first");
    EXPECT_EQ(run.points.size(), 2u);
    EXPECT_EQ(run.findings.size(), 2u);
    EXPECT_EQ(run.repetitions.comp_end_ns, sample_repetitions(ranks, 0, 1010).comp_end_ns);
}

TEST_F(Writer, ContinuesNoForeignFile)
{
    EXPECT_THAT(refusal([&] { RunWriter::reopen(path); }), HasSubstr("No such file"));
    EXPECT_THAT(refusal([&] { RunWriter::reopen(scratch.path()); }), HasSubstr(scratch.path()));
    EXPECT_THAT(refusal([&] { RunWriter::reopen("/dev/null"); }), HasSubstr("device"));
    std::ofstream(path) << "text";
    EXPECT_THAT(refusal([&] { RunWriter::reopen(path); }), HasSubstr("not an HDF5 file"));
}

TEST_F(Writer, WhoseFolderWasRemovedLeavesACopyOfAllThatWasRecorded)
{
    const fs::path folder = scratch.path("folder");
    const fs::path rescued = fs::temp_directory_path() / fmt::format("run-{}.h5", ::getpid());
    const std::string copy = rescued.string() + ".rescued-1.h5";
    fs::create_directory(folder);
    RunWriter writer(folder / rescued.filename(), sample_header(ranks), Overwrite::refuse);
    add(writer, 10);
    fs::remove_all(folder);
    const auto message = refusal([&] { writer.append(sample_repetitions(ranks, 10, 10)); });
    EXPECT_THAT(message, AllOf(HasSubstr("removed while the run wrote it"), HasSubstr(copy)));
    const auto run = read_run(copy);
    EXPECT_EQ(run.repetitions.size(), 20u);
    EXPECT_EQ(run.repetitions.comm_end_ns, sample_repetitions(ranks, 0, 20).comm_end_ns);
    EXPECT_EQ(refusal([&] { writer.append(sample_repetitions(ranks, 20, 10)); }), message);
    RunWriter::reopen(copy).close(RunStatus::complete);
    fs::remove(copy);
}

TEST_F(Writer, WhoseFileWasRemovedLeavesACopyBesideIt)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    add(writer, 10);
    fs::remove(path);
    EXPECT_THAT(refusal([&] { writer.close(RunStatus::complete); }), HasSubstr(path + ".rescued-1.h5"));
    const auto run = read_run(path + ".rescued-1.h5");
    EXPECT_EQ(run.repetitions.size(), 10u);
    EXPECT_EQ(run.status, RunStatus::complete);
}

TEST_F(Writer, GoesOnWhereItsFileWasMoved)
{
    RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
    fs::rename(path, path + ".moved");
    add(writer, 10);
    writer.close(RunStatus::complete);
    EXPECT_EQ(read_run(path + ".moved").repetitions.size(), 10u);
}

TEST(Hdf5Version, NamesHeadersAndLibrary)
{
    EXPECT_THAT(hdf5_version_text(), testing::MatchesRegex("HDF5 headers [0-9.]+, library [0-9.]+"));
    EXPECT_EQ(hdf5::describe({1, 10, 8}, {1, 10, 8}), "HDF5 headers 1.10.8, library 1.10.8");
    EXPECT_THAT(hdf5::describe({1, 10, 8}, {1, 14, 0}), AllOf(HasSubstr("headers 1.10.8, library 1.14.0 (they differ)"), HasSubstr("build")));
}

} // namespace
} // namespace shardline
