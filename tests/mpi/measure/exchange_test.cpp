// The ring exchange moves every byte from the previous rank, whatever the segments.

#include "measure/timed_step.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shardline {
namespace {

using test::session;

char byte_of(int rank, int64_t i) { return static_cast<char>(31 * rank + i % 101); }

class SegmentedExchange : public testing::TestWithParam<int64_t> {};

TEST_P(SegmentedExchange, DeliversThePreviousRanksBytes)
{
    constexpr int64_t bytes = 10'007;
    const int64_t segment = GetParam();
    std::vector<char> send(bytes), receive(bytes, 0);
    for (int64_t i = 0; i < bytes; ++i) send[static_cast<size_t>(i)] = byte_of(session->rank(), i);
    std::vector<MPI_Request> requests(static_cast<size_t>(exchange_requests(bytes, segment)));
    Readings t;
    timed_exchange(send.data(), receive.data(), bytes, segment, requests.data(), session->work(), t);
    const int previous = (session->rank() + session->size() - 1) % session->size();
    for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(receive[static_cast<size_t>(i)], byte_of(previous, i)) << "byte " << i;
    EXPECT_EQ(t.comp_begin_ns, -1);
    EXPECT_GE(t.comm_end_ns, t.comm_begin_ns);
}

INSTANTIATE_TEST_SUITE_P(Segments, SegmentedExchange, testing::Values(1000, 4096, 10'006, 10'007, 20'000));

} // namespace
} // namespace shardline
