#pragma once

#include "measure/runner.hpp"

#include <cstdint>

namespace shardline {

/// Whether a person watches stderr: mpirun puts a pipe between a rank and the terminal, so the launcher's own is looked at too.
bool stderr_reaches_a_terminal();

/// Shows on stderr how far a run is: a bar that redraws itself where a person watches a terminal, a plain line
/// now and then in a batch log.
class ProgressDisplay {
public:
    ProgressDisplay();
    /// Ends the bar's line, so that what follows starts on a fresh one.
    ~ProgressDisplay();
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;

    void show(const Progress& progress);

private:
    bool on_terminal_;
    bool bar_open_ = false;
    int64_t last_shown_ns_ = 0;
};

} // namespace shardline
