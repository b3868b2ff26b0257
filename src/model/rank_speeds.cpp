#include "model/rank_speeds.hpp"

#include "model/shard.hpp"
#include "model/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace shardline {

namespace {

RankSpeeds speeds_from(std::span<const RankSummary> summaries)
{
    RankSpeeds speeds;
    size_t ranks = 0;
    for (const RankSummary& its : summaries) ranks = std::max(ranks, static_cast<size_t>(its.rank) + 1);
    speeds.of_rank.resize(ranks);
    for (const RankSummary& its : summaries) {
        speeds.of_rank[static_cast<size_t>(its.rank)].push_back(std::log(its.relative_comp));
        if (its.rank == 0) speeds.visit.push_back(static_cast<int32_t>(speeds.visit.size()));
    }
    return speeds;
}

} // namespace

std::vector<double> log_speeds_of(std::span<const Point> points, const Repetitions& r, size_t row, int32_t ranks)
{
    const Point& point = points[static_cast<size_t>(r.point[row])];
    const bool computes = point.kind == PointKind::matmul || point.kind == PointKind::crossover;
    const bool usable = !r.warmup[row] && !r.late[row] && r.mode[row] == static_cast<uint8_t>(Mode::phases);
    // Points that leave out ranks, or leave some without a column, say nothing about who is slow.
    if (!computes || !usable || (point.P > 0 && point.P != ranks) || point.D < ranks) return {};
    std::vector<double> log_times;
    for (int32_t rank = 0; rank < ranks; ++rank) {
        const size_t i = row * static_cast<size_t>(r.ranks) + static_cast<size_t>(rank);
        const int64_t duration_ns = r.comp_end_ns[i] - r.comp_begin_ns[i];
        if (duration_ns <= 0) return {};
        const int64_t width = shard_of(point.D, ranks, rank).width;
        log_times.push_back(std::log(static_cast<double>(duration_ns) / static_cast<double>(width)));
    }
    const double middle = median(log_times);
    for (double& log_time : log_times) log_time -= middle;
    return log_times;
}

RankSpeeds rank_speeds(const RunData& run)
{
    const Repetitions& r = run.repetitions;
    if (r.kept > 0) return speeds_from(run.rank_summaries);
    int32_t ranks = 0; // that share a point, at most
    for (const Point& point : run.points) ranks = std::max(ranks, point.P > 0 ? point.P : r.ranks);
    RankSpeeds speeds;
    speeds.of_rank.resize(static_cast<size_t>(ranks));
    int32_t visit = 0, last_point = -1, last_pass = -1;
    for (size_t row = 0; row < r.size(); ++row) {
        const std::vector<double> log_times = log_speeds_of(run.points, r, row, ranks);
        for (size_t rank = 0; rank < log_times.size(); ++rank) speeds.of_rank[rank].push_back(log_times[rank]);
        if (log_times.empty()) continue;
        if (r.point[row] != last_point || r.pass[row] != last_pass) ++visit;
        last_point = r.point[row];
        last_pass = r.pass[row];
        speeds.visit.push_back(visit);
    }
    return speeds;
}

} // namespace shardline
