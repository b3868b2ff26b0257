#include "postprocess/figures.hpp"

#include "postprocess/gnuplot.hpp"
#include "postprocess/plot_builder.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

namespace shardline {
namespace {

// ---------------------------------------------------------------------------------------------------
// Links

/// Ranks in the order of the axes: those of one host stand together, hosts as they first appear.
struct RankOrder {
    struct Group {
        std::string host;
        size_t begin = 0, end = 0; ///< places
    };
    std::vector<size_t> rank_at, place_of;
    std::vector<Group> groups;

    bool is_first_of_host(size_t place) const { return std::ranges::find(groups, place, &Group::begin) != groups.end(); }
};

RankOrder by_host(const std::vector<std::string>& host_of_rank)
{
    RankOrder order;
    order.place_of.resize(host_of_rank.size());
    for (const std::string& host : host_of_rank) {
        if (std::ranges::find(order.groups, host, &RankOrder::Group::host) != order.groups.end()) continue;
        const size_t begin = order.rank_at.size();
        for (size_t rank = 0; rank < host_of_rank.size(); ++rank)
            if (host_of_rank[rank] == host) {
                order.place_of[rank] = order.rank_at.size();
                order.rank_at.push_back(rank);
            }
        order.groups.push_back({host, begin, order.rank_at.size()});
    }
    return order;
}

/// The part of a host's name that tells it from others of its cluster, cut where it would push the map aside.
std::string short_name(const std::string& host)
{
    constexpr size_t most = 14;
    const std::string name = host.substr(0, host.find('.'));
    return name.size() <= most ? name : ".." + name.substr(name.size() - most + 2);
}

constexpr size_t most_tics = 16; ///< of an axis: more would touch each other

/// Ranks on both axes, the hosts before theirs on that of the senders.
std::string rank_axes(const RankOrder& order)
{
    const size_t n = order.rank_at.size();
    const size_t every = (n + most_tics - 1) / most_tics, every_host = (order.groups.size() + most_tics - 1) / most_tics;
    std::string x, y;
    for (size_t place = 0; place < n; place += every) x += fmt::format("{}'{}' {}", x.empty() ? "" : ", ", order.rank_at[place], place);
    if (n <= most_tics) {
        for (size_t place = 0; place < n; ++place) {
            const std::string& host = std::ranges::find_if(order.groups, [&](const auto& group) { return place < group.end; })->host;
            const std::string name = order.is_first_of_host(place) ? short_name(host) + "  " : "";
            y += fmt::format("{}{} {}", y.empty() ? "" : ", ", gnuplot_string(name + std::to_string(order.rank_at[place])), place);
        }
    } else {
        for (size_t group = 0; group < order.groups.size(); group += every_host) {
            const size_t place = order.groups[group].begin;
            const std::string name = short_name(order.groups[group].host) + "  " + std::to_string(order.rank_at[place]);
            y += fmt::format("{}{} {}", y.empty() ? "" : ", ", gnuplot_string(name), place);
        }
    }
    std::string axes = axis_label('x', "to rank") + axis_label('y', "from rank") + fmt::format("set xtics scale 0 ({})\nset ytics scale 0 ({})\n", x, y) +
                       fmt::format("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\nset size ratio 1\nunset grid\n", static_cast<double>(n) - 0.5);
    if (order.groups.size() < n) // several ranks on a host: lines between hosts
        for (const RankOrder::Group& group : order.groups) {
            if (group.begin == 0) continue;
            const double at = static_cast<double>(group.begin) - 0.5;
            axes += fmt::format("set arrow from {0},graph 0 to {0},graph 1 nohead front lw 1.5 lc rgb grey\n"
                                "set arrow from graph 0,first {0} to graph 1,first {0} nohead front lw 1.5 lc rgb grey\n", at);
        }
    return axes;
}

/// A frame around the cell of a direction.
std::string frame(const DirectedLink& link, const RankOrder& order, std::string_view colour, int dashes, double inset)
{
    const double half = 0.5 - inset;
    const auto x = static_cast<double>(order.place_of[static_cast<size_t>(link.to)]), y = static_cast<double>(order.place_of[static_cast<size_t>(link.from)]);
    return fmt::format("set object rectangle from {},{} to {},{} front fs empty border lc rgb {} lw 3 dt {}\n", x - half, y - half, x + half, y + half,
                       colour, dashes);
}

/// Two directions of one pair of ranks.
struct UnevenPair {
    const DirectedLink *fast = nullptr, *slow = nullptr;
    double ratio = 1;
};

/// The pair whose directions differ most, of those that differ for certain and so much that it is worth a look.
std::optional<UnevenPair> most_uneven(const std::vector<const DirectedLink*>& links)
{
    constexpr double worth_telling = 1.1;
    UnevenPair most;
    for (const DirectedLink* fast : links)
        for (const DirectedLink* slow : links) {
            if (fast->from != slow->to || fast->to != slow->from || fast->W_bytes_per_s->low <= slow->W_bytes_per_s->high) continue;
            const double ratio = fast->W_bytes_per_s->value / slow->W_bytes_per_s->value;
            if (ratio > most.ratio) most = {fast, slow, ratio};
        }
    return most.ratio > worth_telling ? std::optional(most) : std::nullopt;
}

} // namespace

void add_link_figure(const Analysis& analysis, Figures& figures)
{
    if (!analysis.links) return;
    const LinkMap& map = *analysis.links;
    std::vector<const DirectedLink*> links, between; // those with a bandwidth; those between hosts
    for (const DirectedLink& link : map.links) {
        if (!link.W_bytes_per_s) continue;
        links.push_back(&link);
        if (!link.within_host) between.push_back(&link);
    }
    if (links.empty()) {
        figures.omitted.emplace_back("No map of the links: no direction was measured with messages large enough for its bandwidth.");
        return;
    }
    // The colours tell links between hosts apart; within a host all is faster by far.
    const std::vector<const DirectedLink*>& scale = between.empty() ? links : between;
    const auto W = [](const DirectedLink* link) { return link->W_bytes_per_s->value; };
    const DirectedLink* const slowest = *std::ranges::min_element(scale, {}, W);
    const double best = W(*std::ranges::max_element(scale, {}, W)), least = std::min(W(slowest), best / 2); // noise alone is no colour
    constexpr double wide = 20; // beyond, a linear scale would make all slow ones one colour
    const bool logarithmic = best / least > wide;
    const bool giga = best >= 1e9;
    const double unit = giga ? 1e-9 : 1e-6;
    const std::string unit_name = giga ? "GB/s" : "MB/s";

    const RankOrder order = by_host(map.host_of_rank);
    const auto place = [&](int32_t rank) { return static_cast<double>(order.place_of[static_cast<size_t>(rank)]); };
    Rows rows;
    for (const DirectedLink* link : links)
        rows.push_back({place(link->to), place(link->from), W(link), link->W_bytes_per_s->low, link->W_bytes_per_s->high, static_cast<double>(link->from),
                        static_cast<double>(link->to)});
    const bool few = map.host_of_rank.size() <= 12; // numbers and dashes in more cells would blur
    std::vector<std::string> elements{"using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3*unit) with boxxyerror fs solid noborder lc palette notitle"};
    if (few)
        for (const char* colour : {"light", "dark"})
            elements.push_back(fmt::format("using 1:(shade($3*unit) {} 0.6 ? $2 : NaN):(text($3*unit)) with labels tc rgb {} notitle",
                                           colour == std::string_view("light") ? "<" : ">=", colour));
    PlotBuilder plot("links");
    plot.add("place of the receiver, place of the sender, one way (byte/s), low, high, from rank, to rank", rows, elements);

    const auto arrow = [](const DirectedLink* link) { return fmt::format("{} → {}", link->from, link->to); };
    const auto rate = [&](const DirectedLink* link) { return fmt::format("{} {}", significant(W(link) * unit, 4), unit_name); };
    const auto interval = [&](const DirectedLink* link) { return fmt::format("{}: {}", arrow(link), estimate_text(*link->W_bytes_per_s, unit)); };
    plot.add_key("with boxes lc rgb vermillion lw 3 fs empty",
                 fmt::format("slowest: {}, {}, {:.0f} % of the best", arrow(slowest), rate(slowest), 100 * W(slowest) / best));
    std::string marked = interval(slowest), marks = frame(*slowest, order, "vermillion", 1, 0);
    if (const auto uneven = most_uneven(scale)) {
        const int dashes = few ? 3 : 1;
        plot.add_key(fmt::format("with boxes lc rgb purple lw 3 dt {} fs empty", dashes),
                     fmt::format("most uneven: {}, {}; {}, {}", arrow(uneven->fast), rate(uneven->fast), arrow(uneven->slow), rate(uneven->slow)));
        marked += fmt::format("; {}; {}", interval(uneven->fast), interval(uneven->slow));
        for (const DirectedLink* link : {uneven->fast, uneven->slow}) marks += frame(*link, order, "purple", dashes, few ? 0.1 : 0);
    }
    const std::string scale_text =
        between.size() < links.size() && !between.empty() ? " The colours end at the best link between hosts; those within a host may be faster." : "";
    figures.drawn.push_back(std::move(plot).figure(
        fmt::format("Links between {} on {}", counted(map.host_of_rank.size(), "rank"), counted(order.groups.size(), "host")),
        fmt::format("Links: what each direction carries alone, from the rank of the row to that of the column, by the slope of the largest messages. "
                    "Ranks stand by host.{} Framed, with 95 % intervals: {} {}.", scale_text, marked, unit_name),
        rank_axes(order) +
            fmt::format("unit = {} # byte/s to {}\n", unit, unit_name) +
            "set palette defined (0 '#440154', 0.25 '#3B528B', 0.5 '#21918C', 0.75 '#5EC962', 1 '#FDE725') # dark to light in print too\n" +
            fmt::format("{}set cbrange [{}:{}]\nset cblabel {}\n", logarithmic ? "set logscale cb\n" : "", least * unit, best * unit,
                        gnuplot_string(unit_name + ", one way")) +
            fmt::format("shade(x) = {}\n", logarithmic ? fmt::format("log(x/{})/log({})", least * unit, best / least)
                                                       : fmt::format("(x - {})/{}", least * unit, (best - least) * unit)) +
            "text(x) = sprintf(x < 10 ? '%.2f' : x < 100 ? '%.1f' : '%.0f', x)\n"
            "light = '#EEEEEE'; dark = '#111111'\n"
            "set key maxcols 1\n" + marks));
}

// ---------------------------------------------------------------------------------------------------
// Algorithms of the allreduce

namespace {

struct AlgorithmSeries {
    int32_t P = 0;
    std::map<std::string, Rows> rates; ///< by algorithm: V, bus bandwidth, low, high
};

std::vector<AlgorithmSeries> algorithm_series(const AllreduceStudy& study)
{
    std::vector<AlgorithmSeries> all;
    for (const AllreduceSize& size : study.sizes) {
        auto its = std::ranges::find(all, size.P, &AlgorithmSeries::P);
        if (its == all.end()) its = all.insert(all.end(), {size.P, {}});
        const auto V = static_cast<double>(size.bytes);
        for (const AlgorithmTime& time : size.algorithms)
            if (V > 0) its->rates[time.algorithm].push_back(row_of(V, rate_from(2.0 * (size.P - 1) / size.P * V, time.t_s)));
    }
    return all;
}

} // namespace

void add_algorithm_figures(const Analysis& analysis, Figures& figures)
{
    if (!analysis.allreduce) return;
    const AllreduceStudy& study = *analysis.allreduce;
    const std::vector<AlgorithmSeries> all = algorithm_series(study);
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [P, rates] = all[i];
        Range V, bandwidth;
        for (const auto& [algorithm, rows] : rates)
            for (const std::vector<double>& row : rows) {
                V.take(row[0]);
                for (const size_t column : {1, 2, 3}) bandwidth.take(row[column]);
            }
        if (V.empty()) continue;
        PlotBuilder plot(numbered("allreduce-algorithms", i, all.size()));
        const Range x = V.widened(1.6);
        std::string band, bound;
        if (const auto& W = study.W_bytes_per_s) {
            bandwidth.take(*W);
            band = add_link_bound(plot, x, *W, "grey", 0.25);
            bound = fmt::format(" The line is W = {}, which the bytes that a rank has to send cannot outrun.", megabytes(*W));
        }
        size_t series = 0;
        for (const auto& [algorithm, rows] : rates) {
            constexpr size_t black = 6; // the default's
            const bool is_default = algorithm == default_algorithm;
            const SeriesLook its = is_default ? SeriesLook{6, "black", 2.5, 1} : look(series < black ? series : series + 1);
            if (!is_default) ++series;
            plot.add("V (byte), bus bandwidth (byte/s), low, high", rows,
                     with_intervals("1", "$2*1e-6", "$3*1e-6", "$4*1e-6", its, is_default ? "default: the MPI chooses" : algorithm));
        }
        figures.drawn.push_back(std::move(plot).figure(
            fmt::format("Algorithms of the allreduce, P = {}", P),
            fmt::format("Allreduce by algorithm: bus bandwidth, the 2(P-1)/P·V bytes that a rank has to send over the time it takes, with 95 % intervals.{}",
                        bound),
            log_axis('x', x, "message V (bytes)", bytes_text) +
                log_axis('y', Range{bandwidth.low * 1e-6, bandwidth.high * 1e-6}.widened(1.5), "bus bandwidth (MB/s)") + band + "set pointsize 0.7 # many lie close together\n"));
    }
}

} // namespace shardline
