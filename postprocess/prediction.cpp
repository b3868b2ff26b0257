#include "postprocess/prediction.hpp"

#include "model/law.hpp"
#include "model/shard.hpp"
#include "postprocess/json_or_null.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace shardline {
namespace {

// ---------------------------------------------------------------------------------------------------
// The numbers

std::optional<Bound> bound_of(double computation, double communication)
{
    if (computation == communication) return Bound::balanced;
    return computation > communication ? Bound::computation : Bound::communication;
}

void predict_crossover(const PaperInputs& in, PaperPrediction& out)
{
    if (in.P == 1 || !in.C_flop_per_s || !in.W_bytes_per_s) return;
    const auto s = static_cast<double>(in.wire.bytes);
    out.D_star = D_star(s, in.P, *in.C_flop_per_s, *in.W_bytes_per_s);
    if (in.alpha_s && in.B && in.F)
        out.D_star_ring = D_star_ring(s, in.P, *in.C_flop_per_s, *in.W_bytes_per_s, *in.alpha_s, static_cast<double>(*in.B),
                                      static_cast<double>(*in.F));
}

void predict_times(const PaperInputs& in, PaperPrediction& out)
{
    if (!in.B || !in.F) return;
    if (in.D && in.C_flop_per_s) out.t_comp_s = comp_time_s(*in.B, *in.D, *in.F, in.P, *in.C_flop_per_s);
    if (in.P == 1) {
        out.t_comm_s = 0;
    } else if (in.W_bytes_per_s) {
        const double V = static_cast<double>(in.wire.bytes) * static_cast<double>(*in.B) * static_cast<double>(*in.F);
        out.t_comm_s = in.alpha_s ? allreduce_time_s(AllreduceAlgorithm::ring, V, in.P, *in.alpha_s, *in.W_bytes_per_s)
                                  : allreduce_bandwidth_bound_s(V, in.P, *in.W_bytes_per_s);
    }
    if (!out.t_comp_s || !out.t_comm_s) return;
    const StepBounds step = step_bounds(*out.t_comp_s, *out.t_comm_s);
    out.t_step_lower_s = step.lower_s;
    out.t_step_upper_s = step.upper_s;
}

void predict_bound(const PaperInputs& in, PaperPrediction& out)
{
    if (out.t_comp_s && out.t_comm_s)
        out.bound = bound_of(*out.t_comp_s, *out.t_comm_s);
    else if (in.D && out.D_star)
        out.bound = bound_of(static_cast<double>(*in.D), out.D_star_ring.value_or(*out.D_star));
}

void predict_memory(const PaperInputs& in, PaperPrediction& out)
{
    const auto s_x = static_cast<double>(in.compute.bytes), s_y = static_cast<double>(in.weights.bytes), s_z = s_x;
    out.dot_intensity = 1 / s_x;
    if (in.C_flop_per_s && in.M_bytes_per_s) {
        out.critical_intensity = critical_intensity(*in.C_flop_per_s, *in.M_bytes_per_s);
        out.critical_batch = critical_batch(s_y, *in.C_flop_per_s, *in.M_bytes_per_s);
    }
    if (!in.B || !in.D || !in.F) return;
    const auto B = static_cast<double>(*in.B), F = static_cast<double>(*in.F);
    const auto K = static_cast<double>(largest_shard_width(*in.D, in.P));
    out.matmul_intensity = matmul_intensity(B, K, F, s_x, s_y, s_z);
    const auto s_sum = static_cast<double>(std::max(in.compute.bytes, in.wire.bytes));
    out.memory = MemoryNeed{s_x * B * K, s_y * K * F, 2 * s_sum * B * F};
}

// ---------------------------------------------------------------------------------------------------
// Text

std::string_view name_of(Bound bound)
{
    switch (bound) {
    case Bound::communication: return "communication";
    case Bound::computation: return "compute";
    case Bound::balanced: return "balanced";
    }
    return "";
}

/// "8755.56", "1.2e+09": two decimals as long as they mean anything.
std::string elements_text(double D) { return D < 1e7 ? fmt::format("{:.2f}", D) : fmt::format("{:.5g}", D); }

std::string gigabytes_text(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

/// Rows of symbol, value and meaning.
class Rows {
public:
    Rows()
    {
        for (int i = 0; i < 3; ++i) table_.add_column("", TextTable::Align::left);
    }
    void add(std::string_view symbol, std::string value, std::string_view meaning)
    {
        table_.add_row({std::string(symbol), std::move(value), std::string(meaning)});
    }
    std::string text() const { return table_.text(2, 80); }

private:
    TextTable table_;
};

std::string heading(const PaperInputs& in)
{
    const std::string preset = in.hardware.empty() ? "" : printable(in.hardware) + ": ";
    const std::string weights = in.weights.name == in.compute.name ? "" : fmt::format(" with {} weights", in.weights.name);
    return fmt::format("{}{}, {} matmul{}, {} on the wire (s = {} bytes)\n", preset, counted(static_cast<size_t>(in.P), "rank"),
                       in.compute.name, weights, in.wire.name, in.wire.bytes);
}

void add_inputs(const PaperInputs& in, Rows& rows)
{
    if (in.C_flop_per_s) rows.add("C", fmt::format("{:g} FLOP/s", *in.C_flop_per_s), "one rank's matmul");
    if (in.W_bytes_per_s && in.P > 1) rows.add("W", fmt::format("{:g} B/s", *in.W_bytes_per_s), "one rank, one way, while as much comes in");
    if (in.alpha_s && in.P > 1) rows.add("alpha", time_text(*in.alpha_s), "start-up of one message");
    if (in.M_bytes_per_s) rows.add("M", fmt::format("{:g} B/s", *in.M_bytes_per_s), "memory of one rank");
}

void add_crossover(const PaperInputs& in, const PaperPrediction& out, Rows& rows)
{
    if (out.D_star) {
        rows.add("D*", elements_text(*out.D_star), "s(P-1)C/W; below it, communication-bound");
        rows.add("D*/P", elements_text(*out.D_star / static_cast<double>(in.P)), "the same per rank");
    }
    if (out.D_star_ring) {
        rows.add("start-up", elements_text(*out.D_star_ring - *out.D_star), "P(P-1)·alpha·C/(B·F), which a ring allreduce adds");
        rows.add("D* ring", elements_text(*out.D_star_ring), "with the start-up term");
    }
}

void add_times(const PaperInputs& in, const PaperPrediction& out, Rows& rows)
{
    if (out.t_comp_s) rows.add("t_comp", time_text(*out.t_comp_s), "2·B·F·ceil(D/P)/C");
    if (in.P == 1) return;
    if (out.t_comm_s)
        rows.add("t_comm", time_text(*out.t_comm_s),
                 in.alpha_s ? "ring: 2(P-1)·alpha + 2(P-1)/P·V/W, V = s·B·F" : "at least 2(P-1)/P·V/W, V = s·B·F");
    if (out.t_step_lower_s) {
        rows.add("t_step", ">= " + time_text(*out.t_step_lower_s), "max(t_comp, t_comm), all overlapped");
        rows.add("", "<= " + time_text(*out.t_step_upper_s), "t_comp + t_comm, nothing overlapped");
    }
}

std::string_view memory_bound_text(double intensity, double critical)
{
    return intensity > critical ? "not memory-bound" : "memory-bound";
}

void add_memory_roofline(const PaperInputs& in, const PaperPrediction& out, Rows& rows)
{
    if (!out.critical_intensity) return;
    const double critical = *out.critical_intensity;
    rows.add("C/M", fmt::format("{:.1f} FLOP/B", critical), "intensity below which memory is the limit");
    rows.add("B*", fmt::format("{:.1f}", *out.critical_batch),
             fmt::format("critical batch ({} weights, B << D, F)", in.weights.name));
    rows.add("dot", fmt::format("{:.3g} FLOP/B", out.dot_intensity),
             fmt::format("long {} dot product: {}", in.compute.name, memory_bound_text(out.dot_intensity, critical)));
    if (out.matmul_intensity)
        rows.add("matmul", fmt::format("{:.4g} FLOP/B", *out.matmul_intensity),
                 fmt::format("one rank's shard: {}", memory_bound_text(*out.matmul_intensity, critical)));
}

void add_memory(const PaperInputs& in, const PaperPrediction& out, Rows& rows)
{
    if (!in.memory_bytes || !out.memory) return;
    const std::string& Z_type = in.compute.bytes >= in.wire.bytes ? in.compute.name : in.wire.name;
    rows.add("X", gigabytes_text(out.memory->X_bytes), fmt::format("B x ceil(D/P), {}", in.compute.name));
    rows.add("Y", gigabytes_text(out.memory->Y_bytes), fmt::format("ceil(D/P) x F, {}", in.weights.name));
    rows.add("Z", gigabytes_text(out.memory->Z_bytes), fmt::format("two of B x F, {}: partial result and sum", Z_type));
}

std::string side_sentence(const PaperInputs& in, const PaperPrediction& out)
{
    if (in.P == 1) return "One rank has nothing to sum: there is no communication and no crossover.";
    if (!out.bound || !in.D) return "";
    if (*out.bound == Bound::balanced) return fmt::format("D = {} is at the crossover.", *in.D);
    const double times = static_cast<double>(*in.D) / out.D_star_ring.value_or(*out.D_star);
    return fmt::format("D = {} is {}-bound: {:.3g} times D*.", *in.D, name_of(*out.bound), times);
}

std::string memory_sentence(const PaperInputs& in, const PaperPrediction& out)
{
    if (!in.memory_bytes || !out.memory) return "";
    const double need = out.memory->total_bytes(), have = *in.memory_bytes;
    return fmt::format("X, Y and two Z of one rank {}: they need {} of {} (GB = 10^9 bytes).", need <= have ? "fit" : "do not fit",
                       gigabytes_text(need), gigabytes_text(have));
}

// ---------------------------------------------------------------------------------------------------
// JSON

Json inputs_json(const PaperInputs& in)
{
    return {{"hardware", in.hardware.empty() ? Json() : Json(in.hardware)},
            {"P", in.P},
            {"wire", in.wire.name},
            {"compute", in.compute.name},
            {"weights", in.weights.name},
            {"s_bytes", in.wire.bytes},
            {"C_flop_per_s", json_or_null(in.C_flop_per_s)},
            {"W_bytes_per_s", json_or_null(in.W_bytes_per_s)},
            {"M_bytes_per_s", json_or_null(in.M_bytes_per_s)},
            {"alpha_s", json_or_null(in.alpha_s)},
            {"B", json_or_null(in.B)},
            {"D", json_or_null(in.D)},
            {"F", json_or_null(in.F)},
            {"memory_bytes", json_or_null(in.memory_bytes)}};
}

Json memory_json(const PaperInputs& in, const PaperPrediction& out)
{
    if (!out.memory) return {};
    return {{"X_bytes", out.memory->X_bytes},
            {"Y_bytes", out.memory->Y_bytes},
            {"Z_bytes", out.memory->Z_bytes},
            {"total_bytes", out.memory->total_bytes()},
            {"fits", in.memory_bytes ? Json(out.memory->total_bytes() <= *in.memory_bytes) : Json()}};
}

} // namespace

PaperPrediction predict(const PaperInputs& inputs)
{
    PaperPrediction prediction;
    predict_crossover(inputs, prediction);
    predict_times(inputs, prediction);
    predict_bound(inputs, prediction);
    predict_memory(inputs, prediction);
    return prediction;
}

std::string_view beyond_numbers(const PaperPrediction& its)
{
    const std::pair<std::string_view, std::optional<double>> quantities[] = {
        {"D*", its.D_star}, {"D*", its.D_star_ring}, {"t_comp", its.t_comp_s}, {"t_step", its.t_step_upper_s}, {"C/M", its.critical_intensity},
        {"the critical batch", its.critical_batch}};
    for (const auto& [name, value] : quantities)
        if (value && !(std::isnormal(*value) && *value > 0)) return name;
    // Nothing is sent between the ranks of one.
    return its.t_comm_s && !(std::isnormal(*its.t_comm_s) || *its.t_comm_s == 0) ? "t_comm" : "";
}

std::string prediction_text(const PaperInputs& inputs, const PaperPrediction& prediction)
{
    Rows rows;
    add_inputs(inputs, rows);
    add_crossover(inputs, prediction, rows);
    add_times(inputs, prediction, rows);
    add_memory_roofline(inputs, prediction, rows);
    add_memory(inputs, prediction, rows);

    std::string text = heading(inputs) + rows.text();
    for (const std::string& sentence : {side_sentence(inputs, prediction), memory_sentence(inputs, prediction)})
        if (!sentence.empty()) text += wrapped(sentence, 80, 2);
    return text;
}

std::string prediction_json(const PaperInputs& inputs, const PaperPrediction& prediction)
{
    const Json json{{"schema", "shardline-prediction"},
                    {"schema_version", 1},
                    {"inputs", inputs_json(inputs)},
                    {"D_star", json_or_null(prediction.D_star)},
                    {"D_star_per_rank", prediction.D_star ? Json(*prediction.D_star / static_cast<double>(inputs.P)) : Json()},
                    {"D_star_ring", json_or_null(prediction.D_star_ring)},
                    {"t_comp_s", json_or_null(prediction.t_comp_s)},
                    {"t_comm_s", json_or_null(prediction.t_comm_s)},
                    {"t_step_lower_s", json_or_null(prediction.t_step_lower_s)},
                    {"t_step_upper_s", json_or_null(prediction.t_step_upper_s)},
                    {"bound", prediction.bound ? Json(name_of(*prediction.bound)) : Json()},
                    {"critical_intensity_flop_per_byte", json_or_null(prediction.critical_intensity)},
                    {"critical_batch", json_or_null(prediction.critical_batch)},
                    {"dot_intensity_flop_per_byte", prediction.dot_intensity},
                    {"matmul_intensity_flop_per_byte", json_or_null(prediction.matmul_intensity)},
                    {"memory", memory_json(inputs, prediction)}};
    constexpr int spaces = 2;
    return json.dump(spaces) + "\n";
}

} // namespace shardline
