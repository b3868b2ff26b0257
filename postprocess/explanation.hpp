#pragma once

#include "model/analysis.hpp"

#include <span>
#include <string>
#include <vector>

namespace shardline {

/// What the analysis means for a user, a plain sentence each: what bounds a step and why, which one change would move D*
/// most and where to, and which strategy to use at which D with what gain. `D` limits the advice to the nearest measured D; 0: all.
std::vector<std::string> explanation(const Analysis& analysis, int64_t D = 0);

/// The advice, neighbouring D with the same strategy in one sentence: "From D = 1264 to 5060 use pipelined_thread: ...".
std::vector<std::string> advice_sentences(std::span<const StrategyAdvice> advice);

} // namespace shardline
