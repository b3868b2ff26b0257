#include "measure/placement.hpp"

#include "measure/clock.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace shardline {
namespace {

using test::session;

/// Rank 0 stays, the others the other way round: twice is the order there was.
std::vector<int> turned_round()
{
    std::vector<int> order(static_cast<size_t>(session->size()));
    for (size_t i = 1; i < order.size(); ++i) order[i] = session->size() - static_cast<int>(i);
    return order;
}

TEST(Renumber, GivesRanksTheirNewNumbersInBothCommunicators)
{
    const int before = session->rank();
    session->renumber(turned_round());
    EXPECT_EQ(session->rank(), before == 0 ? 0 : session->size() - before);
    EXPECT_EQ(session->is_root(), before == 0);
    for (const MPI_Comm comm : {session->work(), session->control()}) {
        int rank = -1, size = -1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        EXPECT_EQ(rank, session->rank());
        EXPECT_EQ(size, session->size());
    }
    session->renumber(turned_round());
    EXPECT_EQ(session->rank(), before);
}

TEST(RankGroups, HoldTheFirstRanks)
{
    RankGroups groups(*session);
    for (int32_t size = 1; size <= session->size(); ++size) {
        const RankGroup& group = groups.of(size);
        EXPECT_EQ(&groups.of(size), &group) << "made twice";
        EXPECT_EQ(group.size, size);
        EXPECT_EQ(group.is_whole, size == session->size());
        EXPECT_EQ(group.takes_part, session->rank() < size);
        if (!group.takes_part) continue;
        int rank = -1, sum = session->rank();
        MPI_Comm_rank(group.work, &rank);
        EXPECT_EQ(rank, session->rank());
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, group.control);
        EXPECT_EQ(sum, size * (size - 1) / 2);
    }
}

TEST(MeetAsleep, WaitsForTheLastAndCostsNoCpuTime)
{
    constexpr int64_t late_ns = 200'000'000;
    MPI_Barrier(session->control());
    const int64_t begin_ns = now_ns(), cpu_begin_ns = thread_cpu_ns();
    const bool last = session->rank() == session->size() - 1;
    int64_t calls = 0;
    while (last && now_ns() < begin_ns + late_ns) {}
    const int64_t cpu_ns = thread_cpu_ns();
    meet_asleep(session->control(), [&] { ++calls; });
    const int64_t waited_cpu_ns = thread_cpu_ns() - (last ? cpu_ns : cpu_begin_ns);
    EXPECT_GE(now_ns() - begin_ns, late_ns - 50'000'000); // the barrier lets ranks go one after another
    if (last) return;
    EXPECT_GT(calls, 0);
    EXPECT_LT(waited_cpu_ns, late_ns / 2) << "it spins";
}

} // namespace
} // namespace shardline
