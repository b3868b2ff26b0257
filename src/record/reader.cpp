#include "record/reader.hpp"

#include "model/error.hpp"
#include "record/cells.hpp"
#include "record/datatypes.hpp"
#include "record/reading_process.hpp"
#include "record/schema.hpp"
#include "record/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shardline {
namespace {

using hdf5::reject;
using hdf5::Shape;
using hdf5::StoredColumn;
using hdf5::StoredFile;
using hdf5::StoredGroup;
using schema::Column;

constexpr size_t most_facts = 10'000;

void require_known_values(const Column& column, std::span<const unsigned char> cells, const std::string& path)
{
    const size_t known = hdf5::enumeration_size(column.type);
    for (size_t row = 0; known != 0 && row < cells.size(); ++row)
        if (cells[row] >= known) reject(path, fmt::format("row {} holds {}, which has no meaning", row, cells[row]));
}

/// Cells of the first rows of a column, as bytes.
std::vector<char> cells_of(const StoredGroup& group, const StoredColumn& stored, const Column& column, hsize_t rows)
{
    group.file().take(rows, stored.cell_bytes(), stored.path());
    std::vector<char> cells(rows * stored.cell_bytes());
    stored.read(rows, cells.data());
    require_known_values(column, {reinterpret_cast<const unsigned char*>(cells.data()), cells.size()}, stored.path());
    return cells;
}

std::string scalar_text(const StoredGroup& group, const Column& column)
{
    const StoredColumn stored(group, column, Shape::scalar);
    const auto cells = cells_of(group, stored, column, 1);
    return std::string(cells::text_in(cells));
}

std::vector<std::string> texts(const StoredGroup& group, const Column& column)
{
    const StoredColumn stored(group, column, Shape::rows);
    const auto cells = cells_of(group, stored, column, stored.rows());
    group.file().take(stored.rows(), sizeof(std::string), stored.path());
    std::vector<std::string> result(stored.rows());
    for (size_t i = 0; i < result.size(); ++i)
        result[i] = cells::text_in(std::span(cells).subspan(i * stored.cell_bytes(), stored.cell_bytes()));
    return result;
}

template <class Row, class Field>
void read_field(const StoredGroup& group, const Column& column, Field Row::*field, std::vector<Row>& rows)
{
    if (column.later && !group.holds(column.name)) return;
    const StoredColumn stored(group, column, Shape::rows);
    const auto cells = cells_of(group, stored, column, rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        try {
            cells::decode(std::span(cells).subspan(i * stored.cell_bytes(), stored.cell_bytes()), rows[i].*field);
        } catch (const cells::BadCell& bad) {
            reject(stored.path(), fmt::format("row {}: {}", i, bad.what()));
        }
    }
}

/// The first rows of a table.
template <class Row> std::vector<Row> read_table(StoredFile& file, hsize_t rows)
{
    using Table = schema::Table<Row>;
    const StoredGroup group(file, Table::group);
    file.take(rows, sizeof(Row), group.path());
    std::vector<Row> result(rows);
    Table::columns([&](const Column& column, auto field) { read_field(group, column, field, result); });
    return result;
}

/// A table of fixed size: as many rows as its first column has.
template <class Row> std::vector<Row> read_fixed_table(StoredFile& file)
{
    using Table = schema::Table<Row>;
    const StoredGroup group(file, Table::group);
    hsize_t rows = 0;
    bool first = true;
    Table::columns([&](const Column& column, auto) {
        if (column.later && !group.holds(column.name)) return;
        const StoredColumn stored(group, column, Shape::rows);
        if (!first && stored.rows() != rows) reject(stored.path(), "its length differs from the other columns'");
        rows = stored.rows();
        first = false;
    });
    return read_table<Row>(file, rows);
}

/// By any of the columns of thinned repetitions: with one of them lost, readings would pass for those of ranks 0, 1, ...
bool is_thinned(const StoredGroup& repetitions) { return repetitions.holds("rank") || repetitions.holds("comp_mean_ns"); }

/// Readings in a row of thinned repetitions; 0 where they are of every rank.
int32_t kept_in(const StoredGroup& group)
{
    constexpr Column rank{"rank", schema::Type::int32, "", "", 0, true};
    constexpr hsize_t most_kept = 1024; // a row names each by a number of its own
    if (!is_thinned(group)) return 0;
    const StoredColumn stored(group, rank, Shape::rows_by_rank, hdf5::any_width);
    if (stored.width() < 1 || stored.width() > most_kept) reject(stored.path(), fmt::format("keeps {} ranks of each row", stored.width()));
    return static_cast<int32_t>(stored.width());
}

Repetitions read_repetitions(StoredFile& file, hsize_t rows, size_t ranks)
{
    const StoredGroup group(file, schema::Table<Repetitions>::group);
    Repetitions result;
    result.ranks = static_cast<int32_t>(ranks);
    result.kept = kept_in(group);
    const auto readings = static_cast<hsize_t>(result.readings_per_row());
    schema::Table<Repetitions>::columns([&](const Column& column, auto field) {
        auto& values = result.*field;
        using Value = typename std::remove_reference_t<decltype(values)>::value_type;
        if (column.thinned && result.kept == 0) return;
        if (column.later && !group.holds(column.name)) {
            file.take(rows * readings, sizeof(Value), group.path());
            values.assign(rows * readings, static_cast<Value>(Repetitions::no_reading));
            return;
        }
        const StoredColumn stored(group, column, column.per_rank ? Shape::rows_by_rank : Shape::rows, readings);
        file.take(rows, stored.width() * sizeof(Value), stored.path());
        values.resize(rows * stored.width());
        stored.read(rows, values.data());
        if constexpr (std::is_same_v<Value, uint8_t>) require_known_values(column, values, stored.path());
    });
    return result;
}

/// How much of each growing table counts.
struct Progress {
    RunStatus status;
    hsize_t repetitions, rank_summaries, checks, findings, clocks, points;
};

template <class Row> hsize_t committed(const StoredGroup& progress)
{
    const auto column = schema::committed_rows(schema::Table<Row>::group);
    const StoredColumn stored(progress, column, Shape::rows);
    int64_t rows = -1;
    if (stored.rows() != 1) reject(stored.path(), "not one value");
    stored.read(1, &rows);
    if (rows < 0) reject(stored.path(), "negative");
    return static_cast<hsize_t>(rows);
}

RunStatus read_status(const StoredGroup& progress)
{
    const StoredColumn stored(progress, schema::progress_status, Shape::rows);
    if (stored.rows() != 1) reject(stored.path(), "not one value");
    return static_cast<RunStatus>(cells_of(progress, stored, schema::progress_status, 1)[0]);
}

/// While a run writes, what is read first is the oldest: the status, so that "complete" means all the
/// rest is there; points last, so that every row read refers to a point that is there.
Progress read_progress(StoredFile& file)
{
    const StoredGroup group(file, "progress");
    Progress progress{};
    progress.status = read_status(group);
    progress.repetitions = committed<Repetitions>(group);
    if (is_thinned(StoredGroup(file, schema::Table<Repetitions>::group))) progress.rank_summaries = committed<RankSummary>(group);
    progress.checks = committed<Check>(group);
    progress.findings = committed<Finding>(group);
    progress.clocks = committed<ClockModel>(group);
    progress.points = committed<Point>(group);
    return progress;
}

Provenance read_provenance(StoredFile& file)
{
    const StoredGroup group(file, "provenance");
    Provenance facts;
    hdf5::for_each_attribute(group, most_facts, [&](const char* name) {
        facts.emplace_back(name, hdf5::text_attribute(file, group.get(), name));
    });
    return facts;
}

void require_format(StoredFile& file, const std::string& path)
{
    const bool ours = hdf5::has_attribute(file.get(), "format")
        && hdf5::text_attribute(file, file.get(), "format") == schema::format_name;
    if (!ours)
        throw InputError(
            fmt::format("cannot read {} (it was not written by shardline): name a file that shardline-run wrote", path));
    const auto version = hdf5::number_attribute(file.get(), "format_version");
    if (version > schema::format_version)
        throw InputError(
            fmt::format("cannot read {} (written by a newer shardline: format {}, this reads {}): update shardline", path,
                        version, schema::format_version));
    if (version < 1) reject("format_version", "not a version");
}

/// Refuses a row whose value is not from `least` to `greatest`.
template <class Rows, class Get>
void require_range(const char* path, const Rows& rows, Get get, int64_t least, int64_t greatest)
{
    size_t row = 0;
    for (const auto& element : rows) {
        const int64_t value = get(element);
        if (value < least || value > greatest)
            reject(path, fmt::format("row {} holds {}, which is not from {} to {}", row, value, least, greatest));
        ++row;
    }
}

/// Refuses an empty text: a run writes none here, and a page that a disk or a copy lost reads as zeros.
template <class Rows, class Get>
void require_text(const char* path, const Rows& rows, Get get)
{
    size_t row = 0;
    for (const auto& element : rows) {
        if (get(element).empty()) reject(path, fmt::format("row {} holds nothing", row));
        ++row;
    }
}

/// Sizes that a point of its kind cannot be without.
void require_sizes(const std::vector<Point>& points)
{
    size_t row = 0;
    for (const Point& point : points) {
        const bool multiplies = point.kind == PointKind::crossover || point.kind == PointKind::matmul;
        if (multiplies && std::min({point.B, point.D, point.F}) < 1)
            reject("/points", fmt::format("row {} multiplies B = {}, D = {}, F = {}", row, point.B, point.D, point.F));
        if ((point.kind == PointKind::exchange || point.kind == PointKind::allreduce) && point.message_bytes < 1)
            reject("/points", fmt::format("row {} exchanges {} bytes", row, point.message_bytes));
        ++row;
    }
}

/// What the analysis relies on: references lead to rows that are there, and sizes are sizes.
void require_consistent(const RunData& run)
{
    constexpr auto any_size = std::numeric_limits<int64_t>::max();
    const auto last_point = static_cast<int64_t>(run.points.size()) - 1, ranks = static_cast<int64_t>(run.ranks.size());
    require_range("/repetitions/point", run.repetitions.point, [](int32_t point) { return point; }, 0, last_point);
    require_range("/repetitions/rank", run.repetitions.rank, [](int32_t rank) { return rank; }, 0, ranks - 1);
    require_range("/rank_summaries/rank", run.rank_summaries, [](const RankSummary& its) { return its.rank; }, 0, ranks - 1);
    require_range("/checks/point", run.checks, [](const Check& check) { return check.point; }, 0, last_point);
    require_range("/findings/rank", run.findings, [](const Finding& finding) { return finding.rank; }, -1, ranks - 1);
    require_range("/clocks/rank", run.clocks, [](const ClockModel& clock) { return clock.rank; }, 0, ranks - 1);
    require_range("/points/P", run.points, [](const Point& point) { return point.P; }, 0, ranks);
    require_range("/points/B", run.points, [](const Point& point) { return point.B; }, 0, any_size);
    require_range("/points/D", run.points, [](const Point& point) { return point.D; }, 0, any_size);
    require_range("/points/F", run.points, [](const Point& point) { return point.F; }, 0, any_size);
    require_range("/points/message_bytes", run.points, [](const Point& point) { return point.message_bytes; }, 0, any_size);
    require_range("/points/segment_bytes", run.points, [](const Point& point) { return point.segment_bytes; }, 0, any_size);
    require_sizes(run.points);
    require_text("/findings/code", run.findings, [](const Finding& finding) { return finding.code; });
    require_text("/findings/text", run.findings, [](const Finding& finding) { return finding.text; });
}

RunData read(const std::string& path)
{
    StoredFile file(path);
    require_format(file, path);
    RunData run;
    run.path = path;
    const auto progress = read_progress(file);
    run.status = progress.status;
    const StoredGroup experiment(file, "experiment");
    run.experiment_text = scalar_text(experiment, schema::experiment_text);
    run.overrides = texts(experiment, schema::experiment_overrides);
    run.experiment_effective = scalar_text(experiment, schema::experiment_effective);
    run.provenance = read_provenance(file);
    run.environment = read_fixed_table<schema::NameAndValue>(file);
    run.ranks = read_fixed_table<RankInfo>(file);
    if (run.ranks.empty()) reject("/ranks", "empty");
    run.points = read_table<Point>(file, progress.points);
    run.repetitions = read_repetitions(file, progress.repetitions, run.ranks.size());
    if (progress.rank_summaries > 0) run.rank_summaries = read_table<RankSummary>(file, progress.rank_summaries);
    run.checks = read_table<Check>(file, progress.checks);
    run.findings = read_table<Finding>(file, progress.findings);
    run.clocks = read_table<ClockModel>(file, progress.clocks);
    require_consistent(run);
    return run;
}

RunData read_here(const std::string& path)
{
    try {
        return read(path);
    } catch (const hdf5::Failure& failure) {
        throw InputError(fmt::format("cannot read {} ({}): it is damaged, or not laid out as docs/file-format.md says", path,
                                     failure.what()));
    }
}

} // namespace

RunData read_run(const std::string& path)
{
    hdf5::initialise();
    return read_in_a_process_of_its_own(path, read_here);
}

} // namespace shardline
