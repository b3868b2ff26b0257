#pragma once

#include "model/analysis.hpp"

#include <string>
#include <vector>

namespace shardline {

/// What the analysis means for a user, a plain sentence each: what bounds a step and why, which one change would move D*
/// most and where to, and which strategy to use at which D with what gain. `D` limits the advice to the nearest measured D; 0: all.
std::vector<std::string> explanation(const Analysis& analysis, int64_t D = 0);

/// The advice at one D alone: "at D = 5060 use pipelined_thread: ...".
std::string advice_sentence(const StrategyAdvice& advice);

} // namespace shardline
