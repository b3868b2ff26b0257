#include "model/links.hpp"

#include "model/statistics.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace shardline {

namespace {

constexpr double falls_behind = 0.8;

/// Hosts in order of first appearance, with their ranks.
std::vector<std::pair<std::string, std::vector<int32_t>>> hosts_of(std::span<const std::string> host_of_rank)
{
    std::vector<std::pair<std::string, std::vector<int32_t>>> hosts;
    for (size_t rank = 0; rank < host_of_rank.size(); ++rank) {
        auto host = std::ranges::find(hosts, host_of_rank[rank], [](const auto& named) { return named.first; });
        if (host == hosts.end()) host = hosts.insert(hosts.end(), {host_of_rank[rank], {}});
        host->second.push_back(static_cast<int32_t>(rank));
    }
    return hosts;
}

RankPair pair_of(int32_t one, int32_t other) { return {std::min(one, other), std::max(one, other)}; }

/// A direction's samples by size, of one way of timing it.
using SeriesBySize = std::map<int64_t, Series>;
using Directed = std::map<std::pair<int32_t, int32_t>, SeriesBySize>;

struct Samples {
    Directed one_way, both_ways;
    std::map<int64_t, Series> all_at_once; ///< by bytes to each peer, the slowest rank
};

void add_row(Samples& samples, const RunData& run, size_t row, int32_t launch)
{
    const Repetitions& r = run.repetitions;
    const Point& point = run.points[static_cast<size_t>(r.point[row])];
    const auto readings = static_cast<size_t>(r.readings_per_row());
    int64_t longest_ns = 0;
    for (size_t i = row * readings; i < (row + 1) * readings; ++i) {
        if (r.comm_begin_ns[i] == Repetitions::no_reading) continue;
        const int64_t duration_ns = r.comm_end_ns[i] - r.comm_begin_ns[i];
        longest_ns = std::max(longest_ns, duration_ns);
        const int32_t me = r.rank_of(i), peer = i < r.peer.size() ? r.peer[i] : -1;
        if (peer < 0 || peer >= r.ranks) continue;
        const Sample sample{1e-9 * static_cast<double>(duration_ns), launch, r.pass[row], static_cast<int64_t>(row)};
        const bool sends = (point.algorithm == link_forth && me < peer) || (point.algorithm == link_back && me > peer);
        if (sends) samples.one_way[{me, peer}][point.message_bytes].push_back(sample);
        if (point.algorithm == link_both_ways) samples.both_ways[{peer, me}][point.message_bytes].push_back(sample);
    }
    if (point.algorithm == link_all_at_once && longest_ns > 0)
        samples.all_at_once[point.message_bytes].push_back({1e-9 * static_cast<double>(longest_ns), launch, r.pass[row], static_cast<int64_t>(row)});
}

Samples samples_of(std::span<const RunData> launches)
{
    Samples samples;
    int32_t launch = 0;
    for (const RunData& run : launches) {
        const Repetitions& r = run.repetitions;
        for (size_t row = 0; row < r.size(); ++row)
            if (run.points[static_cast<size_t>(r.point[row])].kind == PointKind::link && !r.warmup[row] && !r.late[row]) add_row(samples, run, row, launch);
        ++launch;
    }
    return samples;
}

std::vector<FitPoint> times_of(const SeriesBySize& by_size)
{
    std::vector<FitPoint> times;
    for (const auto& [bytes, series] : by_size)
        if (const auto t_s = estimate_of(series)) times.push_back({static_cast<double>(bytes), *t_s});
    return times;
}

/// 1 / slope of the last piece; nothing where its interval reaches down to no slope at all.
std::optional<Estimate> bandwidth_of(const std::vector<Piece>& pieces)
{
    if (pieces.empty()) return std::nullopt;
    const Piece& last = pieces.back();
    const double half_width = normal_975 * std::sqrt(last.variance_b);
    if (!(last.b > half_width)) return std::nullopt;
    return Estimate{1 / last.b, 1 / (last.b + half_width), 1 / (last.b - half_width), static_cast<int64_t>(last.last - last.first + 1)};
}

/// Bytes by time of the largest message: a rank-based interval, which no fit has narrowed.
std::optional<Estimate> largest_rate_of(const std::vector<FitPoint>& times)
{
    if (times.empty()) return std::nullopt;
    return rate_from(times.back().x, times.back().y);
}

/// A direction's rate by both ways of looking at it: the slope of the fit, and the time of the largest message.
struct Rate {
    Estimate slope, largest;
};

bool slower(const Rate& rate, const Rate& than)
{
    return rate.slope.high < falls_behind * than.slope.low && rate.largest.high < falls_behind * than.largest.low;
}

/// Between hosts the best pair of ranks stands for two hosts; where all ranks are on one host, between ranks.
class Rates {
public:
    Rates(const LinkMap& map, bool within)
    {
        for (const DirectedLink& link : map.links) {
            const auto largest = largest_rate_of(link.times);
            if (link.within_host != within || !link.W_bytes_per_s || !largest || !largest->reaches_95()) continue;
            const auto name = [&](int32_t rank) { return within ? std::to_string(rank) : map.host_of_rank[static_cast<size_t>(rank)]; };
            const std::pair key(name(link.from), name(link.to));
            const Rate rate{*link.W_bytes_per_s, *largest};
            const auto [place, is_new] = of.try_emplace(key, rate);
            if (!is_new && place->second.largest.value < rate.largest.value) place->second = rate;
            names.insert(key.first);
        }
    }

    /// The best that leaves, or enters.
    std::optional<Rate> best(const std::string& name, bool leaves) const
    {
        std::optional<Rate> best;
        for (const auto& [key, rate] : of)
            if ((leaves ? key.first : key.second) == name && (!best || rate.largest.value > best->largest.value)) best = rate;
        return best;
    }

    /// By the lower end of its interval, so that one uncertain rate is no reference.
    std::optional<Rate> best() const
    {
        std::optional<Rate> best;
        for (const auto& [key, rate] : of)
            if (!best || rate.largest.low > best->largest.low) best = rate;
        return best;
    }

    std::map<std::pair<std::string, std::string>, Rate> of;
    std::set<std::string> names;
};

/// What a direction should carry: what both its ends carry otherwise. Of two hosts alone the other direction is all there is.
std::optional<Rate> expected(const Rates& rates, const std::pair<std::string, std::string>& key)
{
    if (rates.names.size() < 3) {
        const auto back = rates.of.find({key.second, key.first});
        return back == rates.of.end() ? std::nullopt : std::optional(back->second);
    }
    const auto out = rates.best(key.first, true), in = rates.best(key.second, false);
    return out->largest.value < in->largest.value ? out : in;
}

/// Hosts first; then directions that are slower than both of their ends explain.
std::vector<SlowLink> slow_links(const Rates& rates, bool within)
{
    std::vector<SlowLink> slow;
    const auto best = rates.best();
    if (!best) return slow;
    const auto add = [&](SlowLink::What what, const std::string& host, const std::string& other, const Rate& rate, const Rate& than) {
        slow.push_back({what, host, other, within, rate.largest.value / than.largest.value});
    };
    // With two hosts alone nothing tells the sender from the link or the receiver.
    for (const std::string& host : rates.names) {
        if (rates.names.size() < 3) break;
        const auto out = rates.best(host, true), in = rates.best(host, false);
        if (!out || !in) continue;
        const bool sends = slower(*out, *best), receives = slower(*in, *best);
        if (sends && receives)
            add(SlowLink::What::host, host, "", out->largest.value > in->largest.value ? *out : *in, *best);
        else if (sends)
            add(SlowLink::What::sending, host, "", *out, *best);
        else if (receives)
            add(SlowLink::What::receiving, host, "", *in, *best);
    }
    std::set<std::pair<std::string, std::string>> behind;
    for (const auto& [key, rate] : rates.of)
        if (const auto than = expected(rates, key); than && slower(rate, *than)) behind.insert(key);
    for (const auto& key : behind) {
        const std::pair reverse(key.second, key.first);
        const bool both = behind.contains(reverse);
        if (both && reverse < key) continue; // named already
        add(both ? SlowLink::What::link : SlowLink::What::direction, key.first, key.second, rates.of.at(key), *expected(rates, key));
    }
    return slow;
}

std::string text_of(const SlowLink& slow)
{
    const std::string kind = slow.within_host ? "rank " : "host ", share = percent_text(slow.share);
    switch (slow.what) {
    case SlowLink::What::host: return kind + slow.host + " sends and receives at " + share + " of the best link's rate at most";
    case SlowLink::What::sending: return kind + slow.host + " sends at " + share + " of the best link's rate at most, but receives at more";
    case SlowLink::What::receiving: return kind + slow.host + " receives at " + share + " of the best link's rate at most, but sends at more";
    case SlowLink::What::direction:
        return "the direction from " + kind + slow.host + " to " + slow.other + " carries " + share + " of what it should by its two ends, and the other way does not fall behind";
    case SlowLink::What::link: return "the link between " + kind + slow.host + " and " + slow.other + " carries " + share + " of what its two ends carry otherwise";
    }
    return "";
}

const char* code_of(SlowLink::What what)
{
    switch (what) {
    case SlowLink::What::host: return "slow_host";
    case SlowLink::What::sending: return "slow_sending";
    case SlowLink::What::receiving: return "slow_receiving";
    case SlowLink::What::direction: return "slow_direction";
    case SlowLink::What::link: return "slow_link";
    }
    return "";
}

/// Medians over the directions, by size.
void fit_typical(LinkMap& map, bool within)
{
    std::map<double, std::vector<double>> values;
    std::map<double, double> half_widths;
    for (const DirectedLink& link : map.links) {
        if (link.within_host != within) continue;
        for (const FitPoint& time : link.times) {
            values[time.x].push_back(time.y.value);
            half_widths[time.x] = std::max(half_widths[time.x], (time.y.high - time.y.low) / 2);
        }
    }
    std::vector<FitPoint> points;
    for (const auto& [bytes, times] : values) {
        const double middle = median(times), half_width = half_widths[bytes] / std::sqrt(static_cast<double>(times.size()));
        points.push_back({bytes, {middle, middle - half_width, middle + half_width, static_cast<int64_t>(times.size())}});
        map.typical_bytes.push_back(bytes);
    }
    map.typical = fit_pieces(points);
}

void judge_evenness(LinkMap& map)
{
    Claim claim{"even_links", Verdict::holds, "no host, direction or link falls behind the best by more than " + percent_text(1 - falls_behind)};
    for (const SlowLink& slow : map.slow) {
        map.findings.push_back({code_of(slow.what), Severity::warning, -1,
                                text_of(slow) + " (an allreduce over all of them goes at the slowest link's pace): look at its cable, port, negotiated rate, "
                                                "other traffic, and other load on the host"});
        if (claim.verdict == Verdict::refuted) continue;
        claim.verdict = Verdict::refuted;
        claim.reason = text_of(slow) + (map.slow.size() > 1 ? ", and " + std::to_string(map.slow.size() - 1) + " more of the kind" : "");
    }
    if (!map.best_bytes_per_s) claim = {"even_links", Verdict::inconclusive, "no link's rate is known: give three or more sizes in message_bytes, large ones included, and six repetitions or more"};
    map.claims.push_back(claim);
}

/// A link may well be as fast as ever beside a processor that is not: it needs a tenth of one, and medians do not show the pauses.
void judge_cores(LinkMap& map)
{
    if (map.core_shares.empty()) return;
    Claim claim{"whole_cores", Verdict::holds, "every rank computes with the whole of its core"};
    for (const CoreShare& core : map.core_shares) {
        if (!core.is_taken()) continue;
        const std::string host = map.host_of_rank[static_cast<size_t>(core.rank)], share = percent_text(core.share.value),
                          should = core.expected < 1 ? " where the ranks bound to it leave it " + percent_text(core.expected) : "";
        const std::string says = "rank " + std::to_string(core.rank) + (host.empty() ? "" : " on host " + host) + " gets " + share + " of a core" + should;
        map.findings.push_back({"core_taken", Severity::warning, core.rank,
                                says + " (its matmuls take as much longer, and messages wait for it now and then): look for other processes on "
                                       "its core, and for a CPU quota"});
        if (claim.verdict != Verdict::refuted) claim = {claim.name, Verdict::refuted, says};
    }
    if (claim.verdict == Verdict::holds && !std::ranges::all_of(map.core_shares, [](const CoreShare& core) { return core.share.reaches_95(); }))
        claim = {"whole_cores", Verdict::inconclusive, "some ranks have too few samples for an interval: give more passes or repetitions"};
    map.claims.push_back(claim);
}

/// W of the law is what a rank sends while it receives as many.
void judge_both_ways(LinkMap& map, bool within)
{
    std::vector<double> ratios;
    bool enough = true;
    for (const DirectedLink& link : map.links) {
        if (link.within_host != within || !link.W_bytes_per_s || !link.W_both_bytes_per_s) continue;
        ratios.push_back(link.W_both_bytes_per_s->value / link.W_bytes_per_s->value);
        enough = enough && largest_rate_of(link.times)->reaches_95();
    }
    if (ratios.empty()) return;
    if (!enough) {
        map.claims.push_back({"both_ways_at_once", Verdict::inconclusive, "some links have too few samples for an interval: give more passes or repetitions"});
        return;
    }
    const double ratio = median(ratios);
    const std::string says = "with both directions at work a link carries " + percent_text(ratio) + " in each of what it carries in one alone";
    map.claims.push_back({"both_ways_at_once", ratio >= falls_behind ? Verdict::holds : Verdict::explained,
                          says + (ratio >= falls_behind ? "" : ": W of the law is the smaller one; suspect half duplex, or a host's processor that both directions share")});
}

} // namespace

std::string link_refusal(int32_t ranks)
{
    if (ranks < 2) return "one rank has no link (measure = \"links\" times pairs of ranks): start 2 or more ranks";
    if (ranks <= most_linked_ranks) return "";
    return std::to_string(ranks) + " ranks are too many for all their pairs (measure = \"links\" takes " + std::to_string(most_linked_ranks) +
           " at most): start one rank a host, or a job for each part of the hosts";
}

std::vector<std::vector<RankPair>> link_rounds(std::span<const std::string> host_of_rank)
{
    const auto hosts = hosts_of(host_of_rank);
    std::vector<std::vector<RankPair>> rounds;
    // Circle method: one host stays, the others turn; with an odd number one rests in each round.
    const size_t seats = hosts.size() + hosts.size() % 2;
    for (size_t turn = 0; turn + 1 < seats; ++turn) {
        std::vector<std::pair<size_t, size_t>> host_pairs;
        const auto seated = [&](size_t seat) { return seat == 0 ? 0 : 1 + (seat - 1 + turn) % (seats - 1); };
        for (size_t seat = 0; seat < seats / 2; ++seat) {
            const size_t one = seated(seat), other = seated(seats - 1 - seat);
            if (one < hosts.size() && other < hosts.size()) host_pairs.emplace_back(one, other);
        }
        for (size_t k = 0;; ++k) {
            std::vector<RankPair> round;
            for (const auto& [one, other] : host_pairs) {
                const auto &of_one = hosts[one].second, &of_other = hosts[other].second;
                if (k < of_one.size() * of_other.size()) round.push_back(pair_of(of_one[k / of_other.size()], of_other[k % of_other.size()]));
            }
            if (round.empty()) break;
            rounds.push_back(round);
        }
    }
    for (size_t k = 0;; ++k) {
        std::vector<RankPair> round;
        for (const auto& [name, ranks] : hosts) {
            size_t index = 0;
            for (size_t i = 0; i < ranks.size(); ++i)
                for (size_t j = i + 1; j < ranks.size(); ++j)
                    if (index++ == k) round.push_back({ranks[i], ranks[j]});
        }
        if (round.empty()) break;
        rounds.push_back(round);
    }
    return rounds;
}

std::string_view name_of(SlowLink::What what)
{
    switch (what) {
    case SlowLink::What::host: return "host";
    case SlowLink::What::sending: return "sending";
    case SlowLink::What::receiving: return "receiving";
    case SlowLink::What::direction: return "direction";
    case SlowLink::What::link: return "link";
    }
    return "";
}

std::optional<LinkMap> link_map_of(std::span<const RunData> launches)
{
    const auto is_link = [](const Point& point) { return point.kind == PointKind::link; };
    if (std::ranges::none_of(launches, [&](const RunData& run) { return std::ranges::any_of(run.points, is_link); })) return std::nullopt;
    LinkMap map;
    const RunData& first = launches.front();
    for (int32_t rank = 0; rank < first.repetitions.ranks; ++rank)
        map.host_of_rank.push_back(static_cast<size_t>(rank) < first.ranks.size() ? first.ranks[static_cast<size_t>(rank)].host : "");
    const Samples samples = samples_of(launches);
    for (const auto& [ends, by_size] : samples.one_way) {
        DirectedLink link{ends.first, ends.second,
                          map.host_of_rank[static_cast<size_t>(ends.first)] == map.host_of_rank[static_cast<size_t>(ends.second)],
                          times_of(by_size), {}, {}, {}, {}};
        link.pieces = fit_pieces(link.times);
        link.W_bytes_per_s = bandwidth_of(link.pieces);
        if (!link.times.empty()) link.alpha_s = scaled(link.times.front().y, 0.5);
        if (const auto both = samples.both_ways.find(ends); both != samples.both_ways.end())
            link.W_both_bytes_per_s = bandwidth_of(fit_pieces(times_of(both->second)));
        map.links.push_back(std::move(link));
    }
    const bool within = std::ranges::all_of(map.links, &DirectedLink::within_host);
    const Rates rates(map, within);
    if (const auto best = rates.best()) map.best_bytes_per_s = best->slope;
    map.slow = slow_links(rates, within);
    fit_typical(map, within);
    if (!samples.all_at_once.empty()) {
        const auto& [bytes, series] = *samples.all_at_once.rbegin();
        const double all = static_cast<double>(bytes) * static_cast<double>(first.repetitions.ranks - 1);
        if (const auto t_s = estimate_of(series)) map.all_at_once_bytes_per_s = rate_from(all, *t_s);
    }
    judge_evenness(map);
    judge_both_ways(map, within);
    map.core_shares = core_shares_of(launches);
    judge_cores(map);
    return map;
}

} // namespace shardline
