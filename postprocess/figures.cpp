#include "postprocess/figures.hpp"

#include "model/detectors.hpp"
#include "model/law.hpp"
#include "model/samples.hpp"
#include "model/shard.hpp"
#include "model/text.hpp"
#include "postprocess/gnuplot.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace shardline {
namespace {

// ---------------------------------------------------------------------------------------------------
// Parts of a script

/// Okabe and Ito's colours, which the colour-blind can tell apart; defined at the top of every script.
constexpr std::string_view colours[] = {"blue", "vermillion", "green", "purple", "orange", "skyblue", "black"};
constexpr int point_types[] = {7, 5, 9, 13, 11, 15, 6}; ///< filled shapes first: in print they take the colours' place

/// Of a series.
struct Look {
    int point_type;
    std::string_view colour;
    double line_width;
    int dashes;

    std::string points() const { return fmt::format("pt {} lc rgb {}", point_type, colour); }
    std::string line() const { return fmt::format("lc rgb {} lw {}", colour, line_width); } ///< solid
};

/// A series of several: its own colour, shape and dashes.
Look look(size_t series)
{
    constexpr size_t n = std::size(colours);
    return {point_types[series % n], colours[series % n], 1.5, static_cast<int>(series % 5) + 1};
}

/// The least and the largest of positive values.
struct Range {
    double low = std::numeric_limits<double>::infinity(), high = 0;

    void take(double value)
    {
        if (!(value > 0) || !std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    void take(const Estimate& estimate)
    {
        for (const double value : {estimate.low, estimate.value, estimate.high}) take(value);
    }
    bool empty() const { return high == 0; }
    Range widened(double factor) const { return {low / factor, high * factor}; }
};

/// Positions of tics, of a logarithmic axis: 1, 2, 5 of each decade or fewer; of one that spans little, steps of equal size.
std::vector<double> tics(const Range& range)
{
    std::vector<double> positions;
    const double decades = std::log10(range.high / range.low);
    if (decades < 0.7) {
        const double rough = (range.high - range.low) / 5, magnitude = std::pow(10, std::floor(std::log10(rough)));
        const double step = magnitude * (rough < 2 * magnitude ? 2 : rough < 5 * magnitude ? 5 : 10);
        for (double n = std::ceil(range.low / step); n * step <= range.high; ++n) positions.push_back(n * step);
        return positions;
    }
    const int every = std::max(1, static_cast<int>(std::ceil(decades / 7)));
    for (int exponent = static_cast<int>(std::floor(std::log10(range.low))); exponent <= std::log10(range.high); ++exponent) {
        if (exponent % every != 0) continue;
        for (const double mantissa : {1., 2., 5.}) {
            const double position = mantissa * std::pow(10, exponent);
            if ((mantissa == 1 || decades < 3) && position >= range.low && position <= range.high) positions.push_back(position);
        }
    }
    return positions;
}

std::string plain(double value)
{
    return value >= 1e4 && value < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); // 10000, not 1e+04
}

/// "64 kB".
std::string bytes(double value) { return si_text(value, "B"); }

std::string axis_label(char axis, std::string_view text) { return fmt::format("set {}label {}\n", axis, gnuplot_string(text)); }

/// `set xtics ('1' 1, '2' 2, ...)`, of positions in the unit that the axis has.
std::string tics_command(char axis, const std::vector<double>& positions, std::string (*text)(double) = plain)
{
    std::string list;
    for (const double position : positions) list += fmt::format("{}'{}' {}", list.empty() ? "" : ", ", text(position), position);
    return fmt::format("set {}tics ({})\n", axis, list);
}

std::string log_axis(char axis, const Range& range, std::string_view label, std::string (*text)(double) = plain)
{
    return axis_label(axis, label) + fmt::format("set logscale {0}\nset {0}range [{1}:{2}]\n", axis, range.low, range.high) +
           tics_command(axis, tics(range), text);
}

/// From zero to a little above the largest value.
std::string linear_axis(char axis, double high, std::string_view label)
{
    return axis_label(axis, label) + fmt::format("set {}range [0:{}]\n", axis, high);
}

/// The blocks of a data file and the elements of a plot, which refer to them by index.
class PlotBuilder {
public:
    explicit PlotBuilder(std::string name) : name_(std::move(name)) {}

    /// Adds rows of numbers under a heading of ours, and what is drawn of them: "using 1:2 with lines". Nothing without rows.
    void add(std::string_view columns, const std::vector<std::vector<double>>& rows, const std::vector<std::string>& elements)
    {
        if (rows.empty()) return;
        data_ += fmt::format("{}# {}\n", blocks_ > 0 ? "\n\n" : "", columns);
        for (const std::vector<double>& row : rows) {
            std::string line;
            for (const double value : row) line += fmt::format("{}{}", line.empty() ? "" : " ", value);
            data_ += line + "\n";
        }
        for (const std::string& element : elements) element_of(fmt::format("'{}.dat' index {} {}", name_, blocks_, element));
        ++blocks_;
    }
    /// Only an entry of the key: "with lines ...".
    void add_key(std::string_view style, std::string_view title)
    {
        element_of(fmt::format("NaN {} title {}", style, gnuplot_string(title)));
    }
    bool empty() const { return blocks_ == 0; }

    Figure figure(std::string title, std::string caption, std::string setup) &&
    {
        setup = fmt::format("set title {}\n", gnuplot_string(title)) + setup;
        return {std::move(name_), std::move(title), std::move(caption), std::move(setup), std::move(plot_), std::move(data_)};
    }

private:
    void element_of(std::string text) { plot_ += (plot_.empty() ? "" : ", \\\n  ") + std::move(text); }

    std::string name_, data_, plot_;
    int blocks_ = 0;
};

using Rows = std::vector<std::vector<double>>;

/// Points joined by lines, with bars from low to high that are solid whatever the dashes of the lines (yerrorlines would dash them, and
/// yerrorbars of size 0 blot the points out). Each of x, y, low, high as `using` has it.
std::vector<std::string> with_intervals(std::string_view x, std::string_view y, std::string_view low, std::string_view high, const Look& look,
                                        std::string_view title)
{
    return {fmt::format("using {}:({}):(0):({}-{}) with vectors nohead {} notitle", x, low, high, low, look.line()),
            fmt::format("using {}:({}) with linespoints {} {} dt {} title {}", x, y, look.line(), fmt::format("pt {}", look.point_type), look.dashes,
                        gnuplot_string(title))};
}

/// x, value, low, high.
std::vector<double> row_of(double x, const Estimate& y) { return {x, y.value, y.low, y.high}; }

/// The name of one of several figures of a kind.
std::string numbered(std::string_view name, size_t index, size_t count)
{
    return count == 1 ? std::string(name) : fmt::format("{}-{}", name, index + 1);
}

/// A vertical line at D with its interval as a band, and its entry in the key.
std::string mark_D(const Estimate& D, std::string_view symbol, std::string_view colour, int dashes, PlotBuilder& plot)
{
    plot.add_key(fmt::format("with lines lw 2 dt {} lc rgb {}", dashes, colour), fmt::format("{} = {}", symbol, D_estimate_text(D)));
    return fmt::format("set object rectangle from {0},graph 0 to {1},graph 1 behind fc rgb {2} fs transparent solid 0.12 noborder\n"
                       "set arrow from {3},graph 0 to {3},graph 1 nohead back lw 2 dt {4} lc rgb {2}\n",
                       D.low, D.high, colour, D.value, dashes);
}

// ---------------------------------------------------------------------------------------------------
// What several figures group by

std::string shape_text(const Sweep& shape)
{
    return fmt::format("B = {}, F = {}, P = {}, {} matmul, {} on the wire", shape.B, shape.F, shape.P, name_of(shape.compute_type),
                       name_of(shape.wire_type));
}

/// Shapes in the order of the analysis, each with its sweeps that communicate.
std::vector<std::pair<Sweep, std::vector<Sweep>>> shapes_of(const Analysis& analysis)
{
    std::vector<std::pair<Sweep, std::vector<Sweep>>> shapes;
    for (const Sweep& sweep : sweeps_of(analysis)) {
        if (sweep.P < 2) continue;
        const auto known = std::ranges::find(shapes, shape_of(sweep), &std::pair<Sweep, std::vector<Sweep>>::first);
        if (known == shapes.end())
            shapes.push_back({shape_of(sweep), {sweep}});
        else
            known->second.push_back(sweep);
    }
    return shapes;
}

/// The strategy that others are compared with: mpi_allreduce where it was measured.
const Sweep& reference_of(const std::vector<Sweep>& sweeps)
{
    const auto found = std::ranges::find(sweeps, "mpi_allreduce", &Sweep::strategy);
    return found == sweeps.end() ? sweeps.front() : *found;
}

double s_of(const Sweep& sweep) { return static_cast<double>(bytes_of(sweep.wire_type)); }

/// Bus bandwidth of the strategy in its sweep, or nothing.
std::optional<Estimate> bandwidth_in_sweep(const Analysis& analysis, const Sweep& sweep)
{
    for (const AllreduceRate& rate : analysis.allreduce_rates) {
        const bool same = rate.in_sweep && rate.P == sweep.P && rate.wire_type == sweep.wire_type && rate.strategy == sweep.strategy;
        if (same && rate.V_bytes == bytes_of(sweep.wire_type) * sweep.B * sweep.F) return rate.bus_bytes_per_s;
    }
    return std::nullopt;
}

} // namespace

// ---------------------------------------------------------------------------------------------------
// Crossover

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
        const auto times = [](const Look& look, std::string_view title) { return with_intervals("1", "$2*unit", "$3*unit", "$4*unit", look, title); };
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
// Roofline

namespace {

/// One slanted roof: what the processor reaches where so many bytes per second come in or go out.
struct Roof {
    std::string name;
    Estimate bytes_per_s;
};

/// The bandwidths that bound a step of this shape, as far as they are known. A further one, such as that of the memory, is one more
/// line here.
std::vector<Roof> roofs_of(const Analysis& analysis, const Sweep& reference)
{
    std::vector<Roof> roofs;
    if (const auto& W = analysis.calibration.W_bytes_per_s) roofs.push_back({"the link, W", *W});
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

/// A region of the roofline between two intensities, as the scaling book colours them.
std::string region(double low, double high, std::string_view colour)
{
    if (!(low < high)) return "";
    return fmt::format("set object rectangle from {},graph 0 to {},graph 1 behind fc rgb {} fs transparent solid 0.15 noborder\n", low, high, colour);
}

std::string megabytes(const Estimate& rate)
{
    return estimate_text(rate, 1e-6) + " MB/s";
}

std::string gigaflops(const Estimate& rate)
{
    return estimate_text(rate, 1e-9) + " GFLOP/s";
}

} // namespace

void add_roofline_figures(const Analysis& analysis, Figures& figures)
{
    const auto shapes = shapes_of(analysis);
    const auto& C = analysis.calibration.C_flop_per_s;
    if (shapes.empty() || !C) {
        figures.omitted.emplace_back(shapes.empty() ? "No roofline: no step with communication was measured." : "No roofline: C was not measured.");
        return;
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
        const auto& [shape, sweeps] = shapes[i];
        const std::vector<Roof> roofs = roofs_of(analysis, reference_of(sweeps));
        if (roofs.empty()) {
            figures.omitted.push_back(fmt::format("No roofline at {}: no bandwidth was measured.", shape_text(shape)));
            continue;
        }
        PlotBuilder plot(numbered("roofline", i, shapes.size()));
        Range intensities, rates;
        std::vector<Rows> attained;
        for (const Sweep& sweep : sweeps) attained.push_back(attained_rates(analysis, sweep, intensities, rates));
        for (const Roof& roof : roofs) intensities.take(critical_intensity(C->value, roof.bytes_per_s.value));
        rates.take(C->value);
        const Range x = intensities.widened(1.6);

        std::string caption = fmt::format("Roofline: the rate at which a rank computes within a step, over the FLOP it does per byte it has to send, "
                                          "D/(s(P-1)), below C = {}", gigaflops(*C));
        const double at_all = critical_intensity(C->value, roofs.front().bytes_per_s.value),
                     at_none = critical_intensity(C->value, roofs.back().bytes_per_s.value);
        std::string regions = region(x.low, at_all, "vermillion") + region(at_all, at_none, "yellow") + region(at_none, x.high, "green");
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
        plot.add_key("with boxes fc rgb vermillion fs transparent solid 0.15 noborder", roofs.size() > 1 ? "waits at all bandwidths" : "waits for the network");
        if (roofs.size() > 1) plot.add_key("with boxes fc rgb yellow fs transparent solid 0.3 noborder", "waits at the lower only");
        plot.add_key("with boxes fc rgb green fs transparent solid 0.15 noborder", "compute-bound");
        caption += ". A step that overlaps nothing reaches half of the roof at its edge.";
        figures.drawn.push_back(std::move(plot).figure(
            shape_text(shape), caption,
            log_axis('x', x, "intensity towards the link (FLOP per byte sent)") +
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
    const bool over_C_over_W = launches.size() > 1; // one launch has one C and one W
    const bool over_V = !over_C_over_W && V.high > V.low, over_P = !over_C_over_W && !over_V && P.high > P.low;
    if (points.size() < 2 || !(over_C_over_W || over_V || over_P)) {
        figures.omitted.emplace_back("No figure of D* across launches and shapes: it takes two crossovers that differ in C/W, V or P.");
        return;
    }

    PlotBuilder plot("law");
    const double tolerance = AnalysisOptions{}.tolerance;
    Range x = over_C_over_W ? C_over_W.widened(1.2) : over_V ? V.widened(2) : P.widened(1.3);
    Rows band, line;
    const Estimate& CW = points.front().C_over_W;
    constexpr int steps = 60;
    for (int i = 0; i <= steps; ++i) {
        const double at = x.low * std::pow(x.high / x.low, static_cast<double>(i) / steps);
        const double law = over_C_over_W ? at : CW.value;
        band.push_back({at, law / tolerance, law * tolerance});
        line.push_back({at, law});
        y.take(law / tolerance);
        y.take(law * tolerance);
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
        log_axis('x', x, over, over_V ? bytes : plain) + log_axis('y', y.widened(1.2), "D_obs / (s(P-1)) (FLOP per byte)")));
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
    const Calibration& calibration = analysis.calibration;
    if (maps.empty() || !calibration.C_flop_per_s || !calibration.W_bytes_per_s) {
        figures.omitted.emplace_back("No map of the regimes: it takes a sweep with communication, C and W.");
        return;
    }
    for (size_t i = 0; i < maps.size(); ++i) {
        const Sweep& first = maps[i].front();
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
        if (const auto& W = analysis.calibration.W_bytes_per_s) {
            rates.take(*W);
            plot.add("V (byte), W (byte/s)", {{x.low, W->value}, {x.high, W->value}}, {"using 1:($2*1e-6) with lines lw 2 lc rgb black title 'bound: the link, W'"});
            band = fmt::format("set object rectangle from graph 0, first {} to graph 1, first {} behind fc rgb black fs transparent solid 0.12 noborder\n",
                               W->low * 1e-6, W->high * 1e-6);
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
            log_axis('x', x, "message V (bytes)", bytes) + linear_axis('y', rates.high * 1e-6 * 1.08, "bus bandwidth (MB/s)") + band));
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

// ---------------------------------------------------------------------------------------------------
// Repetitions

namespace {

constexpr size_t most_marks = 4000; ///< of one figure: more than that no eye tells apart, and the page would swell

/// Evenly spaced order statistics where there are more values than `most`; spread sideways so that equal ones do not hide each other.
void add_marks(double x, std::vector<double> values, size_t most, Rows& rows, Range& range)
{
    std::ranges::sort(values);
    const size_t n = std::min(values.size(), std::max<size_t>(most, 3));
    constexpr double golden = 0.618033988749895; // its multiples leave no gaps and make no lines
    for (size_t i = 0; i < n; ++i) {
        const size_t rank = n < values.size() ? i * (values.size() - 1) / (n - 1) : i;
        const double aside = std::fmod(static_cast<double>(i) * golden, 1.0) - 0.5;
        rows.push_back({x, values[rank], aside});
        range.take(values[rank]);
    }
}

std::vector<double> over_median(const Series& series)
{
    std::vector<double> values = values_of(series);
    const double middle = median(values);
    for (double& value : values) value /= middle;
    return values;
}

} // namespace

void add_repetition_figures(const Analysis& analysis, std::span<const RunData> launches, Figures& figures)
{
    const std::vector<PointSamples> samples = collect_samples(launches);
    const std::vector<Sweep> sweeps = sweeps_of(analysis);
    if (analysis.points.empty()) figures.omitted.emplace_back("No figure of the repetitions: no point of a sweep was measured.");

    for (size_t i = 0; i < sweeps.size(); ++i) {
        struct Part {
            const Series PointSamples::*series;
            const char* name;
            const char* look;
            Rows rows = {};
        };
        Part parts[] = {{&PointSamples::comp_s, "t_comp", "pt 7 lc rgb blue"},
                        {&PointSamples::comm_s, "t_comm", "pt 5 lc rgb vermillion"},
                        {&PointSamples::step_s, "t_step", "pt 9 lc rgb black"}};
        std::vector<const PointSamples*> points;
        for (const PointSamples& its : samples)
            if (its.point.kind == PointKind::crossover && its.point.D > 0 && sweep_of(its.point) == sweeps[i]) points.push_back(&its);
        Range D, ratios;
        std::set<int64_t> places;
        for (const PointSamples* point : points)
            for (Part& part : parts) {
                const Series& series = point->*part.series;
                if (series.empty()) continue;
                D.take(static_cast<double>(point->point.D));
                places.insert(point->point.D);
                add_marks(static_cast<double>(point->point.D), over_median(series), most_marks / (3 * points.size()), part.rows, ratios);
            }
        if (D.empty()) continue;
        // Three columns beside each other in the room that the closest points leave.
        double closest = std::log(2);
        for (auto place = places.begin(); std::next(place) != places.end(); ++place)
            closest = std::min(closest, std::log(static_cast<double>(*std::next(place)) / static_cast<double>(*place)));
        const Range x = D.widened(1.2);
        constexpr double least_share = 0.02; // of the axis: below, the columns of close points lie on each other rather than be lines
        const double room = std::max(closest, least_share * std::log(x.high / x.low));

        PlotBuilder plot(numbered("repetitions", i, sweeps.size()));
        for (int column = 0; Part& part : parts)
            plot.add(fmt::format("D, {} / its median at this D, place aside", part.name), part.rows,
                     {fmt::format("using ($1*exp(room*(0.28*({}) + 0.2*$3))):2 with points ps 0.35 {} title '{}'", column++ - 1, part.look, part.name)});
        figures.drawn.push_back(std::move(plot).figure(
            sweep_text(sweeps[i]),
            fmt::format("Repetitions: each time against the median of its point, the slowest rank's; of a point with many, evenly spaced quantiles. "
                        "{}{}.", counted(points.size(), "point"), launches.size() > 1 ? ", all launches together" : ""),
            log_axis('x', x, "contraction dimension D (elements)") + log_axis('y', ratios.widened(1.05), "time / median of the point") +
                fmt::format("room = {} # for the three columns of a point, in log D\nset key samplen 1\n", room)));
    }
}

void add_rank_figure(std::span<const RunData> launches, Figures& figures)
{
    bool differ = false;
    std::vector<std::vector<double>> of_rank;
    for (const RunData& run : launches) {
        differ = differ || !slow_ranks(run).empty();
        const std::vector<std::vector<double>> of_this = relative_rank_times(run);
        of_rank.resize(std::max(of_rank.size(), of_this.size()));
        for (size_t rank = 0; rank < of_this.size(); ++rank) of_rank[rank].insert(of_rank[rank].end(), of_this[rank].begin(), of_this[rank].end());
    }
    if (!differ) {
        figures.omitted.emplace_back("No figure of the ranks: none is slower than the others beyond noise.");
        return;
    }
    Rows marks, medians;
    Range ratios;
    for (size_t rank = 0; rank < of_rank.size(); ++rank) {
        if (of_rank[rank].empty()) continue;
        add_marks(static_cast<double>(rank), of_rank[rank], most_marks / of_rank.size(), marks, ratios);
        medians.push_back(row_of(static_cast<double>(rank), median_estimate(of_rank[rank])));
    }
    PlotBuilder plot("ranks");
    plot.add("rank, matmul time / median over ranks, place aside", marks, {"using ($1+0.5*$3):2 with points pt 7 ps 0.35 lc rgb skyblue title 'each matmul'"});
    plot.add("rank, median, low, high", medians, {"using 1:2:3:4 with yerrorbars pt 5 lw 2 lc rgb blue title 'median'"});
    figures.drawn.push_back(std::move(plot).figure(
        "Matmul time of each rank", "Ranks: each matmul against the median over ranks of the same repetition, per column of the shard; 1 where all are equally fast.",
        axis_label('x', "rank") + fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(of_rank.size()) - 0.4) +
            (of_rank.size() <= 16 ? "set xtics 1\n" : "") + log_axis('y', ratios.widened(1.05), "time / median over ranks")));
}

Figures figures_of(const Analysis& analysis, std::span<const RunData> launches)
{
    Figures figures;
    add_crossover_figures(analysis, figures);
    add_roofline_figures(analysis, figures);
    add_memory_roofline_figures(analysis, figures);
    add_overlap_figures(analysis, figures);
    add_regime_figures(analysis, figures);
    add_allreduce_figures(analysis, figures);
    add_law_figure(analysis, launches, figures);
    add_rank_figure(launches, figures);
    add_repetition_figures(analysis, launches, figures);
    return figures;
}

} // namespace shardline
