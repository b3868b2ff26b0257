#include "apps/rescue.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fcntl.h>
#include <unistd.h>

namespace shardline {

namespace {

std::string csv_of(const Repetitions& rows, std::span<const Point> points)
{
    std::string csv = "point,B,D,F,message_bytes,segment_bytes,kind,round,algorithm,mode,pass,repetition,warmup,late,rank,"
                      "comp_begin_ns,comp_end_ns,comm_begin_ns,comm_end_ns,main_cpu_ns,comm_cpu_ns,peer\n";
    const size_t readings = static_cast<size_t>(rows.readings_per_row());
    for (size_t row = 0; row < rows.size(); ++row) {
        const Point& point = points[static_cast<size_t>(rows.point[row])];
        for (size_t i = row * readings; i < (row + 1) * readings; ++i) {
            csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", rows.point[row], point.B, point.D, point.F,
                               point.message_bytes, point.segment_bytes, name_of(point.kind), point.round, point.algorithm, rows.mode[row], rows.pass[row], rows.repetition[row],
                               rows.warmup[row], rows.late[row], rows.rank_of(i), rows.comp_begin_ns[i], rows.comp_end_ns[i],
                               rows.comm_begin_ns[i], rows.comm_end_ns[i], rows.main_cpu_ns[i],
                               rows.comm_cpu_ns[i], rows.peer[i]);
        }
    }
    return csv;
}

/// Only a new file: nothing that stands there is overwritten, no link is followed.
bool written(const std::string& path, const std::string& text)
{
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (file < 0) return false;
    const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
    close(file);
    if (!whole) unlink(path.c_str());
    return whole;
}

} // namespace

std::string rescue(const Repetitions& rows, std::span<const Point> points, const std::string& output_path)
{
    const std::string csv = csv_of(rows, points);
    const std::filesystem::path output(output_path);
    std::error_code none;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(none) / output.filename();
    for (const std::filesystem::path& place : {output, temporary})
        for (int i = 1; i <= 100; ++i) {
            const std::string path = fmt::format("{}.rescued-{}.csv", place.string(), i);
            if (std::filesystem::exists(path, none)) continue;
            if (written(path, csv)) return path;
            break; // this place takes nothing
        }
    return "";
}

} // namespace shardline
