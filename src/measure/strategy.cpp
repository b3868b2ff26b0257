#include "measure/strategy.hpp"

#include "measure/persistent.hpp"
#include "measure/session.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace shardline {

namespace {

constexpr std::array<std::pair<std::string_view, Strategy>, 6> names{{
    {"mpi_allreduce", Strategy::mpi_allreduce},
    {"mpi_persistent", Strategy::mpi_persistent},
    {"mpi_iallreduce", Strategy::mpi_iallreduce},
    {"segmented_ring", Strategy::segmented_ring},
    {"pipelined_test", Strategy::pipelined_test},
    {"pipelined_thread", Strategy::pipelined_thread},
}};

} // namespace

std::optional<Strategy> strategy_named(std::string_view name)
{
    for (const auto& [known, strategy] : names)
        if (known == name) return strategy;
    return std::nullopt;
}

bool overlaps(Strategy strategy)
{
    return strategy == Strategy::mpi_iallreduce || strategy == Strategy::pipelined_test || strategy == Strategy::pipelined_thread;
}

bool is_segmented(Strategy strategy)
{
    return strategy == Strategy::segmented_ring || strategy == Strategy::pipelined_test || strategy == Strategy::pipelined_thread;
}

std::string why_unavailable(Strategy strategy)
{
    if (strategy == Strategy::mpi_persistent && !has_persistent_collectives())
        return fmt::format("this MPI, {}, has no persistent collectives", mpi_version_text());
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (strategy == Strategy::pipelined_thread && level < MPI_THREAD_SERIALIZED)
        return fmt::format("this MPI, {}, lets only the main thread call it", mpi_version_text());
    return "";
}

std::vector<Finding> leave_out_unavailable(std::vector<std::string>& strategies, const std::function<std::string(Strategy)>& why)
{
    std::vector<std::string> available;
    std::vector<Finding> findings;
    for (const std::string& name : strategies) {
        const std::optional<Strategy> strategy = strategy_named(name);
        const std::string reason = strategy ? why(*strategy) : "";
        if (reason.empty())
            available.push_back(name);
        else
            findings.push_back({.code = "strategy_left_out", .severity = Severity::warning, .rank = -1,
                                .text = fmt::format("strategy {} is skipped ({}): the others are measured without it", name, reason)});
    }
    if (available.empty()) return {};
    strategies = available;
    return findings;
}

} // namespace shardline
