#pragma once

#include "model/run_data.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// How the partial results are summed, and whether that overlaps with the matmul.
enum class Strategy {
    mpi_allreduce,    ///< MPI_Allreduce after the matmul
    mpi_persistent,   ///< the same by a request made once (MPIX_Allreduce_init, or MPI-4's)
    mpi_iallreduce,   ///< MPI_Iallreduce for each tile of the matmul, waited for at the end
    segmented_ring,   ///< our own allreduce (SegmentedRing) after the matmul
    pipelined_test,   ///< the same begun with each tile, moved on between tiles by the thread that computes
    pipelined_thread, ///< the same, moved on by a thread of its own, which makes all MPI calls
};

/// The strategy of that name; names are those of strategy_names() of the experiment.
std::optional<Strategy> strategy_named(std::string_view name);

/// True where sums travel while later tiles are computed.
bool overlaps(Strategy strategy);
/// True where messages are cut by us.
bool is_segmented(Strategy strategy);

/// Why this MPI cannot do it; empty where it can.
std::string why_unavailable(Strategy strategy);

/// Takes out of several strategies those for which `why` has a reason, a warning each. Where none would remain all stay: to be refused.
std::vector<Finding> leave_out_unavailable(std::vector<std::string>& strategies,
                                           const std::function<std::string(Strategy)>& why = why_unavailable);

} // namespace shardline
