#pragma once

// How far a recorded run has got, and how long it may take, from its file alone.

#include "model/run_data.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace shardline {

/// What the experiment asks of a run, as far as it says how long the run goes on.
struct RunTarget {
    int64_t passes = 6;
    int64_t time_budget_s = 0; ///< 0: none
    int64_t watchdog_s = 300;  ///< a longer pause lies between two parts of a resumed run; 0: no pause does
};

struct RunProgress {
    bool sweeping = false;      ///< points of the sweep are planned; else the run calibrates, and what follows is not known
    std::vector<int64_t> visits; ///< to each point so far, its calibration's own included
    int64_t visits_done = 0, visits_planned = 0; ///< planned: what every point gets, without those that wide intervals will ask for
    double measured_s = 0;      ///< from the first repetition to the last, without the pauses of a resumed run
    double longest_pause_s = 0; ///< between the ends of two repetitions that follow each other in one run
    std::optional<double> seconds_left; ///< for the planned visits, within the time budget; nothing before each point was visited about once
};

/// The run must have passed check_run.
RunProgress progress_of(const RunData& run, const RunTarget& target);

} // namespace shardline
