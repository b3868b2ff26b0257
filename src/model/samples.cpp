#include "model/samples.hpp"

#include "model/error.hpp"
#include "model/shard.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

namespace shardline {

namespace {

constexpr int64_t longest_time_ns = 100'000'000'000'000; // 10^5 s: no repetition takes as long

/// A part of a repetition by its clock readings.
struct Part {
    const char* name;
    const std::vector<int64_t>& begin_ns;
    const std::vector<int64_t>& end_ns;
};

std::string run_name(const RunData& run) { return run.path.empty() ? "this run" : run.path; }

[[noreturn]] void refuse_row(const RunData& run, size_t row, const std::string& problem)
{
    throw DataError(run_name(run) + ": row " + std::to_string(row) + " of the repetitions " + problem +
                    " (the file is damaged or was not written by shardline-run): measure again");
}

[[noreturn]] void refuse_time(const RunData& run, size_t row, int32_t rank, const char* part,
                              const std::string& problem)
{
    const Repetitions& repetitions = run.repetitions;
    const Point& point = run.points[static_cast<size_t>(repetitions.point[row])];
    const bool in_step = repetitions.mode[row] == static_cast<uint8_t>(Mode::step);
    throw DataError(run_name(run) + ": rank " + std::to_string(rank) + ", " + name_of(point) + ", " +
                    (in_step ? "step" : "phases") + " mode, pass " + std::to_string(repetitions.pass[row]) +
                    ", repetition " + std::to_string(repetitions.repetition[row]) + ": the " + part + " " +
                    problem + ": measure again, with a monotonic clock on every host");
}

void check_columns(const RunData& run)
{
    const Repetitions& r = run.repetitions;
    const size_t rows = r.size();
    const bool row_columns_fit = r.mode.size() == rows && r.pass.size() == rows &&
                                 r.repetition.size() == rows && r.warmup.size() == rows &&
                                 r.late.size() == rows;
    const size_t readings = rows * static_cast<size_t>(std::max(r.readings_per_row(), 0));
    const bool readings_fit = r.comp_begin_ns.size() == readings && r.comp_end_ns.size() == readings &&
                              r.comm_begin_ns.size() == readings && r.comm_end_ns.size() == readings &&
                              r.main_cpu_ns.size() == readings && r.comm_cpu_ns.size() == readings &&
                              (r.peer.empty() || r.peer.size() == readings) &&
                              (r.kept == 0 || (r.rank.size() == readings && r.comp_mean_ns.size() == rows));
    if (!row_columns_fit || !readings_fit)
        throw DataError(run_name(run) + ": the columns of the repetitions differ in length "
                                        "(the file is damaged): measure again");
    for (const Point& point : run.points)
        if (point.P < 0 || point.P > r.ranks)
            throw DataError(run_name(run) + ": " + name_of(point) + " asks for " + std::to_string(point.P) +
                            " ranks (the run had " + std::to_string(r.ranks) + "): measure again");
}

void check_indices(const RunData& run, size_t row)
{
    const Repetitions& r = run.repetitions;
    if (r.point[row] < 0 || static_cast<size_t>(r.point[row]) >= run.points.size())
        refuse_row(run, row,
                   "names point " + std::to_string(r.point[row]) + " of " +
                       std::to_string(run.points.size()));
    if (r.mode[row] > static_cast<uint8_t>(Mode::step))
        refuse_row(run, row, "has mode " + std::to_string(r.mode[row]));
    if (r.pass[row] < 0 || r.repetition[row] < 0) refuse_row(run, row, "has a negative pass or repetition");
}

bool was_run(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns != Repetitions::no_reading || end_ns != Repetitions::no_reading;
}

/// Readings of a row, as a range of places, that ranks of its point took. Calibration points may leave P at 0, meaning all
/// ranks; thinned rows hold none of ranks beyond P.
struct Places {
    size_t begin, end;
};

Places places_of(const Point& point, const Repetitions& r, size_t row)
{
    const size_t begin = row * static_cast<size_t>(r.readings_per_row());
    return {begin, begin + static_cast<size_t>(r.kept == 0 && point.P > 0 ? point.P : r.readings_per_row())};
}

/// A part either ran on all ranks of the point or on none, and took a time that can be one.
void check_part(const RunData& run, size_t row, const Part& part, bool is_matmul)
{
    const Repetitions& r = run.repetitions;
    const Point& point = run.points[static_cast<size_t>(r.point[row])];
    const Places places = places_of(point, r, row);
    bool ran = false;
    for (size_t i = places.begin; i < places.end; ++i) ran = ran || was_run(part.begin_ns[i], part.end_ns[i]);
    if (!ran) return;
    const int32_t P = point.P > 0 ? point.P : r.ranks;
    for (size_t i = places.begin; i < places.end; ++i) {
        const int32_t rank = r.rank_of(i);
        const int64_t begin = part.begin_ns[i], end = part.end_ns[i];
        if (point.kind == PointKind::link && !was_run(begin, end)) continue; // has no peer in this round
        if (begin == Repetitions::no_reading || end == Repetitions::no_reading)
            refuse_time(run, row, rank, part.name, "lacks a clock reading");
        if (end < begin) refuse_time(run, row, rank, part.name, "ends before it begins");
        if (begin < 0) refuse_time(run, row, rank, part.name, "has a negative clock reading");
        // A rank whose shard is empty has nothing to multiply, and a coarse clock may call that 0 ns.
        const bool may_be_zero = is_matmul && shard_of(point.D, P, rank).width == 0;
        if (end == begin && !may_be_zero) refuse_time(run, row, rank, part.name, "takes 0 ns");
        if (end - begin >= longest_time_ns)
            refuse_time(run, row, rank, part.name,
                        "takes " + si_text(1e-9 * static_cast<double>(end - begin), "s"));
    }
}

/// What stands in thinned rows alone.
void check_thinned_row(const RunData& run, size_t row)
{
    const Repetitions& r = run.repetitions;
    const Point& point = run.points[static_cast<size_t>(r.point[row])];
    const int32_t P = point.P > 0 ? point.P : r.ranks;
    const Places places = places_of(point, r, row);
    if (point.kind == PointKind::link) refuse_row(run, row, "is of links, of which no rank's readings can be left out");
    if (r.rank[places.begin] != 0) refuse_row(run, row, "begins with readings of rank " + std::to_string(r.rank[places.begin]) + ", not of rank 0");
    int64_t longest_ns = 0;
    for (size_t i = places.begin; i < places.end; ++i) {
        if (r.rank[i] < 0 || r.rank[i] >= P) refuse_row(run, row, "keeps readings of rank " + std::to_string(r.rank[i]) + " of " + std::to_string(P));
        longest_ns = std::max(longest_ns, r.comp_end_ns[i] - r.comp_begin_ns[i]);
    }
    if (longest_ns > 0 && (r.comp_mean_ns[row] <= 0 || r.comp_mean_ns[row] > longest_ns))
        refuse_row(run, row, "has matmuls of " + std::to_string(r.comp_mean_ns[row]) + " ns as the mean over ranks and " +
                                 std::to_string(longest_ns) + " ns as the longest");
}

/// Each pass has a row for every rank, or who is slow cannot be said.
void check_summaries(const RunData& run)
{
    const std::string remedy = " (the file is damaged or was not written by shardline-run): measure again";
    std::vector<size_t> rows_of_rank(static_cast<size_t>(std::max(run.repetitions.ranks, 0)), 0);
    size_t ranks = 0;
    for (const RankSummary& its : run.rank_summaries) {
        const auto rank = static_cast<size_t>(its.rank);
        if (rank >= rows_of_rank.size() || !std::isfinite(its.relative_comp) || its.relative_comp <= 0)
            throw DataError(run_name(run) + ": the summary of rank " + std::to_string(its.rank) + " in pass " + std::to_string(its.pass) +
                            " says that matmuls take it " + std::to_string(its.relative_comp) + " times as long as the others" + remedy);
        ++rows_of_rank[rank];
        ranks = std::max(ranks, rank + 1);
    }
    for (size_t rank = 0; rank < ranks; ++rank)
        if (rows_of_rank[rank] != rows_of_rank[0])
            throw DataError(run_name(run) + ": rank 0 has " + std::to_string(rows_of_rank[0]) + " summaries and rank " + std::to_string(rank) + " " +
                            std::to_string(rows_of_rank[rank]) + remedy);
}

/// Durations of one part of one row over the ranks whose readings it holds, in s.
struct OverRanks {
    double max_s = 0;
    double mean_s = 0;
};

std::optional<OverRanks> over_ranks(const Repetitions& r, const Places& places,
                                    const std::vector<int64_t>& begin_ns, const std::vector<int64_t>& end_ns,
                                    std::span<const int32_t> without_ranks = {}, bool some_take_no_part = false)
{
    OverRanks result;
    int32_t counted = 0;
    for (size_t i = places.begin; i < places.end; ++i) {
        if (!without_ranks.empty() && std::find(without_ranks.begin(), without_ranks.end(), r.rank_of(i)) != without_ranks.end()) continue;
        if (begin_ns[i] == Repetitions::no_reading || end_ns[i] == Repetitions::no_reading) {
            if (some_take_no_part) continue;
            return std::nullopt;
        }
        const double duration_s = 1e-9 * static_cast<double>(end_ns[i] - begin_ns[i]);
        result.max_s = std::max(result.max_s, duration_s);
        result.mean_s += duration_s;
        ++counted;
    }
    if (counted == 0 || result.max_s <= 0) return std::nullopt;
    result.mean_s /= counted;
    return result;
}

void add_row(PointSamples& samples, const Repetitions& r, size_t row, int32_t launch,
             std::span<const int32_t> without_ranks)
{
    const Places places = places_of(samples.point, r, row);
    const auto sample = [&](double value) {
        return Sample{value, launch, r.pass[row], static_cast<int64_t>(row)};
    };
    const auto comp = over_ranks(r, places, r.comp_begin_ns, r.comp_end_ns, without_ranks);
    if (r.mode[row] == static_cast<uint8_t>(Mode::step)) {
        if (comp) samples.comp_in_step_s.push_back(sample(comp->max_s));
        if (const auto step = over_ranks(r, places, r.comp_begin_ns, r.comm_end_ns))
            samples.step_s.push_back(sample(step->max_s));
        return;
    }
    if (comp) {
        samples.comp_s.push_back(sample(comp->max_s));
        samples.comp_mean_s.push_back(sample(r.kept == 0 ? comp->mean_s : 1e-9 * static_cast<double>(r.comp_mean_ns[row])));
    }
    if (const auto comm = over_ranks(r, places, r.comm_begin_ns, r.comm_end_ns, {}, samples.point.kind == PointKind::link))
        samples.comm_s.push_back(sample(comm->max_s));
    const auto cpu = std::span(r.comm_cpu_ns).subspan(places.begin, places.end - places.begin);
    if (const int64_t cpu_ns = std::ranges::max(cpu); cpu_ns > 0)
        samples.comm_cpu_s.push_back(sample(static_cast<double>(cpu_ns) * 1e-9));
}

/// With two modes of similar weight, chance decides which one holds the median: then the interval takes in
/// both.
Estimate spanning_modes(Estimate estimate, std::span<const double> values)
{
    if (const auto modes = two_modes(values)) {
        estimate.low = std::min(estimate.low, modes->low);
        estimate.high = std::max(estimate.high, modes->high);
    }
    return estimate;
}

/// Orders points so that equal ones of several launches are found quickly.
struct PointOrder {
    bool operator()(const Point& a, const Point& b) const { return (a <=> b) < 0; }
};

} // namespace

std::string name_of(const Point& point)
{
    const std::string sizes = "B = " + std::to_string(point.B) + ", D = " + std::to_string(point.D) +
                              ", F = " + std::to_string(point.F);
    switch (point.kind) {
    case PointKind::crossover: return sizes;
    case PointKind::matmul: return "matmul of " + sizes;
    case PointKind::arithmetic: return "arithmetic in " + std::string(name_of(point.compute_type));
    case PointKind::triad: return "triad of " + std::to_string(point.D) + " elements";
    case PointKind::dot: return "dot product of " + std::to_string(point.D) + " elements in " + std::string(name_of(point.compute_type));
    case PointKind::cold_matmul: return "matmul from memory of " + sizes;
    case PointKind::link:
        return point.algorithm + " of " + std::to_string(point.message_bytes) + " bytes in round " + std::to_string(point.round);
    case PointKind::collective:
        return "allreduce of " + std::to_string(point.message_bytes) + " bytes by " + (point.algorithm.empty() ? "default" : point.algorithm);
    case PointKind::exchange: return "exchange of " + std::to_string(point.message_bytes) + " bytes";
    case PointKind::allreduce: return "allreduce of " + std::to_string(point.message_bytes) + " bytes";
    }
    return "";
}

void check_run(const RunData& run)
{
    check_columns(run);
    const Repetitions& r = run.repetitions;
    for (size_t row = 0; row < r.size(); ++row) {
        check_indices(run, row);
        check_part(run, row, {"matmul", r.comp_begin_ns, r.comp_end_ns}, true);
        check_part(run, row, {"communication", r.comm_begin_ns, r.comm_end_ns}, false);
        if (r.kept > 0) check_thinned_row(run, row);
    }
    check_summaries(run);
    for (const Check& check : run.checks)
        if (check.point < 0 || static_cast<size_t>(check.point) >= run.points.size())
            throw DataError(run_name(run) + ": a result check names point " + std::to_string(check.point) +
                            " of " + std::to_string(run.points.size()) +
                            " (the file is damaged): measure again");
}

std::vector<PointSamples> collect_samples(std::span<const RunData> launches,
                                          std::span<const int32_t> without_ranks)
{
    std::vector<PointSamples> result;
    std::map<Point, size_t, PointOrder> place;
    int32_t launch = 0;
    for (const RunData& run : launches) {
        std::vector<size_t> place_of_row;
        for (const Point& point : run.points) {
            const auto [found, is_new] = place.try_emplace(point, result.size());
            if (is_new) result.push_back({point, {}, {}, {}, {}, {}, {}});
            place_of_row.push_back(found->second);
        }
        const Repetitions& r = run.repetitions;
        for (size_t row = 0; row < r.size(); ++row)
            if (!r.warmup[row] && !r.late[row])
                add_row(result[place_of_row[static_cast<size_t>(r.point[row])]], r, row, launch,
                        without_ranks);
        ++launch;
    }
    return result;
}

Series of_launch(const Series& series, int32_t launch)
{
    Series result;
    std::copy_if(series.begin(), series.end(), std::back_inserter(result),
                 [launch](const Sample& sample) { return sample.launch == launch; });
    return result;
}

std::vector<double> values_of(const Series& series)
{
    std::vector<double> values;
    std::transform(series.begin(), series.end(), std::back_inserter(values),
                   [](const Sample& sample) { return sample.value; });
    return values;
}

Series pooled(std::span<const Series* const> parts)
{
    const auto earlier = [](const Sample& a, const Sample& b) { return std::tie(a.launch, a.pass, a.row) < std::tie(b.launch, b.pass, b.row); };
    Series result;
    const auto at = [&](size_t i) { return result.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<size_t> bounds{0};
    for (const Series* part : parts) {
        result.insert(result.end(), part->begin(), part->end());
        if (!std::is_sorted(at(bounds.back()), result.end(), earlier)) std::stable_sort(at(bounds.back()), result.end(), earlier);
        bounds.push_back(result.size());
    }
    // Neighbours that are sorted are merged until one is left: to sort them all anew takes several times as long.
    while (bounds.size() > 2) {
        std::vector<size_t> fewer{0};
        for (size_t i = 2; i < bounds.size(); i += 2) {
            std::inplace_merge(at(bounds[i - 2]), at(bounds[i - 1]), at(bounds[i]), earlier);
            fewer.push_back(bounds[i]);
        }
        if (bounds.size() % 2 == 0) fewer.push_back(bounds.back());
        bounds = std::move(fewer);
    }
    return result;
}

std::optional<Estimate> estimate_of(const Series& series)
{
    if (series.empty()) return std::nullopt;
    std::vector<int32_t> visits;
    std::vector<double> launch_medians;
    const bool one_launch = series.front().launch == series.back().launch; // then there is no spread to add
    size_t launch_begin = 0;
    for (size_t i = 0; i < series.size(); ++i) {
        const bool new_launch = i > 0 && series[i].launch != series[i - 1].launch;
        const bool new_visit = new_launch || (i > 0 && series[i].pass != series[i - 1].pass);
        visits.push_back(i == 0 ? 0 : visits.back() + (new_visit ? 1 : 0));
        if (!one_launch && (i + 1 == series.size() || series[i + 1].launch != series[i].launch)) {
            const Series launch(series.begin() + static_cast<std::ptrdiff_t>(launch_begin),
                                series.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            launch_medians.push_back(median(values_of(launch)));
            launch_begin = i + 1;
        }
    }
    const std::vector<double> values = values_of(series);
    return with_launch_spread(spanning_modes(median_estimate(values, visits), values), launch_medians);
}

} // namespace shardline
