#pragma once

// From estimates to a verdict, by the table in docs/method.md.

#include "model/factors.hpp"
#include "model/statistics.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

enum class Verdict { holds, explained, refuted, inconclusive };

/// "holds", "explained", "refuted" or "inconclusive".
std::string_view name_of(Verdict verdict);

/// The worst of both, in the order refuted, inconclusive, explained, holds.
Verdict worse_of(Verdict a, Verdict b);

/// Of several, each with a verdict that `verdict_of` gives, the first that none is worse than; nullptr of none.
template <class Judged, class VerdictOf>
const Judged* worst_of(const std::vector<Judged>& all, VerdictOf verdict_of)
{
    const Judged* worst = all.empty() ? nullptr : &all.front();
    for (const Judged& one : all)
        if (const Verdict least = std::invoke(verdict_of, *worst); worse_of(std::invoke(verdict_of, one), least) != least) worst = &one;
    return worst;
}

/// On which side of the crossover a measured point lies beyond its intervals.
enum class Side { communication_bound, undecided, compute_bound };

/// compute_bound or communication_bound where the two intervals reach 95 % and do not overlap.
Side side_of(const Estimate& t_comp_s, const Estimate& t_comm_s);

/// A point of a sweep as the verdict sees it.
struct SidedPoint {
    int64_t D = 0;
    Side side = Side::undecided;
};

/// All that decides a verdict.
struct Evidence {
    std::vector<SidedPoint> points; ///< by ascending D
    std::optional<Estimate> D_law, D_model, D_obs;
    int64_t fewest_samples = 0;      ///< of the two points that bracket D_obs; of any point where none do
    std::string invalid;             ///< why the numbers mean nothing; empty where they do
    double tolerance = 1.25;         ///< factor between D_obs and D_law within which the law holds
    std::span<const Factor> factors; ///< of D_obs / D_law
};

struct Judgement {
    Verdict verdict = Verdict::inconclusive;
    std::string reason; ///< one sentence; for inconclusive it says what to change
};

/// The verdict of one crossover.
Judgement judge(const Evidence& evidence);

} // namespace shardline
