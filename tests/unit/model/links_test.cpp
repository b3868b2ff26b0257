// Rounds that share no host, and a network whose slow parts are known.

#include "model/analysis.hpp"
#include "model/links.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace shardline {
namespace {

std::vector<std::string> hosts(int count, int ranks_each = 1) { return synthetic_hosts(count, ranks_each); }

// ---------------------------------------------------------------------------------------------------
// Rounds

void expect_every_pair_once(const std::vector<std::string>& host_of_rank)
{
    const auto rounds = link_rounds(host_of_rank);
    std::set<std::pair<int32_t, int32_t>> seen;
    bool inside = false;
    for (const auto& round : rounds) {
        std::multiset<std::string> busy;
        std::set<int32_t> ranks;
        for (const RankPair& pair : round) {
            EXPECT_LT(pair.a, pair.b);
            EXPECT_TRUE(seen.insert({pair.a, pair.b}).second) << pair.a << "-" << pair.b << " twice";
            EXPECT_TRUE(ranks.insert(pair.a).second && ranks.insert(pair.b).second) << "a rank has two peers in a round";
            const std::string &of_a = host_of_rank[static_cast<size_t>(pair.a)], &of_b = host_of_rank[static_cast<size_t>(pair.b)];
            const bool within = of_a == of_b;
            EXPECT_TRUE(within || !inside) << "pairs between hosts come first";
            inside = inside || within;
            busy.insert(of_a);
            if (!within) busy.insert(of_b);
        }
        for (const std::string& host : busy) EXPECT_EQ(busy.count(host), 1u) << "two pairs share " << host;
    }
    EXPECT_EQ(seen.size(), host_of_rank.size() * (host_of_rank.size() - 1) / 2);
}

TEST(LinkRounds, HaveEveryPairOnceAndNoHostTwice)
{
    for (int count = 1; count <= 9; ++count)
        for (int each = 1; each <= 3; ++each) expect_every_pair_once(hosts(count, each));
    expect_every_pair_once({"a", "b", "a", "c", "a", "b"}); // uneven, and not in order
}

TEST(LinkRounds, GrowWithTheNumberOfHosts)
{
    EXPECT_EQ(link_rounds(hosts(2)).size(), 1u);
    EXPECT_EQ(link_rounds(hosts(8)).size(), 7u);
    EXPECT_EQ(link_rounds(hosts(7)).size(), 7u);
    EXPECT_EQ(link_rounds(hosts(8, 2)).size(), 7u * 4 + 1);
    EXPECT_TRUE(link_rounds(hosts(1)).empty());
}

// ---------------------------------------------------------------------------------------------------
// A network

using Network = SyntheticNetwork;

LinkMap map_of(const Network& network)
{
    const RunData run = synthetic_links(network);
    check_run(run);
    return *link_map_of({&run, 1});
}

std::string names_in(const LinkMap& map)
{
    std::string names;
    for (const Finding& finding : map.findings) names += finding.code + " " + finding.text.substr(0, finding.text.find(" (")) + "\n";
    return names;
}

TEST(LinkRounds, AreRefusedForOneRankAndForTooMany)
{
    EXPECT_NE(link_refusal(1).find("start 2 or more ranks"), std::string::npos);
    EXPECT_EQ(link_refusal(2), "");
    EXPECT_EQ(link_refusal(most_linked_ranks), "");
    EXPECT_NE(link_refusal(most_linked_ranks + 1).find("257 ranks are too many"), std::string::npos);
}

TEST(LinkMap, GivesBackLatencyBandwidthAndBreak)
{
    const LinkMap map = map_of({});
    ASSERT_EQ(map.links.size(), 12u);
    for (const DirectedLink& link : map.links) {
        EXPECT_NEAR(link.W_bytes_per_s->value, 1.2e8, 0.03 * 1.2e8);
        EXPECT_NEAR(link.W_both_bytes_per_s->value, 1.2e8, 0.03 * 1.2e8);
        EXPECT_NEAR(link.alpha_s->value, 2e-5, 0.1 * 2e-5);
    }
    ASSERT_EQ(map.typical.size(), 2u);
    EXPECT_EQ(map.typical_bytes[map.typical[0].last], 65536);
    EXPECT_EQ(map.typical_bytes[map.typical[1].first], 131072);
}

TEST(LinkMap, NamesNothingOnEvenLinks)
{
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        const int count = 2 + static_cast<int>(seed % 5);
        const LinkMap map = map_of({.hosts = count, .noise = 0.05, .seed = seed});
        EXPECT_TRUE(map.slow.empty()) << seed << ": " << names_in(map);
        EXPECT_EQ(map.claims.front().verdict, Verdict::holds);
    }
}

TEST(LinkMap, NamesADirectionSlowedToAThird)
{
    for (const int count : {2, 3, 5}) {
        const LinkMap map = map_of({.hosts = count, .W = [](int from, int to) { return from == 0 && to == 1 ? 4e7 : 1.2e8; }});
        ASSERT_EQ(map.slow.size(), 1u) << names_in(map);
        EXPECT_EQ(map.slow[0].what, SlowLink::What::direction);
        EXPECT_EQ(map.slow[0].host, "n0");
        EXPECT_EQ(map.slow[0].other, "n1");
        EXPECT_NEAR(map.slow[0].share, 1.0 / 3, 0.02);
        EXPECT_EQ(map.claims.front().verdict, Verdict::refuted);
    }
}

TEST(LinkMap, NamesALinkThatIsSlowBothWays)
{
    const LinkMap map = map_of({.W = [](int from, int to) { return from + to == 5 ? 6e7 : 1.2e8; }}); // 2 and 3
    ASSERT_EQ(map.slow.size(), 1u) << names_in(map);
    EXPECT_EQ(map.slow[0].what, SlowLink::What::link);
    EXPECT_EQ(map.slow[0].host, "n2");
    EXPECT_EQ(map.slow[0].other, "n3");
}

TEST(LinkMap, NamesAHostAndNotItsLinks)
{
    const LinkMap slow = map_of({.W = [](int from, int to) { return from == 2 || to == 2 ? 5e7 : 1.2e8; }});
    ASSERT_EQ(slow.slow.size(), 1u) << names_in(slow);
    EXPECT_EQ(slow.slow[0].what, SlowLink::What::host);
    EXPECT_EQ(slow.slow[0].host, "n2");
    const LinkMap sends = map_of({.W = [](int from, int) { return from == 2 ? 5e7 : 1.2e8; }});
    ASSERT_EQ(sends.slow.size(), 1u) << names_in(sends);
    EXPECT_EQ(sends.slow[0].what, SlowLink::What::sending);
    const LinkMap receives = map_of({.W = [](int, int to) { return to == 2 ? 5e7 : 1.2e8; }});
    ASSERT_EQ(receives.slow.size(), 1u) << names_in(receives);
    EXPECT_EQ(receives.slow[0].what, SlowLink::What::receiving);
}

TEST(LinkMap, NamesTheSlowerHostsOfAMixOfRates)
{
    const LinkMap map = map_of({.W = [](int from, int to) { return std::max(from, to) >= 2 ? 4e7 : 1.2e8; }});
    ASSERT_EQ(map.slow.size(), 2u) << names_in(map);
    for (const SlowLink& slow : map.slow) {
        EXPECT_EQ(slow.what, SlowLink::What::host);
        EXPECT_NEAR(slow.share, 1.0 / 3, 0.02);
    }
    EXPECT_EQ(map.slow[0].host, "n2");
    EXPECT_EQ(map.slow[1].host, "n3");
}

TEST(LinkMap, SaysWhenBothDirectionsShareALink)
{
    const RunData run = synthetic_links({.both_share = 0.55});
    const Analysis analysis = analyse({&run, 1});
    const auto claim = std::ranges::find(analysis.claims, "both_ways_at_once", &Claim::name);
    ASSERT_NE(claim, analysis.claims.end());
    EXPECT_EQ(claim->verdict, Verdict::explained);
    EXPECT_EQ(analysis.verdict, Verdict::explained);
}

TEST(LinkMap, SaysNothingOfFewSamples)
{
    SyntheticNetwork network;
    network.core_share = 1;
    for (const bool few : {false, true}) {
        const RunData all = synthetic_links(network), run = few ? few_samples_of(all) : all;
        const LinkMap map = *link_map_of({&run, 1});
        EXPECT_EQ(map.claims.size(), 3u);
        for (const Claim& claim : map.claims) EXPECT_EQ(claim.verdict, few ? Verdict::inconclusive : Verdict::holds) << claim.name;
    }
}

TEST(LinkMap, IsOfRunsOfLinksAlone)
{
    RunData run;
    run.repetitions.ranks = 2;
    EXPECT_FALSE(link_map_of({&run, 1}));
}

} // namespace
} // namespace shardline
