// Every state a kill can leave: the file as it stands before each write, and with that write cut where a page
// of memory ends. In each of them all committed rows are there, for our reader, for other tools after
// h5clear, and for a run that goes on.

#include "disk.hpp"
#include "record/handle.hpp"
#include "record/reader.hpp"
#include "record/schema.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

namespace shardline {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr int32_t ranks = 4;
constexpr size_t rows_of_a_visit = 400;
constexpr off_t page = 4096;

/// One change of the file, and the rows that were committed before it.
struct Change {
    std::string bytes;
    off_t offset = 0;
    off_t length = -1; ///< of the file, where the change is a truncation
    size_t committed = 0;
};

using Changes = std::vector<Change>;

/// What happens to the file while `work` writes to it; work keeps `committed` up to date.
template <class Work> Changes record(Work&& work, size_t& committed)
{
    Changes changes;
    const disk::Interposed interposed(
        [&](int descriptor, const char* bytes, size_t count, off_t offset) {
            changes.push_back({std::string(bytes, count), offset, -1, committed});
            return disk::really_pwrite(descriptor, bytes, count, offset);
        },
        [&](int descriptor, off_t length) {
            changes.push_back({{}, 0, length, committed});
            return disk::really_ftruncate(descriptor, length);
        });
    work();
    return changes;
}

/// The file as a kill would leave it.
class Image {
public:
    Image(const std::string& start, std::string path) : path_(std::move(path))
    {
        fs::copy_file(start, path_, fs::copy_options::overwrite_existing);
        descriptor_ = ::open(path_.c_str(), O_RDWR);
    }
    ~Image() { ::close(descriptor_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    const std::string& path() const { return path_; }
    void apply(const Change& change) const { apply_until(change, static_cast<off_t>(change.bytes.size())); }

    /// As much of a change as ends before byte `count` of it.
    void apply_until(const Change& change, off_t count) const
    {
        if (change.length >= 0)
            disk::really_ftruncate(descriptor_, change.length);
        else
            disk::really_pwrite(descriptor_, change.bytes.data(), static_cast<size_t>(count), change.offset);
    }

private:
    std::string path_;
    int descriptor_ = -1;
};

void expect_committed(const RunData& run, size_t committed, size_t most)
{
    ASSERT_GE(run.repetitions.size(), committed);
    ASSERT_LE(run.repetitions.size(), most);
    const auto written = sample_repetitions(ranks, 0, run.repetitions.size());
    ASSERT_EQ(run.repetitions.comp_begin_ns, written.comp_begin_ns);
    ASSERT_EQ(run.repetitions.comm_end_ns, written.comm_end_ns);
    ASSERT_EQ(run.repetitions.warmup, written.warmup);
    ASSERT_EQ(run.repetitions.start_skew_ns, written.start_skew_ns);
}

enum class Length { as_stored, as_found };

/// Does what h5clear -s does, or with Length::as_found what h5clear -s --increment=0 does.
void clear_flags(const std::string& path, Length length)
{
    hdf5::initialise();
    const auto properties = hdf5::access_properties();
    const hbool_t yes = true;
    hdf5::check(H5Pset(properties.get(), "clear_status_flags", &yes), "");
    const auto file = hdf5::own(H5Fopen(path.c_str(), H5F_ACC_RDWR, properties.get()), H5Fclose, path);
    if (length == Length::as_found) hdf5::check(H5Fincrement_filesize(file.get(), 0), "");
}

void read_whole(hid_t file, const std::string& path)
{
    const auto dataset = hdf5::own(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, path);
    const auto type = hdf5::own(H5Dget_type(dataset.get()), H5Tclose, path);
    const auto space = hdf5::own(H5Dget_space(dataset.get()), H5Sclose, path);
    std::vector<char> bytes(static_cast<size_t>(H5Sget_simple_extent_npoints(space.get())) * H5Tget_size(type.get()));
    hdf5::check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path);
}

template <class Row> void read_whole_table(hid_t file)
{
    using Table = schema::Table<Row>;
    Table::columns([&](const schema::Column& column, auto) {
        if (!column.thinned) read_whole(file, std::string(Table::group) + "/" + column.name);
    });
}

/// Reads to their ends the columns that were appended to, as tools do that know nothing of committed rows.
void read_as_a_stranger(const std::string& path)
{
    const auto file = hdf5::own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, path);
    read_whole_table<Repetitions>(file.get());
    read_whole_table<Check>(file.get());
}

/// Checks one state in every way that it will be used. `most` is what an append in progress would make of it.
void check_state(const Image& image, size_t committed, size_t most, bool and_continue)
{
    auto run = read_run(image.path());
    expect_committed(run, committed, most);
    const size_t rows = run.repetitions.size();

    const auto copy = image.path() + ".copy";
    fs::copy_file(image.path(), copy, fs::copy_options::overwrite_existing);
    clear_flags(copy, Length::as_stored);
    expect_committed(read_run(copy), rows, rows);
    fs::copy_file(image.path(), copy, fs::copy_options::overwrite_existing);
    clear_flags(copy, Length::as_found);
    read_as_a_stranger(copy);

    if (!and_continue) return;
    fs::copy_file(image.path(), copy, fs::copy_options::overwrite_existing);
    auto writer = RunWriter::reopen(copy);
    writer.append(sample_repetitions(ranks, rows, rows_of_a_visit));
    writer.close(RunStatus::complete);
    run = read_run(copy);
    expect_committed(run, rows + rows_of_a_visit, rows + rows_of_a_visit);
}

/// Goes through all states between `start` and the end of the recording.
void check_every_state(const std::string& start, const Changes& changes, const std::string& scratch)
{
    const Image image(start, scratch);
    size_t states = 0;
    for (const auto& change : changes) {
        SCOPED_TRACE(testing::Message() << "change " << states << " at " << change.offset);
        const size_t most = change.committed + rows_of_a_visit;
        ASSERT_NO_THROW(check_state(image, change.committed, most, states % 13 == 0));
        const auto count = static_cast<off_t>(change.bytes.size());
        for (off_t cut = page - change.offset % page; cut < count; cut += page) {
            image.apply_until(change, cut);
            ASSERT_NO_THROW(check_state(image, change.committed, most, false));
        }
        image.apply(change);
        ++states;
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(states, 100u);
}

void append_visits(RunWriter& writer, size_t visits, size_t& committed)
{
    for (size_t visit = 0; visit < visits; ++visit) {
        writer.append(sample_repetitions(ranks, committed, rows_of_a_visit));
        committed += rows_of_a_visit;
        writer.append(Check{0, 0, 0, 0, true});
    }
}

class Crash : public testing::Test {
protected:
    RunWriter create() const
    {
        RunWriter writer(path, sample_header(ranks), Overwrite::refuse);
        const Point point = sample_point(100, ranks);
        writer.append(std::span(&point, 1));
        return writer;
    }

    ScratchFolder scratch;
    std::string path = scratch.path("run.h5"), start = scratch.path("start.h5");
    size_t committed = 0;
};

TEST_F(Crash, AtAnyWriteLeavesWhatWasCommitted)
{
    auto writer = create();
    fs::copy_file(path, start);
    const auto changes = record(
        [&] {
            append_visits(writer, 12, committed);
            writer.close(RunStatus::complete);
        },
        committed);
    check_every_state(start, changes, scratch.path("image.h5"));
}

TEST_F(Crash, OfAContinuedRunLeavesWhatWasCommitted)
{
    auto writer = create();
    append_visits(writer, 5, committed);
    fs::copy_file(path, start);
    const auto killed = scratch.path("killed.h5");
    {
        size_t lost = committed;
        const auto changes = record([&] { append_visits(writer, 1, lost); }, lost);
        const Image image(start, killed);
        for (size_t i = 0; i < changes.size() / 2; ++i) image.apply(changes[i]);
    }
    fs::copy_file(killed, start, fs::copy_options::overwrite_existing);
    const auto changes = record(
        [&] {
            auto continued = RunWriter::reopen(killed);
            append_visits(continued, 4, committed);
            continued.close(RunStatus::complete);
        },
        committed);
    check_every_state(start, changes, scratch.path("image.h5"));
}

} // namespace
} // namespace shardline
