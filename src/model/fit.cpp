#include "model/fit.hpp"

#include <algorithm>
#include <cmath>

namespace shardline {

namespace {

/// Weighted sums from which a line follows.
struct Sums {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
};

Sums weighted_sums(std::span<const FitPoint> points)
{
    Sums sums;
    for (const FitPoint& point : points) {
        const double error = fit_error(point.y), w = 1 / (error * error);
        sums.w += w;
        sums.x += w * point.x;
        sums.y += w * point.y.value;
        sums.xx += w * point.x * point.x;
        sums.xy += w * point.x * point.y.value;
    }
    return sums;
}

Line line_from(const Sums& sums)
{
    const double determinant = sums.w * sums.xx - sums.x * sums.x;
    Line line;
    line.a = (sums.xx * sums.y - sums.x * sums.xy) / determinant;
    line.b = (sums.w * sums.xy - sums.x * sums.y) / determinant;
    line.variance_a = sums.xx / determinant;
    line.variance_b = sums.w / determinant;
    line.covariance = -sums.x / determinant;
    return line;
}

Line line_through_origin(const Sums& sums)
{
    Line line;
    line.b = sums.xy / sums.xx;
    line.variance_b = 1 / sums.xx;
    return line;
}

Line constant_line(const Sums& sums)
{
    Line line;
    line.a = sums.y / sums.w;
    line.variance_a = 1 / sums.w;
    return line;
}

/// Squared misfit per degree of freedom, not below 1 (Birge's ratio): 1 where the errors explain the scatter.
double excess_scatter(const Line& line, std::span<const FitPoint> points, int free_parameters)
{
    double sum = 0;
    for (const FitPoint& point : points) {
        const double deviation = (point.y.value - line.at(point.x)) / fit_error(point.y);
        sum += deviation * deviation;
    }
    const auto degrees_of_freedom = static_cast<int>(points.size()) - free_parameters;
    return degrees_of_freedom > 0 ? std::max(1.0, sum / degrees_of_freedom) : 1.0;
}

} // namespace

Estimate Line::estimate_at(double x) const
{
    const double variance = variance_a + 2 * x * covariance + x * x * variance_b;
    const double value = at(x), half_width = normal_975 * std::sqrt(std::max(variance, 0.0));
    // A time cannot be negative; an interval that reaches zero keeps a trace above it.
    return {value, std::max(value - half_width, value / 100), value + half_width, n};
}

double fit_error(const Estimate& estimate)
{
    const double half_width = (estimate.high - estimate.low) / 2;
    return std::max(half_width / normal_975, std::abs(estimate.value) / 100);
}

std::optional<Line> fit_line(std::span<const FitPoint> points)
{
    const bool different_x = std::any_of(points.begin(), points.end(),
                                         [&](const FitPoint& point) { return point.x != points.front().x; });
    if (!different_x) return std::nullopt;
    const Sums sums = weighted_sums(points);
    Line line = line_from(sums);
    int free_parameters = 2;
    if (line.a < 0) {
        line = line_through_origin(sums);
        free_parameters = 1;
    } else if (line.b < 0) {
        line = constant_line(sums);
        free_parameters = 1;
    }
    const double excess = excess_scatter(line, points, free_parameters);
    line.variance_a *= excess;
    line.variance_b *= excess;
    line.covariance *= excess;
    line.n = static_cast<int64_t>(points.size());
    return line;
}

std::vector<double> nondecreasing_fit(std::span<const double> y, std::span<const double> weights)
{
    struct Block {
        double mean, weight;
        size_t length;
    };
    std::vector<Block> blocks;
    for (size_t i = 0; i < y.size(); ++i) {
        Block block{y[i], weights[i], 1};
        while (!blocks.empty() && blocks.back().mean > block.mean) {
            const Block& before = blocks.back();
            const double weight = before.weight + block.weight;
            block = {(before.mean * before.weight + block.mean * block.weight) / weight, weight,
                     before.length + block.length};
            blocks.pop_back();
        }
        blocks.push_back(block);
    }
    std::vector<double> fit;
    for (const Block& block : blocks) fit.insert(fit.end(), block.length, block.mean);
    return fit;
}

} // namespace shardline
