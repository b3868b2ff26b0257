#include "measure/common_start.hpp"

#include "measure/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace shardline {

namespace {

constexpr int ping_pongs = 20;
constexpr int clock_tag = 1;

} // namespace

int64_t to_common_ns(const ClockModel& clock, int64_t reading_ns)
{
    return reading_ns + clock.offset_ns +
           std::llround(clock.drift * static_cast<double>(reading_ns - clock.at_ns));
}

int64_t to_own_ns(const ClockModel& clock, int64_t common_ns)
{
    // Inverts to_common_ns; the drift is some parts in a million, so 1/(1 + drift) needs no more care.
    const int64_t undrifted = common_ns - clock.offset_ns;
    return clock.at_ns + std::llround(static_cast<double>(undrifted - clock.at_ns) / (1 + clock.drift));
}

ClockModel with_drift(const ClockModel& newer, const ClockModel& older)
{
    constexpr int64_t far_enough_ns = 1'000'000'000;
    ClockModel model = newer;
    const int64_t apart_ns = newer.at_ns - older.at_ns;
    const int64_t growth_ns = newer.offset_ns - older.offset_ns;
    const bool shows = apart_ns >= far_enough_ns && std::abs(growth_ns) > newer.error_ns + older.error_ns;
    model.drift = shows ? static_cast<double>(growth_ns) / static_cast<double>(apart_ns) : older.drift;
    return model;
}

CommonStart::CommonStart(const Session& session, Sync sync)
    : session_(session), sync_(sync), window_ns_(100'000 + 50'000 * std::llround(std::log2(session.size())))
{
    mine_.rank = session.rank();
}

std::vector<ClockModel> CommonStart::model_clocks()
{
    const MPI_Comm control = session_.control();
    std::vector<ClockModel> models;
    if (session_.is_root()) {
        ClockModel own;
        own.at_ns = now_ns();
        models.push_back(own);
        for (int rank = 1; rank < session_.size(); ++rank) {
            ClockModel model = compare_with(rank);
            if (!all_.empty()) model = with_drift(model, all_[static_cast<size_t>(rank)]);
            models.push_back(model);
            MPI_Send(&models.back(), sizeof(ClockModel), MPI_BYTE, rank, clock_tag, control);
        }
        all_ = models;
        mine_ = models.front();
    } else {
        answer_root();
        MPI_Recv(&mine_, sizeof mine_, MPI_BYTE, 0, clock_tag, control, MPI_STATUS_IGNORE);
    }
    return models;
}

ClockModel CommonStart::compare_with(int rank)
{
    int64_t shortest_ns = std::numeric_limits<int64_t>::max();
    ClockModel model;
    model.rank = rank;
    for (int i = 0; i < ping_pongs; ++i) {
        int64_t theirs = 0;
        const int64_t sent = now_ns();
        MPI_Send(&sent, 1, MPI_INT64_T, rank, clock_tag, session_.control());
        MPI_Recv(&theirs, 1, MPI_INT64_T, rank, clock_tag, session_.control(), MPI_STATUS_IGNORE);
        const int64_t round_trip_ns = now_ns() - sent;
        if (round_trip_ns >= shortest_ns) continue;
        shortest_ns = round_trip_ns;
        model.at_ns = theirs;
        model.offset_ns = sent + round_trip_ns / 2 - theirs;
        model.error_ns = (round_trip_ns + 1) / 2; // however unequal the two ways were
    }
    return model;
}

void CommonStart::answer_root()
{
    for (int i = 0; i < ping_pongs; ++i) {
        int64_t theirs = 0;
        MPI_Recv(&theirs, 1, MPI_INT64_T, 0, clock_tag, session_.control(), MPI_STATUS_IGNORE);
        const int64_t mine = now_ns();
        MPI_Send(&mine, 1, MPI_INT64_T, 0, clock_tag, session_.control());
    }
}

bool CommonStart::wait(MPI_Comm work, MPI_Comm control)
{
    if (sync_ == Sync::barrier) {
        MPI_Barrier(work);
        return false;
    }
    int64_t start_ns = session_.is_root() ? now_ns() + window_ns_ : 0;
    MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, control);
    const int64_t my_start_ns = to_own_ns(mine_, start_ns);
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
