#include "postprocess/report_csv.hpp"

#include "postprocess/csv.hpp"
#include "postprocess/study_csv.hpp"

#include <fmt/ranges.h>

namespace shardline {
namespace {

// Headings and cells of what several tables have in common stand side by side, so that they cannot differ.

const Cells place_headings{"B_elements", "F_elements", "P_ranks", "compute_type", "wire_type", "strategy"};

/// Of a Point or a Crossover.
template <class Place> Cells place_cells(const Place& place)
{
    return {csv_number(place.B), csv_number(place.F), csv_number(place.P), std::string(name_of(place.compute_type)),
            std::string(name_of(place.wire_type)), csv_text(place.strategy)};
}

// ---------------------------------------------------------------------------------------------------
// One function for each table

NamedText points_csv(const Analysis& analysis)
{
    Cells headings{"D_elements"};
    append(headings, place_headings);
    for (const char* time : {"t_comp", "t_comm", "t_step"}) append(headings, estimate_headings(time, "s"));
    append(headings, {"n_repetitions", "confidence"});
    CsvTable table(headings);
    for (const PointSummary& summary : analysis.points) {
        Cells cells{csv_number(summary.point.D)};
        append(cells, place_cells(summary.point));
        for (const auto& t : {summary.t_comp_s, summary.t_comm_s, summary.t_step_s}) append(cells, estimate_cells(t));
        append(cells, {csv_number(fewest_samples(summary)), csv_number(least_confidence(summary))});
        table.add_row(cells);
    }
    return {"points.csv", table.text()};
}

NamedText crossovers_csv(const Analysis& analysis)
{
    Cells headings = place_headings;
    for (const char* D : {"D_law", "D_model", "D_obs"}) append(headings, estimate_headings(D, "elements"));
    append(headings, {"ratio", "verdict", "reason"});
    CsvTable table(headings);
    for (const Crossover& crossover : analysis.crossovers) {
        Cells cells = place_cells(crossover);
        for (const auto& D : {crossover.D_law, crossover.D_model, crossover.D_obs}) append(cells, estimate_cells(D));
        append(cells, {csv_number(crossover.ratio), std::string(name_of(crossover.verdict)), csv_text(crossover.reason)});
        table.add_row(cells);
    }
    return {"crossovers.csv", table.text()};
}

NamedText factors_csv(const Analysis& analysis)
{
    Cells headings = place_headings;
    append(headings, {"factor", "value", "meaning"});
    CsvTable table(headings);
    for (const Crossover& crossover : analysis.crossovers)
        for (const Factor& factor : crossover.factors) {
            Cells cells = place_cells(crossover);
            append(cells, {csv_text(factor.name), csv_number(factor.value), csv_text(factor.meaning)});
            table.add_row(cells);
        }
    return {"factors.csv", table.text()};
}

NamedText overlap_csv(const Analysis& analysis)
{
    Cells headings{"D_elements"};
    append(headings, place_headings);
    append(headings, {"tiles", "segment_bytes"});
    for (const char* time : {"t_comp", "t_comm", "t_step", "t_comp_in_step"}) append(headings, estimate_headings(time, "s"));
    for (const char* ratio : {"step_over_max", "step_over_sum"}) append(headings, estimate_headings(ratio));
    append(headings, {"osu_percent", "imb_nbc_percent", "imb_async_over_comm_s", "imb_async_over_calc_s", "comm_cpu_s", "floor_s"});
    CsvTable table(headings);
    for (const OverlapPoint& its : analysis.overlap) {
        Cells cells{csv_number(its.point.D)};
        append(cells, place_cells(its.point));
        append(cells, {csv_text(its.point.tiles), csv_number(its.point.segment_bytes)});
        for (const Estimate& estimate : {its.t_comp_s, its.t_comm_s, its.t_step_s, its.t_comp_in_step_s, its.step_over_max, its.step_over_sum})
            append(cells, estimate_cells(estimate));
        append(cells, {csv_number(its.overlap.osu_percent), csv_number(its.overlap.imb_nbc_percent),
                       csv_number(its.overlap.imb_async_over_comm_s), csv_number(its.overlap.imb_async_over_calc_s),
                       csv_number(its.comm_cpu_s), csv_number(its.floor_s)});
        table.add_row(cells);
    }
    return {"overlap.csv", table.text()};
}

NamedText advice_csv(const Analysis& analysis)
{
    Cells headings{"D_elements"};
    append(headings, place_headings);
    append(headings, {"t_step_s", "against"});
    append(headings, estimate_headings("speedup"));
    append(headings, {"certain", "as_good"});
    CsvTable table(headings);
    for (const StrategyAdvice& advice : analysis.advice) {
        Cells cells{csv_number(advice.at.D)};
        append(cells, place_cells(advice.at));
        append(cells, {csv_number(advice.t_step_s), csv_text(advice.against)});
        append(cells, estimate_cells(advice.speedup));
        append(cells, {csv_bool(advice.certain), csv_text(fmt::format("{}", fmt::join(advice.as_good, ", ")))});
        table.add_row(cells);
    }
    return {"advice.csv", table.text()};
}

NamedText calibration_csv(const Analysis& analysis)
{
    const Calibration& calibration = analysis.calibration;
    CsvTable table({"quantity", "unit", "value", "low", "high"});
    const auto add = [&](const char* quantity, const char* unit, const std::optional<Estimate>& estimate) {
        Cells cells{quantity, unit};
        append(cells, estimate_cells(estimate));
        table.add_row(cells);
    };
    add("C", "FLOP/s", calibration.C_flop_per_s);
    add("W", "B/s", calibration.W_bytes_per_s);
    add("alpha", "s", calibration.alpha_s);
    const int64_t segment = calibration.W_segment_bytes;
    table.add_row({"W_segment", "B", segment > 0 ? csv_number(segment) : "", "", ""});
    return {"calibration.csv", table.text()};
}

NamedText findings_csv(const Analysis& analysis)
{
    CsvTable table({"code", "severity", "rank", "text"});
    for (const Finding& finding : analysis.findings)
        table.add_row({csv_text(finding.code), std::string(name_of(finding.severity)), finding.rank < 0 ? "" : csv_number(finding.rank),
                       csv_text(finding.text)});
    return {"findings.csv", table.text()};
}

NamedText ranks_csv(std::span<const RunData> launches)
{
    CsvTable table({"file", "rank", "host", "cpu_model", "allowed_cores", "blas_kernel", "blas_threads", "memory_available_bytes"});
    for (const RunData& run : launches)
        for (size_t rank = 0; rank < run.ranks.size(); ++rank) {
            const RankInfo& its = run.ranks[rank];
            table.add_row({csv_text(run.path), csv_number(rank), csv_text(its.host), csv_text(its.cpu_model), csv_text(its.allowed_cores),
                           csv_text(its.blas_kernel), csv_number(its.blas_threads), csv_number(its.memory_available_bytes)});
        }
    return {"ranks.csv", table.text()};
}

NamedText launches_csv(std::span<const RunData> launches)
{
    CsvTable table({"file", "status", "ranks", "experiment"});
    for (const RunData& run : launches)
        table.add_row({csv_text(run.path), std::string(name_of(run.status)), csv_number(run.ranks.size()), csv_text(run.experiment_effective)});
    return {"launches.csv", table.text()};
}

NamedText provenance_csv(std::span<const RunData> launches)
{
    CsvTable table({"file", "name", "value"});
    for (const RunData& run : launches)
        for (const auto& [name, value] : run.provenance) table.add_row({csv_text(run.path), csv_text(name), csv_text(value)});
    return {"provenance.csv", table.text()};
}

} // namespace

std::vector<NamedText> report_csv(const Analysis& analysis, std::span<const RunData> launches)
{
    std::vector<NamedText> tables{points_csv(analysis),      crossovers_csv(analysis), factors_csv(analysis),  overlap_csv(analysis), advice_csv(analysis),
                                  calibration_csv(analysis), findings_csv(analysis),   launches_csv(launches), ranks_csv(launches),   provenance_csv(launches)};
    for (NamedText& table : study_csv(analysis)) tables.push_back(std::move(table));
    return tables;
}

} // namespace shardline
