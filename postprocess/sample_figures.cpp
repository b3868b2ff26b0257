#include "postprocess/figures.hpp"

#include "model/detectors.hpp"
#include "model/samples.hpp"
#include "postprocess/plot_builder.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace shardline {

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
    bool differ = false, thinned = false;
    std::vector<std::vector<double>> of_rank;
    for (const RunData& run : launches) {
        differ = differ || !slow_ranks(run).empty();
        thinned = thinned || run.repetitions.kept > 0;
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
    plot.add("rank, matmul time / median over ranks, place aside", marks,
             {fmt::format("using ($1+0.5*$3):2 with points pt 7 ps 0.35 lc rgb skyblue title '{}'", thinned ? "the median of each pass" : "each matmul")});
    plot.add("rank, median, low, high", medians, {"using 1:2:3:4 with yerrorbars pt 5 lw 2 lc rgb blue title 'median'"});
    figures.drawn.push_back(std::move(plot).figure(
        "Matmul time of each rank",
        fmt::format("Ranks: {} against the median over ranks of the same repetition, per column of the shard; 1 where all are equally fast.",
                    thinned ? "matmuls, of each pass their median," : "each matmul"),
        axis_label('x', "rank") + fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(of_rank.size()) - 0.4) +
            (of_rank.size() <= 16 ? "set xtics 1\n" : "") + log_axis('y', ratios.widened(1.05), "time / median over ranks")));
}

} // namespace shardline
