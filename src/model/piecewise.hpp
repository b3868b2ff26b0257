#pragma once

// Straight lines through parts of a curve, where the parts are not known beforehand: a message's time over its size changes
// its slope, and may jump, where a library changes its protocol.

#include "model/fit.hpp"

#include <span>
#include <vector>

namespace shardline {

/// y = a + b·x from the point `first` up to and including `last`. Neither a nor b is held to any sign.
struct Piece {
    size_t first = 0, last = 0;
    double a = 0, b = 0;
    double variance_b = 0;
    double at(double x) const { return a + b * x; }
};

/// The pieces that say most with least (Bayesian information criterion, at most four, three points each at least), by weighted
/// least squares with weights 1/fit_error². `points` by ascending x. Nothing for fewer than three points.
std::vector<Piece> fit_pieces(std::span<const FitPoint> points);

} // namespace shardline
