#include "postprocess/text_plot.hpp"

#include "postprocess/printable.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"
#include "postprocess/utf8.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <vector>

namespace shardline {
namespace {

constexpr int height = 16;       ///< rows of the plot
constexpr int label_columns = 9; ///< left of it

/// A logarithmic axis of so many character cells.
struct Axis {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    int cells = 1;

    void take(double value)
    {
        if (!(value > 0) || !std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    /// The cell of a value; nothing outside the axis.
    std::optional<int> cell(double value) const
    {
        constexpr double rounding = 1e-9;
        if (!(value >= low * (1 - rounding) && value <= high * (1 + rounding))) return std::nullopt;
        if (high == low) return cells / 2;
        return std::clamp(static_cast<int>(std::lround(std::log(value / low) / std::log(high / low) * (cells - 1))), 0, cells - 1);
    }
    double at(int cell) const { return low * std::pow(high / low, static_cast<double>(cell) / std::max(cells - 1, 1)); }
};

struct Line {
    std::optional<Estimate> PointSummary::*time;
    char mark;
};
constexpr Line lines[] = {{&PointSummary::t_step_s, '#'}, {&PointSummary::t_comm_s, 'o'}, {&PointSummary::t_comp_s, 'x'}};

/// Points of a line and dots between them.
void draw_line(const std::vector<const PointSummary*>& points, const Line& line, const Axis& x, const Axis& y, std::vector<std::string>& rows)
{
    const auto put = [&](double D, double time, char mark) {
        const auto column = x.cell(D), row = y.cell(time);
        if (!column || !row) return;
        char& cell = rows[static_cast<size_t>(height - 1 - *row)][static_cast<size_t>(*column)];
        if (mark != '.' || cell == ' ') cell = mark;
    };
    const PointSummary* last = nullptr;
    for (const PointSummary* point : points) {
        if (point->point.D <= 0 || !(point->*line.time)) continue;
        if (last) {
            const double from_D = std::log(static_cast<double>(last->point.D)), to_D = std::log(static_cast<double>(point->point.D));
            const double from_t = std::log((last->*line.time)->value), to_t = std::log((point->*line.time)->value);
            for (int i = 1; i < x.cells; ++i) {
                const double share = static_cast<double>(i) / x.cells;
                put(std::exp(from_D + share * (to_D - from_D)), std::exp(from_t + share * (to_t - from_t)), '.');
            }
        }
        last = point;
    }
    for (const PointSummary* point : points)
        if (point->*line.time) put(static_cast<double>(point->point.D), (point->*line.time)->value, line.mark);
}

/// Labels below the axis at their places; one that would run into the last is left out.
std::string label_row(const Axis& x, const std::vector<std::pair<double, std::string>>& labels)
{
    std::string row(static_cast<size_t>(x.cells), ' ');
    size_t free_from = 0;
    for (const auto& [D, text] : labels) {
        const auto column = x.cell(D);
        if (!column || text.size() > row.size()) continue;
        const size_t centred = static_cast<size_t>(std::max<int>(*column - static_cast<int>(text.size()) / 2, 0));
        const size_t at = std::min(centred, row.size() - text.size());
        if (at < free_from) continue;
        row.replace(at, text.size(), text);
        free_from = at + text.size() + 2;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    return row;
}

std::string marked(std::string_view symbol, const Estimate& D)
{
    return fmt::format("{} = {}", symbol, D_estimate_text(D));
}

std::string plot_of(const Analysis& analysis, const Sweep& sweep, int width)
{
    const std::vector<const PointSummary*> points = points_of(analysis, sweep);
    Axis x{.cells = width - label_columns - 2}, y{.cells = height};
    for (const PointSummary* point : points) {
        x.take(static_cast<double>(point->point.D));
        for (const Line& line : lines)
            if (const auto& time = point->*line.time) y.take(time->value);
    }
    std::string text = "\n" + wrapped(printable(sweep_text(sweep)), static_cast<size_t>(width), 0);
    if (x.high == 0 || y.high == 0) return text + "  nothing to plot: no time was measured\n";

    std::vector<std::string> rows(height, std::string(static_cast<size_t>(x.cells), ' '));
    for (const Line& line : lines) draw_line(points, line, x, y, rows);
    for (int row = 0; row < height; ++row) {
        const bool labelled = row % 5 == 0;
        const std::string label = labelled ? time_text(y.at(height - 1 - row)) : "";
        std::string line = std::string(label_columns - std::min<size_t>(character_count(label), label_columns), ' ') + label +
                           (labelled ? " +" : " |") + rows[static_cast<size_t>(row)];
        text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    }
    const std::string margin(label_columns + 1, ' ');
    text += margin + "+" + std::string(static_cast<size_t>(x.cells), '-') + "\n";

    std::vector<std::pair<double, std::string>> D_labels;
    for (int i = 0; i <= 4; ++i) {
        const double D = x.at(i * (x.cells - 1) / 4);
        D_labels.emplace_back(D, D_text(D));
    }
    text += margin + " " + label_row(x, D_labels) + "\n";

    std::string legend = "x t_comp, o t_comm, # t_step over D (elements), logarithmic.";
    if (const Crossover* crossover = crossover_of(analysis, sweep)) {
        std::vector<std::pair<double, std::string>> marks;
        if (crossover->D_law) marks.emplace_back(crossover->D_law->value, "^law");
        if (crossover->D_obs) marks.emplace_back(crossover->D_obs->value, "^obs");
        std::ranges::sort(marks);
        for (const auto& [D, mark] : marks) {
            const auto column = x.cell(D);
            if (!column) continue;
            const bool at_the_end = static_cast<size_t>(*column) + mark.size() > static_cast<size_t>(x.cells);
            text += margin + " " + (at_the_end ? std::string(static_cast<size_t>(*column) + 1 - mark.size(), ' ') + mark.substr(1) + "^"
                                               : std::string(static_cast<size_t>(*column), ' ') + mark) + "\n";
        }
        if (crossover->D_law) legend += " " + marked("D_law", *crossover->D_law) + ".";
        legend += crossover->D_obs ? " " + marked("D_obs", *crossover->D_obs) + "." : " The measured times do not cross between the points.";
    }
    return text + wrapped(legend, static_cast<size_t>(width), 2);
}

} // namespace

std::string crossover_plots(const Analysis& analysis, int width)
{
    if (analysis.points.empty()) return "\nNothing to plot: no point of a sweep was measured.\n";
    std::string text;
    for (const Sweep& sweep : sweeps_of(analysis))
        if (!points_of(analysis, sweep).empty()) text += plot_of(analysis, sweep, std::max(width, 40));
    return text;
}

} // namespace shardline
