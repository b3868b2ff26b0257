#include "experiment/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace shardline {
namespace {

constexpr std::string_view names[] = {"title", "B", "F", "D", "wire_type", "compute_type", "warmups"};

TEST(NearestName, FindsTheNameASlipAway)
{
    EXPECT_EQ(nearest_name("wire_typ", names), "wire_type");
    EXPECT_EQ(nearest_name("wiretype", names), "wire_type");
    EXPECT_EQ(nearest_name("warmpus", names), "warmups");
    EXPECT_EQ(nearest_name("comput_typ", names), "compute_type");
}

TEST(NearestName, IgnoresCase)
{
    EXPECT_EQ(nearest_name("b", names), "B");
    EXPECT_EQ(nearest_name("TITLE", names), "title");
}

TEST(NearestName, FindsTheNameThatAWordBegins)
{
    EXPECT_EQ(nearest_name("wire", names), "wire_type");
    EXPECT_EQ(nearest_name("COMP", names), "compute_type");
    EXPECT_EQ(nearest_name("wi", names), std::nullopt);
    EXPECT_EQ(nearest_name("type", names), std::nullopt);
}

TEST(NearestName, SuggestsNothingFarFetched)
{
    EXPECT_EQ(nearest_name("x", names), std::nullopt);
    EXPECT_EQ(nearest_name("", names), std::nullopt);
    EXPECT_EQ(nearest_name("bandwidth", names), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(100'000, 'a'), names), std::nullopt);
    EXPECT_EQ(nearest_name("title", {}), std::nullopt);
}

} // namespace
} // namespace shardline
