#include "postprocess/run_texts.hpp"

#include "postprocess/printable.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace shardline {

std::string quoted_title(const RunData& run)
{
    constexpr std::string_view key = "title = ";
    const size_t begin = run.experiment_effective.starts_with(key) ? 0 : run.experiment_effective.find(fmt::format("\n{}", key)) + 1;
    if (begin >= run.experiment_effective.size() || (begin == 0 && !run.experiment_effective.starts_with(key))) return "";
    const size_t end = std::min(run.experiment_effective.find('\n', begin), run.experiment_effective.size());
    const std::string title = printable(run.experiment_effective.substr(begin + key.size(), end - begin - key.size()));
    return title == "\"\"" ? "" : title;
}

std::string file_name(const RunData& run) { return run.path.empty() ? "this run" : printable(run.path); }

std::string status_text(const RunData& run)
{
    switch (run.status) {
    case RunStatus::complete: return "";
    case RunStatus::running:
        return file_name(run) + " is not complete: the run still goes on, or was killed. What it had stored is used.";
    case RunStatus::stopped:
        return file_name(run) + " is not complete: the run was stopped before the end of its plan. What it had stored is used.";
    case RunStatus::failed:
        return file_name(run) + " is not complete: the run ended in an error. What it had stored before is used.";
    }
    return "";
}

} // namespace shardline
