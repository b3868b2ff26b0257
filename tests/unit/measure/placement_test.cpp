#include "measure/placement.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

using Hosts = std::vector<std::string>;
using Order = std::vector<int>;

TEST(PlacementOrder, OfOneHostIsTheLaunchers)
{
    const Hosts hosts(4, "a");
    for (const Placement placement : {Placement::as_started, Placement::spread, Placement::pack}) EXPECT_EQ(placement_order(hosts, placement), (Order{0, 1, 2, 3}));
    EXPECT_EQ(placement_order({}, Placement::spread), Order{});
}

TEST(PlacementOrder, SpreadTakesAHostInTurn)
{
    EXPECT_EQ(placement_order(Hosts{"a", "a", "b", "b", "c", "c"}, Placement::spread), (Order{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(placement_order(Hosts{"a", "b", "c", "a", "b", "c"}, Placement::spread), (Order{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(placement_order(Hosts{"a", "a", "a", "b"}, Placement::spread), (Order{0, 3, 1, 2})) << "hosts of unequal size";
    EXPECT_EQ(placement_order(Hosts{"b", "a", "a", "b"}, Placement::spread), (Order{0, 1, 3, 2})) << "by first ranks, not by names";
}

TEST(PlacementOrder, PackFillsAHostFirst)
{
    EXPECT_EQ(placement_order(Hosts{"a", "b", "c", "a", "b", "c"}, Placement::pack), (Order{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(placement_order(Hosts{"a", "a", "b", "b"}, Placement::pack), (Order{0, 1, 2, 3}));
    EXPECT_EQ(placement_order(Hosts{"b", "a", "a", "b"}, Placement::pack), (Order{0, 3, 1, 2}));
}

TEST(PlacementOrder, AsStartedChangesNothing) { EXPECT_EQ(placement_order(Hosts{"a", "b", "a"}, Placement::as_started), (Order{0, 1, 2})); }

} // namespace
} // namespace shardline
