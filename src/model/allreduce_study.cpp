#include "model/allreduce_study.hpp"

#include "model/calibration.hpp"
#include "model/law.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace shardline {

namespace {

constexpr double worth_it = 1.03; ///< a gain below that is none: runs of one machine differ as much

/// Numbers of Open MPI's algorithms, by the names of its variable coll_tuned_allreduce_algorithm.
const std::map<std::string, int>& open_mpi_numbers()
{
    static const std::map<std::string, int> numbers{{"basic_linear", 1}, {"nonoverlapping", 2}, {"recursive_doubling", 3},
                                                    {"ring", 4}, {"segmented_ring", 5}, {"rabenseifner", 6}, {"allgather_reduce", 7}};
    return numbers;
}

/// A gain above worth_it that chance does not make among so many comparisons (Bonferroni): the best of many is partly luck's.
bool is_certain(const Estimate& gain, size_t comparisons)
{
    if (!(gain.value > worth_it) || !(gain.low > 0)) return false;
    const double error = std::log(gain.value / gain.low) / (std::isinf(gain.degrees_of_freedom) ? normal_975 : student_t_975(std::max(gain.degrees_of_freedom, 1.0)));
    const double t = std::log(gain.value / worth_it) / std::max(error, 1e-12);
    return student_t_two_sided(t, std::max(gain.degrees_of_freedom, 1.0)) < 0.05 / static_cast<double>(std::max<size_t>(comparisons, 1));
}

AllreduceSize size_of(int64_t bytes, const std::vector<const PointSamples*>& of_size, const std::optional<Estimate>& W, size_t sizes)
{
    AllreduceSize size;
    size.bytes = bytes;
    size.P = of_size.front()->point.P;
    if (W && size.P > 1) size.bound_s = allreduce_bandwidth_bound_s(static_cast<double>(bytes), size.P, W->value);
    const double moved = 2 * (size.P - 1.0) / size.P * static_cast<double>(bytes);
    for (const PointSamples* samples : of_size) {
        const auto t_s = estimate_of(samples->comm_s);
        if (!t_s) {
            size.complete = false;
            continue;
        }
        AlgorithmTime time{samples->point.algorithm.empty() ? std::string(default_algorithm) : samples->point.algorithm, *t_s, moved / t_s->value, {}};
        if (size.bound_s) time.reached = *size.bound_s / t_s->value;
        size.algorithms.push_back(std::move(time));
    }
    std::ranges::stable_sort(size.algorithms, {}, [](const AlgorithmTime& time) { return std::pair(time.algorithm != default_algorithm, time.t_s.value); });
    if (size.algorithms.empty()) return size;
    size.best = static_cast<size_t>(std::ranges::min_element(size.algorithms, {}, [](const AlgorithmTime& time) { return time.t_s.value; }) -
                                    size.algorithms.begin());
    if (size.algorithms.front().algorithm == default_algorithm && size.best > 0) {
        size.gain = ratio_of(size.algorithms.front().t_s, size.algorithms[size.best].t_s);
        size.certain = size.algorithms.front().t_s.reaches_95() && size.algorithms[size.best].t_s.reaches_95() &&
                       is_certain(*size.gain, sizes * (size.algorithms.size() - 1));
    }
    return size;
}

/// What to use at that size: the default unless something is better for certain; then what the range before it uses, where that is
/// as good as the best within the intervals, so that ranges are few.
std::string choice_at(const AllreduceSize& size, const std::string& before)
{
    if (!size.certain) return std::string(default_algorithm);
    const AlgorithmTime& best = size.algorithms[size.best];
    const auto same = std::ranges::find(size.algorithms, before, &AlgorithmTime::algorithm);
    const bool as_good = same != size.algorithms.end() && before != default_algorithm &&
                         (same->t_s.low <= best.t_s.high || same->t_s.value < worth_it * best.t_s.value) &&
                         ratio_of(size.algorithms.front().t_s, same->t_s).low > 1;
    return as_good ? before : best.algorithm;
}

std::vector<AllreduceRange> ranges_of(const std::vector<AllreduceSize>& sizes)
{
    std::vector<AllreduceRange> ranges;
    for (const AllreduceSize& size : sizes) {
        if (size.algorithms.empty()) continue;
        const std::string choice = choice_at(size, ranges.empty() ? "" : ranges.back().algorithm);
        const auto chosen = std::ranges::find(size.algorithms, choice, &AlgorithmTime::algorithm);
        const double gain = chosen == size.algorithms.end() ? 1 : size.algorithms.front().t_s.value / chosen->t_s.value;
        if (ranges.empty() || ranges.back().algorithm != choice) ranges.push_back({size.bytes, size.bytes, choice, gain, gain});
        AllreduceRange& range = ranges.back();
        range.last_bytes = size.bytes;
        range.least_gain = std::min(range.least_gain, gain);
        range.most_gain = std::max(range.most_gain, gain);
    }
    return ranges;
}

/// A rule holds from its size up to the next one's; between two sizes that were measured the change is put in the middle of their
/// logarithms. Algorithm 0 leaves the choice to Open MPI.
std::string rules_of(const std::vector<AllreduceRange>& ranges, int32_t P)
{
    if (std::ranges::all_of(ranges, [](const AllreduceRange& range) { return range.algorithm == default_algorithm; })) return "";
    std::string lines;
    for (size_t i = 0; i < ranges.size(); ++i) {
        const auto number = open_mpi_numbers().find(ranges[i].algorithm);
        const int algorithm = number == open_mpi_numbers().end() ? 0 : number->second;
        const auto from = i == 0 ? 0 : std::llround(std::sqrt(static_cast<double>(ranges[i - 1].last_bytes) * static_cast<double>(ranges[i].first_bytes)));
        lines += std::to_string(from) + " " + std::to_string(algorithm) + " 0 0 # from so many bytes: " + ranges[i].algorithm + "\n";
    }
    return "1 # collectives\n"
           "2 # allreduce\n"
           "1 # sizes of communicators\n" +
           std::to_string(P) + " # ranks, and more\n" + std::to_string(ranges.size()) + " # sizes of messages\n" + lines;
}

std::string bytes_text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

Claim choice_claim(const AllreduceStudy& study)
{
    Claim claim{"default_is_best", Verdict::holds, "the default is as good as any algorithm at every size, within 3 % or the intervals"};
    const bool compared = std::ranges::any_of(study.sizes, [](const AllreduceSize& size) { return size.algorithms.size() > 1; });
    if (!compared) return {"default_is_best", Verdict::inconclusive, "one algorithm was measured alone: give algorithms = \"all\", on an MPI that lets them be chosen (Open MPI does)"};
    const AllreduceSize* most = nullptr;
    size_t better = 0;
    for (const AllreduceSize& size : study.sizes) {
        if (!size.certain) continue;
        ++better;
        if (!most || size.gain->value > most->gain->value) most = &size;
    }
    const auto too_few = [](const AlgorithmTime& time) { return !time.t_s.reaches_95(); };
    const auto is_incomplete = [&](const AllreduceSize& size) { return !size.complete || std::ranges::any_of(size.algorithms, too_few); };
    if (!most && std::ranges::any_of(study.sizes, is_incomplete))
        return {"default_is_best", Verdict::inconclusive, "some algorithms have too few samples for an interval, or none: give more passes, repetitions or time"};
    if (!most) return claim;
    claim.verdict = Verdict::refuted;
    claim.reason = "another algorithm than the default is better at " + std::to_string(better) + " of " + std::to_string(study.sizes.size()) + " sizes, most at " +
                   bytes_text(most->bytes) + ", where " + most->algorithms[most->best].algorithm + " is " + number_text(most->gain->value) + " [" +
                   number_text(most->gain->low) + ", " + number_text(most->gain->high) + "] times as fast: use the rules of --allreduce-rules";
    return claim;
}

} // namespace

std::optional<AllreduceStudy> allreduce_study_of(std::span<const PointSamples> points)
{
    std::map<int64_t, std::vector<const PointSamples*>> by_size;
    int32_t P = 0;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::collective) continue;
        by_size[samples.point.message_bytes].push_back(&samples);
        P = std::max(P, samples.point.P);
    }
    if (by_size.empty()) return std::nullopt;
    AllreduceStudy study;
    study.W_bytes_per_s = calibrate(points, P, ElementType::f32).W_bytes_per_s;
    for (const auto& [bytes, of_size] : by_size) study.sizes.push_back(size_of(bytes, of_size, study.W_bytes_per_s, by_size.size()));
    study.ranges = ranges_of(study.sizes);
    study.rules = rules_of(study.ranges, P);
    study.claims.push_back(choice_claim(study));
    return study;
}

} // namespace shardline
