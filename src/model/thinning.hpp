#pragma once

// What is kept of repetitions on very many ranks, where every rank's readings would be too much for rank 0 and for the file.

#include "model/run_data.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace shardline {

/// Readings that a thinned row holds.
inline constexpr int32_t kept_readings = 4;

/// The rows with, of each, the readings of rank 0, of the rank whose matmul was longest, of the one whose communication was longest
/// (in Mode::step: its matmul and communication together) and of the one whose communicating thread took the most CPU time: so every
/// maximum over ranks stays what it is. The matmul's mean over ranks is kept beside them. `rows` hold every rank's readings.
Repetitions thinned(const Repetitions& rows, std::span<const Point> points);

/// Gathers, from visits that are yet to be thinned, how fast each of the ranks that share a point is in the pass.
class RankSummaries {
public:
    /// `ranks`: the most that share a point; points that fewer share do not count.
    explicit RankSummaries(int32_t ranks) : log_times_(static_cast<size_t>(ranks)) {}

    void add(const Repetitions& rows, std::span<const Point> points);

    /// One row for each rank, in their order, and begins anew; nothing where no matmul was added.
    std::vector<RankSummary> take(int32_t pass);

private:
    std::vector<std::vector<double>> log_times_; ///< of the pass, by rank
};

} // namespace shardline
