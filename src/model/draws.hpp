#pragma once

// Normal deviates for intervals by simulation. The standard library's distributions give other numbers on
// other platforms; a file must be analysed to the same digits everywhere.

#include "model/statistics.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace shardline {

/// A stream of standard normal deviates fixed by its seed (splitmix64, Box and Muller).
class NormalDraws {
public:
    explicit NormalDraws(uint64_t seed) : state_(seed) {}

    double next()
    {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2 * std::log(uniform()));
        const double angle = 2 * std::numbers::pi * uniform();
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

    /// Uniform in (0, 1).
    double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

    /// 64 random bits.
    uint64_t bits()
    {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

private:
    uint64_t state_;
    double spare_ = 0;
    bool has_spare_ = false;
};

/// Draws the logarithm of a positive quantity from what its estimate says: normal with the estimate's own
/// standard error on either side of the value.
class LogDraws {
public:
    explicit LogDraws(const Estimate& estimate)
    {
        const double t = student_t_975(estimate.degrees_of_freedom);
        log_value_ = std::log(estimate.value);
        error_up_ = (std::log(estimate.high) - log_value_) / t;
        error_down_ = (log_value_ - std::log(estimate.low)) / t;
    }

    double next(NormalDraws& draws) const
    {
        const double z = draws.next();
        return log_value_ + z * (z > 0 ? error_up_ : error_down_);
    }

private:
    double log_value_, error_up_, error_down_;
};

} // namespace shardline
