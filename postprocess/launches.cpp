#include "postprocess/launches.hpp"

#include "model/analysis.hpp"
#include "model/error.hpp"
#include "record/reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardline {
namespace {

/// Whether one file is a copy of the other, however each went on: no two launches read the same nanoseconds in their first
/// repetition, on every rank whose readings are there.
bool begin_with_same_readings(const Repetitions& a, const Repetitions& b)
{
    if (a.size() == 0 || b.size() == 0 || a.ranks != b.ranks || a.kept != b.kept) return false;
    const auto same = [&](auto readings) {
        return std::equal((a.*readings).begin(), (a.*readings).begin() + a.readings_per_row(), (b.*readings).begin());
    };
    return same(&Repetitions::comp_begin_ns) && same(&Repetitions::comp_end_ns) && same(&Repetitions::comm_begin_ns) &&
           same(&Repetitions::comm_end_ns);
}

/// A run that enters twice would count its samples twice and make every interval too narrow.
void refuse_same_launch(const RunData& a, const RunData& b)
{
    std::error_code ignored;
    if (std::filesystem::equivalent(a.path, b.path, ignored) || begin_with_same_readings(a.repetitions, b.repetitions))
        throw InputError(fmt::format("{} and {} are the same launch, or copies that each went on (the samples they share would count "
                                     "twice): give each launch once",
                                     a.path, b.path));
}

void refuse_to_pool(const RunData& a, const RunData& b)
{
    const std::vector<std::string> differences = differences_between(a, b);
    if (differences.empty()) return;
    throw InputError(fmt::format("{} and {} cannot be pooled (they are not launches of one experiment: {}): report them one by one, "
                                 "or side by side with 'shardline across'",
                                 a.path, b.path, fmt::join(differences, "; ")));
}

} // namespace

void refuse_same_launch(const RunData& run, std::span<const RunData> others)
{
    for (const RunData& other : others) refuse_same_launch(other, run);
}

std::vector<RunData> read_launches(const std::vector<std::string>& files)
{
    std::vector<RunData> launches;
    for (const std::string& file : files) {
        RunData run = read_run(file);
        refuse_same_launch(run, launches);
        if (!launches.empty()) refuse_to_pool(launches.front(), run);
        launches.push_back(std::move(run));
    }
    return launches;
}

} // namespace shardline
