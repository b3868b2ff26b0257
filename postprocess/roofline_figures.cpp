#include "postprocess/figures.hpp"

#include "model/law.hpp"
#include "model/shard.hpp"
#include "postprocess/gnuplot.hpp"
#include "postprocess/plot_builder.hpp"
#include "postprocess/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>

namespace shardline {

namespace {

/// Bus bandwidth of the strategy in its sweep, or nothing.
std::optional<Estimate> bandwidth_in_sweep(const Analysis& analysis, const Sweep& sweep)
{
    for (const AllreduceRate& rate : analysis.allreduce_rates) {
        const bool same = rate.in_sweep && rate.P == sweep.P && rate.wire_type == sweep.wire_type && rate.strategy == sweep.strategy;
        if (same && rate.V_bytes == bytes_of(sweep.wire_type) * sweep.B * sweep.F) return rate.bus_bytes_per_s;
    }
    return std::nullopt;
}

/// One slanted roof: what the processor reaches where so many bytes per second come in or go out.
struct Roof {
    std::string name;
    Estimate bytes_per_s;
};

/// The bandwidths that bound a step of this shape, as far as they are known, the highest first.
std::vector<Roof> roofs_of(const Analysis& analysis, const Sweep& reference, const std::optional<Estimate>& M)
{
    std::vector<Roof> roofs;
    if (M) roofs.push_back({"memory, M", *M});
    if (const auto W = calibration_of(analysis, reference).W_bytes_per_s) roofs.push_back({"the link, W", *W});
    if (const auto bus = bandwidth_in_sweep(analysis, reference)) roofs.push_back({reference.strategy, *bus});
    std::ranges::stable_sort(roofs, std::greater{}, [](const Roof& roof) { return roof.bytes_per_s.value; });
    return roofs;
}

/// FLOP per byte sent, and the rate at which a step computes, with its interval.
Rows attained_rates(const Analysis& analysis, const Sweep& sweep, Range& intensities, Range& rates)
{
    Rows rows;
    for (const PointSummary* point : points_of(analysis, sweep)) {
        if (!point->t_step_s || point->point.D <= 0) continue;
        const double intensity = link_intensity(point->point.D, s_of(sweep), sweep.P);
        const auto width = static_cast<double>(largest_shard_width(point->point.D, sweep.P));
        const Estimate rate = rate_from(matmul_flops(static_cast<double>(sweep.B), width, static_cast<double>(sweep.F)), *point->t_step_s);
        rows.push_back(row_of(intensity, rate));
        intensities.take(intensity);
        rates.take(rate);
    }
    return rows;
}

/// The same matmuls alone, over the FLOP they do per byte of memory.
Rows matmul_rates(const Analysis& analysis, const Sweep& sweep, Range& intensities, Range& rates)
{
    Rows rows;
    for (const PointSummary* point : points_of(analysis, sweep)) {
        if (!point->t_comp_s || point->point.D <= 0) continue;
        const auto B = static_cast<double>(sweep.B), F = static_cast<double>(sweep.F), K = static_cast<double>(largest_shard_width(point->point.D, sweep.P)),
                   s = static_cast<double>(bytes_of(sweep.compute_type));
        const double intensity = matmul_intensity(B, K, F, s, s, s);
        rows.push_back(row_of(intensity, rate_from(matmul_flops(B, K, F), *point->t_comp_s)));
        intensities.take(intensity);
        rates.take(rate_from(matmul_flops(B, K, F), *point->t_comp_s));
    }
    return rows;
}

/// A region of the roofline between two intensities, as the scaling book colours them.
std::string region(double low, double high, std::string_view colour)
{
    if (!(low < high)) return "";
    return fmt::format("set object rectangle from {},graph 0 to {},graph 1 behind fc rgb {} fs transparent solid 0.15 noborder\n", low, high, colour);
}

} // namespace

void add_roofline_figures(const Analysis& analysis, Figures& figures, const RooflineOptions& options)
{
    const auto shapes = shapes_of(analysis);
    if (shapes.empty() || !analysis.calibration.C_flop_per_s) {
        figures.omitted.emplace_back(shapes.empty() ? "No roofline: no step with communication was measured." : "No roofline: C was not measured.");
        return;
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
        const auto& [shape, sweeps] = shapes[i];
        const auto C = calibration_of(analysis, reference_of(sweeps)).C_flop_per_s;
        if (!C) {
            figures.omitted.push_back(fmt::format("No roofline at {}: C was not measured.", shape_text(shape)));
            continue;
        }
        const std::vector<Roof> roofs = roofs_of(analysis, reference_of(sweeps), options.M_bytes_per_s);
        if (roofs.empty()) {
            figures.omitted.push_back(fmt::format("No roofline at {}: no bandwidth was measured.", shape_text(shape)));
            continue;
        }
        PlotBuilder plot(numbered(options.name, i, shapes.size()));
        Range intensities, rates;
        Rows matmuls;
        if (options.M_bytes_per_s) matmuls = matmul_rates(analysis, reference_of(sweeps), intensities, rates);
        std::vector<Rows> attained;
        for (const Sweep& sweep : sweeps) attained.push_back(attained_rates(analysis, sweep, intensities, rates));
        for (const Roof& roof : roofs) intensities.take(critical_intensity(C->value, roof.bytes_per_s.value));
        rates.take(C->value);
        const Range x = intensities.widened(1.6);

        std::string caption = fmt::format("Roofline: the rate at which a rank computes within a step, over the FLOP it does per byte it has to send, "
                                          "D/(s(P-1)), below C = {}", gigaflops(*C));
        const double at_all = critical_intensity(C->value, roofs.front().bytes_per_s.value),
                     at_none = critical_intensity(C->value, roofs.back().bytes_per_s.value);
        constexpr double apart = 1.05; // nearer roofs look like one, and there is no room between them to wait in
        const bool one_roof = at_none < apart * at_all;
        std::string regions = region(x.low, at_all, "vermillion") + region(at_all, at_none, one_roof ? "vermillion" : "yellow") + region(at_none, x.high, "green");
        for (size_t r = 0; r < roofs.size(); ++r) {
            const double bandwidth = roofs[r].bytes_per_s.value, ridge = critical_intensity(C->value, bandwidth);
            plot.add("FLOP per byte, roof (FLOP/s)", {{x.low, x.low * bandwidth}, {ridge, C->value}, {x.high, C->value}},
                     {fmt::format("using 1:($2*1e-9) with lines lw 2 dt {} lc rgb black title {}", r + 1,
                                  gnuplot_string("roof: " + roofs[r].name))});
            rates.take(x.low * bandwidth);
            caption += fmt::format("{} the roof of {} ({})", r == 0 ? " and" : ",", roofs[r].name, megabytes(roofs[r].bytes_per_s));
        }
        for (size_t c = 0; c < sweeps.size(); ++c)
            plot.add("FLOP per byte, rate of a step (FLOP/s), low, high", attained[c],
                     {fmt::format("using 1:($2*1e-9):($3*1e-9):($4*1e-9) with yerrorbars {} title {}", look(c).points(), gnuplot_string(sweeps[c].strategy))});
        plot.add("FLOP per byte of memory, rate of the matmul alone (FLOP/s), low, high", matmuls,
                 {"using 1:($2*1e-9):($3*1e-9):($4*1e-9) with yerrorbars pt 6 lc rgb black title 'matmul, per byte of memory'"});
        const bool memory_too = options.M_bytes_per_s.has_value();
        plot.add_key("with boxes fc rgb vermillion fs transparent solid 0.15 noborder",
                     one_roof ? "waits for the network" : memory_too ? "waits for memory and link" : "waits at all bandwidths");
        if (!one_roof) plot.add_key("with boxes fc rgb yellow fs transparent solid 0.3 noborder", memory_too ? "waits for the link only" : "waits at the lower only");
        plot.add_key("with boxes fc rgb green fs transparent solid 0.15 noborder", "compute-bound");
        caption += ". A step that overlaps nothing reaches half of the roof at its edge.";
        if (memory_too) caption += " The same matmuls stand twice: as steps over the bytes they send, alone over the bytes of memory they move.";
        figures.drawn.push_back(std::move(plot).figure(
            options.of.empty() ? shape_text(shape) : fmt::format("{}: {}", options.of, shape_text(shape)), caption,
            log_axis('x', x, memory_too ? "intensity (FLOP per byte sent, or of memory)" : "intensity towards the link (FLOP per byte sent)") +
                log_axis('y', Range{rates.low * 1e-9, rates.high * 1e-9}.widened(1.5), "rate of one rank (GFLOP/s)") + regions));
    }
}

void add_memory_roofline_figures(const Analysis& analysis, Figures& figures)
{
    if (!analysis.roofline || !analysis.roofline->M_bytes_per_s) {
        figures.omitted.emplace_back("No roofline of the memory: M was not measured (experiments/roofline.toml does).");
        return;
    }
    const Roofline& roofline = *analysis.roofline;
    const Estimate& M = *roofline.M_bytes_per_s;
    std::vector<ComputeRate> rates_of_types;
    for (const ComputeRate& rate : roofline.compute)
        if (rate.C_flop_per_s) rates_of_types.push_back(rate);
    if (rates_of_types.empty()) figures.omitted.emplace_back("No roofline of the memory: C was not measured.");

    for (size_t i = 0; i < rates_of_types.size(); ++i) {
        const ElementType type = rates_of_types[i].type;
        const Estimate& C = *rates_of_types[i].C_flop_per_s;
        PlotBuilder plot(numbered("memory-roofline", i, rates_of_types.size()));
        Range intensities, rates;
        Rows dots, matmuls;
        for (const RooflinePoint& point : roofline.points) {
            const bool is_dot = point.point.kind == PointKind::dot;
            if (point.point.compute_type != type || !(is_dot || point.point.kind == PointKind::cold_matmul)) continue;
            if (!(point.intensity_flop_per_byte > 0) || !std::isfinite(point.intensity_flop_per_byte)) continue;
            (is_dot ? dots : matmuls).push_back(row_of(point.intensity_flop_per_byte, point.rate_flop_per_s));
            intensities.take(point.intensity_flop_per_byte);
            rates.take(point.rate_flop_per_s);
        }
        const double ridge = critical_intensity(C.value, M.value);
        intensities.take(ridge);
        rates.take(C.value);
        const Range x = intensities.widened(1.6);
        rates.take(x.low * M.value);
        plot.add("FLOP per byte, roof (FLOP/s)", {{x.low, x.low * M.value}, {ridge, C.value}, {x.high, C.value}},
                 {"using 1:($2*1e-9) with lines lw 2 lc rgb black title 'roof: memory, M, and C'"});
        const std::string as = "using 1:($2*1e-9):($3*1e-9):($4*1e-9) with yerrorbars";
        plot.add("FLOP per byte, rate of a dot product (FLOP/s), low, high", dots, {fmt::format("{} pt 5 lc rgb vermillion title 'dot product'", as)});
        plot.add("FLOP per byte, rate of a matmul (FLOP/s), low, high", matmuls, {fmt::format("{} pt 7 lc rgb blue title 'matmul'", as)});
        plot.add_key("with boxes fc rgb vermillion fs transparent solid 0.15 noborder", "waits for the memory");
        plot.add_key("with boxes fc rgb green fs transparent solid 0.15 noborder", "compute-bound");
        figures.drawn.push_back(std::move(plot).figure(
            fmt::format("Memory and {} arithmetic of one rank, all at work", name_of(type)),
            fmt::format("Roofline of the memory: the rate of dot products and matmuls, operands in memory, over the FLOP they do per byte moved, below "
                        "C = {} and M = {}, with 95 % intervals.", gigaflops(C), megabytes(M)),
            log_axis('x', x, "intensity towards the memory (FLOP per byte)") +
                log_axis('y', Range{rates.low * 1e-9, rates.high * 1e-9}.widened(1.5), "rate of one rank (GFLOP/s)") +
                region(x.low, ridge, "vermillion") + region(ridge, x.high, "green")));
    }
}

} // namespace shardline
