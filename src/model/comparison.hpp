#pragma once

// What has changed between two groups of launches, beyond noise and by enough to matter.

#include "model/run_data.hpp"
#include "model/statistics.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// When a difference is called a change.
struct ComparisonOptions {
    double threshold = 0.03;  ///< relative size below which nothing is called a change
    double false_alarm = 0.05; ///< probability that anything at all is called changed where nothing is
};

/// One quantity measured in both groups.
struct Change {
    Point point;          ///< where it was measured; a sweep's D_obs: its point with D = 0
    std::string quantity; ///< "t_comp", "t_comm", "t_step" or "D_obs"
    double base = 0;      ///< s: geometric mean over visits or launches of their medians, the median where these are too few; elements for D_obs
    double current = 0;
    std::optional<Estimate> ratio; ///< current / base with its 95 % interval; nothing where the visits are too few
    double p_value = 1; ///< of a difference as large as this where there is none, for this quantity alone
    bool changed = false; ///< beyond the threshold, and significant when all quantities are judged together
};

struct Comparison {
    std::vector<Change> changes; ///< every quantity that both groups have
    int64_t quantities_of_one_side = 0; ///< those that only one group has: points the other did not visit
    bool changed() const;
};

/// Compares what was measured at points that both groups visited. What is compared are logarithms of medians, one for
/// each visit to a point, or for each launch where both groups have at least three: Welch's t test for each quantity,
/// and Holm's correction over all of them (Holm 1979). D_obs by the intervals of its two estimates. The launches of a
/// group must be poolable and have passed check_run; whether the groups may be compared is the caller's to say.
Comparison compare(std::span<const RunData> base, std::span<const RunData> current, const ComparisonOptions& options = {});

/// Which of the tests of one family are significant together at that level (Holm's step-down procedure).
std::vector<bool> holm_significant(std::span<const double> p_values, double level);

} // namespace shardline
