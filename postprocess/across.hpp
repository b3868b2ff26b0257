#pragma once

// Runs of different experiments, links or machines side by side: D* of each against the law.

#include "model/analysis.hpp"
#include "model/run_data.hpp"
#include "postprocess/figures.hpp"

#include <span>
#include <string>
#include <string_view>

namespace shardline {

/// A run and what it means by itself.
struct AnalysedRun {
    RunData run;
    Analysis analysis;
};

/// The worst verdict over all crossovers and claims of sweeps; inconclusive where no run has a crossover.
struct AcrossVerdict {
    Verdict verdict = Verdict::inconclusive;
    std::string reason; ///< one sentence
};
AcrossVerdict verdict_across(std::span<const AnalysedRun> runs);

/// A table of every crossover and what they have in common, for a terminal of that width.
std::string across_text(std::span<const AnalysedRun> runs, size_t width);

/// The same as JSON; docs/json.md.
std::string across_json(std::span<const AnalysedRun> runs);

/// D_obs over D_law of all runs; and the roofline of each sweep whose machine's memory another of the runs measured, with both slopes.
Figures figures_across(std::span<const AnalysedRun> runs);

/// Whether memory bandwidth measured in one run is that of a rank of the other: the same processors, BLAS and ranks on each machine.
bool same_processors(const RunData& a, const RunData& b);

} // namespace shardline
