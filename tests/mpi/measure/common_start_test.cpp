#include "measure/clock.hpp"
#include "measure/common_start.hpp"
#include "measure/rank_clocks.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace shardline {
namespace {

using test::session;

/// All ranks of these tests read one clock where they run on one machine: then every true offset is 0.
bool ranks_share_a_clock()
{
    MPI_Comm machine;
    MPI_Comm_split_type(session->control(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int ranks = 0;
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_free(&machine);
    return ranks == session->size();
}

int64_t from_root(int64_t value)
{
    MPI_Bcast(&value, 1, MPI_INT64_T, 0, session->control());
    return value;
}

void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

int last_rank() { return session->size() - 1; }

TEST(ModelClocks, OffsetsOnOneMachineAreZeroWithinTheirBound)
{
    CommonStart start(*session, Sync::barrier);
    for (int round = 0; round < 3; ++round) {
        const auto models = start.model_clocks();
        ASSERT_EQ(models.size(), session->is_root() ? static_cast<size_t>(session->size()) : 0u);
        const bool one_clock = ranks_share_a_clock();
        for (size_t rank = 0; rank < models.size(); ++rank) {
            EXPECT_EQ(models[rank].rank, static_cast<int32_t>(rank));
            EXPECT_GT(models[rank].at_ns, 0);
            if (one_clock) {
                EXPECT_LE(std::abs(models[rank].offset_ns), models[rank].error_ns) << "rank " << rank;
            }
        }
    }
}

/// Clocks that are years apart.
int64_t apart_ns(int rank) { return rank * (int64_t{1} << 56); }

TEST(CompareClocks, FindsClocksThatAreApartOverRanksThatAskedBefore)
{
    const ClockModel mine = compare_clocks(session->control(), std::nullopt, [] { return now_ns() + apart_ns(session->rank()); });
    EXPECT_EQ(mine.rank, session->rank());
    if (ranks_share_a_clock()) {
        EXPECT_LE(std::abs(mine.offset_ns + apart_ns(session->rank())), mine.error_ns);
    }
}

TEST(CompareClocks, BoundsGrowAlongThePath)
{
    const ClockModel mine = compare_clocks(session->control(), std::nullopt);
    std::vector<int64_t> errors_ns(static_cast<size_t>(session->size()));
    MPI_Allgather(&mine.error_ns, 1, MPI_INT64_T, errors_ns.data(), 1, MPI_INT64_T, session->control());
    EXPECT_EQ(errors_ns[0], 0);
    for (int round = 0; round < clock_rounds(session->size()); ++round) {
        const int other = clock_partner(session->rank(), session->size(), round);
        if (other < 0 || other > session->rank()) continue;
        EXPECT_GT(mine.error_ns, errors_ns[static_cast<size_t>(other)]) << "of rank " << other;
    }
}

TEST(SkewOfStarts, IsUnknownBeforeClocksAreModelled)
{
    const CommonStart start(*session, Sync::barrier);
    const std::vector<int64_t> readings(static_cast<size_t>(session->size()), now_ns());
    EXPECT_EQ(start.skew_ns(readings.data()), -1);
}

TEST(SkewOfStarts, IsTheSpreadOnTheCommonClock)
{
    CommonStart start(*session, Sync::barrier);
    const auto models = start.model_clocks();
    if (!session->is_root() || models.size() < 2) return;
    std::vector<int64_t> readings;
    for (const ClockModel& model : models) readings.push_back(to_own_ns(model, models.front().at_ns));
    EXPECT_LE(start.skew_ns(readings.data()), 1);
    readings.back() += 5000;
    EXPECT_NEAR(static_cast<double>(start.skew_ns(readings.data())), 5000, 1);
    readings.back() -= 8000;
    EXPECT_NEAR(static_cast<double>(start.skew_ns(readings.data())), 3000, 1);
}

TEST(StartAtABarrier, NobodyStartsBeforeTheLastArrivesAndNobodyIsLate)
{
    CommonStart start(*session, Sync::barrier);
    if (session->rank() == last_rank()) sleep_ms(30);
    const int64_t arrived = now_ns();
    EXPECT_FALSE(start.wait());
    const int64_t started = now_ns();
    int64_t last_arrival = 0, first_start = 0;
    MPI_Allreduce(&arrived, &last_arrival, 1, MPI_INT64_T, MPI_MAX, session->control());
    MPI_Allreduce(&started, &first_start, 1, MPI_INT64_T, MPI_MIN, session->control());
    if (ranks_share_a_clock()) {
        EXPECT_GE(first_start, last_arrival);
    }
}

TEST(StartAtAMoment, NobodyStartsBeforeIt)
{
    CommonStart start(*session, Sync::window);
    const auto models = start.model_clocks();
    int64_t worst_error_ns = 0;
    for (const ClockModel& model : models) worst_error_ns = std::max(worst_error_ns, model.error_ns);
    worst_error_ns = from_root(worst_error_ns);
    const bool one_clock = ranks_share_a_clock();
    for (int repetition = 0; repetition < 20; ++repetition) {
        const int64_t asked = now_ns();
        start.wait();
        const int64_t started = now_ns();
        const int64_t root_asked = from_root(asked);
        constexpr int64_t shortest_window_ns = 100'000; // that of one rank
        if (one_clock) {
            EXPECT_GE(started - root_asked, shortest_window_ns - worst_error_ns);
        }
    }
}

TEST(StartAtAMoment, ARankThatMissesItSaysSoUntilTheWindowIsLongEnough)
{
    if (session->size() == 1) return;
    CommonStart start(*session, Sync::window);
    start.model_clocks();
    const bool tardy = session->rank() == last_rank();
    if (tardy) sleep_ms(20);
    const bool late = start.wait();
    if (tardy) {
        EXPECT_TRUE(late);
    }

    for (int i = 0; i < 20; ++i) start.adapt_window(10, 10); // far more than it takes to reach the longest window
    int in_time = 0;
    for (int attempt = 0; attempt < 10 && in_time == 0; ++attempt) { // a busy machine may be late all by itself
        if (tardy) sleep_ms(20);
        const int mine = start.wait() ? 0 : 1;
        MPI_Allreduce(&mine, &in_time, 1, MPI_INT, MPI_MIN, session->control());
    }
    EXPECT_EQ(in_time, 1);
}

} // namespace
} // namespace shardline
