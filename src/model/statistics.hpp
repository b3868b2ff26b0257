#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// A value with an interval that covers the truth with probability `confidence`.
struct Estimate {
    double value = 0;
    double low = 0;
    double high = 0;
    int64_t n = 0; ///< samples behind it
    double confidence =
        0.95; ///< less where the samples are too few for 95 %: then [low, high] is their range
    /// The half-widths are Student's t quantile for so many degrees of freedom times the standard error.
    double degrees_of_freedom = std::numeric_limits<double>::infinity();

    /// (high − low) / 2 relative to value.
    double relative_half_width() const { return (high - low) / (2 * value); }
    /// The longer side of the interval relative to value.
    double relative_reach() const { return (high - value > value - low ? high - value : value - low) / value; }
    bool contains(double x) const { return low <= x && x <= high; }
    bool reaches_95() const { return confidence >= 0.95; }
};

/// The estimate in another unit: value and interval times a positive factor.
Estimate scaled(Estimate estimate, double factor);

/// work / time, with the interval that follows from the time's.
Estimate rate_from(double work, const Estimate& time_s);

/// Fewest independent samples whose range covers the median of their distribution with 95 % probability.
inline constexpr int64_t min_samples_for_95 = 6;

/// Median of a non-empty sample (mean of the two middle values when even in number).
double median(std::span<const double> sample);

/// Median absolute deviation from the median, unscaled.
double median_absolute_deviation(std::span<const double> sample);

/// Median of independent samples with its rank-based interval: order statistics chosen by the binomial
/// distribution and interpolated to 95 % (Hettmansperger and Sheather 1986). Needs a non-empty sample;
/// below min_samples_for_95 the interval is the range, with the confidence that gives, 1 − 2^(1−n).
Estimate median_estimate(std::span<const double> sample);

/// The same for samples that come in visits, whose repetitions need not be independent of each other
/// while visits are; `visit[i]` is the visit of sample[i], equal ones standing together. Each visit's
/// agreement in sign about the median decides how far the order statistics move apart.
Estimate median_estimate(std::span<const double> sample, std::span<const int32_t> visit);

/// A pooled estimate widened by what its launches alone gave: the hull of its interval and Student's t
/// interval over the logarithms of `launch_values` (all positive). Fewer than two values change nothing.
Estimate with_launch_spread(Estimate pooled, std::span<const double> launch_values);

/// Samples that gather around two values.
struct TwoModes {
    double low = 0, high = 0; ///< medians of the two groups
    double share_high = 0;    ///< of the samples
};

/// Two groups of at least a quarter of the samples each, parted by a gap that chance does not leave in
/// samples of one mode. Needs positive values; nothing for fewer than twelve, or where the groups differ by
/// less than 5 %.
std::optional<TwoModes> two_modes(std::span<const double> sample);

/// Quantile 0.975 of Student's t distribution; degrees_of_freedom >= 1.
double student_t_975(double degrees_of_freedom);

/// Probability of a value beyond ±t under Student's t distribution; degrees_of_freedom >= 1, may be infinite.
double student_t_two_sided(double t, double degrees_of_freedom);

/// Quantile 0.975 of the normal distribution.
inline constexpr double normal_975 = 1.959963984540054;

} // namespace shardline
