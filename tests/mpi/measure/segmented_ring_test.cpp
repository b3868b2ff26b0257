// The ring sums what MPI_Allreduce sums, for every way to cut the data, and whichever rank is ahead.

#include "measure/comm_thread.hpp"
#include "measure/segmented_ring.hpp"
#include "measure/wire.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace shardline {
namespace {

using test::session;

/// Small integers, so that every order gives the same sum; other ones on each rank.
std::vector<float> own_values(int64_t n)
{
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + static_cast<size_t>(session->rank()) * 13) % 31) - 15;
    return values;
}

std::vector<float> mpi_sum(const std::vector<float>& values)
{
    std::vector<float> sum(values.size());
    MPI_Allreduce(values.data(), sum.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, session->control());
    return sum;
}

struct Cut {
    std::vector<int64_t> tiles;
    int64_t segment_bytes;
};

class Ring : public testing::TestWithParam<Cut> {
protected:
    int64_t elements() const
    {
        const auto tiles = GetParam().tiles;
        return std::accumulate(tiles.begin(), tiles.end(), int64_t{0});
    }
    const WireType wire{ElementType::f32};
};

TEST_P(Ring, SumsLikeMpi)
{
    SegmentedRing ring(wire, session->work());
    ring.prepare(GetParam().tiles, GetParam().segment_bytes);
    const std::vector<float> values = own_values(elements());
    for (int again = 0; again < 3; ++again) {
        std::vector<float> sum(values.size(), NAN);
        ring.begin(values.data(), sum.data());
        for (size_t tile = 0; tile < GetParam().tiles.size(); ++tile) ring.start_tile();
        ring.finish();
        ASSERT_EQ(sum, mpi_sum(values));
    }
}

// A tile that is not ready here must not be summed because another rank has sent of it.
TEST_P(Ring, WaitsForItsOwnTile)
{
    SegmentedRing ring(wire, session->work());
    ring.prepare(GetParam().tiles, GetParam().segment_bytes);
    const std::vector<float> values = own_values(elements());
    for (int slow = 0; slow < session->size(); ++slow) {
        std::vector<float> sent(values.size(), NAN), sum(values.size(), NAN);
        ring.begin(sent.data(), sum.data());
        size_t at = 0;
        for (int64_t tile : GetParam().tiles) {
            if (session->rank() == slow) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                for (int i = 0; i < 20; ++i) EXPECT_TRUE(session->size() == 1 || !ring.progress());
            }
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), tile, sent.begin() + static_cast<std::ptrdiff_t>(at));
            at += static_cast<size_t>(tile);
            ring.start_tile();
        }
        ring.finish();
        ASSERT_EQ(sum, mpi_sum(values)) << "rank " << slow << " is slow";
    }
}

TEST_P(Ring, SumsInAThreadOfItsOwn)
{
    SegmentedRing ring(wire, session->work());
    ring.prepare(GetParam().tiles, GetParam().segment_bytes);
    CommThread thread(ring, 50);
    const std::vector<float> values = own_values(elements());
    for (const Polling polling : {Polling::sleep, Polling::sleep_then_spin}) {
        std::vector<float> sent(values.size(), NAN), sum(values.size(), NAN);
        thread.begin(sent.data(), sum.data(), static_cast<int64_t>(GetParam().tiles.size()), polling);
        size_t at = 0;
        for (int64_t tile : GetParam().tiles) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), tile, sent.begin() + static_cast<std::ptrdiff_t>(at));
            at += static_cast<size_t>(tile);
            thread.tile_ready();
        }
        thread.finish();
        EXPECT_GT(thread.cpu_ns(), 0);
        ASSERT_EQ(sum, mpi_sum(values));
    }
}

INSTANTIATE_TEST_SUITE_P(Cuts, Ring,
                         testing::Values(Cut{{1}, 4}, Cut{{2}, 4}, Cut{{3, 1}, 4}, Cut{{5}, 1}, Cut{{1000}, 64}, Cut{{1001}, 1 << 20},
                                         Cut{{1, 1, 1, 1, 1}, 4}, Cut{{16, 999, 501, 7}, 128}, Cut{{100000, 30000, 10}, 1 << 16},
                                         Cut{{100003}, 4}));

TEST(RingOfBfloat16, LeavesTheSameBitsOnAllRanks)
{
    const WireType wire(ElementType::bf16);
    SegmentedRing ring(wire, session->work());
    ring.prepare({1000}, 128);
    std::vector<float> values(1000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1 + static_cast<size_t>(session->rank()));
    std::vector<uint16_t> sent(1000), sum(1000), of_root(1000);
    convert(values.data(), ElementType::f32, sent.data(), ElementType::bf16, 1000);
    ring.begin(sent.data(), sum.data());
    ring.start_tile();
    ring.finish();
    of_root = sum;
    MPI_Bcast(of_root.data(), 1000, MPI_UINT16_T, 0, session->control());
    EXPECT_EQ(sum, of_root);
}

} // namespace
} // namespace shardline
