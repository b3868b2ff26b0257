#include "postprocess/study_csv.hpp"

#include "postprocess/csv.hpp"

#include <algorithm>

namespace shardline {
namespace {

NamedText claims_csv(const std::vector<Claim>& claims)
{
    CsvTable table({"name", "verdict", "reason"});
    for (const Claim& claim : claims) table.add_row({csv_text(claim.name), std::string(name_of(claim.verdict)), csv_text(claim.reason)});
    return {"claims.csv", table.text()};
}

/// What such runs say of the machine in a number.
NamedText machine_csv(const Analysis& analysis)
{
    CsvTable table({"quantity", "type", "unit", "value", "low", "high"});
    const auto add = [&](const char* quantity, std::string_view type, const char* unit, const std::optional<Estimate>& estimate) {
        Cells cells{quantity, std::string(type), unit};
        append(cells, estimate_cells(estimate));
        table.add_row(cells);
    };
    if (analysis.roofline) {
        for (const ComputeRate& rate : analysis.roofline->compute) {
            add("C", name_of(rate.type), "FLOP/s", rate.C_flop_per_s);
            add("arithmetic", name_of(rate.type), "FLOP/s", rate.arithmetic_flop_per_s);
            table.add_row({"ridge", std::string(name_of(rate.type)), "FLOP/B", csv_number(rate.ridge_flop_per_byte), "", ""});
        }
        add("M", "", "B/s", analysis.roofline->M_bytes_per_s);
    }
    if (analysis.links) {
        add("best_link", "", "B/s", analysis.links->best_bytes_per_s);
        add("all_at_once", "", "B/s", analysis.links->all_at_once_bytes_per_s);
    }
    if (analysis.allreduce) add("W", "", "B/s", analysis.allreduce->W_bytes_per_s);
    return {"machine.csv", table.text()};
}

// ---------------------------------------------------------------------------------------------------
// Roofline

NamedText roofline_points_csv(const std::optional<Roofline>& roofline)
{
    Cells headings{"kind", "type", "B_elements", "D_elements", "F_elements", "P_ranks", "intensity_flop_per_byte"};
    append(headings, estimate_headings("t", "s"));
    append(headings, estimate_headings("rate", "flop_per_s"));
    append(headings, {"bound_flop_per_s", "memory_bound", "reached", "suspect", "n_repetitions"});
    CsvTable table(headings);
    for (const RooflinePoint& its : roofline ? roofline->points : std::vector<RooflinePoint>{}) {
        const Point& point = its.point;
        Cells cells{std::string(name_of(point.kind)), std::string(name_of(point.compute_type)), csv_number(point.B), csv_number(point.D / std::max(point.P, 1)),
                    csv_number(point.F), csv_number(point.P), csv_number(its.intensity_flop_per_byte)};
        append(cells, estimate_cells(its.t_s));
        append(cells, estimate_cells(its.rate_flop_per_s));
        append(cells, {csv_number(its.bound_flop_per_s), csv_bool(its.memory_bound), csv_number(its.reached), csv_text(its.suspect), csv_number(its.t_s.n)});
        table.add_row(cells);
    }
    return {"roofline_points.csv", table.text()};
}

NamedText roofline_batches_csv(const std::optional<Roofline>& roofline)
{
    Cells headings{"type", "D_elements", "F_elements", "B_law_elements"};
    append(headings, estimate_headings("B_obs", "elements"));
    append(headings, {"memory_efficiency", "compute_efficiency"});
    CsvTable table(headings);
    for (const BatchCrossover& batch : roofline ? roofline->batches : std::vector<BatchCrossover>{}) {
        Cells cells{std::string(name_of(batch.type)), csv_number(batch.D), csv_number(batch.F), csv_number(batch.B_law)};
        append(cells, estimate_cells(batch.B_obs));
        append(cells, {csv_number(batch.memory_efficiency), csv_number(batch.compute_efficiency)});
        table.add_row(cells);
    }
    return {"roofline_batches.csv", table.text()};
}

// ---------------------------------------------------------------------------------------------------
// Links

NamedText links_csv(const std::optional<LinkMap>& map)
{
    Cells headings{"from_rank", "to_rank", "from_host", "to_host", "within_host"};
    append(headings, estimate_headings("alpha", "s"));
    append(headings, estimate_headings("W", "bytes_per_s"));
    append(headings, estimate_headings("W_both", "bytes_per_s"));
    CsvTable table(headings);
    for (const DirectedLink& link : map ? map->links : std::vector<DirectedLink>{}) {
        const auto host = [&](int32_t rank) { return csv_text(map->host_of_rank[static_cast<size_t>(rank)]); };
        Cells cells{csv_number(link.from), csv_number(link.to), host(link.from), host(link.to), csv_bool(link.within_host)};
        for (const auto& estimate : {link.alpha_s, link.W_bytes_per_s, link.W_both_bytes_per_s}) append(cells, estimate_cells(estimate));
        table.add_row(cells);
    }
    return {"links.csv", table.text()};
}

NamedText link_pieces_csv(const std::optional<LinkMap>& map)
{
    CsvTable table({"from_rank", "to_rank", "first_bytes", "last_bytes", "a_s", "b_s_per_byte"});
    for (const DirectedLink& link : map ? map->links : std::vector<DirectedLink>{})
        for (const Piece& piece : link.pieces)
            table.add_row({csv_number(link.from), csv_number(link.to), csv_number(link.times[piece.first].x), csv_number(link.times[piece.last].x),
                           csv_number(piece.a), csv_number(piece.b)});
    return {"link_pieces.csv", table.text()};
}

NamedText slow_links_csv(const std::optional<LinkMap>& map)
{
    CsvTable table({"what", "host", "other", "within_host", "share"});
    for (const SlowLink& slow : map ? map->slow : std::vector<SlowLink>{})
        table.add_row({std::string(name_of(slow.what)), csv_text(slow.host), csv_text(slow.other), csv_bool(slow.within_host), csv_number(slow.share)});
    return {"slow_links.csv", table.text()};
}

NamedText cores_csv(const std::optional<LinkMap>& map)
{
    Cells headings{"rank"};
    append(headings, estimate_headings("share"));
    append(headings, {"expected_share", "taken"});
    CsvTable table(headings);
    for (const CoreShare& core : map ? map->core_shares : std::vector<CoreShare>{}) {
        Cells cells{csv_number(core.rank)};
        append(cells, estimate_cells(core.share));
        append(cells, {csv_number(core.expected), csv_bool(core.is_taken())});
        table.add_row(cells);
    }
    return {"cores.csv", table.text()};
}

// ---------------------------------------------------------------------------------------------------
// Allreduce

NamedText allreduce_csv(const std::optional<AllreduceStudy>& study)
{
    Cells headings{"P_ranks", "message_bytes", "bound_s", "algorithm"};
    append(headings, estimate_headings("t", "s"));
    append(headings, {"bus_bytes_per_s", "reached", "best"});
    CsvTable table(headings);
    for (const AllreduceSize& size : study ? study->sizes : std::vector<AllreduceSize>{})
        for (size_t i = 0; i < size.algorithms.size(); ++i) {
            const AlgorithmTime& time = size.algorithms[i];
            Cells cells{csv_number(size.P), csv_number(size.bytes), csv_number(size.bound_s), csv_text(time.algorithm)};
            append(cells, estimate_cells(time.t_s));
            append(cells, {csv_number(time.bus_bytes_per_s), csv_number(time.reached), csv_bool(i == size.best)});
            table.add_row(cells);
        }
    return {"allreduce.csv", table.text()};
}

NamedText allreduce_ranges_csv(const std::optional<AllreduceStudy>& study)
{
    CsvTable table({"first_bytes", "last_bytes", "algorithm", "least_gain", "most_gain"});
    for (const AllreduceRange& range : study ? study->ranges : std::vector<AllreduceRange>{})
        table.add_row({csv_number(range.first_bytes), csv_number(range.last_bytes), csv_text(range.algorithm), csv_number(range.least_gain),
                       csv_number(range.most_gain)});
    return {"allreduce_ranges.csv", table.text()};
}

NamedText allreduce_rates_csv(const std::vector<AllreduceRate>& rates)
{
    Cells headings{"P_ranks", "wire_type", "strategy", "message_bytes", "in_sweep"};
    append(headings, estimate_headings("t", "s"));
    append(headings, estimate_headings("bus", "bytes_per_s"));
    CsvTable table(headings);
    for (const AllreduceRate& rate : rates) {
        Cells cells{csv_number(rate.P), std::string(name_of(rate.wire_type)), csv_text(rate.strategy), csv_number(rate.V_bytes), csv_bool(rate.in_sweep)};
        append(cells, estimate_cells(rate.t_s));
        append(cells, estimate_cells(rate.bus_bytes_per_s));
        table.add_row(cells);
    }
    return {"allreduce_rates.csv", table.text()};
}

} // namespace

std::vector<NamedText> study_csv(const Analysis& analysis)
{
    return {claims_csv(analysis.claims),
            machine_csv(analysis),
            roofline_points_csv(analysis.roofline),
            roofline_batches_csv(analysis.roofline),
            links_csv(analysis.links),
            link_pieces_csv(analysis.links),
            slow_links_csv(analysis.links),
            cores_csv(analysis.links),
            allreduce_csv(analysis.allreduce),
            allreduce_ranges_csv(analysis.allreduce),
            allreduce_rates_csv(analysis.allreduce_rates)};
}

} // namespace shardline
