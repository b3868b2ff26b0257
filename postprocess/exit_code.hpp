#pragma once

#include "model/analysis.hpp"

namespace shardline {

inline constexpr int exit_usage = 2; ///< usage or input error, and output that could not be written

enum class Strictness {
    normal, ///< a crossover that the measured efficiencies explain is a success
    strict, ///< only the law itself is
};

/// Exit code of a program that ends in `verdict`; docs/report.md lists them.
constexpr int exit_code_of(Verdict verdict, Strictness strictness)
{
    switch (verdict) {
    case Verdict::holds: return 0;
    case Verdict::explained: return strictness == Strictness::strict ? 1 : 0;
    case Verdict::refuted: return 1;
    case Verdict::inconclusive: return 3;
    }
    return exit_usage;
}

} // namespace shardline
