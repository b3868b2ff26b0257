#include "model/roofline.hpp"

#include "model/calibration.hpp"
#include "model/law.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace shardline {

namespace {

constexpr double claim_tolerance = 1.25;
constexpr double low = 0.8;            ///< of the bound: below it a suspect is named
constexpr double write_allocate = 4.0 / 3; ///< a core that reads a line before it writes it moves 4 lines for the 3 that STREAM counts

/// Of a roofline alone: `links` computes in registers too.
bool is_of_roofline(PointKind kind) { return kind == PointKind::triad || kind == PointKind::dot || kind == PointKind::cold_matmul; }

double K_of(const Point& point) { return static_cast<double>(point.D) / std::max(point.P, 1); }
double s_of(const Point& point) { return static_cast<double>(bytes_of(point.compute_type)); }

/// FLOPs of one rank.
double flops_of(const Point& point)
{
    if (point.kind == PointKind::dot) return 2 * K_of(point) - 1;
    return matmul_flops(static_cast<double>(point.B), K_of(point), static_cast<double>(point.F)); // triad, arithmetic: 2·K
}

double intensity_of(const Point& point)
{
    switch (point.kind) {
    case PointKind::arithmetic: return std::numeric_limits<double>::infinity();
    case PointKind::triad: return 2 / (3 * s_of(point));
    case PointKind::dot: return dot_intensity(K_of(point), s_of(point));
    default:
        return matmul_intensity(static_cast<double>(point.B), K_of(point), static_cast<double>(point.F), s_of(point), s_of(point), s_of(point));
    }
}

/// Ranks and cache of each machine.
struct Machine {
    int64_t ranks = 0, cache_bytes = 0;
};

std::map<std::string, Machine> machines_of(std::span<const RankInfo> ranks)
{
    constexpr int64_t unknown_cache_bytes = int64_t{64} << 20;
    std::map<std::string, Machine> machines;
    for (const RankInfo& rank : ranks) {
        Machine& machine = machines[rank.machine];
        ++machine.ranks;
        machine.cache_bytes = std::max(machine.cache_bytes, rank.cache_bytes > 0 ? rank.cache_bytes : unknown_cache_bytes);
    }
    return machines;
}

std::string kernel_of(const RunData& run) { return run.ranks.empty() ? "" : run.ranks.front().blas_kernel; }

std::string suspect_of(const RooflinePoint& point, const RunData& run)
{
    if (!point.reached || *point.reached >= low) return "";
    switch (point.point.kind) {
    case PointKind::matmul:
        return "kernels of the BLAS (" + kernel_of(run) + "): small shapes do not fill them, and an old BLAS may choose those of an older processor";
    case PointKind::dot: return "the BLAS's dot product, if it keeps too few loads under way";
    case PointKind::cold_matmul:
        if (point.memory_bound) return "packing: a matmul copies Y before it multiplies, which a matrix-vector routine does not";
        return "near the ridge memory and arithmetic both take their time, and overlap in part only";
    default: return "";
    }
}

std::string shape_text(const BatchCrossover& batch)
{
    return std::string(name_of(batch.type)) + ", D = " + std::to_string(batch.D) + ", F = " + std::to_string(batch.F);
}

std::string value_with_interval(const Estimate& estimate)
{
    return number_text(estimate.value) + " [" + number_text(estimate.low) + ", " + number_text(estimate.high) + "]";
}

Claim dot_claim(const RooflinePoint& dot, const Estimate& M)
{
    Claim claim{"dot_at_memory_bound_" + std::string(name_of(dot.point.compute_type)), Verdict::inconclusive, ""};
    const Estimate ratio = ratio_of(scaled(dot.rate_flop_per_s, 1 / dot.intensity_flop_per_byte), M);
    const std::string says = "the " + std::string(name_of(dot.point.compute_type)) + " dot product moves " + value_with_interval(ratio) + " times M";
    if (!ratio.reaches_95()) {
        claim.reason = says + ", by too few samples: give more passes or repetitions";
    } else if (ratio.low > 1 / claim_tolerance && ratio.high < claim_tolerance) {
        claim.verdict = Verdict::holds;
        claim.reason = says + ": memory bounds it";
    } else if (ratio.low > 1 / claim_tolerance && ratio.value < claim_tolerance * write_allocate) {
        claim.verdict = Verdict::explained;
        claim.reason = says + ": memory bounds it; M is a triad's, whose writes may cost a read that STREAM does not count, up to a factor of 1.333";
    } else if (ratio.high < 1 / claim_tolerance) {
        claim.verdict = Verdict::refuted;
        claim.reason = says + ": something else bounds it; suspect " + (dot.suspect.empty() ? "other load" : dot.suspect);
    } else if (ratio.low > claim_tolerance * write_allocate) {
        claim.verdict = Verdict::refuted;
        claim.reason = says + ": more than memory gives, so it did not come from memory; give a larger vector_bytes";
    } else {
        claim.reason = says + ", too wide an interval to tell: quieten the machine or give more passes";
    }
    return claim;
}

/// Slope of log t over log B between two points.
double slope(const RooflinePoint& a, const RooflinePoint& b)
{
    return std::log(b.t_s.value / a.t_s.value) / std::log(static_cast<double>(b.point.B) / static_cast<double>(a.point.B));
}

Claim batch_claim(const BatchCrossover& batch, bool ridge_known, std::span<const RooflinePoint* const> by_B)
{
    Claim claim{"compute_bound_batch_" + std::string(name_of(batch.type)) + "_" + std::to_string(batch.D) + "_" + std::to_string(batch.F),
                Verdict::inconclusive, ""};
    const std::string where = shape_text(batch) + ": ";
    if (!batch.B_law || !batch.B_obs) {
        claim.reason = where + (!ridge_known ? "C or M is not known: see the findings, or give more time"
                                : batch.B_law ? "the batches measured do not lie on both sides of the ridge, B = " + number_text(*batch.B_law) +
                                                    ", by a factor of 2: give B on both sides"
                                              : "no B has the intensity of the ridge: give larger F and D");
        return claim;
    }
    const Estimate& B_obs = *batch.B_obs;
    const std::string says = where + "compute-bound from B = " + value_with_interval(B_obs) + " on, where the law says " + number_text(*batch.B_law);
    const std::string efficiencies = "at B = " + std::to_string(by_B.front()->point.B) + " the matmul reaches " + percent_text(batch.memory_efficiency) +
                                     " of M, at B = " + std::to_string(by_B.back()->point.B) + " " + percent_text(batch.compute_efficiency) + " of C";
    const double ratio = B_obs.value / *batch.B_law;
    const double first_slope = slope(*by_B[0], *by_B[1]), last_slope = slope(*by_B[by_B.size() - 2], *by_B.back());
    if (!B_obs.reaches_95())
        claim.reason = says + ", by too few samples: give more passes or repetitions";
    else if (batch.memory_efficiency > claim_tolerance * write_allocate)
        claim.reason = says + "; but " + efficiencies + ", so it did not come from memory: give larger F and D";
    else if (first_slope > 0.5 || last_slope < 0.5) {
        claim.verdict = Verdict::refuted;
        claim.reason = says + "; but the time grows as B^" + number_text(first_slope) + " at the smallest B and as B^" + number_text(last_slope) +
                       " at the largest, not first hardly and then in proportion";
    } else if (ratio < claim_tolerance && ratio > 1 / claim_tolerance) {
        claim.verdict = Verdict::holds;
        claim.reason = says;
    } else {
        claim.verdict = Verdict::explained;
        claim.reason = says + "; " + efficiencies + (by_B.front()->suspect.empty() ? "" : " (suspect " + by_B.front()->suspect + ")");
    }
    return claim;
}

ComputeRate compute_rate(std::span<const PointSamples> points, int32_t P, ElementType type)
{
    ComputeRate rate{type, calibrate(points, P, type).C_flop_per_s, std::nullopt, std::nullopt};
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::arithmetic && samples.point.compute_type == type)
            if (const auto t_s = estimate_of(samples.comp_s)) rate.arithmetic_flop_per_s = rate_from(flops_of(samples.point), *t_s);
    return rate;
}

/// Empty where the arrays are well beyond the caches of every machine.
std::string cache_resident(const RunData& run, int64_t vector_bytes)
{
    for (const auto& [name, machine] : machines_of(run.ranks)) {
        if (vector_bytes * machine.ranks >= 4 * machine.cache_bytes) continue;
        return "each of the triad's arrays takes " + si_text(static_cast<double>(vector_bytes * machine.ranks), "B") + " on a machine whose caches hold " +
               si_text(static_cast<double>(machine.cache_bytes), "B") +
               " (below four times as much some of it stays in a cache, so its rate is not memory's): give vector_bytes = 0, or use fewer nodes' "
               "ranks with more memory each";
    }
    return "";
}

BatchCrossover batch_crossover(std::span<const RooflinePoint* const> by_B, const ComputeRate& rate)
{
    const RooflinePoint &first = *by_B.front(), &last = *by_B.back();
    BatchCrossover batch{first.point.compute_type, static_cast<int64_t>(K_of(first.point)), first.point.F, {}, {}, 0, 0};
    if (!rate.ridge_flop_per_byte) return batch;
    const double B_law = batch_of_intensity(*rate.ridge_flop_per_byte, K_of(first.point), static_cast<double>(first.point.F), s_of(first.point));
    if (!std::isfinite(B_law)) return batch;
    batch.B_law = B_law;
    const bool bracketed = by_B.size() >= 2 && static_cast<double>(first.point.B) <= B_law / 2 && static_cast<double>(last.point.B) >= 2 * B_law;
    if (!bracketed) return batch;
    batch.B_obs = scaled(ratio_of(first.t_s, last.t_s), static_cast<double>(last.point.B));
    batch.B_obs->n = std::min(first.t_s.n, last.t_s.n);
    batch.B_obs->confidence = std::min(first.t_s.confidence, last.t_s.confidence);
    batch.memory_efficiency = first.reached.value_or(0);
    batch.compute_efficiency = last.reached.value_or(0);
    return batch;
}

void judge_batches(Roofline& roofline)
{
    std::map<std::tuple<ElementType, int64_t, int64_t>, std::vector<const RooflinePoint*>> groups;
    for (const RooflinePoint& point : roofline.points)
        if (point.point.kind == PointKind::cold_matmul) groups[{point.point.compute_type, point.point.D, point.point.F}].push_back(&point);
    for (auto& [key, by_B] : groups) {
        std::ranges::sort(by_B, {}, [](const RooflinePoint* point) { return point->point.B; });
        const auto rate = std::ranges::find(roofline.compute, std::get<0>(key), &ComputeRate::type);
        roofline.batches.push_back(batch_crossover(by_B, *rate));
        roofline.claims.push_back(batch_claim(roofline.batches.back(), rate->ridge_flop_per_byte.has_value(), by_B));
    }
}

/// Where what bounds the point was measured.
void bound(RooflinePoint& point, const Roofline& roofline)
{
    const auto rate = std::ranges::find(roofline.compute, point.point.compute_type, &ComputeRate::type);
    if (rate == roofline.compute.end()) return;
    if (point.point.kind == PointKind::matmul && rate->arithmetic_flop_per_s) point.bound_flop_per_s = rate->arithmetic_flop_per_s->value;
    if (point.point.kind != PointKind::dot && point.point.kind != PointKind::cold_matmul) return;
    if (!roofline.M_bytes_per_s || !rate->C_flop_per_s) return;
    const double memory = roofline.M_bytes_per_s->value * point.intensity_flop_per_byte, C = rate->C_flop_per_s->value;
    point.bound_flop_per_s = std::min(memory, C);
    point.memory_bound = memory < C;
}

} // namespace

int64_t least_vector_bytes(std::span<const RankInfo> ranks)
{
    int64_t bytes = 0;
    for (const auto& [name, machine] : machines_of(ranks)) bytes = std::max(bytes, (4 * machine.cache_bytes + machine.ranks - 1) / machine.ranks);
    return bytes;
}

double batch_of_intensity(double intensity, double D, double F, double s)
{
    // intensity = 2BDF / (s(BD + DF + BF)), solved for B.
    const double rest = 2 * D * F - intensity * s * (D + F);
    return rest > 0 ? intensity * s * D * F / rest : std::numeric_limits<double>::infinity();
}

std::optional<Roofline> roofline_of(std::span<const RunData> launches, std::span<const PointSamples> points)
{
    if (std::ranges::none_of(points, [](const PointSamples& samples) { return is_of_roofline(samples.point.kind); })) return std::nullopt;
    Roofline roofline;
    int32_t P = 0;
    std::set<ElementType> types;
    for (const PointSamples& samples : points) {
        P = std::max(P, samples.point.P);
        if (samples.point.kind != PointKind::triad) types.insert(samples.point.compute_type);
        if (samples.point.kind != PointKind::triad) continue;
        roofline.vector_bytes = static_cast<int64_t>(K_of(samples.point) * s_of(samples.point));
        const std::string resident = cache_resident(launches.front(), roofline.vector_bytes);
        if (!resident.empty()) {
            roofline.findings.push_back({"cache_resident", Severity::warning, -1, resident});
            continue;
        }
        if (const auto t_s = estimate_of(samples.comp_s)) roofline.M_bytes_per_s = rate_from(3 * K_of(samples.point) * s_of(samples.point), *t_s);
    }
    for (const ElementType type : types) {
        ComputeRate rate = compute_rate(points, P, type);
        if (rate.C_flop_per_s && roofline.M_bytes_per_s) rate.ridge_flop_per_byte = critical_intensity(rate.C_flop_per_s->value, roofline.M_bytes_per_s->value);
        roofline.compute.push_back(rate);
    }
    for (const PointSamples& samples : points) {
        const auto t_s = estimate_of(samples.comp_s);
        if (!t_s || !only_computes(samples.point.kind)) continue;
        RooflinePoint point{samples.point, *t_s, rate_from(flops_of(samples.point), *t_s), intensity_of(samples.point), {}, false, {}, ""};
        bound(point, roofline);
        if (point.bound_flop_per_s) point.reached = point.rate_flop_per_s.value / *point.bound_flop_per_s;
        point.suspect = suspect_of(point, launches.front());
        roofline.points.push_back(point);
    }
    std::ranges::stable_sort(roofline.points, {}, [](const RooflinePoint& p) {
        return std::tuple(p.point.compute_type, p.point.kind, p.point.D, p.point.F, p.point.B);
    });
    for (const RooflinePoint& point : roofline.points)
        if (point.point.kind == PointKind::dot && roofline.M_bytes_per_s) roofline.claims.push_back(dot_claim(point, *roofline.M_bytes_per_s));
    judge_batches(roofline);
    if (!roofline.M_bytes_per_s && roofline.claims.empty())
        roofline.claims.push_back({"memory_bandwidth", Verdict::inconclusive, "M is not known: see the findings"});
    return roofline;
}

} // namespace shardline
