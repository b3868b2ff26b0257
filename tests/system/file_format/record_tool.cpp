// Test program: writes a sample run, or prints what the reader makes of a file.
//
//     record_tool write FILE [killed|thinned]
//     record_tool summary FILE

#include "model/error.hpp"
#include "model/thinning.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "tests/unit/record/sample_run.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>

#include <unistd.h>

namespace {

using namespace shardline;

void write(const std::string& path, std::string_view how)
{
    constexpr int32_t ranks = 2;
    const bool is_thinned = how == "thinned";
    std::vector<Point> points;
    RunData header = test::sample_header(ranks);
    if (is_thinned) header.repetitions.kept = kept_readings;
    RunWriter writer(path, header, Overwrite::allow);
    for (const int64_t D : {100, 200}) {
        const Point point = test::sample_point(D, ranks);
        writer.append(std::span(&point, 1));
        points.push_back(point);
    }
    for (size_t visit = 0; visit < 60; ++visit) {
        const Repetitions rows = test::sample_repetitions(ranks, visit * 10, 10, visit % 2);
        writer.append(is_thinned ? thinned(rows, points) : rows);
    }
    if (is_thinned) writer.append(std::vector{RankSummary{0, 0, 10, 1.0}, RankSummary{1, 0, 10, 1.0}});
    writer.append(Check{0, 0, 0, 0, true});
    writer.append(std::vector{ClockModel{1, 0, 10, 1e-6, 5}});
    if (how == "killed") ::raise(SIGKILL);
    writer.close(RunStatus::complete);
}

/// Median of the slowest rank's matmul time over the repetitions that are used, in ns.
double median_comp_ns(const RunData& run, int32_t point)
{
    const auto& r = run.repetitions;
    const auto readings = static_cast<size_t>(r.readings_per_row());
    std::vector<double> times;
    for (size_t row = 0; row < r.size(); ++row) {
        if (r.point[row] != point || r.warmup[row] || r.late[row] || r.mode[row] != static_cast<uint8_t>(Mode::phases)) continue;
        int64_t longest = 0;
        for (size_t i = row * readings; i < (row + 1) * readings; ++i) longest = std::max(longest, r.comp_end_ns[i] - r.comp_begin_ns[i]);
        times.push_back(static_cast<double>(longest));
    }
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

void print_summary(const RunData& run)
{
    std::cout << "ranks " << run.ranks.size() << "\npoints " << run.points.size() << "\nrepetitions " << run.repetitions.size()
              << "\nchecks " << run.checks.size() << "\nfindings " << run.findings.size() << "\nclocks " << run.clocks.size()
              << "\nstatus " << static_cast<int>(run.status) << '\n';
    for (size_t i = 0; i < run.points.size(); ++i) {
        const Point& point = run.points[i];
        std::cout << "point " << point.B << ' ' << point.D << ' ' << point.F << ' '
                  << median_comp_ns(run, static_cast<int32_t>(i)) << '\n';
    }
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view command = argc > 2 ? argv[1] : "";
    try {
        if (command == "write")
            write(argv[2], argc > 3 ? argv[3] : "");
        else if (command == "summary")
            print_summary(read_run(argv[2]));
        else
            return 2;
    } catch (const InputError& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
    return 0;
}
