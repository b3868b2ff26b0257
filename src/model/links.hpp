#pragma once

// Links between ranks: which pairs exchange when, what each direction carries, and which of them fall behind.

#include "model/claim.hpp"
#include "model/core_share.hpp"
#include "model/piecewise.hpp"
#include "model/run_data.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// What of a link is timed, as /points/algorithm names it.
inline constexpr std::string_view link_forth = "forth";         ///< the lower rank sends, the higher answers with an empty message
inline constexpr std::string_view link_back = "back";           ///< the higher rank sends
inline constexpr std::string_view link_both_ways = "both_ways"; ///< both send at once; a rank's reading ends when all has come in
inline constexpr std::string_view link_all_at_once = "all_at_once"; ///< every rank with every other at once

/// Two ranks that exchange; a < b.
struct RankPair {
    int32_t a = 0, b = 0;
    bool operator==(const RankPair&) const = default;
};

/// Rounds in which no two pairs share a host, but for those that are pairs within it: first every pair of ranks on different hosts,
/// the hosts as in a tournament (circle method), then the pairs within hosts, one at a time in each. With one rank
/// on each of H hosts, H an even number, H − 1 rounds.
std::vector<std::vector<RankPair>> link_rounds(std::span<const std::string> host_of_rank);

/// Of more ranks not every pair is timed: pairs, points and what rank 0 keeps of them grow with the square and the cube of the ranks.
inline constexpr int32_t most_linked_ranks = 256;

/// Why pairs of so many ranks are not measured, and what to do; empty where they are.
std::string link_refusal(int32_t ranks);

/// One direction between two ranks.
struct DirectedLink {
    int32_t from = 0, to = 0;
    bool within_host = false;
    std::vector<FitPoint> times;     ///< one way, there and an empty message back, s over bytes
    std::vector<Piece> pieces;       ///< through them
    std::optional<Estimate> alpha_s; ///< half the time of the smallest message
    std::optional<Estimate> W_bytes_per_s; ///< 1 / slope of the last piece
    std::optional<Estimate> W_both_bytes_per_s; ///< the same while as much goes the other way
};

/// What a host, or a direction between two hosts, carries against the best.
struct SlowLink {
    enum class What { host, sending, receiving, direction, link } what = What::link;
    std::string host, other; ///< other: of a direction or link, where it leads
    bool within_host = false; ///< both are ranks of one host
    double share = 1;        ///< of what the best, or what its two hosts carry otherwise
};

/// "host", "sending", "receiving", "direction" or "link".
std::string_view name_of(SlowLink::What what);

struct LinkMap {
    std::vector<DirectedLink> links; ///< by (from, to)
    std::vector<std::string> host_of_rank;
    std::optional<Estimate> best_bytes_per_s; ///< the best direction between hosts; within them where there is one host
    std::vector<Piece> typical;      ///< through the medians over directions between hosts
    std::vector<double> typical_bytes; ///< the sizes that the pieces count
    std::vector<SlowLink> slow;
    std::vector<CoreShare> core_shares;
    std::optional<Estimate> all_at_once_bytes_per_s; ///< what a rank receives, by the slowest, while all exchange with all
    std::vector<Claim> claims;
    std::vector<Finding> findings;
};

/// Nothing where no point is of a link. The launches must have passed check_run.
std::optional<LinkMap> link_map_of(std::span<const RunData> launches);

} // namespace shardline
