#pragma once

// The parts that gnuplot scripts of figures are made of: looks, axes, and a plot with its blocks of numbers.

#include "model/statistics.hpp"
#include "postprocess/figures.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// Of a series.
struct SeriesLook {
    int point_type;
    std::string_view colour;
    double line_width;
    int dashes;

    std::string points() const; ///< in gnuplot's words
    std::string line() const;   ///< solid
};

/// A series of several: its own colour, shape and dashes.
SeriesLook look(size_t series);

/// The least and the largest of positive values.
struct Range {
    double low = std::numeric_limits<double>::infinity(), high = 0;

    void take(double value);
    void take(const Estimate& estimate);
    bool empty() const { return high == 0; }
    Range widened(double factor) const { return {low / factor, high * factor}; }
};

/// "64 kB".
std::string bytes_text(double value);

/// A number of a tic: "10000", not "1e+04".
std::string tic_text(double value);

std::string axis_label(char axis, std::string_view text);

/// Label, range and tics of a logarithmic axis.
std::string log_axis(char axis, const Range& range, std::string_view label, std::string (*text)(double) = tic_text);

/// From zero to a little above the largest value.
std::string linear_axis(char axis, double high, std::string_view label);

using Rows = std::vector<std::vector<double>>;

/// The blocks of a data file and the elements of a plot, which refer to them by index.
class PlotBuilder {
public:
    explicit PlotBuilder(std::string name) : name_(std::move(name)) {}

    /// Adds rows of numbers under a heading of ours, and what is drawn of them: "using 1:2 with lines". Nothing without rows.
    void add(std::string_view columns, const Rows& rows, const std::vector<std::string>& elements);
    /// Only an entry of the key: "with lines ...".
    void add_key(std::string_view style, std::string_view title);
    bool empty() const { return blocks_ == 0; }

    Figure figure(std::string title, std::string caption, std::string setup) &&;

private:
    void element_of(std::string text);

    std::string name_, data_, plot_;
    int blocks_ = 0;
};

/// Points joined by lines, with bars from low to high that are solid whatever the dashes of the lines (yerrorlines would dash them, and
/// yerrorbars of size 0 blot the points out). Each of x, y, low, high as `using` has it.
std::vector<std::string> with_intervals(std::string_view x, std::string_view y, std::string_view low, std::string_view high, const SeriesLook& look,
                                        std::string_view title);

/// Adds W as a line over messages V, in MB/s; returns the setup of the band that its interval is.
std::string add_link_bound(PlotBuilder& plot, const Range& V, const Estimate& W, std::string_view colour, double opacity);

/// x, value, low, high.
std::vector<double> row_of(double x, const Estimate& y);

/// The name of one of several figures of a kind.
std::string numbered(std::string_view name, size_t index, size_t count);

/// "119.5 [119.4, 119.6] MB/s", "151.2 [150.4, 152.0] GFLOP/s".
std::string megabytes(const Estimate& rate);
std::string gigaflops(const Estimate& rate);

} // namespace shardline
