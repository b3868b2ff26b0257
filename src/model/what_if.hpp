#pragma once

// What a run's measurements say about a case that was not measured: other ranks, another link, another shape or wire type.

#include "model/crossover.hpp"
#include "model/samples.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// What is asked. Nothing: as it was measured.
struct WhatIf {
    std::optional<int64_t> B{}, F{};
    std::optional<int32_t> P{};
    std::optional<ElementType> wire_type{};
    std::optional<double> W_bytes_per_s{}; ///< of the link, instead of the calibrated one
    double bandwidth_factor = 1;         ///< times the link's, calibrated or given
    std::vector<int64_t> D{};            ///< at which steps are forecast; empty: the run's, or octaves around D*
};

/// A step of one strategy at one D, in s.
struct StepForecast {
    int64_t D = 0;
    double t_comp_s = 0, t_comm_s = 0;
    double hidden = 0; ///< share of the smaller of the two that the strategy hides behind the larger, as it did where it was measured
    double t_step_s = 0;
};

struct StrategyForecast {
    std::string strategy;
    double t_comm_s = 0;
    std::optional<Estimate> D_star;        ///< where t_comp and t_comm cross; the interval is the measurements' alone
    std::optional<double> D_star_if_fixed; ///< the same where what the collective takes beyond the link's bound (copies, sums) does not
                                           ///< become quicker with the link; only where the link is another
    std::vector<StepForecast> steps;
};

struct Forecast {
    Sweep measured, asked; ///< without a strategy
    std::optional<double> W_measured_bytes_per_s, W_bytes_per_s;
    std::optional<Estimate> D_law; ///< s·(P−1)·C/W with the calibrated C and the asked W
    std::vector<StrategyForecast> strategies; ///< those whose cost was measured, by name
    std::vector<std::string> notes; ///< what the forecast rests on beyond the measurements, a sentence each
};

/// Forecasts from the samples of launches of one experiment. The matmul: its measured rate by the width of the shard, of the shape nearest
/// to the asked one. The collective: α + β·V fitted to all its measured sizes; with P ranks α grows as P − 1 (a ring's start-up) and β as
/// (P − 1)/P; β falls as the link's rate grows. The step: each strategy goes on hiding the share of the smaller part that it hid at the
/// same ratio t_comp/t_comm. Throws InputError where the run has no sweep or no calibration to go by, or the case has no answer.
Forecast forecast(std::span<const PointSamples> points, const WhatIf& what_if);

/// Of the strategies at that step, the one with the shortest t_step; nullptr without any.
const StrategyForecast* quickest_at(const Forecast& forecast, size_t step);

} // namespace shardline
