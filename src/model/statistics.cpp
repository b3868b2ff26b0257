#include "model/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <set>

namespace shardline {

namespace {

/// A sample by rank. Few ranks are asked for, so that a large sample is not sorted: that would take most of a large file's analysis.
class Ranked {
public:
    explicit Ranked(std::span<const double> sample) : values_(sample.begin(), sample.end())
    {
        constexpr size_t quickly_sorted = 1000;
        if (values_.size() <= quickly_sorted) std::sort(values_.begin(), values_.end());
        else selects_ = true;
    }

    size_t size() const { return values_.size(); }

    /// The value of that rank, counted from 0.
    double at(size_t rank)
    {
        if (selects_ && !placed_.contains(rank)) {
            const auto above = placed_.lower_bound(rank);
            const size_t end = above == placed_.end() ? size() : *above, begin = above == placed_.begin() ? 0 : *std::prev(above) + 1;
            const auto place = [this](size_t i) { return values_.begin() + static_cast<std::ptrdiff_t>(i); };
            std::nth_element(place(begin), place(rank), place(end));
            placed_.insert(rank);
        }
        return values_[rank];
    }

    /// Puts in their places the ranks next to these two outwards (counted from 1), so that all between are found among few.
    void place_around(double low, double high)
    {
        const double last = static_cast<double>(size());
        at(static_cast<size_t>(std::clamp(std::floor(low), 1.0, last)) - 1);
        at(static_cast<size_t>(std::clamp(std::ceil(high), 1.0, last)) - 1);
    }

    double median()
    {
        const size_t n = size();
        return n % 2 == 1 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
    }

private:
    std::vector<double> values_;
    bool selects_ = false;
    std::set<size_t> placed_; ///< ranks that stand where they belong; none beyond is smaller, none before larger
};

/// Order statistic at a fractional rank counted from 1, held within the sample.
double order_statistic(Ranked& sample, double rank)
{
    const double last = static_cast<double>(sample.size());
    const double held = std::clamp(rank, 1.0, last);
    const auto below = static_cast<size_t>(held);
    if (below == sample.size()) return sample.at(below - 1);
    const double fraction = held - static_cast<double>(below), lower = sample.at(below - 1);
    return lower + fraction * (sample.at(below) - lower);
}

/// Probability that k of n fair coins show heads.
double coin_probability(double n, double k)
{
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
}

Estimate range_estimate(Ranked& sample)
{
    const auto n = static_cast<int64_t>(sample.size());
    const double confidence = 1 - std::exp2(static_cast<double>(1 - n));
    return {sample.median(),
            sample.at(0),
            sample.at(sample.size() - 1),
            n,
            std::min(confidence, 0.95),
            static_cast<double>(std::max<int64_t>(n - 1, 1))};
}

/// Interval between the order statistics `half_width` ranks to either side of the middle.
Estimate estimate_around_middle(Ranked& sample, double half_width, double degrees_of_freedom)
{
    const double middle = (static_cast<double>(sample.size()) + 1) / 2;
    sample.place_around(middle - half_width, middle + half_width);
    return {sample.median(),
            order_statistic(sample, middle - half_width),
            order_statistic(sample, middle + half_width),
            static_cast<int64_t>(sample.size()),
            0.95,
            degrees_of_freedom};
}

/// One interval between the k-th smallest and k-th largest is too wide for 95 %, the next one inwards too
/// narrow. Hettmansperger and Sheather's weights mix the two so that the coverage is close to 95 % for
/// a wide class of distributions.
Estimate independent_estimate(Ranked& sample)
{
    if (static_cast<int64_t>(sample.size()) < min_samples_for_95) return range_estimate(sample);
    const double n = static_cast<double>(sample.size());
    double k = 1, tail = coin_probability(n, 0);
    double outer = 1 - 2 * tail, inner = outer;
    for (; 2 * (k + 1) <= n + 1; ++k) {
        tail += coin_probability(n, k);
        inner = 1 - 2 * tail;
        if (inner < 0.95) break;
        outer = inner;
    }
    const double shortfall = (outer - 0.95) / (outer - inner);
    const double inwards = (n - k) * shortfall / (k + (n - 2 * k) * shortfall);
    return estimate_around_middle(sample, (n + 1) / 2 - k - inwards, n - 1);
}

/// First index of each visit, and the number of samples at the end.
std::vector<size_t> visit_bounds(std::span<const int32_t> visit)
{
    std::vector<size_t> bounds{0};
    for (size_t i = 1; i < visit.size(); ++i)
        if (visit[i] != visit[i - 1]) bounds.push_back(i);
    bounds.push_back(visit.size());
    return bounds;
}

/// With fewer than six visits nothing can be said about 95 % of visits. Cutting each into stretches still
/// accounts for correlation from one repetition to the next, though not for a level that moves from visit
/// to visit; only more passes do that.
std::vector<size_t> cut_into_blocks(const std::vector<size_t>& visits)
{
    const size_t visit_count = visits.size() - 1;
    const size_t wanted = static_cast<size_t>(min_samples_for_95);
    if (visit_count >= wanted) return visits;
    const size_t pieces = (wanted + visit_count - 1) / visit_count;
    std::vector<size_t> bounds{0};
    for (size_t v = 0; v < visit_count; ++v) {
        const size_t begin = visits[v], length = visits[v + 1] - begin;
        for (size_t piece = 1; piece <= pieces; ++piece) {
            const size_t end = begin + length * piece / pieces;
            if (end > bounds.back()) bounds.push_back(end);
        }
    }
    return bounds;
}

/// How much the signs about the median gather in blocks.
struct SignScores {
    double variance = 0;               ///< of the sum of all signs, blocks taken as independent
    double intraclass_correlation = 0; ///< 0: as independent samples; 1: a block is all on one side
};

SignScores sign_scores(std::span<const double> sample, const std::vector<size_t>& bounds, double centre)
{
    const double blocks = static_cast<double>(bounds.size() - 1);
    const double n = static_cast<double>(sample.size());
    std::vector<double> scores;
    for (size_t b = 0; b + 1 < bounds.size(); ++b) {
        double score = 0;
        for (size_t i = bounds[b]; i < bounds[b + 1]; ++i)
            score += (sample[i] > centre ? 1 : 0) - (sample[i] < centre ? 1 : 0);
        scores.push_back(score);
    }
    const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / blocks;
    SignScores result;
    for (double score : scores) result.variance += (score - mean) * (score - mean) * blocks / (blocks - 1);
    // Few short blocks may all happen to be balanced, which says nothing about the error.
    result.variance = std::max(result.variance, n / 8);
    const double block_length = n / blocks;
    result.intraclass_correlation = std::clamp((result.variance / n - 1) / (block_length - 1), 0.0, 1.0);
    return result;
}

/// All values, or some thousands spread evenly over them: two modes of similar weight show in those as well. The places are uneven, so
/// that they do not always fall on the same repetition of a visit.
std::vector<double> some_of(std::span<const double> values)
{
    constexpr size_t enough = 4096;
    if (values.size() <= enough) return {values.begin(), values.end()};
    std::vector<double> some;
    const double stride = static_cast<double>(values.size()) / enough;
    for (size_t i = 0; i < enough; ++i) {
        constexpr double golden_ratio = 0.618033988749895;
        const double place = static_cast<double>(i) * golden_ratio, fraction = place - std::floor(place);
        some.push_back(values[static_cast<size_t>((static_cast<double>(i) + fraction) * stride)]);
    }
    return some;
}

} // namespace

Estimate scaled(Estimate estimate, double factor)
{
    for (double* number : {&estimate.value, &estimate.low, &estimate.high}) *number *= factor;
    return estimate;
}

Estimate rate_from(double work, const Estimate& time_s)
{
    Estimate rate = time_s;
    rate.value = work / time_s.value;
    rate.low = work / time_s.high;
    rate.high = work / time_s.low;
    return rate;
}

double median(std::span<const double> sample) { return Ranked(sample).median(); }

double median_absolute_deviation(std::span<const double> sample)
{
    const double centre = median(sample);
    std::vector<double> deviations;
    std::transform(sample.begin(), sample.end(), std::back_inserter(deviations),
                   [centre](double x) { return std::abs(x - centre); });
    return median(deviations);
}

Estimate median_estimate(std::span<const double> sample)
{
    Ranked ranked(sample);
    return independent_estimate(ranked);
}

// The interval for independent samples covers only 65 to 90 % of the time when repetitions of a visit share
// a level or follow each other (AR(1), 0.3 to 0.7), so it had to be widened: the number of samples above the
// true median is a sum over visits, its variance is estimated from the visits, and Student's t pays for
// having few of them. That in turn covers 98 % where a visit lies all on one side of the median: its
// score is then ±length, whose variance needs no estimate. The degrees of freedom therefore
// grow with the intraclass correlation. tests/unit/model/coverage_test.cpp holds the coverage to 93 .. 97 %.
Estimate median_estimate(std::span<const double> sample, std::span<const int32_t> visit)
{
    Ranked ranked(sample);
    if (static_cast<int64_t>(ranked.size()) < min_samples_for_95) return range_estimate(ranked);

    const std::vector<size_t> bounds = cut_into_blocks(visit_bounds(visit));
    const size_t blocks = bounds.size() - 1;
    if (2 * ranked.size() < 3 * blocks) return independent_estimate(ranked); // hardly anything shares a block

    const SignScores scores = sign_scores(sample, bounds, ranked.median());
    const double own_part = 1 - scores.intraclass_correlation;
    const double degrees_of_freedom = static_cast<double>(blocks - 1) / std::max(own_part * own_part, 1e-6);
    return estimate_around_middle(ranked, student_t_975(degrees_of_freedom) * std::sqrt(scores.variance) / 2,
                                  degrees_of_freedom);
}

Estimate with_launch_spread(Estimate pooled, std::span<const double> launch_values)
{
    if (launch_values.size() < 2) return pooled;
    const double n = static_cast<double>(launch_values.size());
    double mean = 0, square = 0;
    for (double value : launch_values) mean += std::log(value) / n;
    for (double value : launch_values) square += (std::log(value) - mean) * (std::log(value) - mean);
    const double half_width = student_t_975(n - 1) * std::sqrt(square / (n - 1) / n);
    const double low = std::exp(mean - half_width), high = std::exp(mean + half_width);
    if (low < pooled.low || high > pooled.high)
        pooled.degrees_of_freedom = std::min(pooled.degrees_of_freedom, n - 1);
    pooled.low = std::min(pooled.low, low);
    pooled.high = std::max(pooled.high, high);
    return pooled;
}

std::optional<TwoModes> two_modes(std::span<const double> sample)
{
    constexpr size_t fewest = 12;
    // In units of the wider group's standard deviation. The halves of one normal or exponential sample are
    // parted by some tenths and lie about 3 apart. Chance gaps shrink with the number of samples; beyond
    // these limits lies less than one in a thousand exponential samples of 30, and one in 10 000 normal ones.
    constexpr double smallest_distance = 5, smallest_ratio = 1.05;
    const double smallest_gap = std::max(2.5, 75 / static_cast<double>(sample.size()));
    constexpr double mad_to_standard_deviation = 1.4826;
    if (sample.size() < fewest) return std::nullopt;
    std::vector<double> logs = some_of(sample);
    for (double& value : logs) value = std::log(value);
    std::sort(logs.begin(), logs.end());
    const size_t quarter = (logs.size() + 3) / 4;
    size_t split = quarter;
    for (size_t i = quarter; i + quarter <= logs.size(); ++i)
        if (logs[i] - logs[i - 1] > logs[split] - logs[split - 1]) split = i;
    const std::span<const double> all(logs), lower = all.first(split), upper = all.subspan(split);
    const double deviation = mad_to_standard_deviation *
                             std::max(median_absolute_deviation(lower), median_absolute_deviation(upper));
    const double gap = logs[split] - logs[split - 1], distance = median(upper) - median(lower);
    const bool parted = gap > smallest_gap * deviation && distance > smallest_distance * deviation;
    if (!parted || distance <= std::log(smallest_ratio)) return std::nullopt;
    return TwoModes{std::exp(median(lower)), std::exp(median(upper)),
                    static_cast<double>(upper.size()) / static_cast<double>(logs.size())};
}

double student_t_975(double degrees_of_freedom)
{
    static constexpr double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                       2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                       2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                       2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    static constexpr double table_end = std::size(table);
    const double nu = std::max(degrees_of_freedom, 1.0);
    if (nu < table_end) {
        const auto row = static_cast<size_t>(nu);
        return table[row - 1] + (nu - std::floor(nu)) * (table[row] - table[row - 1]);
    }
    // Fisher's expansion about the normal quantile; error below 1e-4 from 30 degrees of freedom on.
    const double z = normal_975, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu);
}

double student_t_two_sided(double t, double degrees_of_freedom)
{
    const double nu = std::max(degrees_of_freedom, 1.0), reach = std::abs(t);
    constexpr double nearly_normal = 1000; // there the tails beyond 6 differ by under 15 %
    if (nu > nearly_normal) return std::erfc(reach / std::numbers::sqrt2);
    // With x = sqrt(nu)·tan(angle) the density becomes cos(angle)^(nu-1): Simpson's rule over the finite rest.
    constexpr int intervals = 4000;
    const double from = std::atan(reach / std::sqrt(nu)), step = (std::numbers::pi / 2 - from) / intervals;
    const auto density = [&](int i) { return std::pow(std::max(0.0, std::cos(from + i * step)), nu - 1); };
    double sum = density(0) + density(intervals);
    for (int i = 1; i < intervals; ++i) sum += density(i) * (i % 2 == 1 ? 4 : 2);
    const double scale = std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) / std::sqrt(std::numbers::pi);
    return std::min(1.0, 2 * scale * sum * step / 3);
}

} // namespace shardline
