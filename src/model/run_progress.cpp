#include "model/run_progress.hpp"

#include <algorithm>

namespace shardline {
namespace {

/// When rank 0 was through with that repetition, by its own clock.
double end_of_row_s(const Repetitions& r, size_t row)
{
    const size_t i = row * static_cast<size_t>(r.readings_per_row()); // rank 0's come first, thinned or not
    return 1e-9 * static_cast<double>(std::max(r.comp_end_ns[i], r.comm_end_ns[i]));
}

/// When each visit was over, s since the first repetition, pauses of a resumed run left out.
struct Course {
    std::vector<double> visit_ends_s;
    double end_s = 0, longest_pause_s = 0;
};

Course course_of(const Repetitions& r, int64_t watchdog_s)
{
    Course course;
    for (size_t row = 0; row < r.size(); ++row) {
        if (row > 0) {
            const double pause_s = end_of_row_s(r, row) - end_of_row_s(r, row - 1);
            // A resumed run may be on another machine, whose clock knows nothing of the first one's.
            const bool of_one_run = pause_s > 0 && (watchdog_s == 0 || pause_s <= static_cast<double>(watchdog_s));
            if (of_one_run) course.end_s += pause_s, course.longest_pause_s = std::max(course.longest_pause_s, pause_s);
        }
        const bool last_of_visit = row + 1 == r.size() || r.point[row + 1] != r.point[row] || r.pass[row + 1] != r.pass[row];
        if (last_of_visit) course.visit_ends_s.push_back(course.end_s);
    }
    return course;
}

std::vector<int64_t> visits_of(const RunData& run)
{
    std::vector<int64_t> visits(run.points.size(), 0);
    std::vector<int32_t> last_pass(run.points.size(), -1);
    for (size_t row = 0; row < run.repetitions.size(); ++row) {
        const auto point = static_cast<size_t>(run.repetitions.point[row]);
        if (run.repetitions.pass[row] == last_pass[point]) continue;
        last_pass[point] = run.repetitions.pass[row];
        ++visits[point];
    }
    return visits;
}

/// The latest visits, as many as there are points, took each point about once: so do those to come.
double visit_s(const Course& course, size_t points)
{
    const std::vector<double>& ends = course.visit_ends_s;
    const size_t visits = std::min(points, ends.size() - 1);
    return visits == 0 ? 0 : (ends.back() - ends[ends.size() - 1 - visits]) / static_cast<double>(visits);
}

} // namespace

RunProgress progress_of(const RunData& run, const RunTarget& target)
{
    RunProgress progress;
    progress.visits = visits_of(run);
    // A run of another measure has all of its points from the start and calibrates nothing apart.
    const bool other_measure = std::ranges::any_of(run.points, [](const Point& point) { return point.kind > PointKind::allreduce; });
    for (size_t i = 0; i < run.points.size(); ++i) {
        const bool in_sweep = other_measure || run.points[i].kind == PointKind::crossover;
        progress.sweeping = progress.sweeping || in_sweep;
        progress.visits_done += progress.visits[i];
        progress.visits_planned += std::max(progress.visits[i], target.passes + (in_sweep ? 0 : 1)); // calibration has a visit of its own
    }
    const Course course = course_of(run.repetitions, target.watchdog_s);
    progress.measured_s = course.end_s;
    progress.longest_pause_s = course.longest_pause_s;
    if (progress.sweeping && progress.visits_done > static_cast<int64_t>(run.points.size())) {
        progress.seconds_left = visit_s(course, run.points.size()) * static_cast<double>(progress.visits_planned - progress.visits_done);
        if (target.time_budget_s > 0)
            progress.seconds_left = std::clamp(static_cast<double>(target.time_budget_s) - course.end_s, 0.0, *progress.seconds_left);
    }
    return progress;
}

} // namespace shardline
