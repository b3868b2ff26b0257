#include "postprocess/watch_text.hpp"

#include "postprocess/printable.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shardline {
namespace {

constexpr double worth_telling_s = 60; ///< without news

/// "sweeping, 62 of 96 visits, about 1 min 20 s left"
std::string progress_text(const RunProgress& progress)
{
    if (!progress.sweeping) return fmt::format("calibrating, {}", counted(static_cast<size_t>(progress.visits_done), "visit"));
    std::string text = fmt::format("{} of {} visits", progress.visits_done, progress.visits_planned);
    if (progress.visits_done == progress.visits_planned)
        return text + ", more until the intervals are as narrow as asked";
    if (progress.seconds_left) text += fmt::format(", about {} left", duration_text(*progress.seconds_left));
    return text;
}

std::string state_text(const Look& look)
{
    const std::string news = fmt::format("no news for {}", duration_text(look.quiet_s));
    switch (look.life) {
    case RunLife::ended:
        return fmt::format("{}, {} in {}", name_of(look.run.status), counted(static_cast<size_t>(look.progress.visits_done), "visit"),
                           duration_text(look.progress.measured_s));
    case RunLife::gone:
        return fmt::format("gone: {}, and no program holds the file. It was killed; go on with shardline-run --resume", news);
    case RunLife::alive: break;
    }
    std::string text = "running: " + progress_text(look.progress);
    if (look.quiet_s > worth_telling_s) text += "; " + news;
    if (!look.is_held) text += "; no program of this machine holds the file, was it killed?";
    return text;
}

/// "±1.2 %"; "-" where the samples do not reach an interval.
std::string half_width_text(double relative) { return std::isfinite(relative) ? fmt::format("±{:.1f} %", 100 * relative) : "-"; }

int64_t visits_to(const Look& look, const Point& point)
{
    const auto found = std::ranges::find(look.run.points, point);
    return look.progress.visits[static_cast<size_t>(found - look.run.points.begin())];
}

std::string points_text(const Look& look, const SweepPrecision& sweep)
{
    TextTable table;
    for (const char* heading : {"D", "visits", "t_comp", "t_comm", "t_step"}) table.add_column(heading, TextTable::Align::right);
    table.add_column("", TextTable::Align::left);
    for (const PointPrecision& point : sweep.points)
        table.add_row({std::to_string(point.point.D), std::to_string(visits_to(look, point.point)), half_width_text(point.t_comp),
                       half_width_text(point.t_comm), half_width_text(point.t_step), point.reached ? "known" : ""});
    return table.text(2);
}

std::string precision_text(const Look& look, const SweepPrecision& sweep, size_t width, bool with_points)
{
    const Sweep& s = sweep.sweep;
    const auto known = std::ranges::count_if(sweep.points, &PointPrecision::reached);
    std::string text = "\n" + wrapped(printable(fmt::format("B = {}, F = {}, P = {}, {}: {} of {} known to ±{:.3g} %", s.B, s.F, s.P, s.strategy,
                                                            known, counted(sweep.points.size(), "point"), 100 * look.target.point)),
                                      width, 0);
    if (with_points) text += points_text(look, sweep);
    const Crossover* its = crossover_of(look.analysis, s);
    if (!its) return text;
    text += wrapped(fmt::format("D_law {}, D_model {}", D_estimate_text(its->D_law), D_estimate_text(its->D_model)), width, 2);
    const std::string D_obs = its->D_obs ? fmt::format("D_obs {}: {}, asked for ±{:.3g} %", D_estimate_text(its->D_obs),
                                                       half_width_text(sweep.D_obs_relative_half_width), 100 * look.target.D_obs)
                                         : "D_obs not bracketed yet";
    return text + wrapped(D_obs, width, 2);
}

} // namespace

std::string watch_text(const Look& look, int width, int height)
{
    const auto columns = static_cast<size_t>(width);
    std::string text = wrapped(printable(fmt::format("{}: {}", look.run.path, state_text(look))), columns, 0);
    size_t lines = 2;
    for (const SweepPrecision& sweep : look.precision.sweeps) lines += 5 + sweep.points.size();
    const bool with_points = lines <= static_cast<size_t>(height);
    for (const SweepPrecision& sweep : look.precision.sweeps) text += precision_text(look, sweep, columns, with_points);
    return text;
}

} // namespace shardline
