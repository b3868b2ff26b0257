#include "model/piecewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardline {

namespace {

constexpr size_t least_points = 3, most_pieces = 4;

/// A line through points first .. last, and how far they lie from it in units of their errors, squared and summed.
struct Fitted {
    Piece piece;
    double chi2 = 0;
};

Fitted fitted(std::span<const FitPoint> points, size_t first, size_t last)
{
    double w = 0, wx = 0, wy = 0;
    for (size_t i = first; i <= last; ++i) {
        const double weight = 1 / std::pow(fit_error(points[i].y), 2);
        w += weight;
        wx += weight * points[i].x;
        wy += weight * points[i].y.value;
    }
    const double x0 = wx / w, y0 = wy / w;
    double wxx = 0, wxy = 0;
    for (size_t i = first; i <= last; ++i) {
        const double weight = 1 / std::pow(fit_error(points[i].y), 2), dx = points[i].x - x0;
        wxx += weight * dx * dx;
        wxy += weight * dx * (points[i].y.value - y0);
    }
    Fitted result;
    result.piece = {first, last, 0, wxx > 0 ? wxy / wxx : 0, 0};
    result.piece.a = y0 - result.piece.b * x0;
    for (size_t i = first; i <= last; ++i)
        result.chi2 += std::pow((points[i].y.value - result.piece.at(points[i].x)) / fit_error(points[i].y), 2);
    // Points that scatter more than their errors say leave the slope less certain, the more so the fewer they are.
    const double free = std::max(static_cast<double>(last - first) - 1, 1.0), excess = result.chi2 / free;
    const double fewness = std::pow(student_t_975(free) / normal_975, 2);
    result.piece.variance_b = wxx > 0 ? std::max(1.0, excess * fewness) / wxx : 0;
    return result;
}

/// Best division of the first points into a number of pieces.
struct Division {
    double chi2 = std::numeric_limits<double>::infinity();
    size_t last_begin = 0; ///< where its last piece begins
};

} // namespace

std::vector<Piece> fit_pieces(std::span<const FitPoint> points)
{
    const size_t n = points.size();
    if (n < least_points) return {};
    // best[k][m]: of the first m points into k + 1 pieces.
    std::vector<std::vector<Division>> best(most_pieces, std::vector<Division>(n + 1));
    for (size_t m = least_points; m <= n; ++m) {
        best[0][m] = {fitted(points, 0, m - 1).chi2, 0};
        for (size_t k = 1; k < most_pieces; ++k)
            for (size_t begin = k * least_points; begin + least_points <= m; ++begin) {
                const double chi2 = best[k - 1][begin].chi2 + fitted(points, begin, m - 1).chi2;
                if (chi2 < best[k][m].chi2) best[k][m] = {chi2, begin};
            }
    }
    // A piece has a line's two numbers and a break, whose place is the best of many and so costs more than a number. Errors are not
    // known to better than a factor of two or so: pieces that only make a good fit better are not worth theirs.
    constexpr double cost_of_a_piece = 5;
    const double count = static_cast<double>(n);
    size_t pieces = 1;
    double least = std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < most_pieces; ++k) {
        if (!std::isfinite(best[k][n].chi2)) continue;
        const double criterion = count * std::log(std::max(best[k][n].chi2 / count, 0.5)) + cost_of_a_piece * static_cast<double>(k + 1) * std::log(count);
        if (criterion < least) least = criterion, pieces = k + 1;
    }
    std::vector<Piece> result(pieces);
    for (size_t k = pieces, end = n; k-- > 0;) {
        const size_t begin = best[k][end].last_begin;
        result[k] = fitted(points, begin, end - 1).piece;
        end = begin;
    }
    return result;
}

} // namespace shardline
