#include "postprocess/study_text.hpp"

#include "postprocess/printable.hpp"
#include "postprocess/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace shardline {
namespace {

using Align = TextTable::Align;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// "2.5 GFLOP/s" is said by the heading of the column.
std::string giga(double value) { return significant(value * 1e-9, 4); }

// ---------------------------------------------------------------------------------------------------
// Roofline

std::string shape_text(const Point& point)
{
    const int64_t K = point.D / std::max(point.P, 1);
    switch (point.kind) {
    case PointKind::arithmetic: return "multiply-adds in registers";
    case PointKind::triad: return "triad";
    case PointKind::dot: return "dot product";
    case PointKind::matmul: return fmt::format("matmul {}x{}x{}", point.B, K, point.F);
    default: return fmt::format("matmul {}x{}x{}, cold", point.B, K, point.F);
    }
}

std::string machine_table(const Roofline& roofline)
{
    TextTable table;
    for (const Align align : {Align::left, Align::left, Align::right, Align::left, Align::left, Align::left}) table.add_column("", align);
    for (const ComputeRate& rate : roofline.compute) {
        const std::string bound = rate.C_flop_per_s && rate.arithmetic_flop_per_s
                                      ? fmt::format("{} of {} in registers", percent(rate.C_flop_per_s->value / rate.arithmetic_flop_per_s->value),
                                                    giga(rate.arithmetic_flop_per_s->value))
                                      : std::string("no bound measured");
        if (rate.C_flop_per_s)
            table.add_row({"C", std::string(name_of(rate.type)), giga(rate.C_flop_per_s->value), "GFLOP/s", interval_text(*rate.C_flop_per_s, 1e-9), bound});
    }
    const auto& M = roofline.M_bytes_per_s;
    table.add_row({"M", "", M ? giga(M->value) : "-", "GB/s", M ? interval_text(*M, 1e-9) : "not measured",
                   fmt::format("triad over arrays of {} MB", significant(static_cast<double>(roofline.vector_bytes) * 1e-6, 4))});
    for (const ComputeRate& rate : roofline.compute)
        if (rate.ridge_flop_per_byte)
            table.add_row({"C/M", std::string(name_of(rate.type)), significant(*rate.ridge_flop_per_byte, 4), "FLOP/B", "", "the ridge: compute-bound above"});
    return table.text(indent);
}

std::string roofline_table(const Roofline& roofline, ElementType type)
{
    TextTable table;
    table.add_column(fmt::format("{}: BxDxF", name_of(type)), Align::left);
    for (const char* heading : {"FLOP/B", "GFLOP/s", "+-", "bound"}) table.add_column(heading, Align::right);
    table.add_column("by", Align::left);
    table.add_column("reached", Align::right);
    for (const RooflinePoint& point : roofline.points) {
        if (point.point.compute_type != type || point.point.kind == PointKind::triad) continue;
        const char* by = !point.bound_flop_per_s ? "" : point.point.kind == PointKind::matmul ? "arithmetic" : point.memory_bound ? "M" : "C";
        table.add_row({shape_text(point.point), std::isfinite(point.intensity_flop_per_byte) ? significant(point.intensity_flop_per_byte, 3) : "-",
                       giga(point.rate_flop_per_s.value), fmt::format("{:.1f} %", 100 * point.rate_flop_per_s.relative_half_width()),
                       point.bound_flop_per_s ? giga(*point.bound_flop_per_s) : "-", by, point.reached ? percent(*point.reached) : "-"});
    }
    return table.text(indent);
}

/// Each suspect once, with what it is suspected for.
std::string suspects_text(const Roofline& roofline, size_t width)
{
    std::string lines;
    std::set<std::string> named;
    for (const RooflinePoint& point : roofline.points) {
        if (point.suspect.empty() || !named.insert(point.suspect).second) continue;
        lines += wrapped(fmt::format("{} ({}) reaches {} of its bound; first suspect: {}.", shape_text(point.point), name_of(point.point.compute_type),
                                     percent(*point.reached), printable(point.suspect)),
                         width, indent);
    }
    return lines;
}

std::vector<Section> roofline_sections(const Roofline& roofline, size_t width)
{
    std::string body;
    for (const ComputeRate& rate : roofline.compute) body += roofline_table(roofline, rate.type);
    body += wrapped("Rates are of one rank with all at work, by the slowest, +- half of the 95 % interval. bound: the least of C and M times "
                    "the operation's FLOPs per byte; of a matmul whose operands may stay in caches the arithmetic in registers. cold: operands in memory.",
                    width, indent);
    return {{"The machine under the law, one rank with all at work (GFLOP = 10^9 FLOP, MB = 10^6 bytes, [95 % interval])", machine_table(roofline)},
            {"Operations under the roofline", body + suspects_text(roofline, width)}};
}

// ---------------------------------------------------------------------------------------------------
// Links

constexpr size_t most_mapped = 12; ///< ranks whose map fits on a screen

std::string mega(double bytes_per_s) { return significant(bytes_per_s * 1e-6, 4); }

/// A cell for each pair: what `value` gives, from the rank of the row to that of the column.
template <class Value>
std::string map_table(const LinkMap& map, std::string_view corner, Value value)
{
    TextTable table;
    table.add_column(std::string(corner), Align::left);
    const size_t ranks = map.host_of_rank.size();
    for (size_t to = 0; to < ranks; ++to) table.add_column(std::to_string(to), Align::right);
    table.add_column("host", Align::left);
    for (size_t from = 0; from < ranks; ++from) {
        std::vector<std::string> row{std::to_string(from)};
        for (size_t to = 0; to < ranks; ++to) {
            const auto link = std::ranges::find_if(map.links, [&](const DirectedLink& one) {
                return one.from == static_cast<int32_t>(from) && one.to == static_cast<int32_t>(to);
            });
            row.push_back(link == map.links.end() ? "" : value(*link));
        }
        row.push_back(printable(map.host_of_rank[from]));
        table.add_row(std::move(row));
    }
    return table.text(indent);
}

std::string typical_text(const LinkMap& map, size_t width)
{
    std::string text = "A typical direction, there and an empty message back:";
    for (const Piece& piece : map.typical)
        text += fmt::format(" from {:.0f} to {:.0f} bytes {} + V / ({} MB/s);", map.typical_bytes[piece.first], map.typical_bytes[piece.last],
                            piece.a < 0 ? "-" + time_text(-piece.a) : time_text(piece.a), piece.b > 0 ? mega(1 / piece.b) : "-");
    text.back() = '.';
    if (map.typical.size() > 1) text += " Between those ranges the protocol changes; no line is drawn across.";
    return map.typical.empty() ? "" : wrapped(text, width, indent);
}

std::vector<Section> link_sections(const LinkMap& map, size_t width)
{
    std::string body;
    if (map.host_of_rank.size() <= most_mapped) {
        body += map_table(map, "MB/s", [](const DirectedLink& link) { return link.W_bytes_per_s ? mega(link.W_bytes_per_s->value) : "-"; });
        body += map_table(map, "both", [](const DirectedLink& link) { return link.W_both_bytes_per_s ? mega(link.W_both_bytes_per_s->value) : "-"; });
        body += map_table(map, "µs", [](const DirectedLink& link) { return link.alpha_s ? significant(link.alpha_s->value * 1e6, 3) : "-"; });
        body += wrapped("From the rank of the row to that of the column. MB/s: one way, by the slope of the largest messages; both: while as much comes "
                        "the other way; µs: half of a small message and its answer.",
                        width, indent);
    } else {
        body += wrapped(fmt::format("{} directions between {} ranks: the JSON has them all.", map.links.size(), map.host_of_rank.size()), width, indent);
    }
    if (map.best_bytes_per_s) {
        double least = map.best_bytes_per_s->value;
        for (const DirectedLink& link : map.links)
            if (link.W_bytes_per_s) least = std::min(least, link.W_bytes_per_s->value);
        body += wrapped(fmt::format("The best link carries {} MB/s {}, the least {}: {} of that.", mega(map.best_bytes_per_s->value),
                                    interval_text(*map.best_bytes_per_s, 1e-6), mega(least), percent(least / map.best_bytes_per_s->value)),
                        width, indent);
        if (map.all_at_once_bytes_per_s)
            body += wrapped(fmt::format("All ranks with all others at once: the slowest rank receives {} MB/s, {} of what the best link carries alone.",
                                        mega(map.all_at_once_bytes_per_s->value), percent(map.all_at_once_bytes_per_s->value / map.best_bytes_per_s->value)),
                            width, indent);
    }
    return {{"Links (MB = 10^6 bytes)", body + typical_text(map, width)}};
}

// ---------------------------------------------------------------------------------------------------
// Allreduce

std::string allreduce_table(const AllreduceStudy& study)
{
    TextTable table;
    table.add_column("bytes", Align::right);
    for (const char* heading : {"bound", "default", "of W"}) table.add_column(heading, Align::right);
    table.add_column("best", Align::left);
    for (const char* heading : {"time", "of W", "gain"}) table.add_column(heading, Align::right);
    for (const AllreduceSize& size : study.sizes) {
        if (size.algorithms.empty()) continue;
        const AlgorithmTime &first = size.algorithms.front(), &best = size.algorithms[size.best];
        const auto reached = [](const AlgorithmTime& time) { return time.reached ? percent(*time.reached) : std::string("-"); };
        table.add_row({std::to_string(size.bytes), size.bound_s ? time_text(*size.bound_s) : "-", time_text(first.t_s.value), reached(first),
                       printable(best.algorithm), time_text(best.t_s.value), reached(best),
                       size.gain ? fmt::format("{:.2f}{}", size.gain->value, size.certain ? "" : "?") : ""});
    }
    return table.text(indent);
}

std::vector<Section> allreduce_sections(const AllreduceStudy& study, size_t width)
{
    std::string body = allreduce_table(study);
    const std::string W = study.W_bytes_per_s ? fmt::format("W = {} MB/s", significant(study.W_bytes_per_s->value * 1e-6, 4)) : "no W";
    body += wrapped(fmt::format("bound: 2(P-1)/P V/W with {}. of W: the bus bandwidth, 2(P-1)/P V/t, by W. gain: the default's time by the best's; ?: not "
                                "certainly more than 1.03.", W), width, indent);
    for (const AllreduceRange& range : study.ranges)
        body += wrapped(range.algorithm == default_algorithm
                            ? fmt::format("{} to {} bytes: nothing is better than the default for certain.", range.first_bytes, range.last_bytes)
                            : fmt::format("{} to {} bytes: {}, {:.2f} to {:.2f} times as fast as the default.", range.first_bytes, range.last_bytes,
                                          printable(range.algorithm), range.least_gain, range.most_gain),
                        width, indent);
    return {{"Allreduce by algorithm", body}};
}

} // namespace

std::vector<Section> study_sections(const Analysis& analysis, size_t width)
{
    std::vector<Section> sections;
    if (analysis.roofline) sections = roofline_sections(*analysis.roofline, width);
    if (analysis.links)
        for (Section& section : link_sections(*analysis.links, width)) sections.push_back(std::move(section));
    if (analysis.allreduce)
        for (Section& section : allreduce_sections(*analysis.allreduce, width)) sections.push_back(std::move(section));
    return sections;
}

} // namespace shardline
