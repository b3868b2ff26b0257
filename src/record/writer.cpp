#include "record/writer.hpp"

#include "model/error.hpp"
#include "record/cells.hpp"
#include "record/datatypes.hpp"
#include "record/output_file.hpp"
#include "record/reader.hpp"
#include "record/schema.hpp"
#include "record/stored_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

namespace shardline {
namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;
using schema::Column;

/// How a table that grows is cut into chunks. Small ones keep the file of a few repetitions small; few
/// ones keep every piece of their index within a page (see creation_properties) up to 8000 chunks a column.
/// Compression is left out: a chunk is written many times before it is full, and under SWMR would move
/// each time, its old place lost.
struct Chunking {
    size_t bytes, fewest_rows, most_rows;

    hsize_t rows_of(size_t row_bytes) const { return std::clamp(bytes / row_bytes, fewest_rows, most_rows); }
};

constexpr Chunking for_thousands_of_rows{32 * 1024, 64, 2048};
constexpr Chunking for_dozens_of_rows{8 * 1024, 4, 256};

template <class Row> constexpr Chunking chunking_of = for_dozens_of_rows;
template <> constexpr Chunking chunking_of<Repetitions> = for_thousands_of_rows;

void write_text_attribute(hid_t object, const std::string& name, std::string_view text)
{
    const auto bytes = std::max<size_t>(text.size(), 1);
    const auto type = hdf5::file_type(schema::Type::text, bytes);
    const auto scalar = own(H5Screate(H5S_SCALAR), H5Sclose, name);
    std::string padded(text);
    padded.resize(bytes);
    const auto attribute =
        own(H5Acreate2(object, name.c_str(), type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    check(H5Awrite(attribute.get(), type.get(), padded.data()), name);
}

void write_number_attribute(hid_t object, const char* name, int32_t value)
{
    const auto scalar = own(H5Screate(H5S_SCALAR), H5Sclose, name);
    const auto attribute = own(H5Acreate2(object, name, H5T_STD_I32LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT32, &value), name);
}

/// Names stay in the group's header: beyond eight, HDF5 would build a heap and a tree for them.
void keep_names_in_header(hid_t group_properties)
{
    check(H5Pset_link_phase_change(group_properties, 64, 32), "");
}

Handle create_group(hid_t file, const char* name)
{
    const auto properties = own(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, name);
    keep_names_in_header(properties.get());
    check(H5Pset_attr_creation_order(properties.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), name);
    return own(H5Gcreate2(file, name, H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose, name);
}

/// A dataset with its unit and description.
Handle create_dataset(hid_t group, const Column& column, size_t text_bytes, hid_t space, hid_t properties)
{
    const auto type = hdf5::file_type(column.type, text_bytes);
    auto dataset = own(H5Dcreate2(group, column.name, type.get(), space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
                       column.name);
    write_text_attribute(dataset.get(), "unit", column.unit);
    write_text_attribute(dataset.get(), "description", column.description);
    return dataset;
}

/// A dataset of final size, written at once.
void write_fixed(hid_t group, const Column& column, size_t text_bytes, const Handle& space, const void* cells)
{
    const auto dataset = create_dataset(group, column, text_bytes, space.get(), H5P_DEFAULT);
    const auto type = hdf5::memory_type(column.type, text_bytes);
    check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, cells), column.name);
}

void write_scalar_text(hid_t group, const Column& column, const std::string& text)
{
    std::string padded(text);
    padded.resize(std::max<size_t>(text.size(), 1));
    write_fixed(group, column, padded.size(), own(H5Screate(H5S_SCALAR), H5Sclose, column.name), padded.data());
}

Handle space_of(hsize_t rows) { return own(H5Screate_simple(1, &rows, nullptr), H5Sclose, "dataspace"); }

void write_texts(hid_t group, const Column& column, const std::vector<std::string>& texts)
{
    size_t bytes = 1;
    for (const auto& text : texts) bytes = std::max(bytes, text.size());
    std::vector<char> cells(texts.size() * bytes);
    for (size_t i = 0; i < texts.size(); ++i) cells::encode(texts[i], std::span(cells).subspan(i * bytes, bytes));
    write_fixed(group, column, bytes, space_of(texts.size()), cells.data());
}

template <class Row> void write_fixed_table(hid_t file, const std::vector<Row>& rows)
{
    using Table = schema::Table<Row>;
    const auto group = create_group(file, Table::group);
    const auto space = space_of(rows.size());
    Table::columns([&](const Column& column, auto field) {
        const std::span<const Row> all(rows);
        const auto text_bytes = cells::longest_text(all, field);
        const auto packed = cells::pack(all, field, hdf5::cell_bytes(column.type, text_bytes));
        write_fixed(group.get(), column, text_bytes, space, packed.data());
    });
}

void write_provenance(hid_t file, const Provenance& provenance)
{
    const auto group = create_group(file, "provenance");
    for (auto fact = provenance.begin(); fact != provenance.end(); ++fact) {
        const auto told_again = [&](const auto& later) { return later.first == fact->first; };
        if (std::none_of(fact + 1, provenance.end(), told_again))
            write_text_attribute(group.get(), fact->first, fact->second);
    }
}

void write_experiment(hid_t file, const RunData& header)
{
    const auto group = create_group(file, "experiment");
    write_scalar_text(group.get(), schema::experiment_text, header.experiment_text);
    write_texts(group.get(), schema::experiment_overrides, header.overrides);
    write_scalar_text(group.get(), schema::experiment_effective, header.experiment_effective);
}

/// How the readings of a repetition stand in a file.
struct RowLayout {
    hsize_t readings = 0; ///< width of a column that holds a value for each rank, or for each that is kept
    bool thinned = false;

    bool holds(const Column& column) const { return thinned || !column.thinned; }
    bool operator==(const RowLayout&) const = default;
};

RowLayout layout_of(const Repetitions& rows) { return {static_cast<hsize_t>(rows.readings_per_row()), rows.kept > 0}; }

RowLayout layout_of(const RunData& run)
{
    const int32_t kept = run.repetitions.kept;
    return {kept > 0 ? static_cast<hsize_t>(kept) : run.ranks.size(), kept > 0};
}

/// An empty column that can grow.
void create_growing(hid_t group, const Column& column, const RowLayout& layout, const Chunking& chunking)
{
    const int dimensions = column.per_rank ? 2 : 1;
    const hsize_t width = column.per_rank ? layout.readings : 1;
    const hsize_t none[] = {0, width}, any[] = {H5S_UNLIMITED, width};
    const hsize_t chunk[] = {chunking.rows_of(hdf5::cell_bytes(column.type, column.text_bytes) * width), width};
    const auto space = own(H5Screate_simple(dimensions, none, any), H5Sclose, column.name);
    const auto properties = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, column.name);
    check(H5Pset_chunk(properties.get(), dimensions, chunk), column.name);
    create_dataset(group, column, column.text_bytes, space.get(), properties.get());
}

/// A table's empty columns and its counter of committed rows.
template <class Row> void create_growing_table(hid_t file, hid_t progress, const RowLayout& layout)
{
    using Table = schema::Table<Row>;
    const auto group = create_group(file, Table::group);
    Table::columns([&](const Column& column, auto) {
        if (layout.holds(column)) create_growing(group.get(), column, layout, chunking_of<Row>);
    });
    const int64_t none = 0;
    write_fixed(progress, schema::committed_rows(Table::group), 0, space_of(1), &none);
}

void lay_out(hid_t file, const RunData& header)
{
    write_text_attribute(file, "format", schema::format_name);
    write_number_attribute(file, "format_version", schema::format_version);
    write_text_attribute(file, "created_utc", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))));
    write_experiment(file, header);
    write_provenance(file, header.provenance);
    write_fixed_table(file, header.environment);
    write_fixed_table(file, header.ranks);

    const auto progress = create_group(file, "progress");
    const auto running = static_cast<unsigned char>(RunStatus::running);
    write_fixed(progress.get(), schema::progress_status, 0, space_of(1), &running);
    const RowLayout layout = layout_of(header);
    create_growing_table<Point>(file, progress.get(), layout);
    create_growing_table<Repetitions>(file, progress.get(), layout);
    if (layout.thinned) create_growing_table<RankSummary>(file, progress.get(), layout);
    create_growing_table<Check>(file, progress.get(), layout);
    create_growing_table<Finding>(file, progress.get(), layout);
    create_growing_table<ClockModel>(file, progress.get(), layout);
}

Handle open_dataset(hid_t file, const std::string& path)
{
    // Without a cache an append writes its own rows, and not the whole chunk they are in.
    const auto properties = own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, path);
    check(H5Pset_chunk_cache(properties.get(), 0, 0, 0), path);
    return own(H5Dopen2(file, path.c_str(), properties.get()), H5Dclose, path);
}

/// Makes the file at least so long.
void extend(hid_t file, hsize_t bytes)
{
    void* descriptor = nullptr;
    check(H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor), "");
    const int number = *static_cast<const int*>(descriptor);
    struct stat status {};
    const bool done = ::fstat(number, &status) == 0
        && (status.st_size >= static_cast<off_t>(bytes) || ::ftruncate(number, static_cast<off_t>(bytes)) == 0);
    if (!done) throw hdf5::Failure(errno_text(errno), errno);
}

/// Hands everything to the operating system. The flush is of the whole file because that alone stores the
/// file's length, without which h5clear cuts off what was appended. The file has that length before it says
/// so, lest a kill in between make it look truncated.
void flush(hid_t file)
{
    hsize_t bytes = 0;
    check(H5Fget_filesize(file, &bytes), "");
    extend(file, bytes);
    check(H5Fflush(file, H5F_SCOPE_LOCAL), "");
}

Handle writing_properties()
{
    auto properties = hdf5::access_properties();
    // SWMR needs the formats of 1.10; newer libraries keep to them too, for the tools of older ones.
    check(H5Pset_libver_bounds(properties.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "");
    return properties;
}

/// A kill can cut a write short where a page of memory ends. Allocated in pages of that size, no small piece of
/// metadata lies across such a place, so that it is written whole or not at all.
Handle creation_properties()
{
    constexpr hsize_t page_bytes = 4096;
    auto properties = own(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "");
    keep_names_in_header(properties.get());
    check(H5Pset_file_space_strategy(properties.get(), H5F_FSPACE_STRATEGY_PAGE, false, 1), "");
    check(H5Pset_file_space_page_size(properties.get(), page_bytes), "");
    return properties;
}

/// Sets the file's length to what is on disk, which a killed run may not have stored; HDF5 would
/// otherwise append over its last rows.
Handle open_to_continue(const std::string& path)
{
    const auto properties = writing_properties();
    const hbool_t killed_run_too = true;
    // The property h5clear uses: opens in spite of the flags a killed writer left.
    check(H5Pset(properties.get(), "clear_status_flags", &killed_run_too), "");
    auto file = own(H5Fopen(path.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, properties.get()), H5Fclose, "");
    check(H5Fincrement_filesize(file.get(), 0), "");
    return file;
}

/// One open column of a table that grows.
class GrowingColumn {
public:
    GrowingColumn(hid_t file, const char* table, const Column& column, const RowLayout& layout)
        : name_(fmt::format("/{}/{}", table, column.name)), dataset_(open_dataset(file, name_)),
          type_(hdf5::memory_type(column.type, column.text_bytes)),
          cell_bytes_(hdf5::cell_bytes(column.type, column.text_bytes)), dimensions_(column.per_rank ? 2 : 1),
          width_(column.per_rank ? layout.readings : 1)
    {
    }

    size_t cell_bytes() const { return cell_bytes_; }

    void set_length(hsize_t rows)
    {
        const hsize_t lengths[] = {rows, width_};
        check(H5Dset_extent(dataset_.get(), lengths), name_);
    }

    /// Appends rows after the first `first`.
    void write(hsize_t first, hsize_t rows, const void* cells)
    {
        set_length(first + rows);
        const hsize_t start[] = {first, 0}, count[] = {rows, width_};
        const auto in_file = own(H5Dget_space(dataset_.get()), H5Sclose, name_);
        check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start, nullptr, count, nullptr), name_);
        const auto in_memory = own(H5Screate_simple(dimensions_, count, nullptr), H5Sclose, name_);
        check(H5Dwrite(dataset_.get(), type_.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, cells), name_);
    }

    void abandon() { dataset_.release(); }

private:
    std::string name_;
    Handle dataset_, type_;
    size_t cell_bytes_;
    int dimensions_;
    hsize_t width_;
};

/// The open columns of a table that grows, and its counter.
class GrowingTable {
public:
    template <class Row> static GrowingTable open(hid_t file, const RowLayout& layout)
    {
        using Table = schema::Table<Row>;
        GrowingTable table;
        table.file_ = file;
        table.counter_ = open_dataset(file, fmt::format("/progress/{}", Table::group));
        int64_t rows = 0;
        check(H5Dread(table.counter_.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows), Table::group);
        table.rows_ = static_cast<hsize_t>(rows);
        Table::columns([&](const Column& column, auto) {
            if (layout.holds(column)) table.columns_.emplace_back(file, Table::group, column, layout);
        });
        return table;
    }

    /// Takes off what an append that was not completed may have left.
    void drop_uncommitted()
    {
        for (auto& column : columns_) column.set_length(rows_);
    }

    template <class Row> void append(std::span<const Row> rows)
    {
        size_t next = 0;
        schema::Table<Row>::columns([&](const Column&, auto field) {
            auto& column = columns_[next++];
            column.write(rows_, rows.size(), cells::pack(rows, field, column.cell_bytes()).data());
        });
        commit(rows.size());
    }

    void append(const Repetitions& rows)
    {
        size_t next = 0;
        schema::Table<Repetitions>::columns([&](const Column& column, auto field) {
            if (layout_of(rows).holds(column)) columns_[next++].write(rows_, rows.size(), (rows.*field).data());
        });
        commit(rows.size());
    }

    void abandon()
    {
        for (auto& column : columns_) column.abandon();
        counter_.release();
    }

private:
    /// Columns first, the counter when they are safe.
    void commit(hsize_t added)
    {
        flush(file_);
        const auto rows = static_cast<int64_t>(rows_ + added);
        check(H5Dwrite(counter_.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows), "progress");
        check(H5Dflush(counter_.get()), "progress");
        rows_ += added;
    }

    hid_t file_ = H5I_INVALID_HID;
    std::vector<GrowingColumn> columns_;
    Handle counter_;
    hsize_t rows_ = 0;
};

std::vector<std::string> places_of_copy(const std::string& path)
{
    const std::filesystem::path output(path);
    std::error_code none;
    std::vector<std::string> places;
    for (const auto& folder : {output.parent_path(), std::filesystem::temp_directory_path(none)})
        for (int i = 1; i <= 20; ++i)
            places.push_back(folder / fmt::format("{}.rescued-{}.h5", output.filename().string(), i));
    return places;
}

bool columns_match(const Repetitions& rows)
{
    bool match = true;
    const RowLayout layout = layout_of(rows);
    schema::Table<Repetitions>::columns([&](const Column& column, auto field) {
        const size_t width = column.per_rank ? layout.readings : 1;
        const size_t values = layout.holds(column) ? rows.size() * width : 0;
        match = match && (rows.*field).size() == values;
    });
    return match;
}

/// An older file may be read without the columns added since, but rows cannot go on in it.
template <class Row> void require_columns(const std::string& path, hdf5::StoredFile& file, const RowLayout& layout)
{
    const hdf5::StoredGroup group(file, schema::Table<Row>::group);
    schema::Table<Row>::columns([&](const Column& column, auto) {
        if (layout.holds(column) && !group.holds(column.name))
            throw InputError(fmt::format("cannot go on in {} (written by an older shardline, without {}/{}): start a new run with -o",
                                         path, group.path(), column.name));
    });
}

void require_every_column(const std::string& path, const RowLayout& layout)
{
    hdf5::StoredFile file(path);
    require_columns<Point>(path, file, layout);
    require_columns<Repetitions>(path, file, layout);
}

} // namespace

struct RunWriter::File {
    std::string path;
    WriterLock lock;
    Handle file;
    RowLayout layout;
    GrowingTable points, repetitions, rank_summaries, checks, findings, clocks;
    Handle status;
    bool published = false; ///< the file has its name
    std::string failure;    ///< why nothing more can be written; empty while all is well

    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File()
    {
        if (!file) return;
        try {
            close(RunStatus::failed);
        } catch (const std::exception&) {
            // The caller is unwinding for a reason of its own; what was committed stands in the file.
        }
    }

    std::array<GrowingTable*, 6> tables() { return {&points, &repetitions, &rank_summaries, &checks, &findings, &clocks}; }

    void open_columns()
    {
        points = GrowingTable::open<Point>(file.get(), layout);
        repetitions = GrowingTable::open<Repetitions>(file.get(), layout);
        if (layout.thinned) rank_summaries = GrowingTable::open<RankSummary>(file.get(), layout);
        checks = GrowingTable::open<Check>(file.get(), layout);
        findings = GrowingTable::open<Finding>(file.get(), layout);
        clocks = GrowingTable::open<ClockModel>(file.get(), layout);
        status = open_dataset(file.get(), "/progress/status");
    }

    /// Runs an HDF5 operation; its failure ends the writing.
    template <class Operation> void write(Operation&& operation)
    {
        if (!failure.empty()) throw InputError(failure);
        hdf5::initialise();
        try {
            operation();
        } catch (const hdf5::Failure& error) {
            give_up(error);
            throw InputError(failure);
        }
        if (published && lock.file_is_removed()) leave_removed_file();
    }

    template <class Row> void append(GrowingTable& table, std::span<const Row> rows)
    {
        if (!rows.empty()) write([&] { table.append(rows); });
    }

    void give_up(const hdf5::Failure& error)
    {
        failure = fmt::format("cannot write {} ({}): {}{}", path, error.what(), remedy(error.error_number),
                              published ? "; what was recorded before is kept" : "");
        abandon();
    }

    /// A removed file takes everything, and is gone with this process: what it holds goes to a copy, beside it or where temporary
    /// files go.
    void leave_removed_file()
    {
        const std::string removed = fmt::format("cannot write {} (it or its folder was removed while the run wrote it)", path);
        for (const std::string& copy : places_of_copy(path)) {
            if (!lock.copy_to(copy)) continue;
            failure = fmt::format("{}: all that was recorded is in {}, move it to a safe place", removed, copy);
            abandon();
            throw FileRemoved(failure);
        }
        failure = removed + ": measure again, no folder took a copy of what was recorded";
        abandon();
        throw InputError(failure);
    }

    /// Closes nothing: HDF5 would try to write the rest in an order that a crash does not survive, and
    /// mark the file as sound. As it is, the file holds what was committed, like that of a killed run.
    void abandon()
    {
        for (auto* table : tables()) table->abandon();
        status.release();
        file.release();
        lock.release();
    }

    void set_status(RunStatus value)
    {
        const auto type = hdf5::memory_type(schema::Type::status, 0);
        const auto cell = static_cast<unsigned char>(value);
        check(H5Dwrite(status.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &cell), "/progress/status");
        flush(file.get());
    }

    void close(RunStatus final_status)
    {
        write([&] {
            set_status(final_status);
            for (auto* table : tables()) *table = GrowingTable();
            status.reset();
            check(file.reset(), "");
        });
        // Network file systems may tell of a full disk only here.
        if (const int error = lock.synchronise())
            throw InputError(fmt::format("cannot write {} ({}): {}", path, errno_text(error), remedy(error)));
        lock.release();
    }
};

RunWriter::RunWriter(const std::string& path, const RunData& header, Overwrite overwrite) : file_(std::make_unique<File>())
{
    if (header.ranks.empty()) throw std::logic_error("a run is recorded of one rank at least");
    hdf5::initialise();
    OutputFile output(path, overwrite);
    file_->path = path;
    file_->layout = layout_of(header);
    file_->write([&] {
        const auto properties = writing_properties();
        const auto creation = creation_properties();
        file_->file =
            own(H5Fcreate(output.temporary_path().c_str(), H5F_ACC_TRUNC, creation.get(), properties.get()), H5Fclose, "");
        lay_out(file_->file.get(), header);
        flush(file_->file.get());
        check(H5Fstart_swmr_write(file_->file.get()), "");
        file_->open_columns();
    });
    file_->lock = WriterLock(output.temporary_path()); // only now: HDF5 may have held a lock of its own until SWMR began
    file_->append(file_->findings, std::span<const Finding>(header.findings));
    file_->append(file_->clocks, std::span<const ClockModel>(header.clocks));
    output.publish();
    file_->published = true;
}

RunWriter RunWriter::reopen(const std::string& path)
{
    auto file = std::make_unique<File>();
    file->path = path;
    file->layout = layout_of(read_run(path)); // before the lock, which the process that reads would share, and outlive this one
    file->lock = WriterLock(path);
    file->published = true;
    require_every_column(path, file->layout);
    file->write([&] {
        if (hdf5::locking_is_forced()) file->lock.release();
        file->file = open_to_continue(path);
        if (hdf5::locking_is_forced()) file->lock = WriterLock(path);
        file->open_columns();
        for (auto* table : file->tables()) table->drop_uncommitted();
        file->set_status(RunStatus::running);
    });
    return RunWriter(std::move(file));
}

RunWriter::RunWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}
RunWriter::~RunWriter() = default;
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;

void RunWriter::append(std::span<const Point> points) { file_->append(file_->points, points); }
void RunWriter::append(const Check& check) { file_->append(file_->checks, std::span(&check, 1)); }
void RunWriter::append(const Finding& finding) { file_->append(file_->findings, std::span(&finding, 1)); }
void RunWriter::append(std::span<const ClockModel> clocks) { file_->append(file_->clocks, clocks); }

void RunWriter::append(std::span<const RankSummary> summaries)
{
    if (!summaries.empty() && !file_->layout.thinned) throw std::logic_error("ranks are summarised of thinned repetitions only");
    file_->append(file_->rank_summaries, summaries);
}

void RunWriter::append(const Repetitions& repetitions)
{
    if (layout_of(repetitions) != file_->layout || !columns_match(repetitions))
        throw std::logic_error("repetitions to append differ in readings or have columns of different lengths");
    if (repetitions.size() > 0) file_->write([&] { file_->repetitions.append(repetitions); });
}

void RunWriter::close(RunStatus status) { file_->close(status); }

} // namespace shardline
