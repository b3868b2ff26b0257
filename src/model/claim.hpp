#pragma once

// What a run was to test, apart from the crossover itself.

#include "model/verdict.hpp"

#include <string>

namespace shardline {

struct Claim {
    std::string name; ///< stable, for programs: "dot_at_memory_bound"
    Verdict verdict = Verdict::inconclusive;
    std::string reason; ///< one sentence; for inconclusive it says what to change
};

} // namespace shardline
