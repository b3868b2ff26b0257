#include "postprocess/plot_builder.hpp"

#include "model/text.hpp"
#include "postprocess/gnuplot.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace shardline {
namespace {

/// Okabe and Ito's colours, which the colour-blind can tell apart; defined at the top of every script.
constexpr std::string_view colours[] = {"blue", "vermillion", "green", "purple", "orange", "skyblue", "black"};
/// Filled shapes first: in print they take the colours' place. One more than there are colours, so that no pair of both comes twice soon.
constexpr int point_types[] = {7, 5, 9, 13, 11, 15, 6, 4};

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

/// `set xtics ('1' 1, '2' 2, ...)`, of positions in the unit that the axis has.
std::string tics_command(char axis, const std::vector<double>& positions, std::string (*text)(double))
{
    std::string list;
    for (const double position : positions) list += fmt::format("{}'{}' {}", list.empty() ? "" : ", ", text(position), position);
    return fmt::format("set {}tics ({})\n", axis, list);
}

} // namespace

std::string SeriesLook::points() const { return fmt::format("pt {} lc rgb {}", point_type, colour); }
std::string SeriesLook::line() const { return fmt::format("lc rgb {} lw {}", colour, line_width); }

SeriesLook look(size_t series)
{
    return {point_types[series % std::size(point_types)], colours[series % std::size(colours)], 1.5, static_cast<int>(series % 5) + 1};
}

void Range::take(double value)
{
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

void Range::take(const Estimate& estimate)
{
    for (const double value : {estimate.low, estimate.value, estimate.high}) take(value);
}

std::string tic_text(double value) { return value >= 1e4 && value < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string bytes_text(double value) { return si_text(value, "B"); }

std::string axis_label(char axis, std::string_view text) { return fmt::format("set {}label {}\n", axis, gnuplot_string(text)); }

std::string log_axis(char axis, const Range& range, std::string_view label, std::string (*text)(double))
{
    return axis_label(axis, label) + fmt::format("set logscale {0}\nset {0}range [{1}:{2}]\n", axis, range.low, range.high) +
           tics_command(axis, tics(range), text);
}

std::string linear_axis(char axis, double high, std::string_view label)
{
    return axis_label(axis, label) + fmt::format("set {}range [0:{}]\n", axis, high);
}

void PlotBuilder::add(std::string_view columns, const Rows& rows, const std::vector<std::string>& elements)
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

void PlotBuilder::add_key(std::string_view style, std::string_view title)
{
    element_of(fmt::format("NaN {} title {}", style, gnuplot_string(title)));
}

Figure PlotBuilder::figure(std::string title, std::string caption, std::string setup) &&
{
    setup = fmt::format("set title {}\n", gnuplot_string(title)) + setup;
    return {std::move(name_), std::move(title), std::move(caption), std::move(setup), std::move(plot_), std::move(data_)};
}

void PlotBuilder::element_of(std::string text) { plot_ += (plot_.empty() ? "" : ", \\\n  ") + std::move(text); }

std::vector<std::string> with_intervals(std::string_view x, std::string_view y, std::string_view low, std::string_view high, const SeriesLook& look,
                                        std::string_view title)
{
    return {fmt::format("using {}:({}):(0):({}-{}) with vectors nohead {} notitle", x, low, high, low, look.line()),
            fmt::format("using {}:({}) with linespoints {} {} dt {} title {}", x, y, look.line(), fmt::format("pt {}", look.point_type), look.dashes,
                        gnuplot_string(title))};
}

std::string add_link_bound(PlotBuilder& plot, const Range& V, const Estimate& W, std::string_view colour, double opacity)
{
    plot.add("V (byte), W (byte/s)", {{V.low, W.value}, {V.high, W.value}},
             {fmt::format("using 1:($2*1e-6) with lines lw 2 lc rgb {} title 'bound: the link, W'", colour)});
    return fmt::format("set object rectangle from graph 0, first {} to graph 1, first {} behind fc rgb {} fs transparent solid {} noborder\n",
                       W.low * 1e-6, W.high * 1e-6, colour, opacity);
}

std::vector<double> row_of(double x, const Estimate& y) { return {x, y.value, y.low, y.high}; }

std::string numbered(std::string_view name, size_t index, size_t count)
{
    return count == 1 ? std::string(name) : fmt::format("{}-{}", name, index + 1);
}

std::string megabytes(const Estimate& rate) { return estimate_text(rate, 1e-6) + " MB/s"; }

std::string gigaflops(const Estimate& rate) { return estimate_text(rate, 1e-9) + " GFLOP/s"; }

} // namespace shardline
