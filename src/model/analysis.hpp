#pragma once

// From recorded runs to a verdict. The runner's closing table and the report call this same analysis.

#include "model/allreduce_rates.hpp"
#include "model/allreduce_study.hpp"
#include "model/calibration.hpp"
#include "model/factors.hpp"
#include "model/links.hpp"
#include "model/observation.hpp"
#include "model/overlap.hpp"
#include "model/roofline.hpp"
#include "model/run_data.hpp"
#include "model/scaling.hpp"
#include "model/statistics.hpp"
#include "model/verdict.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// The crossover of one (B, F, P, types, strategy).
struct Crossover {
    int64_t B = 0, F = 0;
    int32_t P = 0;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
    std::string strategy;
    Calibration calibration; ///< with its ranks, in its compute type
    std::optional<Estimate> D_law, D_model, D_obs;
    std::optional<double> ratio; ///< D_obs / D_law
    std::vector<Factor> factors;
    Verdict verdict = Verdict::inconclusive;
    std::string reason; ///< one sentence; for inconclusive it says what to change
};

/// The sweep that a crossover is of.
Sweep sweep_of(const Crossover& crossover);

struct Analysis {
    Calibration calibration;
    std::vector<PointSummary> points; ///< sweep points, by (B, F, types, strategy, P, D)
    std::vector<Crossover> crossovers;
    std::vector<OverlapPoint> overlap;  ///< of experiments with more than one strategy, or one that overlaps; else empty
    std::vector<AllreduceRate> allreduce_rates; ///< of the calibration and of each sweep, by P, wire type, strategy and V
    std::vector<StrategyAdvice> advice; ///< for each D at which several strategies were measured
    std::optional<Roofline> roofline;   ///< of a run that measured one
    std::optional<LinkMap> links;       ///< of a run that measured every pair
    std::optional<AllreduceStudy> allreduce; ///< of a run that measured its algorithms
    std::vector<Scaling> scalings;      ///< of crossovers that differ in one thing
    std::vector<Claim> claims;          ///< tested by such a run, or by such crossovers
    std::vector<Finding> findings; ///< those recorded by the runs and those seen in the data
    Verdict verdict = Verdict::inconclusive;
    std::string reason;
};

struct AnalysisOptions {
    double tolerance = 1.25; ///< factor between D_obs and D_law within which the law holds
};

/// Analyses launches of one experiment pooled. Throws DataError where the samples are not times
/// (zero, negative, out of order, or over 10^5 s), naming launch, rank, point and repetition.
/// Needs at least one launch; the launches must be poolable (see differences_between).
Analysis analyse(std::span<const RunData> launches, const AnalysisOptions& options = {});

/// What keeps two runs from pooling as launches of one experiment, one line each; empty where they pool.
std::vector<std::string> differences_between(const RunData& a, const RunData& b);

} // namespace shardline
