#pragma once

// A common start of the ranks' repetitions.

#include "experiment/experiment.hpp"
#include "measure/rank_clocks.hpp"
#include "measure/session.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace shardline {

/// Brings the ranks to a repetition's start, by a barrier or at an agreed moment of the modelled clocks.
class CommonStart {
public:
    CommonStart(const Session& session, Sync sync);

    /// Measures every rank's clock against rank 0's; from the second time on the drift too. Returns the models of all ranks on
    /// rank 0 (empty elsewhere). Collective over control.
    std::vector<ClockModel> model_clocks();

    /// Waits for the start. True where this rank came too late for the agreed moment (never with a barrier), which needs modelled clocks.
    /// Collective over session, or over both of the communicators, which hold the first of its ranks.
    bool wait() { return wait(session_.work(), session_.control()); }
    bool wait(MPI_Comm work, MPI_Comm control);

    /// Latest minus earliest of the readings (own clocks) of the first `ranks` ranks, without a number of all, on rank 0's clock, in
    /// ns; −1 where clocks were not modelled. On rank 0.
    int64_t skew_ns(const int64_t* readings) const { return skew_ns(readings, all_.size()); }
    int64_t skew_ns(const int64_t* readings, size_t ranks) const;

    /// Gives ranks that came late more time, ranks that never do less. Rank 0's word counts.
    void adapt_window(int64_t late, int64_t repetitions);

private:
    const Session& session_;
    Sync sync_;
    std::optional<ClockModel> mine_;
    std::vector<ClockModel> all_; ///< on rank 0
    int64_t window_ns_;
};

} // namespace shardline
