#include "model/core_share.hpp"

#include "model/samples.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace shardline {

namespace {

/// How many numbers "0-3,8" names; 0 where it is no such list.
int64_t numbers_in(std::string_view list)
{
    int64_t count = 0;
    while (!list.empty()) {
        const std::string_view part = list.substr(0, list.find(','));
        int64_t first = 0, last = 0;
        const char* const end = part.data() + part.size();
        auto read = std::from_chars(part.data(), end, first);
        if (read.ec != std::errc()) return 0;
        last = first;
        if (read.ptr != end) {
            if (*read.ptr != '-') return 0;
            read = std::from_chars(read.ptr + 1, end, last);
            if (read.ec != std::errc() || read.ptr != end || last < first) return 0;
        }
        count += last - first + 1;
        list.remove_prefix(std::min(part.size() + 1, list.size()));
    }
    return count;
}

/// Of a core, for a rank that is bound to the same ones as others of its machine.
double expected_share(std::span<const RankInfo> ranks, size_t rank)
{
    if (rank >= ranks.size()) return 1;
    const auto together = std::ranges::count_if(ranks, [&](const RankInfo& other) {
        return other.machine == ranks[rank].machine && other.allowed_cores == ranks[rank].allowed_cores;
    });
    const int64_t cores = numbers_in(ranks[rank].allowed_cores);
    return cores == 0 ? 1 : std::min(1.0, static_cast<double>(cores) / static_cast<double>(together));
}

} // namespace

bool CoreShare::is_taken() const
{
    constexpr double less_than_its_own = 0.75;
    return share.reaches_95() && share.high < less_than_its_own * expected;
}

std::vector<CoreShare> core_shares_of(std::span<const RunData> launches)
{
    std::map<int32_t, Series> by_rank;
    int32_t launch = 0;
    for (const RunData& run : launches) {
        const Repetitions& r = run.repetitions;
        for (size_t row = 0; row < r.size(); ++row) {
            if (run.points[static_cast<size_t>(r.point[row])].kind != PointKind::arithmetic || r.warmup[row] || r.late[row]) continue;
            const auto readings = static_cast<size_t>(r.readings_per_row());
            for (size_t i = row * readings; i < (row + 1) * readings; ++i) {
                const int64_t elapsed_ns = r.comp_end_ns[i] - r.comp_begin_ns[i];
                if (r.main_cpu_ns[i] < 0 || elapsed_ns <= 0) continue;
                const double share = std::min(1.0, static_cast<double>(r.main_cpu_ns[i]) / static_cast<double>(elapsed_ns));
                by_rank[r.rank_of(i)].push_back({share, launch, r.pass[row], static_cast<int64_t>(row)});
            }
        }
        ++launch;
    }
    std::vector<CoreShare> shares;
    for (const auto& [rank, series] : by_rank)
        if (const auto share = estimate_of(series)) shares.push_back({rank, *share, expected_share(launches.front().ranks, static_cast<size_t>(rank))});
    return shares;
}

} // namespace shardline
