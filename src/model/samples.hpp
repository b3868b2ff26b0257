#pragma once

// From clock readings to times: what the ranks recorded, checked and reduced to one number per
// repetition and quantity.

#include "model/run_data.hpp"
#include "model/statistics.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// One value of one repetition, with where it was taken. `row` is its row in the launch's repetitions.
struct Sample {
    double value = 0;
    int32_t launch = 0;
    int32_t pass = 0;
    int64_t row = 0;
};

/// Samples of one quantity, in order of launch and execution.
using Series = std::vector<Sample>;

/// The used repetitions (neither warm-up nor late) of one point, over all launches. A repetition's
/// time is the maximum over ranks, in s.
struct PointSamples {
    Point point;
    Series comp_s, comm_s; ///< Mode::phases: each part from a synchronised start
    Series comp_mean_s;    ///< the same matmuls, mean over ranks
    Series step_s;         ///< Mode::step: matmul and communication, nothing between
    Series comp_in_step_s; ///< the matmul's part of step_s
    Series comm_cpu_s;     ///< Mode::phases: CPU time of the thread that communicates, where there is one
};

/// "B = 1024, D = 512, F = 1024", "exchange of 8 bytes", ...
std::string name_of(const Point& point);

/// Throws DataError where the run's tables do not fit each other, or a sample is not a time: zero,
/// negative, or over 10^5 s; likewise where thinned rows and summaries contradict themselves. Names file, rank, point, mode and repetition.
void check_run(const RunData& run);

/// Samples of equal points of all launches pooled, in order of first appearance. `without_ranks` are left
/// out of the matmul times (a collective cannot be had without them), which needs launches that are not thinned. The launches must have passed
/// check_run.
std::vector<PointSamples> collect_samples(std::span<const RunData> launches,
                                          std::span<const int32_t> without_ranks = {});

/// Samples of launch `launch` only.
Series of_launch(const Series& series, int32_t launch);

/// The values alone.
std::vector<double> values_of(const Series& series);

/// One launch after the other, each in order of execution: samples of several points as one series.
Series pooled(std::span<const Series* const> parts);

/// Median and 95 % interval, where there is a sample. Repetitions of one pass of one launch may depend on
/// each other; launches are a factor of their own; of two modes the interval takes in both.
std::optional<Estimate> estimate_of(const Series& series);

} // namespace shardline
