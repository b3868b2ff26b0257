#include "postprocess/figures.hpp"

#include "model/law.hpp"
#include "postprocess/gnuplot.hpp"
#include "postprocess/plot_builder.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

namespace shardline {

// ---------------------------------------------------------------------------------------------------
// Crossover

namespace {

/// A vertical line at D with its interval as a band, and its entry in the key.
std::string mark_D(const Estimate& D, std::string_view symbol, std::string_view colour, int dashes, PlotBuilder& plot)
{
    plot.add_key(fmt::format("with lines lw 2 dt {} lc rgb {}", dashes, colour), fmt::format("{} = {}", symbol, D_estimate_text(D)));
    return fmt::format("set object rectangle from {0},graph 0 to {1},graph 1 behind fc rgb {2} fs transparent solid 0.12 noborder\n"
                       "set arrow from {3},graph 0 to {3},graph 1 nohead back lw 2 dt {4} lc rgb {2}\n",
                       D.low, D.high, colour, D.value, dashes);
}

} // namespace

void add_crossover_figures(const Analysis& analysis, Figures& figures)
{
    std::vector<Sweep> sweeps;
    for (const Sweep& sweep : sweeps_of(analysis)) {
        const auto points = points_of(analysis, sweep);
        const auto both = [](const PointSummary* point) { return point->point.D > 0 && point->t_comp_s && point->t_comm_s; };
        if (std::ranges::any_of(points, both)) sweeps.push_back(sweep);
    }
    if (sweeps.empty()) figures.omitted.emplace_back("No figure of the crossover: no point has both t_comp and t_comm.");

    for (size_t i = 0; i < sweeps.size(); ++i) {
        const Sweep& sweep = sweeps[i];
        Rows comp, comm, step, bounds;
        Range D_range, t_range;
        const auto take = [&](double D, const std::optional<Estimate>& time, Rows& rows) {
            if (!time) return;
            rows.push_back(row_of(D, *time));
            t_range.take(*time);
        };
        for (const PointSummary* point : points_of(analysis, sweep)) {
            const auto D = static_cast<double>(point->point.D);
            if (D <= 0) continue;
            D_range.take(D);
            take(D, point->t_comp_s, comp);
            take(D, point->t_comm_s, comm);
            take(D, point->t_step_s, step);
            if (!point->t_comp_s || !point->t_comm_s) continue;
            const StepBounds between = step_bounds(point->t_comp_s->value, point->t_comm_s->value);
            bounds.push_back({D, between.lower_s, between.upper_s});
            t_range.take(between.upper_s);
        }
        const TimeUnit unit = time_unit_for(std::sqrt(t_range.low * t_range.high));

        PlotBuilder plot(numbered("crossover", i, sweeps.size()));
        plot.add("D, max(t_comp, t_comm) (s), t_comp + t_comm (s)", bounds,
                 {"using 1:($2*unit):($3*unit) with filledcurves fc rgb grey fs transparent solid 0.35 title 't_step: max to sum'"});
        const auto times = [](const SeriesLook& look, std::string_view title) { return with_intervals("1", "$2*unit", "$3*unit", "$4*unit", look, title); };
        plot.add("D, t_comp (s), low, high", comp, times({7, "blue", 2, 1}, "t_comp"));
        plot.add("D, t_comm (s), low, high", comm, times({5, "vermillion", 2, 2}, "t_comm"));
        plot.add("D, t_step (s), low, high", step, times({9, "black", 2, 4}, "t_step"));

        std::string marks, caption;
        if (const Crossover* crossover = crossover_of(analysis, sweep)) {
            const std::tuple<const std::optional<Estimate>&, const char*, const char*, int> lines[] = {
                {crossover->D_law, "D_law", "green", 2}, {crossover->D_model, "D_model", "purple", 3}, {crossover->D_obs, "D_obs", "orange", 1}};
            for (const auto& [D, symbol, colour, dashes] : lines) {
                if (!D || !(D->low > 0) || !std::isfinite(D->high)) continue;
                D_range.take(D->value);
                marks += mark_D(*D, symbol, colour, dashes, plot);
            }
            if (!crossover->D_obs) caption = " The measured times do not cross between the points.";
        }
        marks += fmt::format("unit = {} # s to {}\n", unit.per_second, unit.name);
        constexpr size_t many = 20; // points that would hide each other
        if (comp.size() > many) marks += "set pointsize 0.6\n";
        figures.drawn.push_back(std::move(plot).figure(
            sweep_text(sweep),
            fmt::format("Crossover: median times over D with 95 % intervals, each repetition that of the slowest rank, and where "
                        "computation and communication cross.{}", caption),
            log_axis('x', D_range.widened(1.2), "contraction dimension D (elements)") +
                log_axis('y', Range{t_range.low * unit.per_second, t_range.high * unit.per_second}.widened(1.4), fmt::format("time ({})", unit.name)) +
                marks));
    }
}

// ---------------------------------------------------------------------------------------------------
// The law over several crossovers

namespace {

/// A crossover divided by s(P−1), which makes those of all types and rank counts comparable: the law then says C/W.
struct LawPoint {
    std::string strategy;
    double V_bytes = 0;
    int32_t P = 0;
    Estimate C_over_W, D_per_byte; ///< FLOP per byte
};

std::vector<LawPoint> law_points(const Analysis& analysis)
{
    std::vector<LawPoint> points;
    for (const Crossover& crossover : analysis.crossovers) {
        if (!crossover.D_law || !crossover.D_obs || crossover.P < 2) continue;
        const auto s = static_cast<double>(bytes_of(crossover.wire_type));
        const double per_byte = 1 / (s * (crossover.P - 1));
        points.push_back({crossover.strategy, s * static_cast<double>(crossover.B) * static_cast<double>(crossover.F), crossover.P,
                          scaled(*crossover.D_law, per_byte), scaled(*crossover.D_obs, per_byte)});
    }
    return points;
}

/// x with its interval, and D_obs/(s(P−1)) with its own.
std::vector<double> law_row(const Estimate& x, const Estimate& y) { return {x.value, y.value, x.low, x.high, y.low, y.high}; }

Estimate exactly(double x) { return {x, x, x}; }

} // namespace

void add_law_figure(const Analysis& analysis, std::span<const RunData> launches, Figures& figures)
{
    std::vector<LawPoint> points;
    if (launches.size() > 1)
        for (const RunData& run : launches) std::ranges::copy(law_points(analyse({&run, 1})), std::back_inserter(points));
    else
        points = law_points(analysis);
    Range C_over_W, V, P, y;
    for (const LawPoint& point : points) {
        C_over_W.take(point.C_over_W);
        V.take(point.V_bytes);
        P.take(point.P);
        y.take(point.D_per_byte);
    }
    const auto computes_as = [&](const Crossover& other) { return other.compute_type == analysis.crossovers.front().compute_type; };
    const bool several_C = !std::ranges::all_of(analysis.crossovers, computes_as);
    const bool over_C_over_W = launches.size() > 1 || several_C; // one launch has one W, and one C for a type and a number of ranks
    const bool over_P = !over_C_over_W && P.high > P.low, over_V = !over_C_over_W && !over_P && V.high > V.low;
    if (points.size() < 2 || !(over_C_over_W || over_V || over_P)) {
        figures.omitted.emplace_back("No figure of D* across launches and shapes: it takes two crossovers that differ in C/W, V or P.");
        return;
    }

    PlotBuilder plot("law");
    const double tolerance = AnalysisOptions{}.tolerance;
    Range x = over_C_over_W ? C_over_W.widened(1.2) : over_V ? V.widened(2) : P.widened(1.3);
    Rows band, line;
    const Estimate& CW = points.front().C_over_W;
    const auto add_law = [&](double at, double law) {
        band.push_back({at, law / tolerance, law * tolerance});
        line.push_back({at, law});
        y.take(law / tolerance);
        y.take(law * tolerance);
    };
    constexpr int steps = 60;
    if (over_P) { // each number of ranks has a C and a W of its own
        std::map<int32_t, double> law_of;
        for (const LawPoint& point : points) law_of.emplace(point.P, point.C_over_W.value);
        for (const auto& [ranks, law] : law_of) add_law(ranks, law);
    } else {
        for (int i = 0; i <= steps; ++i) {
            const double at = x.low * std::pow(x.high / x.low, static_cast<double>(i) / steps);
            add_law(at, over_C_over_W ? at : CW.value);
        }
    }
    plot.add("x, law / tolerance, law * tolerance (FLOP per byte)", band,
             {fmt::format("using 1:2:3 with filledcurves fc rgb grey fs transparent solid 0.35 title 'within a factor {} of the law'", tolerance)});
    plot.add("x, law (FLOP per byte)", line, {"using 1:2 with lines lw 2 lc rgb black title 'law: D* = s(P-1)C/W'"});
    if (over_V && analysis.calibration.alpha_s && analysis.calibration.C_flop_per_s && analysis.calibration.W_bytes_per_s) {
        Rows ring;
        for (const std::vector<double>& row : line) {
            const int32_t ranks = points.front().P; // s = 1 and V = B·F: the law per byte
            ring.push_back({row[0], D_star_ring(1, ranks, analysis.calibration.C_flop_per_s->value, analysis.calibration.W_bytes_per_s->value,
                                                analysis.calibration.alpha_s->value, row[0], 1) / (ranks - 1)});
        }
        plot.add("V (byte), law with the start-up of a ring (FLOP per byte)", ring, {"using 1:2 with lines lw 2 dt 2 lc rgb black title 'with start-up (ring)'"});
    }
    std::map<std::string, Rows> by_strategy;
    for (const LawPoint& point : points) {
        const Estimate at = over_C_over_W ? point.C_over_W : exactly(over_V ? point.V_bytes : point.P);
        by_strategy[point.strategy].push_back(law_row(at, point.D_per_byte));
    }
    size_t series = 0;
    for (const auto& [strategy, rows] : by_strategy)
        plot.add("x, D_obs/(s(P-1)) (FLOP per byte), x low, x high, D low, D high", rows,
                 {fmt::format("using 1:2:3:4:5:6 with xyerrorbars {} title {}", look(series++).points(), gnuplot_string(strategy))});
    const std::string over = over_C_over_W ? "C/W (FLOP per byte)" : over_V ? "message V = s·B·F (bytes)" : "ranks P";
    figures.drawn.push_back(std::move(plot).figure(
        launches.size() > 1 ? "D* of each launch against the law" : "D* of each shape against the law",
        fmt::format("The law: D_obs divided by s(P-1), which makes types and rank counts comparable, over {}{}, with 95 % intervals. "
                    "On the line the law holds.", over_C_over_W ? "C/W" : over_V ? "the size of the message" : "the ranks",
                    launches.size() > 1 ? ", of each launch by itself" : ""),
        log_axis('x', x, over, over_V ? bytes_text : tic_text) + log_axis('y', y.widened(1.2), "D_obs / (s(P-1)) (FLOP per byte)")));
}

// ---------------------------------------------------------------------------------------------------
// Regimes over B and D

void add_regime_figures(const Analysis& analysis, Figures& figures)
{
    // One map for all B that share the rest.
    std::vector<std::vector<Sweep>> maps;
    for (const auto& [shape, sweeps] : shapes_of(analysis)) {
        const Sweep& sweep = reference_of(sweeps);
        const auto rest = [](const Sweep& c) { return std::tie(c.F, c.P, c.compute_type, c.wire_type, c.strategy); };
        const auto same = std::ranges::find_if(maps, [&](const auto& map) { return rest(map.front()) == rest(sweep); });
        if (same == maps.end())
            maps.push_back({sweep});
        else
            same->push_back(sweep);
    }
    std::erase_if(maps, [&](const std::vector<Sweep>& map) {
        const Calibration calibration = calibration_of(analysis, map.front());
        return !calibration.C_flop_per_s || !calibration.W_bytes_per_s;
    });
    if (maps.empty()) figures.omitted.emplace_back("No map of the regimes: it takes a sweep with communication, C and W.");
    for (size_t i = 0; i < maps.size(); ++i) {
        const Sweep& first = maps[i].front();
        const Calibration calibration = calibration_of(analysis, first);
        Range B, D;
        Rows sides[3], crossings;
        for (const Sweep& sweep : maps[i]) {
            const auto b = static_cast<double>(sweep.B);
            B.take(b);
            for (const PointSummary* point : points_of(analysis, sweep)) {
                if (!point->t_comp_s || !point->t_comm_s || point->point.D <= 0) continue;
                const auto side = static_cast<size_t>(side_of(*point->t_comp_s, *point->t_comm_s));
                sides[side].push_back({b, static_cast<double>(point->point.D)});
                D.take(static_cast<double>(point->point.D));
            }
            if (const Crossover* crossover = crossover_of(analysis, sweep); crossover && crossover->D_obs) {
                crossings.push_back(row_of(b, *crossover->D_obs));
                D.take(*crossover->D_obs);
            }
        }
        if (B.empty() || D.empty()) {
            figures.omitted.push_back(fmt::format("No map of the regimes at F = {}, P = {}: no point has both t_comp and t_comm.", first.F, first.P));
            continue;
        }
        const double alpha_s = calibration.alpha_s ? calibration.alpha_s->value : 0, C = calibration.C_flop_per_s->value,
                     W = calibration.W_bytes_per_s->value;
        const Range x = B.widened(16);
        Rows line, bandwidth_only;
        constexpr int steps = 60;
        for (int step = 0; step <= steps; ++step) {
            const double at = x.low * std::pow(x.high / x.low, static_cast<double>(step) / steps);
            line.push_back({at, D_star_ring(s_of(first), first.P, C, W, alpha_s, at, static_cast<double>(first.F))});
            bandwidth_only.push_back({at, D_star(s_of(first), first.P, C, W)});
            D.take(line.back()[1]);
        }
        const Range y = D.widened(1.6);

        PlotBuilder plot(numbered("regimes", i, maps.size()));
        plot.add("B, D* with the start-up of a ring", line,
                 {fmt::format("using 1:2 with filledcurves y1={} fc rgb vermillion fs transparent solid 0.15 title 'waits for the network'", y.low),
                  fmt::format("using 1:2 with filledcurves y1={} fc rgb blue fs transparent solid 0.15 title 'compute-bound'", y.high),
                  "using 1:2 with lines lw 2 lc rgb black title 'D* with start-up (ring)'"});
        plot.add("B, D* = s(P-1)C/W", bandwidth_only, {"using 1:2 with lines lw 2 dt 2 lc rgb black title 'D* = s(P-1)C/W'"});
        plot.add("B, D of points with t_comp < t_comm", sides[0], {"using 1:2 with points pt 5 ps 0.7 lc rgb vermillion title 't_comm longer'"});
        plot.add("B, D of points whose intervals overlap", sides[1], {"using 1:2 with points pt 3 ps 0.8 lc rgb black title 'not decided'"});
        plot.add("B, D of points with t_comp > t_comm", sides[2], {"using 1:2 with points pt 7 ps 0.7 lc rgb blue title 't_comp longer'"});
        plot.add("B, D_obs, low, high", crossings, {"using 1:2:3:4 with yerrorbars pt 12 ps 1.6 lw 2 lc rgb black title 'D_obs'"});
        figures.drawn.push_back(std::move(plot).figure(
            fmt::format("F = {}, P = {}, {} matmul, {} on the wire, {}", first.F, first.P, name_of(first.compute_type), name_of(first.wire_type),
                        first.strategy),
            fmt::format("Regimes: which part of a step is longer, by the law (areas) and as measured (points). The line bends upwards where "
                        "messages are so small that their start-up, alpha = {}, counts.",
                        calibration.alpha_s ? estimate_text(*calibration.alpha_s, 1e6) + " µs" : "not measured"),
            log_axis('x', x, "batch B (elements)") + log_axis('y', y, "contraction dimension D (elements)")));
    }
}

// ---------------------------------------------------------------------------------------------------
// Allreduce

void add_allreduce_figures(const Analysis& analysis, Figures& figures)
{
    using Key = std::pair<int32_t, ElementType>;
    std::map<Key, std::map<std::string, std::vector<const AllreduceRate*>>> groups;
    for (const AllreduceRate& rate : analysis.allreduce_rates) groups[{rate.P, rate.wire_type}][rate.strategy].push_back(&rate);
    if (groups.empty()) figures.omitted.emplace_back("No figure of the allreduce: none was measured.");

    size_t i = 0;
    for (const auto& [key, strategies] : groups) {
        const auto& [P, wire_type] = key;
        PlotBuilder plot(numbered("allreduce", i++, groups.size()));
        Range V, rates;
        std::string caption, band;
        for (const auto& [strategy, all] : strategies)
            for (const AllreduceRate* rate : all) {
                V.take(static_cast<double>(rate->V_bytes));
                rates.take(rate->bus_bytes_per_s);
            }
        const Range x = V.widened(1.5);
        const auto of_as_many = std::ranges::find(analysis.crossovers, P, &Crossover::P);
        const Calibration& calibration = of_as_many == analysis.crossovers.end() ? analysis.calibration : of_as_many->calibration;
        if (const auto& W = calibration.W_bytes_per_s) {
            rates.take(*W);
            band = add_link_bound(plot, x, *W, "black", 0.12);
            caption = fmt::format(" The line is W = {}.", megabytes(*W));
        }
        size_t series = 0;
        for (const auto& [strategy, all] : strategies) {
            Rows rows;
            for (const AllreduceRate* rate : all) rows.push_back(row_of(static_cast<double>(rate->V_bytes), rate->bus_bytes_per_s));
            plot.add("V (byte), bus bandwidth (byte/s), low, high", rows,
                     with_intervals("1", "$2*1e-6", "$3*1e-6", "$4*1e-6", look(series++), strategy));
        }
        figures.drawn.push_back(std::move(plot).figure(
            fmt::format("Allreduce over P = {}, {} on the wire", P, name_of(wire_type)),
            fmt::format("Allreduce: bus bandwidth, the 2(P-1)/P·V bytes that a rank has to send over the time it takes, with 95 % intervals; "
                        "calibration and sweep.{}", caption),
            log_axis('x', x, "message V (bytes)", bytes_text) + linear_axis('y', rates.high * 1e-6 * 1.08, "bus bandwidth (MB/s)") + band));
    }
}

// ---------------------------------------------------------------------------------------------------
// Overlap

void add_overlap_figures(const Analysis& analysis, Figures& figures)
{
    std::vector<std::pair<Sweep, std::map<std::string, std::vector<const OverlapPoint*>>>> groups;
    for (const OverlapPoint& point : analysis.overlap) {
        const Sweep shape = shape_of(sweep_of(point.point));
        if (groups.empty() || groups.back().first != shape) groups.push_back({shape, {}});
        groups.back().second[point.point.strategy].push_back(&point);
    }
    if (groups.empty()) figures.omitted.emplace_back("No figure of the overlap: one strategy was measured, and it overlaps nothing.");
    for (size_t i = 0; i < groups.size(); ++i) {
        const auto& [shape, strategies] = groups[i];
        PlotBuilder plot(numbered("overlap", i, groups.size()));
        Range D, ratios;
        ratios.take(1);
        for (const auto& [strategy, points] : strategies)
            for (const OverlapPoint* point : points) {
                D.take(static_cast<double>(point->point.D));
                ratios.take(point->step_over_max);
            }
        if (D.empty()) continue;
        const Range x = D.widened(1.2);
        plot.add("D, bound", {{x.low, 1}, {x.high, 1}}, {"using 1:2 with lines lw 2 lc rgb black title 'all is hidden'"});
        size_t series = 0;
        for (const auto& [strategy, points] : strategies) {
            Rows rows;
            for (const OverlapPoint* point : points)
                if (point->point.D > 0) rows.push_back(row_of(static_cast<double>(point->point.D), point->step_over_max));
            plot.add("D, t_step/max(t_comp, t_comm), low, high", rows,
                     with_intervals("1", "$2", "$3", "$4", look(series++), strategy));
        }
        figures.drawn.push_back(std::move(plot).figure(
            shape_text(shape),
            "Overlap: how long a step takes against the longer of its parts alone, the matmul and the strategy's own exchange, with 95 % intervals. "
            "At 1 the shorter part is hidden altogether; one part after the other takes 2 where both are equally long.",
            log_axis('x', x, "contraction dimension D (elements)") + log_axis('y', ratios.widened(1.1), "t_step / max(t_comp, t_comm)")));
    }
}

} // namespace shardline
