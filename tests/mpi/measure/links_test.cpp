// What the ranks of a pair send arrives, whoever else exchanges at the time.

#include "measure/timed_step.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shardline {
namespace {

using test::session;

char byte_of(int rank, int i) { return static_cast<char>(37 * rank + i % 89); }

std::vector<char> message_of(int rank, int bytes)
{
    std::vector<char> message(static_cast<size_t>(bytes));
    for (int i = 0; i < bytes; ++i) message[static_cast<size_t>(i)] = byte_of(rank, i);
    return message;
}

class Link : public testing::TestWithParam<int> {};

TEST_P(Link, DeliversOneWayAndBothWays)
{
    const int bytes = GetParam(), rank = session->rank(), peer = rank ^ 1;
    if (peer >= session->size()) return; // rests
    const std::vector<char> mine = message_of(rank, bytes), theirs = message_of(peer, bytes);
    std::vector<char> received(mine.size(), 0);
    for (const int sender : {0, 1}) {
        Readings t;
        received.assign(mine.size(), 0);
        if (rank % 2 == sender) {
            timed_send(mine.data(), bytes, peer, session->work(), t);
        } else {
            timed_receive(received.data(), bytes, peer, session->work(), t);
            EXPECT_EQ(received, theirs);
        }
        EXPECT_GE(t.comm_end_ns, t.comm_begin_ns);
        EXPECT_GE(t.comm_begin_ns, 0);
        EXPECT_EQ(t.comp_begin_ns, -1);
    }
    Readings t;
    received.assign(mine.size(), 0);
    timed_both_ways(mine.data(), received.data(), bytes, peer, session->work(), t);
    EXPECT_EQ(received, theirs);
    EXPECT_GE(t.comm_end_ns, t.comm_begin_ns);
}

TEST_P(Link, DeliversToAllAtOnce)
{
    const int bytes = GetParam(), rank = session->rank(), P = session->size();
    const std::vector<char> mine = message_of(rank, bytes);
    std::vector<char> received(static_cast<size_t>(bytes) * static_cast<size_t>(P), 0);
    std::vector<MPI_Request> requests(2 * static_cast<size_t>(P));
    Readings t;
    timed_all_at_once(mine.data(), received.data(), bytes, requests.data(), session->work(), t);
    for (int step = 1; step < P; ++step)
        for (int i = 0; i < bytes; ++i)
            ASSERT_EQ(received[static_cast<size_t>((step - 1) * bytes + i)], byte_of((rank + P - step) % P, i)) << "step " << step;
    EXPECT_GE(t.comm_end_ns, t.comm_begin_ns);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Link, testing::Values(1, 8, 5000, 70'000, 1'000'000));

} // namespace
} // namespace shardline
