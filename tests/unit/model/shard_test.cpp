// Any D and P, D < P included.

#include "model/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardline {
namespace {

TEST(Shard, WidthsDifferByAtMostOneAndCoverD)
{
    for (int64_t P : {1, 2, 3, 4, 7, 8, 64})
        for (int64_t D : {0, 1, 2, 3, 5, 63, 64, 65, 100, 101, 8756}) {
            int64_t end = 0, narrowest = D, widest = 0;
            for (int64_t rank = 0; rank < P; ++rank) {
                const Shard shard = shard_of(D, P, rank);
                EXPECT_EQ(shard.begin, end) << "D = " << D << ", P = " << P << ", rank " << rank;
                end = shard.begin + shard.width;
                narrowest = std::min(narrowest, shard.width);
                widest = std::max(widest, shard.width);
            }
            EXPECT_EQ(end, D);
            EXPECT_LE(widest - narrowest, 1);
            EXPECT_EQ(widest, largest_shard_width(D, P));
        }
}

TEST(Shard, AnEmptyShardLiesAtTheEnd)
{
    EXPECT_EQ(shard_of(1, 3, 0).width, 1);
    EXPECT_EQ(shard_of(1, 3, 2).width, 0);
    EXPECT_EQ(shard_of(1, 3, 2).begin, 1);
}

TEST(Shard, HoldsFor64BitSizes)
{
    const int64_t D = (int64_t{1} << 40) + 1;
    EXPECT_EQ(shard_of(D, 2, 0).width, (int64_t{1} << 39) + 1);
    EXPECT_EQ(shard_of(D, 2, 1).begin, (int64_t{1} << 39) + 1);
}

} // namespace
} // namespace shardline
