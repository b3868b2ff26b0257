#include "measure/rank_clocks.hpp"

#include <bit>
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

CommonTime common_time(const ClockModel& clock, int64_t reading_ns)
{
    // Two clocks part by no more: the kernel corrects each by 500 parts in a million at most.
    constexpr double most_drift = 1e-3;
    const bool is_the_common_one = clock.rank == 0;
    const int64_t age_ns = is_the_common_one ? 0 : std::abs(reading_ns - clock.at_ns);
    return {to_common_ns(clock, reading_ns), clock.error_ns + std::llround(std::ceil(most_drift * static_cast<double>(age_ns)))};
}

ClockModel model_from_answer(int32_t rank, int64_t asked_ns, int64_t answered_ns, const CommonTime& answer)
{
    const int64_t round_trip_ns = answered_ns - asked_ns;
    ClockModel model;
    model.rank = rank;
    model.at_ns = asked_ns + round_trip_ns / 2;
    model.offset_ns = answer.at_ns - model.at_ns;
    model.error_ns = (round_trip_ns + 1) / 2 + answer.error_ns; // however unequal the two ways were
    return model;
}

int clock_rounds(int ranks) { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

int clock_partner(int rank, int ranks, int round)
{
    // The widest strides first: where a host has neighbouring ranks, its first one asks another host, alone on the link, and the others ask it.
    const int stride = 1 << (clock_rounds(ranks) - 1 - round);
    if (rank % stride != 0) return -1;
    if (rank / stride % 2 == 1) return rank - stride;
    return rank + stride < ranks ? rank + stride : -1;
}

ClockModel ask_clock(MPI_Comm comm, int other, ReadClock* read)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    ClockModel best;
    best.error_ns = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < ping_pongs; ++i) {
        CommonTime answer;
        const int64_t asked_ns = read();
        MPI_Send(nullptr, 0, MPI_BYTE, other, clock_tag, comm);
        MPI_Recv(&answer, sizeof answer, MPI_BYTE, other, clock_tag, comm, MPI_STATUS_IGNORE);
        const ClockModel model = model_from_answer(rank, asked_ns, read(), answer);
        if (model.error_ns < best.error_ns) best = model;
    }
    return best;
}

void answer_clock(MPI_Comm comm, int other, const ClockModel& mine, ReadClock* read)
{
    for (int i = 0; i < ping_pongs; ++i) {
        MPI_Recv(nullptr, 0, MPI_BYTE, other, clock_tag, comm, MPI_STATUS_IGNORE);
        const CommonTime answer = common_time(mine, read());
        MPI_Send(&answer, sizeof answer, MPI_BYTE, other, clock_tag, comm);
    }
}

ClockModel compare_clocks(MPI_Comm comm, const std::optional<ClockModel>& before, ReadClock* read)
{
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    ClockModel mine;
    mine.rank = rank;
    mine.at_ns = read();
    for (int round = 0; round < clock_rounds(ranks); ++round) {
        const int other = clock_partner(rank, ranks, round);
        if (other < 0) continue;
        if (other > rank) {
            answer_clock(comm, other, mine, read);
            continue;
        }
        mine = ask_clock(comm, other, read);
        if (before) mine = with_drift(mine, *before);
    }
    return mine;
}

} // namespace shardline
