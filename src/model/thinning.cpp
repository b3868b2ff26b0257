#include "model/thinning.hpp"

#include "model/rank_speeds.hpp"
#include "model/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardline {

namespace {

using Readings = std::vector<int64_t> Repetitions::*;

/// The rank of the longest time between two readings of a row; 0 where no rank has both.
int32_t slowest(const Repetitions& rows, size_t row, Readings begin, Readings end)
{
    int32_t slowest = 0;
    int64_t longest_ns = -1;
    for (int32_t rank = 0; rank < rows.ranks; ++rank) {
        const size_t i = row * static_cast<size_t>(rows.ranks) + static_cast<size_t>(rank);
        const int64_t begin_ns = (rows.*begin)[i], end_ns = (rows.*end)[i];
        if (begin_ns == Repetitions::no_reading || end_ns == Repetitions::no_reading || end_ns - begin_ns <= longest_ns) continue;
        longest_ns = end_ns - begin_ns;
        slowest = rank;
    }
    return slowest;
}

int32_t busiest_beside(const Repetitions& rows, size_t row)
{
    const auto first = rows.comm_cpu_ns.begin() + static_cast<std::ptrdiff_t>(row * static_cast<size_t>(rows.ranks));
    return static_cast<int32_t>(std::max_element(first, first + rows.ranks) - first);
}

/// Over the ranks of the point, −1 where one of them has none.
int64_t mean_comp_ns(const Repetitions& rows, size_t row, int32_t ranks)
{
    double sum_ns = 0;
    for (int32_t rank = 0; rank < ranks; ++rank) {
        const size_t i = row * static_cast<size_t>(rows.ranks) + static_cast<size_t>(rank);
        if (rows.comp_begin_ns[i] == Repetitions::no_reading || rows.comp_end_ns[i] == Repetitions::no_reading) return Repetitions::no_reading;
        sum_ns += static_cast<double>(rows.comp_end_ns[i] - rows.comp_begin_ns[i]);
    }
    return std::max<int64_t>(1, std::llround(sum_ns / ranks)); // almost all may have empty shards, and 0 ns would be no time
}

} // namespace

Repetitions thinned(const Repetitions& rows, std::span<const Point> points)
{
    Repetitions few;
    few.ranks = rows.ranks;
    few.kept = kept_readings;
    few.point = rows.point;
    few.mode = rows.mode;
    few.pass = rows.pass;
    few.repetition = rows.repetition;
    few.warmup = rows.warmup;
    few.late = rows.late;
    few.start_skew_ns = rows.start_skew_ns;
    constexpr Readings readings[] = {&Repetitions::comp_begin_ns, &Repetitions::comp_end_ns, &Repetitions::comm_begin_ns,
                                     &Repetitions::comm_end_ns,   &Repetitions::main_cpu_ns, &Repetitions::comm_cpu_ns};
    for (size_t row = 0; row < rows.size(); ++row) {
        const bool whole = rows.mode[row] == static_cast<uint8_t>(Mode::step);
        const std::array<int32_t, kept_readings> ranks{
            0, slowest(rows, row, &Repetitions::comp_begin_ns, &Repetitions::comp_end_ns),
            slowest(rows, row, whole ? &Repetitions::comp_begin_ns : &Repetitions::comm_begin_ns, &Repetitions::comm_end_ns), busiest_beside(rows, row)};
        for (const int32_t rank : ranks) {
            const size_t i = row * static_cast<size_t>(rows.ranks) + static_cast<size_t>(rank);
            few.rank.push_back(rank);
            for (const Readings column : readings) (few.*column).push_back((rows.*column)[i]);
            few.peer.push_back(rows.peer.empty() ? -1 : rows.peer[i]);
        }
        const int32_t P = points[static_cast<size_t>(rows.point[row])].P;
        few.comp_mean_ns.push_back(mean_comp_ns(rows, row, P > 0 ? P : rows.ranks));
    }
    return few;
}

void RankSummaries::add(const Repetitions& rows, std::span<const Point> points)
{
    for (size_t row = 0; row < rows.size(); ++row) {
        const std::vector<double> log_times = log_speeds_of(points, rows, row, static_cast<int32_t>(log_times_.size()));
        for (size_t rank = 0; rank < log_times.size(); ++rank) log_times_[rank].push_back(log_times[rank]);
    }
}

std::vector<RankSummary> RankSummaries::take(int32_t pass)
{
    std::vector<RankSummary> summaries;
    for (size_t rank = 0; rank < log_times_.size(); ++rank) {
        std::vector<double>& its = log_times_[rank];
        if (its.empty()) continue;
        summaries.push_back({static_cast<int32_t>(rank), pass, static_cast<int32_t>(its.size()), std::exp(median(its))});
        its.clear();
    }
    return summaries;
}

} // namespace shardline
