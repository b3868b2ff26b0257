#pragma once

// Curves through estimates: straight lines, and values that may not fall.

#include "model/statistics.hpp"

#include <optional>
#include <span>
#include <vector>

namespace shardline {

/// An estimated y at a known x.
struct FitPoint {
    double x = 0;
    Estimate y;
};

/// y = a + b·x with the covariance of a and b.
struct Line {
    double a = 0, b = 0;
    double variance_a = 0, variance_b = 0, covariance = 0;
    int64_t n = 0; ///< points behind it

    double at(double x) const { return a + b * x; }
    /// a + b·x with its 95 % interval.
    Estimate estimate_at(double x) const;
};

/// Standard error of an estimate, from its interval; not below 1 % of the value, since no machine
/// follows a straight line more closely, and a point of long samples must not decide alone.
double fit_error(const Estimate& estimate);

/// Weighted least squares with weights 1/fit_error². Where the points scatter about the line more than
/// their errors say, the covariance grows accordingly. Neither a nor b is negative: both are times, and
/// where a comes out below zero the line goes through the origin. Nothing for fewer than two different x.
std::optional<Line> fit_line(std::span<const FitPoint> points);

/// The nondecreasing values closest to `y` in weighted least squares (pool adjacent violators).
std::vector<double> nondecreasing_fit(std::span<const double> y, std::span<const double> weights);

} // namespace shardline
