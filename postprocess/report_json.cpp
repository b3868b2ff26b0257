#include "postprocess/report_json.hpp"

#include "postprocess/across.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace shardline {
namespace {

using Json = nlohmann::ordered_json; // keys in the order of docs/json.md

/// Sets `value_key` and `interval_key`, both null where there is no estimate.
void set_estimate(Json& object, const char* value_key, const char* interval_key, const std::optional<Estimate>& estimate)
{
    object[value_key] = estimate ? Json(estimate->value) : Json();
    object[interval_key] = estimate ? Json{estimate->low, estimate->high} : Json();
}

Json json_of(const Crossover& crossover)
{
    Json json{{"B", crossover.B}, {"F", crossover.F}, {"P", crossover.P},
              {"compute", name_of(crossover.compute_type)}, {"wire", name_of(crossover.wire_type)},
              {"strategy", crossover.strategy}};
    set_estimate(json, "D_law", "D_law_ci", crossover.D_law);
    set_estimate(json, "D_model", "D_model_ci", crossover.D_model);
    set_estimate(json, "D_obs", "D_obs_ci", crossover.D_obs);
    json["ratio"] = crossover.ratio ? Json(*crossover.ratio) : Json();
    json["factors"] = Json::object();
    json["factor_meanings"] = Json::object();
    for (const Factor& factor : crossover.factors) {
        json["factors"][factor.name] = factor.value;
        json["factor_meanings"][factor.name] = factor.meaning;
    }
    json["verdict"] = name_of(crossover.verdict);
    json["reason"] = crossover.reason;
    return json;
}

Json json_of(const PointSummary& summary)
{
    const Point& point = summary.point;
    Json json{{"B", point.B}, {"F", point.F}, {"D", point.D}, {"P", point.P},
              {"compute", name_of(point.compute_type)}, {"wire", name_of(point.wire_type)}, {"strategy", point.strategy}};
    set_estimate(json, "t_comp_s", "t_comp_ci", summary.t_comp_s);
    set_estimate(json, "t_comm_s", "t_comm_ci", summary.t_comm_s);
    set_estimate(json, "t_step_s", "t_step_ci", summary.t_step_s);
    json["n"] = fewest_samples(summary);
    const auto confidence = least_confidence(summary);
    json["confidence"] = confidence ? Json(*confidence) : Json();
    return json;
}

Json json_of(const Calibration& calibration)
{
    Json json = Json::object();
    set_estimate(json, "C_flop_per_s", "C_ci", calibration.C_flop_per_s);
    set_estimate(json, "W_bytes_per_s", "W_ci", calibration.W_bytes_per_s);
    set_estimate(json, "alpha_s", "alpha_ci", calibration.alpha_s);
    json["W_segment_bytes"] = calibration.W_segment_bytes > 0 ? Json(calibration.W_segment_bytes) : Json();
    return json;
}

Json json_of(const Finding& finding)
{
    return {{"code", finding.code}, {"severity", name_of(finding.severity)},
            {"rank", finding.rank < 0 ? Json() : Json(finding.rank)}, {"text", finding.text}};
}

Json json_of(const RunData& run)
{
    Json json{{"path", run.path}, {"status", name_of(run.status)}, {"ranks", run.ranks.size()}};
    json["hosts"] = Json::array();
    for (const RankInfo& rank : run.ranks)
        if (std::ranges::find(json["hosts"], Json(rank.host)) == json["hosts"].end()) json["hosts"].push_back(rank.host);
    json["experiment"] = run.experiment_effective;
    json["provenance"] = Json::object();
    for (const auto& [name, value] : run.provenance) json["provenance"][name] = value;
    return json;
}

Json json_of(const OverlapPoint& overlap)
{
    const Point& point = overlap.point;
    Json json{{"B", point.B}, {"F", point.F}, {"D", point.D}, {"P", point.P},
              {"compute", name_of(point.compute_type)}, {"wire", name_of(point.wire_type)}, {"strategy", point.strategy},
              {"tiles", point.tiles}, {"segment_bytes", point.segment_bytes}};
    set_estimate(json, "t_comp_s", "t_comp_ci", overlap.t_comp_s);
    set_estimate(json, "t_comm_s", "t_comm_ci", overlap.t_comm_s);
    set_estimate(json, "t_step_s", "t_step_ci", overlap.t_step_s);
    set_estimate(json, "t_comp_in_step_s", "t_comp_in_step_ci", overlap.t_comp_in_step_s);
    set_estimate(json, "step_over_max", "step_over_max_ci", overlap.step_over_max);
    set_estimate(json, "step_over_sum", "step_over_sum_ci", overlap.step_over_sum);
    json["osu_percent"] = overlap.overlap.osu_percent;
    json["imb_nbc_percent"] = overlap.overlap.imb_nbc_percent;
    json["imb_async_over_comm_s"] = overlap.overlap.imb_async_over_comm_s;
    json["imb_async_over_calc_s"] = overlap.overlap.imb_async_over_calc_s;
    json["comm_cpu_s"] = overlap.comm_cpu_s ? Json(*overlap.comm_cpu_s) : Json();
    json["floor_s"] = overlap.floor_s ? Json(*overlap.floor_s) : Json();
    return json;
}

Json json_of(const StrategyAdvice& advice)
{
    Json json{{"B", advice.at.B}, {"F", advice.at.F}, {"D", advice.at.D}, {"P", advice.at.P},
              {"compute", name_of(advice.at.compute_type)}, {"wire", name_of(advice.at.wire_type)}, {"strategy", advice.at.strategy},
              {"t_step_s", advice.t_step_s}, {"against", advice.against}, {"certain", advice.certain}, {"as_good", fmt::format("{}", fmt::join(advice.as_good, ", "))},
              {"losing", Json::array()}};
    set_estimate(json, "speedup", "speedup_ci", advice.speedup);
    for (const StrategySpeed& its : advice.losing) {
        Json loss{{"strategy", its.strategy}};
        set_estimate(loss, "speedup", "speedup_ci", its.speedup);
        json["losing"].push_back(loss);
    }
    return json;
}

Json json_of(const Claim& claim) { return {{"name", claim.name}, {"verdict", name_of(claim.verdict)}, {"reason", claim.reason}}; }

Json number_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json json_of(const ComputeRate& rate)
{
    Json json{{"type", name_of(rate.type)}};
    set_estimate(json, "C_flop_per_s", "C_ci", rate.C_flop_per_s);
    set_estimate(json, "arithmetic_flop_per_s", "arithmetic_ci", rate.arithmetic_flop_per_s);
    json["ridge_flop_per_byte"] = number_or_null(rate.ridge_flop_per_byte);
    return json;
}

Json json_of(const RooflinePoint& point)
{
    Json json{{"kind", name_of(point.point.kind)}, {"type", name_of(point.point.compute_type)},
              {"B", point.point.B}, {"D", point.point.D / std::max(point.point.P, 1)}, {"F", point.point.F}, {"P", point.point.P},
              {"intensity_flop_per_byte", std::isfinite(point.intensity_flop_per_byte) ? Json(point.intensity_flop_per_byte) : Json()}};
    set_estimate(json, "t_s", "t_ci", point.t_s);
    set_estimate(json, "rate_flop_per_s", "rate_ci", point.rate_flop_per_s);
    json["bound_flop_per_s"] = number_or_null(point.bound_flop_per_s);
    json["memory_bound"] = point.memory_bound;
    json["reached"] = number_or_null(point.reached);
    json["suspect"] = point.suspect;
    json["n"] = point.t_s.n;
    return json;
}

Json json_of(const BatchCrossover& batch)
{
    Json json{{"type", name_of(batch.type)}, {"D", batch.D}, {"F", batch.F}, {"B_law", number_or_null(batch.B_law)}};
    set_estimate(json, "B_obs", "B_obs_ci", batch.B_obs);
    json["memory_efficiency"] = batch.memory_efficiency;
    json["compute_efficiency"] = batch.compute_efficiency;
    return json;
}

template <class Items> Json json_list(const Items& items);

Json json_of(const Roofline& roofline)
{
    Json json = Json::object();
    set_estimate(json, "M_bytes_per_s", "M_ci", roofline.M_bytes_per_s);
    json["vector_bytes"] = roofline.vector_bytes;
    json["compute"] = json_list(roofline.compute);
    json["points"] = json_list(roofline.points);
    json["batches"] = json_list(roofline.batches);
    return json;
}

Json json_of(const AllreduceRate& rate)
{
    Json json{{"P", rate.P}, {"wire", name_of(rate.wire_type)}, {"strategy", rate.strategy}, {"V_bytes", rate.V_bytes}, {"in_sweep", rate.in_sweep}};
    set_estimate(json, "t_s", "t_ci", rate.t_s);
    set_estimate(json, "bus_bytes_per_s", "bus_ci", rate.bus_bytes_per_s);
    return json;
}

Json json_of(const AlgorithmTime& time)
{
    Json json{{"algorithm", time.algorithm}};
    set_estimate(json, "t_s", "t_ci", time.t_s);
    json["bus_bytes_per_s"] = time.bus_bytes_per_s;
    json["reached"] = number_or_null(time.reached);
    return json;
}

Json json_of(const AllreduceSize& size)
{
    Json json{{"bytes", size.bytes}, {"P", size.P}, {"bound_s", number_or_null(size.bound_s)}, {"algorithms", json_list(size.algorithms)},
              {"best", size.algorithms.empty() ? Json() : Json(size.algorithms[size.best].algorithm)}};
    set_estimate(json, "gain", "gain_ci", size.gain);
    json["certain"] = size.certain;
    return json;
}

Json json_of(const AllreduceRange& range)
{
    return {{"first_bytes", range.first_bytes}, {"last_bytes", range.last_bytes}, {"algorithm", range.algorithm}, {"least_gain", range.least_gain},
            {"most_gain", range.most_gain}};
}

Json json_of(const AllreduceStudy& study)
{
    Json json = Json::object();
    set_estimate(json, "W_bytes_per_s", "W_ci", study.W_bytes_per_s);
    json["sizes"] = json_list(study.sizes);
    json["ranges"] = json_list(study.ranges);
    json["open_mpi_rules"] = study.rules;
    return json;
}

Json json_of(const Piece& piece, double first_bytes, double last_bytes)
{
    return {{"first_bytes", first_bytes}, {"last_bytes", last_bytes}, {"a_s", piece.a}, {"b_s_per_byte", piece.b}};
}

Json json_of(const DirectedLink& link)
{
    Json json{{"from", link.from}, {"to", link.to}, {"within_host", link.within_host}};
    set_estimate(json, "alpha_s", "alpha_ci", link.alpha_s);
    set_estimate(json, "W_bytes_per_s", "W_ci", link.W_bytes_per_s);
    set_estimate(json, "W_both_bytes_per_s", "W_both_ci", link.W_both_bytes_per_s);
    json["pieces"] = Json::array();
    for (const Piece& piece : link.pieces) json["pieces"].push_back(json_of(piece, link.times[piece.first].x, link.times[piece.last].x));
    return json;
}

Json json_of(const SlowLink& slow)
{
    return {{"what", name_of(slow.what)}, {"host", slow.host}, {"other", slow.other}, {"within_host", slow.within_host}, {"share", slow.share}};
}

Json json_of(const CoreShare& core)
{
    Json json{{"rank", core.rank}, {"expected_share", core.expected}, {"taken", core.is_taken()}};
    set_estimate(json, "share", "share_ci", core.share);
    return json;
}

Json json_of(const LinkMap& map)
{
    Json json{{"hosts", map.host_of_rank}};
    set_estimate(json, "best_bytes_per_s", "best_ci", map.best_bytes_per_s);
    set_estimate(json, "all_at_once_bytes_per_s", "all_at_once_ci", map.all_at_once_bytes_per_s);
    json["slow"] = json_list(map.slow);
    json["links"] = json_list(map.links);
    json["cores"] = json_list(map.core_shares);
    json["typical"] = Json::array();
    for (const Piece& piece : map.typical) json["typical"].push_back(json_of(piece, map.typical_bytes[piece.first], map.typical_bytes[piece.last]));
    return json;
}

template <class Items>
Json json_list(const Items& items)
{
    Json list = Json::array();
    for (const auto& item : items) list.push_back(json_of(item));
    return list;
}

Json json_of(const ScalingRow& row, const Crossover& crossover)
{
    Json json{{"B", crossover.B}, {"F", crossover.F}, {"P", crossover.P}, {"compute", name_of(crossover.compute_type)}, {"wire", name_of(crossover.wire_type)},
              {"strategy", crossover.strategy}};
    set_estimate(json, "C_flop_per_s", "C_ci", row.C_flop_per_s);
    set_estimate(json, "W_bytes_per_s", "W_ci", row.W_bytes_per_s);
    set_estimate(json, "observed", "observed_ci", row.observed);
    set_estimate(json, "predicted", "predicted_ci", row.predicted);
    set_estimate(json, "unexplained", "unexplained_ci", row.unexplained);
    return json;
}

Json json_of(const Scaling& scaling, const std::vector<Crossover>& crossovers)
{
    Json json{{"over", name_of(scaling.over)}, {"rows", Json::array()}};
    for (const ScalingRow& row : scaling.rows) json["rows"].push_back(json_of(row, crossovers[row.crossover]));
    set_estimate(json, "exponent", "exponent_ci", scaling.exponent);
    set_estimate(json, "model_exponent", "model_exponent_ci", scaling.model_exponent);
    json["shares"] = Json::object();
    for (const ExponentShare& share : scaling.shares) json["shares"][share.factor] = share.exponent;
    json["start_up_s"] = scaling.start_up ? Json(scaling.start_up->a_s) : Json();
    json["transfer_s_per_byte"] = scaling.start_up ? Json(scaling.start_up->b_s_per_byte) : Json();
    json["least_elements"] = scaling.start_up ? Json(scaling.start_up->least_elements) : Json();
    json["least_elements_observed"] = number_or_null(scaling.least_elements_observed);
    json["claims"] = json_list(scaling.claims);
    return json;
}

Json json_of_scalings(const Analysis& analysis)
{
    Json list = Json::array();
    for (const Scaling& scaling : analysis.scalings) list.push_back(json_of(scaling, analysis.crossovers));
    return list;
}

std::string text_of(const Json& json)
{
    constexpr int spaces = 2;
    return json.dump(spaces, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// "complete" where every launch is, else the status of the first that is not.
std::string_view status_of(std::span<const RunData> launches)
{
    for (const RunData& run : launches)
        if (run.status != RunStatus::complete) return name_of(run.status);
    return name_of(RunStatus::complete);
}

} // namespace

std::string report_json(const Analysis& analysis, std::span<const RunData> launches)
{
    const Json json{{"schema", "shardline-report"},
                    {"schema_version", 1},
                    {"verdict", name_of(analysis.verdict)},
                    {"reason", analysis.reason},
                    {"status", status_of(launches)},
                    {"crossovers", json_list(analysis.crossovers)},
                    {"points", json_list(analysis.points)},
                    {"overlap", json_list(analysis.overlap)},
                    {"advice", json_list(analysis.advice)},
                    {"claims", json_list(analysis.claims)},
                    {"scalings", json_of_scalings(analysis)},
                    {"roofline", analysis.roofline ? json_of(*analysis.roofline) : Json()},
                    {"links", analysis.links ? json_of(*analysis.links) : Json()},
                    {"allreduce", analysis.allreduce ? json_of(*analysis.allreduce) : Json()},
                    {"allreduce_rates", json_list(analysis.allreduce_rates)},
                    {"calibration", json_of(analysis.calibration)},
                    {"findings", json_list(analysis.findings)},
                    {"files", json_list(launches)}};
    return text_of(json);
}

std::string across_json(std::span<const AnalysedRun> runs)
{
    const AcrossVerdict verdict = verdict_across(runs);
    Json json{{"schema", "shardline-across"}, {"schema_version", 1}, {"verdict", name_of(verdict.verdict)}, {"reason", verdict.reason},
              {"crossovers", Json::array()}, {"files", Json::array()}};
    for (const AnalysedRun& its : runs) {
        for (const Crossover& crossover : its.analysis.crossovers) {
            Json of_file{{"file", its.run.path}};
            of_file.update(json_of(crossover));
            json["crossovers"].push_back(of_file);
        }
        json["files"].push_back(json_of(its.run));
    }
    return text_of(json);
}

} // namespace shardline
