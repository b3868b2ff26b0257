#pragma once

#include "measure/comm_thread.hpp"
#include "measure/operands.hpp"
#include "measure/segmented_ring.hpp"
#include "measure/strategy.hpp"
#include "measure/wire.hpp"
#include "model/run_data.hpp"
#include "model/tiles.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace shardline {

/// All that a strategy needs beside the operands: its tiles, its requests, its ring, its thread. Made ready before
/// the timed region.
struct Exchange {
    Exchange(const WireType& wire, MPI_Comm work, int64_t poll_sleep_us);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// Makes ready for that point; `operands` must have been prepared for it, and must not grow afterwards. Collective
    /// over work where the strategy is mpi_persistent.
    void prepare(const Point& point, Operands& operands);

    const WireType& wire;
    MPI_Comm work;
    int64_t poll_sleep_us;
    Strategy strategy = Strategy::mpi_allreduce;
    Tiling tiles;                       ///< of Z; a single tile where the strategy does not overlap
    std::vector<MPI_Request> requests;  ///< one for each tile
    SegmentedRing ring;
    std::optional<CommThread> thread;   ///< started when first needed
    MPI_Request persistent = MPI_REQUEST_NULL;

private:
    void free_persistent();
};

} // namespace shardline
