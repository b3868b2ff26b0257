#pragma once

#include "model/analysis.hpp"
#include "model/precision.hpp"
#include "model/run_progress.hpp"

#include <string>

namespace shardline {

/// Whether the run of a file still goes on.
enum class RunLife {
    ended,     ///< the file says so
    alive,     ///< it is being written, or was a moment ago
    gone,      ///< the file says "running", but nobody holds it and nothing has been written for long: the run was killed
};

/// What one look at a file of a run found.
struct Look {
    RunData run;
    RunProgress progress;
    Precision precision;
    PrecisionTarget target;
    Analysis analysis;
    RunLife life = RunLife::alive;
    bool is_held = true; ///< a program holds the file, as far as locks tell
    double quiet_s = 0;  ///< since something was written
};

/// The state of the run in a few lines of at most `width` columns: how far it is, how long it may take, how well each point is
/// known, and where the crossover seems to be. At most about `height` lines: points of the sweep are left out where there are more.
std::string watch_text(const Look& look, int width, int height);

} // namespace shardline
