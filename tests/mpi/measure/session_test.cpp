#include "measure/memory.hpp"
#include "measure/rank_facts.hpp"
#include "measure/session.hpp"
#include "model/error.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

using test::session;

TEST(OnRoot, RunsOnRankZeroAlone)
{
    bool ran = false;
    on_root(*session, [&] { ran = true; });
    EXPECT_EQ(ran, session->is_root());
}

TEST(OnRoot, InputErrorReachesEveryRank)
{
    EXPECT_THROW(on_root(*session, [] { throw InputError("wrong"); }), InputError);
}

TEST(BroadcastText, GivesRankZerosText)
{
    EXPECT_EQ(broadcast_text("text of " + std::to_string(session->rank()), session->control()), "text of 0");
    EXPECT_EQ(broadcast_text("", session->control()), "");
}

TEST(GatherFacts, KeepsRankOrderAndFields)
{
    RankFacts mine;
    mine.info.host = "host" + std::to_string(session->rank());
    mine.info.cpu_model = "";
    mine.info.allowed_cores = "0-3,8";
    mine.info.blas_threads = 2;
    mine.hardware_threads = {0, 1, 2, 3, 8};
    mine.cores = {0, 0, 1, 1, session->rank()};
    mine.quota_cores = 1.5;
    mine.vector_unit = VectorUnit::avx2;
    mine.clock = {.tick_ns = 25, .backwards_ns = 1};
    mine.fabrics = {};
    mine.transports = {"btl/tcp", "pml/ob1"};
    const auto all = gather_facts(mine, session->control());
    ASSERT_EQ(all.size(), session->is_root() ? static_cast<size_t>(session->size()) : 0u);
    for (size_t r = 0; r < all.size(); ++r) {
        EXPECT_EQ(all[r].info.host, "host" + std::to_string(r));
        EXPECT_EQ(all[r].info.cpu_model, "");
        EXPECT_EQ(all[r].info.allowed_cores, "0-3,8");
        EXPECT_EQ(all[r].info.blas_threads, 2);
        EXPECT_EQ(all[r].hardware_threads, (std::vector<int>{0, 1, 2, 3, 8}));
        EXPECT_EQ(all[r].cores, (std::vector<int>{0, 0, 1, 1, static_cast<int>(r)}));
        EXPECT_EQ(all[r].quota_cores, 1.5);
        EXPECT_EQ(all[r].vector_unit, VectorUnit::avx2);
        EXPECT_EQ(all[r].clock.tick_ns, 25);
        EXPECT_EQ(all[r].clock.backwards_ns, 1);
        EXPECT_TRUE(all[r].fabrics.empty());
        EXPECT_EQ(all[r].transports, mine.transports);
    }
}

TEST(SurveyRanks, FindsWhatItStandsOnAndGivesTheThreadsAskedFor)
{
    const auto all = survey_ranks(2, session->control());
    ASSERT_EQ(all.size(), session->is_root() ? static_cast<size_t>(session->size()) : 0u);
    for (const RankFacts& rank : all) {
        EXPECT_FALSE(rank.info.host.empty());
        EXPECT_FALSE(rank.info.machine.empty());
        EXPECT_FALSE(rank.cores.empty());
        EXPECT_EQ(rank.cores.size(), rank.hardware_threads.size());
        EXPECT_GE(rank.machine_cores, 1);
        EXPECT_GT(rank.info.memory_available_bytes, 0);
        EXPECT_EQ(rank.blas_threads_asked, 2);
        EXPECT_GT(rank.clock.tick_ns, 0);
        EXPECT_EQ(rank.clock.backwards_ns, 0);
    }
}

TEST(RequireMemory, RefusesWhatNoNodeHasWithNumbers)
{
    EXPECT_NO_THROW(require_memory(1000, *session));
    try {
        require_memory(int64_t{1} << 60, *session);
        FAIL() << "2^60 bytes were accepted";
    } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("needs 1152921504606.8 MB"), std::string::npos) << e.what();
    }
}

} // namespace
} // namespace shardline
