#include "measure/strategy.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

std::string lacks_persistent(Strategy strategy) { return strategy == Strategy::mpi_persistent ? "made for this test" : ""; }

TEST(LeaveOutUnavailable, SkipsWithAWordWhatThisMpiLacks)
{
    std::vector<std::string> strategies{"mpi_allreduce", "mpi_persistent", "segmented_ring"};
    const std::vector<Finding> findings = leave_out_unavailable(strategies, lacks_persistent);
    EXPECT_EQ(strategies, (std::vector<std::string>{"mpi_allreduce", "segmented_ring"}));
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "strategy_left_out");
    EXPECT_EQ(findings[0].severity, Severity::warning);
    EXPECT_NE(findings[0].text.find("mpi_persistent is skipped (made for this test)"), std::string::npos) << findings[0].text;
}

TEST(LeaveOutUnavailable, LeavesTheOnlyOneToBeRefused)
{
    std::vector<std::string> strategies{"mpi_persistent"};
    EXPECT_TRUE(leave_out_unavailable(strategies, lacks_persistent).empty());
    EXPECT_EQ(strategies.size(), 1u);
}

TEST(LeaveOutUnavailable, LeavesOutNothingThatIsThere)
{
    std::vector<std::string> strategies{"mpi_allreduce", "mpi_persistent"};
    EXPECT_TRUE(leave_out_unavailable(strategies, [](Strategy) { return std::string(); }).empty());
    EXPECT_EQ(strategies.size(), 2u);
}

} // namespace
} // namespace shardline
