#include "measure/common_start.hpp"

#include "measure/clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace shardline {

CommonStart::CommonStart(const Session& session, Sync sync)
    : session_(session), sync_(sync), window_ns_(100'000 + 50'000 * std::llround(std::log2(session.size())))
{
}

std::vector<ClockModel> CommonStart::model_clocks()
{
    static_assert(std::is_trivially_copyable_v<ClockModel>);
    mine_ = compare_clocks(session_.control(), mine_);
    all_.resize(session_.is_root() ? static_cast<size_t>(session_.size()) : 0);
    MPI_Gather(&*mine_, sizeof(ClockModel), MPI_BYTE, all_.data(), sizeof(ClockModel), MPI_BYTE, 0, session_.control());
    return all_;
}

bool CommonStart::wait(MPI_Comm work, MPI_Comm control)
{
    if (sync_ == Sync::barrier) {
        MPI_Barrier(work);
        return false;
    }
    int64_t start_ns = session_.is_root() ? now_ns() + window_ns_ : 0;
    MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, control);
    const int64_t my_start_ns = to_own_ns(mine_.value(), start_ns);
    const bool late = now_ns() > my_start_ns;
    while (now_ns() < my_start_ns) {
    }
    return late;
}

int64_t CommonStart::skew_ns(const int64_t* readings, size_t ranks) const
{
    if (all_.empty()) return -1;
    int64_t earliest = std::numeric_limits<int64_t>::max(), latest = std::numeric_limits<int64_t>::min();
    for (size_t rank = 0; rank < std::min(ranks, all_.size()); ++rank) {
        const int64_t common = to_common_ns(all_[rank], readings[rank]);
        earliest = std::min(earliest, common);
        latest = std::max(latest, common);
    }
    return latest - earliest;
}

void CommonStart::adapt_window(int64_t late, int64_t repetitions)
{
    constexpr int64_t longest_ns = 100'000'000;
    if (10 * late > repetitions) window_ns_ = std::min(2 * window_ns_, longest_ns);
    if (late == 0) window_ns_ = std::max<int64_t>(window_ns_ * 9 / 10, 20'000);
}

} // namespace shardline
