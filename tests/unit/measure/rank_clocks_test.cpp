#include "measure/rank_clocks.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

namespace shardline {
namespace {

TEST(ClockModel, TimesGoThereAndBack)
{
    for (double drift : {0.0, 1e-6, -1e-6, 1e-4, -1e-4})
        for (int64_t offset : {int64_t{0}, int64_t{1} << 50, -(int64_t{1} << 50)})
            for (int64_t away : {int64_t{-1'000'000'000}, int64_t{0}, int64_t{3'600'000'000'000}}) {
                const ClockModel clock{.rank = 1, .at_ns = 5'000'000'000, .offset_ns = offset, .drift = drift, .error_ns = 0};
                const int64_t reading = clock.at_ns + away;
                EXPECT_LE(std::abs(to_own_ns(clock, to_common_ns(clock, reading)) - reading), 1);
            }
}

TEST(ClockModel, DriftIsTheGrowthOfTheOffset)
{
    const ClockModel older{.rank = 1, .at_ns = 0, .offset_ns = 100, .drift = 0, .error_ns = 10};
    const ClockModel newer{.rank = 1, .at_ns = 10'000'000'000, .offset_ns = 50'100, .drift = 0, .error_ns = 20};
    const ClockModel model = with_drift(newer, older);
    EXPECT_DOUBLE_EQ(model.drift, 5e-6);
    EXPECT_EQ(model.offset_ns, newer.offset_ns);
    EXPECT_EQ(model.error_ns, newer.error_ns);
}

TEST(ClockModel, OffsetsTakenCloseTogetherSayNothingAboutDrift)
{
    const ClockModel older{.rank = 1, .at_ns = 0, .offset_ns = 100, .drift = 3e-6, .error_ns = 10};
    const ClockModel newer{.rank = 1, .at_ns = 1'000'000, .offset_ns = 5'000, .drift = 0, .error_ns = 10};
    EXPECT_DOUBLE_EQ(with_drift(newer, older).drift, 3e-6);
}

TEST(ClockModel, ErrorsOfTheOffsetsAreNoDrift)
{
    const ClockModel older{.rank = 1, .at_ns = 0, .offset_ns = 100'000, .drift = 3e-6, .error_ns = 120'000};
    const ClockModel newer{.rank = 1, .at_ns = 2'000'000'000, .offset_ns = -80'000, .drift = 0, .error_ns = 90'000};
    EXPECT_DOUBLE_EQ(with_drift(newer, older).drift, 3e-6);
}

TEST(CommonTime, OfRank0IsItsReadingHoweverOld)
{
    const CommonTime time = common_time(ClockModel{.rank = 0, .at_ns = 0}, 1'000'000'000);
    EXPECT_EQ(time.at_ns, 1'000'000'000);
    EXPECT_EQ(time.error_ns, 0);
}

TEST(ClockTree, EveryRankAsksOnceARankThatKnowsAlready)
{
    for (int ranks = 1; ranks <= 33; ++ranks) {
        std::set<int> know{0};
        for (int round = 0; round < clock_rounds(ranks); ++round) {
            std::set<int> learned;
            for (int rank = 0; rank < ranks; ++rank) {
                const int other = clock_partner(rank, ranks, round);
                if (other < 0) continue;
                ASSERT_LT(other, ranks);
                EXPECT_EQ(clock_partner(other, ranks, round), rank) << "of " << ranks << " ranks in round " << round;
                if (other > rank) continue;
                EXPECT_TRUE(know.contains(other)) << other << " of " << ranks << " ranks answers in round " << round;
                EXPECT_FALSE(know.contains(rank)) << rank << " of " << ranks << " ranks asks again in round " << round;
                learned.insert(rank);
            }
            know.merge(learned);
        }
        EXPECT_EQ(know.size(), static_cast<size_t>(ranks));
    }
}

TEST(ClockTree, TakesTheLogarithmOfTheRanks)
{
    EXPECT_EQ(clock_rounds(1), 0);
    EXPECT_EQ(clock_rounds(2), 1);
    EXPECT_EQ(clock_rounds(3), 2);
    EXPECT_EQ(clock_rounds(16), 4);
    EXPECT_EQ(clock_rounds(17), 5);
    EXPECT_EQ(clock_rounds(65536), 16);
}

TEST(ClockTree, NeighboursAskInTheLastRoundSoThatHostsAskFirst)
{
    // Eight ranks, two hosts of four: one question crosses.
    EXPECT_EQ(clock_partner(4, 8, 0), 0);
    for (int rank : {1, 2, 3, 5, 6, 7})
        for (int round = 0; round < 3; ++round) {
            const int other = clock_partner(rank, 8, round);
            if (other >= 0) {
                EXPECT_EQ(other / 4, rank / 4) << rank << " and " << other;
            }
        }
}

/// Clocks of ranks that are off by what they like, asked in the order of the tree.
struct Machine {
    int ranks;
    double most_drift;         ///< of a clock against true time
    int64_t there_ns, back_ns; ///< the two ways of a message
    int64_t pause_ns;          ///< between rounds

    int64_t offset_ns(int rank) const { return rank * int64_t{7'000'000'019}; }
    /// Rank 0's one way, those that asked it the other way, and so on along the path.
    double drift(int rank) const { return std::popcount(static_cast<unsigned>(rank)) % 2 == 0 ? most_drift : -most_drift; }
    /// What the clock of that rank shows at a true time.
    int64_t reading_ns(int rank, int64_t true_ns) const
    {
        return true_ns + offset_ns(rank) + std::llround(drift(rank) * static_cast<double>(true_ns));
    }

    std::vector<ClockModel> compare(int64_t true_ns) const
    {
        std::vector<ClockModel> models(static_cast<size_t>(ranks));
        models[0].at_ns = reading_ns(0, true_ns);
        for (int round = 0; round < clock_rounds(ranks); ++round, true_ns += pause_ns)
            for (int rank = 0; rank < ranks; ++rank) {
                const int other = clock_partner(rank, ranks, round);
                if (other < 0 || other > rank) continue;
                const CommonTime answer = common_time(models[static_cast<size_t>(other)], reading_ns(other, true_ns + there_ns));
                models[static_cast<size_t>(rank)] =
                    model_from_answer(rank, reading_ns(rank, true_ns), reading_ns(rank, true_ns + there_ns + back_ns), answer);
            }
        return models;
    }

    /// Rank 0's time by that model, minus what it is, when the model was taken.
    int64_t error_ns(const ClockModel& model) const
    {
        const double true_ns = static_cast<double>(model.at_ns - offset_ns(model.rank)) / (1 + drift(model.rank));
        return model.at_ns + model.offset_ns - reading_ns(0, std::llround(true_ns));
    }
};

TEST(ClockTree, OffsetsAddUpAlongThePath)
{
    for (int ranks = 1; ranks <= 33; ++ranks) {
        const Machine machine{ranks, 0, 1000, 1000, 10'000};
        for (const ClockModel& model : machine.compare(0)) EXPECT_EQ(model.offset_ns, -machine.offset_ns(model.rank));
    }
}

TEST(ClockTree, BoundsAddUpAlongThePathAndHoldWhereOneWayTakesAllTheTime)
{
    constexpr int64_t half_ns = 1000;
    for (int ranks = 1; ranks <= 33; ++ranks)
        for (const bool back : {false, true}) {
            const Machine machine{ranks, 0, back ? 0 : 2 * half_ns, back ? 2 * half_ns : 0, 10'000};
            for (const ClockModel& model : machine.compare(0)) {
                const int steps = std::popcount(static_cast<unsigned>(model.rank)); // of the path to rank 0
                EXPECT_EQ(machine.error_ns(model), (back ? -1 : 1) * steps * half_ns);
                EXPECT_GE(model.error_ns, steps * half_ns);
                EXPECT_LE(model.error_ns, steps * half_ns + steps * clock_rounds(ranks) * 10 + steps);
            }
        }
}

TEST(ClockTree, BoundsHoldWhereClocksDriftBetweenTheRounds)
{
    for (int ranks = 2; ranks <= 33; ++ranks) {
        const Machine machine{ranks, 4e-4, 1000, 1000, 50'000'000};
        int64_t worst_ns = 0;
        for (const ClockModel& model : machine.compare(0)) {
            const int64_t error_ns = std::abs(machine.error_ns(model));
            EXPECT_LE(error_ns, model.error_ns) << "rank " << model.rank << " of " << ranks;
            worst_ns = std::max(worst_ns, error_ns);
        }
        if (ranks > 3) {
            EXPECT_GT(worst_ns, 10'000); // or the drift was too small to show anything
        }
    }
}

} // namespace
} // namespace shardline
