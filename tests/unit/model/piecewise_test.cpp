// Planted lines and breaks come back.

#include "model/piecewise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace shardline {
namespace {

struct Planted {
    double a, b;
    double until; ///< x below which it holds
};

std::vector<FitPoint> curve(const std::vector<Planted>& lines, double noise, uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<FitPoint> points;
    for (double x = 8; x < 2e7; x *= 1.6) {
        const auto& line = *std::find_if(lines.begin(), lines.end(), [&](const Planted& one) { return x < one.until; });
        const double y = (line.a + line.b * x) * (1 + noise * normal(random));
        points.push_back({x, {y, y * (1 - 1.96 * noise), y * (1 + 1.96 * noise), 20}});
    }
    return points;
}

TEST(FitPieces, OneLineIsOnePiece)
{
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        const auto pieces = fit_pieces(curve({{2e-5, 8e-9, 1e99}}, 0.01, seed));
        ASSERT_EQ(pieces.size(), 1u) << seed;
        EXPECT_NEAR(pieces[0].b, 8e-9, 0.02 * 8e-9) << seed;
        EXPECT_NEAR(pieces[0].a, 2e-5, 0.05 * 2e-5) << seed;
    }
}

TEST(FitPieces, FindsABreakAndBothSlopes)
{
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        const auto points = curve({{2e-5, 4e-9, 65536}, {2e-4, 8e-9, 1e99}}, 0.01, seed);
        const auto pieces = fit_pieces(points);
        ASSERT_EQ(pieces.size(), 2u) << seed;
        EXPECT_LT(points[pieces[0].last].x, 65536);
        EXPECT_GE(points[pieces[1].first].x, 65536);
        EXPECT_EQ(pieces[1].first, pieces[0].last + 1); // a line is never drawn across
        EXPECT_NEAR(pieces[0].b, 4e-9, 0.03 * 4e-9) << seed;
        EXPECT_NEAR(pieces[1].b, 8e-9, 0.02 * 8e-9) << seed;
    }
}

TEST(FitPieces, FindsTwoBreaks)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        const auto pieces = fit_pieces(curve({{1e-6, 1e-10, 4096}, {1e-5, 1e-9, 100000}, {3e-4, 8e-9, 1e99}}, 0.01, seed));
        found += pieces.size() == 3 && std::abs(pieces[2].b / 8e-9 - 1) < 0.02;
    }
    EXPECT_GE(found, 95);
}

TEST(FitPieces, AnInterceptMayBeNegative)
{
    // A shaped link lets the first bytes pass at once.
    const auto pieces = fit_pieces(curve({{1e-4, 0, 100000}, {-6e-4, 8.4e-9, 1e99}}, 0.005, 1));
    ASSERT_GE(pieces.size(), 2u);
    EXPECT_LT(pieces.back().a, 0);
    EXPECT_NEAR(pieces.back().b, 8.4e-9, 0.02 * 8.4e-9);
}

TEST(FitPieces, NeedsThreePoints)
{
    const auto points = curve({{2e-5, 8e-9, 1e99}}, 0.01, 1);
    EXPECT_TRUE(fit_pieces(std::span(points).first(2)).empty());
    EXPECT_EQ(fit_pieces(std::span(points).first(3)).size(), 1u);
    EXPECT_EQ(fit_pieces(std::span(points).first(5)).size(), 1u);
}

} // namespace
} // namespace shardline
