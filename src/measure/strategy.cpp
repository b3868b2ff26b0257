#include "measure/strategy.hpp"

#include <array>
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

} // namespace shardline
