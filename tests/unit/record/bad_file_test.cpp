// Files that are not what docs/file-format.md describes: one line that says so, whatever they hold.

#include "model/error.hpp"
#include "record/handle.hpp"
#include "record/reader.hpp"
#include "record/schema.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardline {
namespace {

using namespace test;
using hdf5::Handle;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr int32_t ranks = 2;

/// Peak memory of this process or one of its children so far, in bytes.
int64_t peak_memory()
{
    rusage own{}, of_children{};
    ::getrusage(RUSAGE_SELF, &own);
    ::getrusage(RUSAGE_CHILDREN, &of_children);
    return std::max(own.ru_maxrss, of_children.ru_maxrss) * 1024;
}

class BadFile : public testing::Test {
protected:
    void SetUp() override { write_sound_file(); }

    /// A sound file in place of the one that was spoilt.
    void write_sound_file() const { write_file(sample_repetitions(ranks, 0, 20)); }

    void write_thinned_file() const { write_file(thinned_repetitions(ranks, 0, 20)); }

    void write_file(const Repetitions& rows) const
    {
        RunData header = sample_header(ranks);
        header.repetitions.kept = rows.kept;
        RunWriter writer(path, header, Overwrite::allow);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        writer.append(rows);
        if (rows.kept > 0) writer.append(std::vector{RankSummary{1, 0, 10, 1.0}});
        writer.append(Check{0, 0, 0, 0, true});
        writer.append(std::vector{ClockModel{1, 0, 0, 0, 0}});
        writer.close(RunStatus::complete);
    }

    /// The message with which the file is refused. Soon, in one line that names it, and in little memory.
    std::string refusal(const std::string& file) const
    {
        const auto memory = peak_memory();
        const auto start = std::chrono::steady_clock::now();
        std::string message;
        try {
            read_run(file);
            ADD_FAILURE() << "was read";
        } catch (const InputError& error) {
            message = error.what();
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
        EXPECT_LT(peak_memory() - memory, int64_t{200} << 20);
        EXPECT_THAT(message, AllOf(HasSubstr(file), Not(HasSubstr("\n"))));
        return message;
    }

    std::string refusal() const { return refusal(path); }

    /// Changes the file by HDF5 calls.
    void edit(const std::function<void(hid_t)>& change) const
    {
        const auto file = hdf5::own(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, path);
        change(file.get());
    }

    void remove(const char* object) const
    {
        edit([&](hid_t file) { hdf5::check(H5Ldelete(file, object, H5P_DEFAULT), object); });
    }

    /// Puts another dataset in the place of one.
    void replace(const char* dataset, hid_t type, std::vector<hsize_t> shape, hid_t creation = H5P_DEFAULT,
                 const void* values = nullptr) const
    {
        edit([&](hid_t file) {
            H5Ldelete(file, dataset, H5P_DEFAULT);
            const auto space = hdf5::own(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, dataset);
            const auto created = hdf5::own(
                H5Dcreate2(file, dataset, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose, dataset);
            if (values) hdf5::check(H5Dwrite(created.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), dataset);
        });
    }

    /// Overwrites the first value of a dataset.
    void set_first(const char* dataset, hid_t type, const void* value) const
    {
        edit([&](hid_t file) {
            const auto opened = hdf5::own(H5Dopen2(file, dataset, H5P_DEFAULT), H5Dclose, dataset);
            const auto all = hdf5::own(H5Dget_space(opened.get()), H5Sclose, dataset);
            const hsize_t zeros[] = {0, 0}, one[] = {1, 1};
            hdf5::check(H5Sselect_hyperslab(all.get(), H5S_SELECT_SET, zeros, nullptr, one, nullptr), dataset);
            const auto single = hdf5::own(H5Screate_simple(1, one, nullptr), H5Sclose, dataset);
            hdf5::check(H5Dwrite(opened.get(), type, single.get(), all.get(), H5P_DEFAULT, value), dataset);
        });
    }

    void set_version(int32_t version) const
    {
        edit([&](hid_t file) {
            const auto attribute = hdf5::own(H5Aopen(file, "format_version", H5P_DEFAULT), H5Aclose, "");
            H5Awrite(attribute.get(), H5T_NATIVE_INT32, &version);
        });
    }

    ScratchFolder scratch;
    std::string path = scratch.path("run.h5");
};

// No HDF5 file.

TEST_F(BadFile, Missing) { EXPECT_THAT(refusal(scratch.path("no.h5")), HasSubstr("No such file")); }
TEST_F(BadFile, Folder) { EXPECT_THAT(refusal(scratch.path()), HasSubstr("folder")); }
TEST_F(BadFile, EndlessDevice) { EXPECT_THAT(refusal("/dev/zero"), HasSubstr("device")); }

TEST_F(BadFile, PipeWithoutWriter)
{
    const auto pipe = scratch.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refusal(pipe), HasSubstr("pipe"));
}

TEST_F(BadFile, Empty)
{
    std::ofstream(scratch.path("empty.h5"));
    EXPECT_THAT(refusal(scratch.path("empty.h5")), HasSubstr("empty"));
}

TEST_F(BadFile, OfAnotherProgram)
{
    std::ofstream(scratch.path("text.h5")) << std::string(10'000, 'x');
    EXPECT_THAT(refusal(scratch.path("text.h5")), HasSubstr("not an HDF5 file"));
}

TEST_F(BadFile, Unreadable)
{
    if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
    fs::permissions(path, fs::perms::none);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("Permission denied"), HasSubstr("permissions")));
}

TEST_F(BadFile, TruncatedAnywhere)
{
    const auto size = fs::file_size(path);
    for (uintmax_t length = size - 1; length > 100; length = length * 3 / 4) {
        fs::resize_file(path, length);
        EXPECT_THAT(refusal(), HasSubstr("truncated"));
    }
    fs::resize_file(path, 5);
    refusal();
}

TEST_F(BadFile, WhoseWriterIsNotOurs)
{
    if (::fork() == 0) {
        const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        H5Fflush(file.get(), H5F_SCOPE_LOCAL);
        ::_exit(0); // as if killed
    }
    ::wait(nullptr);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("another program writes it"), HasSubstr("h5clear -s")));
}

// No file of ours.

TEST_F(BadFile, Hdf5OfAnotherProgram)
{
    const auto other = scratch.path("other.h5");
    hdf5::own(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, other);
    EXPECT_THAT(refusal(other), HasSubstr("not written by shardline"));
}

TEST_F(BadFile, WithVeryManyGroups)
{
    const auto other = scratch.path("groups.h5");
    {
        const auto access = hdf5::own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "");
        H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        const auto file = hdf5::own(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, other);
        // Names of one group cost a reader that walks them as much as groups would, and this test less.
        const auto group = hdf5::own(H5Gcreate2(file.get(), "0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, other);
        for (int i = 1; i < 200'000; ++i) {
            const auto name = std::to_string(i);
            H5Lcreate_hard(file.get(), "0", file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        }
    }
    EXPECT_THAT(refusal(other), HasSubstr("not written by shardline"));
}

TEST_F(BadFile, OfANewerVersion)
{
    set_version(schema::format_version + 1);
    EXPECT_THAT(refusal(), HasSubstr("written by a newer shardline: format " + std::to_string(schema::format_version + 1) + ", this reads " +
                                     std::to_string(schema::format_version) + "): update"));
}

TEST_F(BadFile, OfNoVersion)
{
    set_version(0);
    EXPECT_THAT(refusal(), HasSubstr("format_version"));
}

// Parts missing or of another kind.

TEST_F(BadFile, WithoutADataset)
{
    for (const char* dataset : {"/repetitions/comm_end_ns", "/points/strategy", "/progress/status", "/ranks/host", "/experiment/text"}) {
        remove(dataset);
        EXPECT_THAT(refusal(), AllOf(HasSubstr(dataset), HasSubstr("missing")));
        write_sound_file();
    }
}

TEST_F(BadFile, WithoutAGroup)
{
    for (const char* group : {"/repetitions", "/provenance", "/environment", "/clocks"}) {
        remove(group);
        EXPECT_THAT(refusal(), AllOf(HasSubstr(group), HasSubstr("missing")));
        write_sound_file();
    }
}

TEST_F(BadFile, WithAGroupInPlaceOfADataset)
{
    edit([](hid_t file) {
        H5Ldelete(file, "/points/B", H5P_DEFAULT);
        hdf5::own(H5Gcreate2(file, "/points/B", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "");
    });
    EXPECT_THAT(refusal(), HasSubstr("/points/B"));
}

TEST_F(BadFile, WithOtherTypes)
{
    replace("/points/B", H5T_STD_I32LE, {1});
    EXPECT_THAT(refusal(), HasSubstr("/points/B: not int64"));
    replace("/points/B", H5T_IEEE_F64LE, {1});
    EXPECT_THAT(refusal(), HasSubstr("/points/B: not int64"));
    replace("/points/B", H5T_STD_U64LE, {1});
    EXPECT_THAT(refusal(), HasSubstr("/points/B: not int64"));
    write_sound_file();
    replace("/checks/bound", H5T_IEEE_F32LE, {1});
    EXPECT_THAT(refusal(), HasSubstr("/checks/bound: not float64"));
    write_sound_file();
    const auto text = hdf5::own(H5Tcopy(H5T_C_S1), H5Tclose, "");
    H5Tset_size(text.get(), H5T_VARIABLE);
    replace("/points/strategy", text.get(), {1});
    EXPECT_THAT(refusal(), HasSubstr("/points/strategy: not text of fixed length"));
    write_sound_file();
    replace("/repetitions/mode", H5T_STD_I32LE, {20});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/mode: not an enumeration of one byte"));
}

TEST_F(BadFile, WithOtherShapes)
{
    replace("/repetitions/comp_end_ns", H5T_STD_I64LE, {20});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/comp_end_ns: not one value for each row and rank"));
    replace("/repetitions/comp_end_ns", H5T_STD_I64LE, {20, 3});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/comp_end_ns: not one value for each row and rank"));
    replace("/repetitions/comp_end_ns", H5T_STD_I64LE, {20, 2, 1});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/comp_end_ns: not one value for each row and rank"));
    write_sound_file();
    replace("/progress/repetitions", H5T_STD_I64LE, {2});
    EXPECT_THAT(refusal(), HasSubstr("/progress/repetitions"));
    write_sound_file();
    replace("/ranks/blas_threads", H5T_STD_I32LE, {3});
    EXPECT_THAT(refusal(), HasSubstr("/ranks/blas_threads: its length differs"));
    write_sound_file();
    replace("/experiment/overrides", H5T_C_S1, {});
    EXPECT_THAT(refusal(), HasSubstr("/experiment/overrides"));
}

TEST_F(BadFile, WhoseThinnedRowsNameNoRankOfTheRun)
{
    const int32_t absent = ranks, negative = -1;
    for (const char* column : {"/repetitions/rank", "/rank_summaries/rank"})
        for (const int32_t& rank : {absent, negative}) {
            write_thinned_file();
            set_first(column, H5T_NATIVE_INT32, &rank);
            EXPECT_THAT(refusal(), HasSubstr(std::string(column) + ": row 0 holds " + std::to_string(rank)));
        }
}

TEST_F(BadFile, WhoseThinnedRowsDifferInWidth)
{
    write_thinned_file();
    replace("/repetitions/comp_end_ns", H5T_STD_I64LE, {20, 2}); // a reading for each rank
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/comp_end_ns: not one value for each row and rank"));
    write_thinned_file();
    replace("/repetitions/rank", H5T_STD_I32LE, {20, 1025});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/rank: keeps 1025 ranks of each row"));
    write_thinned_file();
    remove("/repetitions/comp_mean_ns");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("/repetitions/comp_mean_ns"), HasSubstr("missing")));
    for (const char* part : {"/rank_summaries", "/progress/rank_summaries"}) {
        write_thinned_file();
        remove(part);
        EXPECT_THAT(refusal(), AllOf(HasSubstr(part), HasSubstr("missing")));
    }
}

// As wide as all ranks the rest would pass for a file that holds them all, in order.
TEST_F(BadFile, WhoseThinnedRowsLostTheirRanks)
{
    write_thinned_file();
    remove("/repetitions/rank");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("/repetitions/rank"), HasSubstr("missing")));
}

TEST_F(BadFile, WithFewerRowsThanItCounts)
{
    replace("/repetitions/pass", H5T_STD_I32LE, {19});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/pass: has 19 rows where 20 were committed"));
    write_sound_file();
    const int64_t negative = -1;
    set_first("/progress/checks", H5T_NATIVE_INT64, &negative);
    EXPECT_THAT(refusal(), HasSubstr("/progress/checks: negative"));
}

// Claims that would cost memory or time.

TEST_F(BadFile, ThatClaimsAnAbsurdNumberOfRows)
{
    const int64_t absurd = 1'000'000'000'000'000;
    set_first("/progress/repetitions", H5T_NATIVE_INT64, &absurd);
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/point: claims 1000000000000000"));
    for (const char* column : {"/repetitions/point", "/repetitions/pass", "/repetitions/repetition"})
        replace(column, H5T_STD_I32LE, {static_cast<hsize_t>(absurd)});
    EXPECT_THAT(refusal(), HasSubstr("/repetitions/point: claims 1000000000000000"));
}

TEST_F(BadFile, ThatClaimsAbsurdlyManyRanks)
{
    for (const char* column : {"/ranks/host", "/ranks/machine", "/ranks/cpu_model", "/ranks/allowed_cores", "/ranks/blas_kernel"})
        replace(column, H5T_C_S1, {hsize_t{1} << 40});
    replace("/ranks/blas_threads", H5T_STD_I32LE, {hsize_t{1} << 40});
    for (const char* column : {"/ranks/memory_available_bytes", "/ranks/cache_bytes"}) replace(column, H5T_STD_I64LE, {hsize_t{1} << 40});
    EXPECT_THAT(refusal(), HasSubstr("/ranks: claims 1099511627776"));
}

TEST_F(BadFile, ThatIsLargeByHolesOnly)
{
    const hsize_t rows = hsize_t{1} << 33;
    const auto creation = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "");
    H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
    replace("/checks/point", H5T_STD_I32LE, {rows}, creation.get());
    replace("/checks/pass", H5T_STD_I32LE, {rows}, creation.get());
    const auto count = static_cast<int64_t>(rows);
    set_first("/progress/checks", H5T_NATIVE_INT64, &count);
    ASSERT_GT(fs::file_size(path), rows * 8);
    EXPECT_THAT(refusal(), HasSubstr("/checks: claims 8589934592"));
}

TEST_F(BadFile, ThatIsLargeOnlyWhenDecompressed)
{
    const hsize_t rows = hsize_t{1} << 27, chunk = hsize_t{1} << 26;
    const auto creation = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "");
    H5Pset_chunk(creation.get(), 1, &chunk);
    H5Pset_deflate(creation.get(), 9);
    replace("/checks/bound", H5T_IEEE_F64LE, {rows}, creation.get());
    EXPECT_THAT(refusal(), HasSubstr("/checks/bound: its chunks are larger than the file"));
}

TEST_F(BadFile, WithTextsLongerThanTheFile)
{
    const auto text = hdf5::own(H5Tcopy(H5T_C_S1), H5Tclose, "");
    H5Tset_size(text.get(), size_t{1} << 31);
    replace("/environment/value", text.get(), {2});
    EXPECT_THAT(refusal(), HasSubstr("/environment/value: claims"));
    H5Tset_size(text.get(), size_t{1} << 40); // stored as 0
    replace("/environment/value", text.get(), {2});
    EXPECT_THAT(refusal(), HasSubstr("/environment/value: texts of no length"));
}

TEST_F(BadFile, WithoutRanks)
{
    const hsize_t none = 0;
    for (const char* column : {"/ranks/host", "/ranks/machine", "/ranks/cpu_model", "/ranks/allowed_cores", "/ranks/blas_kernel"})
        replace(column, H5T_C_S1, {none});
    replace("/ranks/blas_threads", H5T_STD_I32LE, {none});
    for (const char* column : {"/ranks/memory_available_bytes", "/ranks/cache_bytes"}) replace(column, H5T_STD_I64LE, {none});
    for (const char* column : {"comp_begin_ns", "comp_end_ns", "comm_begin_ns", "comm_end_ns"})
        replace((std::string("/repetitions/") + column).c_str(), H5T_STD_I64LE, {20, none});
    EXPECT_THAT(refusal(), HasSubstr("/ranks: empty"));
}

TEST_F(BadFile, WithAFloodOfFacts)
{
    edit([](hid_t file) {
        const auto group = hdf5::own(H5Gopen2(file, "/provenance", H5P_DEFAULT), H5Gclose, "");
        const auto space = hdf5::own(H5Screate(H5S_SCALAR), H5Sclose, "");
        for (int i = 0; i < 20'000; ++i)
            hdf5::own(H5Acreate2(group.get(), std::to_string(i).c_str(), H5T_C_S1, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose, "");
    });
    EXPECT_THAT(refusal(), HasSubstr("too many attributes"));
}

// Data that lead out of the file.

TEST_F(BadFile, WithValuesInAnotherFile)
{
    const auto creation = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "");
    H5Pset_external(creation.get(), "/etc/passwd", 0, 8);
    replace("/points/B", H5T_STD_I64LE, {1}, creation.get());
    EXPECT_THAT(refusal(), HasSubstr("/points/B: its values are in other files"));
}

TEST_F(BadFile, WithAVirtualDataset)
{
    // Opening the source would wait for ever.
    const auto pipe = scratch.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const hsize_t one = 1;
    const auto space = hdf5::own(H5Screate_simple(1, &one, nullptr), H5Sclose, "");
    const auto creation = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "");
    hdf5::check(H5Pset_virtual(creation.get(), space.get(), pipe.c_str(), "/B", space.get()), "");
    replace("/points/B", H5T_STD_I64LE, {1}, creation.get());
    EXPECT_THAT(refusal(), HasSubstr("/points/B: its values are in other files"));
}

TEST_F(BadFile, WithLinksInPlaceOfData)
{
    const auto pipe = scratch.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    edit([&](hid_t file) {
        H5Ldelete(file, "/points", H5P_DEFAULT);
        H5Lcreate_external(pipe.c_str(), "/points", file, "/points", H5P_DEFAULT, H5P_DEFAULT);
    });
    EXPECT_THAT(refusal(), HasSubstr("/points: a link to elsewhere"));
    write_sound_file();
    edit([](hid_t file) {
        H5Ldelete(file, "/points/B", H5P_DEFAULT);
        H5Lcreate_soft("/points/D", file, "/points/B", H5P_DEFAULT, H5P_DEFAULT);
    });
    EXPECT_THAT(refusal(), HasSubstr("/points/B: a link to elsewhere"));
}

TEST_F(BadFile, ThroughAnUnknownFilter)
{
    const hsize_t chunk = 1;
    const auto creation = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "");
    H5Pset_chunk(creation.get(), 1, &chunk);
    H5Pset_filter(creation.get(), 32001, H5Z_FLAG_OPTIONAL, 0, nullptr);
    replace("/points/B", H5T_STD_I64LE, {1}, creation.get());
    EXPECT_THAT(refusal(), HasSubstr("/points/B: stored through a filter"));
}

// Values that contradict each other.

TEST_F(BadFile, WithReferencesOutOfRange)
{
    for (const int32_t point : {-1, 1, 1'000'000}) {
        set_first("/repetitions/point", H5T_NATIVE_INT32, &point);
        EXPECT_THAT(refusal(), HasSubstr("/repetitions/point: row 0"));
    }
    write_sound_file();
    const int32_t one = 1, two = 2, three = 3;
    set_first("/checks/point", H5T_NATIVE_INT32, &one);
    EXPECT_THAT(refusal(), HasSubstr("/checks/point"));
    write_sound_file();
    set_first("/clocks/rank", H5T_NATIVE_INT32, &two);
    EXPECT_THAT(refusal(), HasSubstr("/clocks/rank"));
    write_sound_file();
    set_first("/findings/rank", H5T_NATIVE_INT32, &two);
    EXPECT_THAT(refusal(), HasSubstr("/findings/rank"));
    write_sound_file();
    set_first("/points/P", H5T_NATIVE_INT32, &three);
    EXPECT_THAT(refusal(), HasSubstr("/points/P"));
    write_sound_file();
    const int64_t negative = -1;
    set_first("/points/D", H5T_NATIVE_INT64, &negative);
    EXPECT_THAT(refusal(), HasSubstr("/points/D: row 0 holds -1"));
}

// What a page that a disk or a copy lost reads as.
TEST_F(BadFile, WithZerosWhereARunWritesNone)
{
    const int64_t zero = 0;
    for (const char* column : {"/points/B", "/points/D", "/points/F"}) {
        set_first(column, H5T_NATIVE_INT64, &zero);
        EXPECT_THAT(refusal(), HasSubstr("/points: row 0 multiplies")) << column;
        write_sound_file();
    }
    for (const auto& [column, length] : {std::pair{"/findings/code", 64}, {"/findings/text", 1024}}) {
        const auto text = hdf5::own(H5Tcopy(H5T_C_S1), H5Tclose, "");
        H5Tset_size(text.get(), static_cast<size_t>(length));
        H5Tset_cset(text.get(), H5T_CSET_UTF8);
        const std::vector<char> nothing(static_cast<size_t>(length));
        set_first(column, text.get(), nothing.data());
        EXPECT_THAT(refusal(), AllOf(HasSubstr(column), HasSubstr("row 0 holds nothing")));
        write_sound_file();
    }
}

TEST_F(BadFile, WithValuesThatHaveNoMeaning)
{
    const unsigned char seven = 7;
    for (const char* column : {"/repetitions/mode", "/repetitions/warmup", "/findings/severity", "/progress/status"}) {
        edit([&](hid_t file) {
            const auto dataset = hdf5::own(H5Dopen2(file, column, H5P_DEFAULT), H5Dclose, column);
            const auto type = hdf5::own(H5Dget_type(dataset.get()), H5Tclose, column);
            const auto space = hdf5::own(H5Dget_space(dataset.get()), H5Sclose, column);
            const std::vector<unsigned char> sevens(static_cast<size_t>(H5Sget_simple_extent_npoints(space.get())), seven);
            H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, sevens.data());
        });
        EXPECT_THAT(refusal(), AllOf(HasSubstr(column), HasSubstr("7")));
        write_sound_file();
    }
    const auto text = hdf5::own(H5Tcopy(H5T_C_S1), H5Tclose, "");
    H5Tset_size(text.get(), 16);
    replace("/points/kind", text.get(), {1}, H5P_DEFAULT, "teleport\n\0\0\0\0\0\0");
    EXPECT_THAT(refusal(), HasSubstr("/points/kind: row 0"));
    write_sound_file();
    replace("/points/wire_type", text.get(), {1}, H5P_DEFAULT, "f128\0\0\0\0\0\0\0\0\0\0\0");
    EXPECT_THAT(refusal(), HasSubstr("/points/wire_type: row 0"));
}

} // namespace
} // namespace shardline
