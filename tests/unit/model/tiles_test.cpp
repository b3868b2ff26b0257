#include "model/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace shardline {
namespace {

int64_t sum(const std::vector<int64_t>& tiles) { return std::accumulate(tiles.begin(), tiles.end(), int64_t{0}); }

TEST(OverlapTime, OfOneTileIsTheSum) { EXPECT_DOUBLE_EQ(overlap_time_s({100}, {2, 0.5, 3, 0}), 5); }

// Two equal tiles of a step of 2 s + 2 s: the second half of the matmul hides the first half of the exchange.
TEST(OverlapTime, HidesWhatItCan)
{
    EXPECT_DOUBLE_EQ(overlap_time_s({50, 50}, {2, 0, 2, 0}), 3);
    EXPECT_DOUBLE_EQ(overlap_time_s({50, 50}, {2, 0.25, 2, 0}), 3.25);
    EXPECT_DOUBLE_EQ(overlap_time_s({50, 50}, {2, 0, 20, 0}), 21);   // the exchange bounds it
    EXPECT_DOUBLE_EQ(overlap_time_s({50, 50}, {20, 0, 2, 0}), 21);   // the matmul does
}

TEST(OverlapTime, ChargesTheMatmulForTheProcessorTimeOfTheExchange)
{
    // While the first tile's 1 s travels, the second tile has half of the core.
    EXPECT_DOUBLE_EQ(overlap_time_s({50, 50}, {4, 0, 2, 1}), 2 + 2.5 + 1);
}

TEST(PlanTiles, CutsNothingWhereCuttingCostsMore)
{
    EXPECT_EQ(plan_tiles(2048, {1, 10, 1, 0}), std::vector<int64_t>{2048});
    EXPECT_EQ(plan_tiles(8, {1, 0, 1, 0}), std::vector<int64_t>{8}); // too few rows
    EXPECT_EQ(plan_tiles(1, {1, 0, 1, 0}), std::vector<int64_t>{1});
}

TEST(PlanTiles, SharesOutAllRows)
{
    for (int64_t rows : {64, 100, 1000, 1023, 4096})
        for (double t_comp : {0.1, 1.0, 10.0}) {
            const auto tiles = plan_tiles(rows, {t_comp, 0.001, 1, 0.1});
            EXPECT_EQ(sum(tiles), rows);
            EXPECT_GT(*std::ranges::min_element(tiles), 0);
        }
}

TEST(PlanTiles, ComesNearTheLowerBoundFarFromTheCrossover)
{
    for (double t_comp : {0.25, 4.0}) {
        const OverlapCosts costs{t_comp, 0.005 * t_comp, 1, 0};
        EXPECT_LT(overlap_time_s(plan_tiles(2048, costs), costs), 1.05 * std::max(t_comp, 1.0)) << t_comp;
    }
}

TEST(PlanTiles, BeginsSmallWhereTheExchangeBoundsAndEndsSmallWhereTheMatmulDoes)
{
    const auto exchange_bound = plan_tiles(2048, {0.25, 0.002, 1, 0});
    EXPECT_LT(exchange_bound.front(), 256);
    const auto matmul_bound = plan_tiles(2048, {4, 0.02, 1, 0});
    EXPECT_LT(matmul_bound.back(), 256);
    EXPECT_GT(matmul_bound.front(), matmul_bound.back());
}

TEST(EqualTiles, DifferByOneAtMost)
{
    EXPECT_EQ(equal_tiles(10, 4), (std::vector<int64_t>{2, 3, 2, 3}));
    EXPECT_EQ(equal_tiles(3, 8), (std::vector<int64_t>{1, 1, 1}));
}

TEST(TilingText, ReadsBack)
{
    const Tiling tiling{TileAxis::F, {128, 448, 64}};
    EXPECT_EQ(text_of(tiling), "F:128,448,64");
    EXPECT_EQ(tiling_from("F:128,448,64").axis, TileAxis::F);
    EXPECT_EQ(tiling_from("B:128,448,64").axis, TileAxis::B);
    EXPECT_EQ(tiling_from("F:128,448,64").sizes, tiling.sizes);
    for (const char* bad : {"", "a", "B", "B:", "B:1,,2", "B:0", "B:-3", "B:1 2", "B:1,2x", "1,2", "D:1", "B:99999999999999999999"})
        EXPECT_TRUE(tiling_from(bad).sizes.empty()) << bad;
}

TEST(TileAxis, LeavesTheSmallerOperandToBePackedAnew)
{
    EXPECT_EQ(cheaper_axis(1024, 1024), TileAxis::B);
    EXPECT_EQ(cheaper_axis(4096, 1024), TileAxis::B); // Y[K,1024] is shared by all tiles
    EXPECT_EQ(cheaper_axis(1024, 4096), TileAxis::F);
}

} // namespace
} // namespace shardline
