#pragma once

// The ranks' clocks against each other.

#include "measure/clock.hpp"
#include "model/run_data.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace shardline {

/// Rank 0's time at that rank's reading.
int64_t to_common_ns(const ClockModel& clock, int64_t reading_ns);

/// That rank's reading at rank 0's time.
int64_t to_own_ns(const ClockModel& clock, int64_t common_ns);

/// The newer model with the drift that both offsets show; taken too close together, or no further apart than their
/// errors, they say nothing about it, and the drift known before is kept.
ClockModel with_drift(const ClockModel& newer, const ClockModel& older);

/// What a rank answers to the question for rank 0's time, and the bound on its error.
struct CommonTime {
    int64_t at_ns = 0;
    int64_t error_ns = 0;
};

/// Answer of the rank with that clock. Its bound grows with the age of the model, as an unknown drift may be at work.
CommonTime common_time(const ClockModel& clock, int64_t reading_ns);

/// Clock of a rank that asked and was answered at these readings. The bound is the answer's and half of the round trip.
ClockModel model_from_answer(int32_t rank, int64_t asked_ns, int64_t answered_ns, const CommonTime& answer);

/// Rounds in which all ranks learn rank 0's time: ⌈log2 ranks⌉.
int clock_rounds(int ranks);

/// Whom that rank meets in that round: it asks a lower rank, which knows by then, and answers a higher one. −1: nobody.
int clock_partner(int rank, int ranks, int round);

/// What reads a rank's clock; tests have clocks that differ.
using ReadClock = int64_t();

/// Asks `other` for rank 0's time by ping-pong, the quickest of several deciding. Returns the clock of this rank. `other` must be in
/// answer_clock.
ClockModel ask_clock(MPI_Comm comm, int other, ReadClock* read = now_ns);

/// Answers `other`, which is in ask_clock, by this rank's clock.
void answer_clock(MPI_Comm comm, int other, const ClockModel& mine, ReadClock* read = now_ns);

/// Measures this rank's clock against rank 0's, along a tree: those that know answer others, all pairs of a round at once. With the model
/// known before, the drift too. Costs clock_rounds() times the ping-pong of a pair. Collective over comm.
ClockModel compare_clocks(MPI_Comm comm, const std::optional<ClockModel>& before, ReadClock* read = now_ns);

} // namespace shardline
