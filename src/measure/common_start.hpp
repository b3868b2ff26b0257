#pragma once

// A common start of the ranks' repetitions, and the ranks' clocks against each other.

#include "experiment/experiment.hpp"
#include "measure/session.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <vector>

namespace shardline {

/// Brings the ranks to a repetition's start, by a barrier or at an agreed moment of the modelled clocks.
class CommonStart {
public:
    CommonStart(const Session& session, Sync sync);

    /// Measures every rank's clock against rank 0's by ping-pong, the quickest of several deciding; from the second
    /// time on the drift too. Costs P−1 exchanges one after the other. Returns the models of all ranks on
    /// rank 0 (empty elsewhere). Collective over control.
    std::vector<ClockModel> model_clocks();

    /// Waits for the start. True where this rank came too late for the agreed moment (never with a barrier).
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
    ClockModel compare_with(int rank);
    void answer_root();

    const Session& session_;
    Sync sync_;
    ClockModel mine_;
    std::vector<ClockModel> all_; ///< on rank 0
    int64_t window_ns_;
};

/// Rank 0's time at that rank's reading.
int64_t to_common_ns(const ClockModel& clock, int64_t reading_ns);

/// That rank's reading at rank 0's time.
int64_t to_own_ns(const ClockModel& clock, int64_t common_ns);

/// The newer model with the drift that both offsets show; taken too close together, or no further apart than their
/// errors, they say nothing about it, and the drift known before is kept.
ClockModel with_drift(const ClockModel& newer, const ClockModel& older);

} // namespace shardline
