#include "postprocess/explanation.hpp"

#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace shardline {

namespace {

std::string subject_of(const Crossover& crossover)
{
    const bool f32 = crossover.compute_type == ElementType::f32 && crossover.wire_type == ElementType::f32;
    const std::string types = f32 ? "" : fmt::format("{} matmul, {} on the wire, ", name_of(crossover.compute_type), name_of(crossover.wire_type));
    return fmt::format("B = {}, F = {}, P = {}, {}{}", crossover.B, crossover.F, crossover.P, types, crossover.strategy);
}

/// "Below D = 4980 a step waits for the network, above for its own arithmetic; the law puts that at 5060."
std::string bound_sentence(const Crossover& crossover)
{
    if (!crossover.D_obs)
        return fmt::format("{}: the crossover was not found ({}).", subject_of(crossover), crossover.reason);
    std::string text = fmt::format("{}: below D = {} a step waits for the network, above it for its own arithmetic", subject_of(crossover),
                                   D_estimate_text(crossover.D_obs));
    if (crossover.D_law) text += fmt::format("; the law puts that at {}", D_text(crossover.D_law->value));
    return text + ".";
}

/// The factor furthest from 1 says what to change: without it D* would be divided by it.
std::string change_sentence(const Crossover& crossover)
{
    constexpr double worth_telling = 1.05;
    if (!crossover.D_obs || crossover.factors.empty()) return "";
    const Factor& weightiest = *std::ranges::max_element(crossover.factors, {}, [](const Factor& f) { return std::abs(std::log(f.value)); });
    if (std::abs(std::log(weightiest.value)) < std::log(worth_telling))
        return "No single cause moves it by more than 5 %: only another C or W would (D* grows as C/W).";
    return fmt::format("The one cause that moves it most: {}; without it D* would be {}.", weightiest.meaning,
                       D_text(crossover.D_obs->value / weightiest.value));
}

bool is_nearest(const StrategyAdvice& advice, const std::vector<StrategyAdvice>& all, int64_t D)
{
    const auto distance = [D](const StrategyAdvice& its) {
        return std::abs(std::log(static_cast<double>(its.at.D) / static_cast<double>(D)));
    };
    return std::ranges::none_of(all, [&](const StrategyAdvice& other) {
        return other.at.B == advice.at.B && other.at.F == advice.at.F && other.at.P == advice.at.P && distance(other) < distance(advice);
    });
}

bool says_the_same(const StrategyAdvice& a, const StrategyAdvice& b)
{
    return a.at.B == b.at.B && a.at.F == b.at.F && a.at.P == b.at.P && a.at.compute_type == b.at.compute_type &&
           a.at.wire_type == b.at.wire_type && a.at.strategy == b.at.strategy && a.against == b.against && a.certain == b.certain;
}

/// "1.41 [1.21, 1.65]" of one, "1.08 to 1.41" of several.
std::string range_text(const std::vector<Estimate>& estimates)
{
    const auto [low, high] = std::ranges::minmax(estimates, {}, &Estimate::value);
    if (estimates.size() == 1) return fmt::format("{:.2f} [{:.2f}, {:.2f}]", low.value, low.low, low.high);
    return fmt::format("{:.2f} to {:.2f}", low.value, high.value);
}

/// Advice that says the same at neighbouring D.
std::string advice_sentence(std::span<const StrategyAdvice> advice)
{
    const StrategyAdvice& first = advice.front();
    const bool several = advice.size() > 1;
    std::vector<Estimate> speedups;
    std::set<std::string> as_good;
    std::map<std::string, std::vector<Estimate>> losing;
    for (const StrategyAdvice& its : advice) {
        speedups.push_back(its.speedup);
        as_good.insert(its.as_good.begin(), its.as_good.end());
        for (const StrategySpeed& loss : its.losing) losing[loss.strategy].push_back(loss.speedup);
    }
    const std::string at_D = several ? fmt::format("from D = {} to {}", first.at.D, advice.back().at.D)
                                     : fmt::format("D = {}", first.at.D);
    const std::string it = several ? first.at.strategy : fmt::format("{} ({} a step)", first.at.strategy, time_text(first.t_step_s));
    const std::string gain = fmt::format("{} times as fast as {}", range_text(speedups), first.against);
    std::string text = fmt::format("At B = {}, F = {}, P = {}, {} ", first.at.B, first.at.F, first.at.P, at_D);
    if (first.at.strategy == first.against)
        text += fmt::format("use {}{}", it, as_good.empty() ? ": nothing else is as fast" : "");
    else if (first.certain)
        text += fmt::format("use {}: {}", it, gain);
    else
        text += fmt::format("nothing is gained for certain: {} is {}", it, gain);
    if (!as_good.empty()) text += fmt::format("; as fast within the intervals{}: {}", several ? " at one of these at least" : "", fmt::join(as_good, ", "));
    std::string separator = fmt::format("; slower than {} by more than 5 %{}: ", first.against, several ? " at one of these at least" : "");
    for (const auto& [strategy, speeds] : losing) {
        text += fmt::format("{}{} ({} times as fast)", separator, strategy, range_text(speeds));
        separator = ", ";
    }
    return text + ".";
}

} // namespace

std::vector<std::string> advice_sentences(std::span<const StrategyAdvice> advice)
{
    std::vector<std::string> sentences;
    for (size_t begin = 0, end = 0; begin < advice.size(); begin = end) {
        while (end < advice.size() && says_the_same(advice[begin], advice[end])) ++end;
        sentences.push_back(advice_sentence(advice.subspan(begin, end - begin)));
    }
    return sentences;
}

std::vector<std::string> explanation(const Analysis& analysis, int64_t D)
{
    std::vector<std::string> sentences;
    for (const Crossover& crossover : analysis.crossovers) {
        sentences.push_back(bound_sentence(crossover));
        if (const std::string change = change_sentence(crossover); !change.empty()) sentences.back() += " " + change;
    }
    if (analysis.crossovers.empty())
        sentences.push_back(is_study(analysis) ? "This run measured no sweep over D, so it does not tell where a matrix multiply stops waiting for the network: "
                                                 "experiments/crossover.toml does."
                                               : fmt::format("No crossover: {}.", analysis.reason));
    std::vector<StrategyAdvice> wanted = analysis.advice;
    if (D > 0) std::erase_if(wanted, [&](const StrategyAdvice& its) { return !is_nearest(its, analysis.advice, D); });
    for (std::string& sentence : advice_sentences(wanted)) sentences.push_back(std::move(sentence));
    if (analysis.advice.empty() && !analysis.crossovers.empty())
        sentences.push_back("One strategy was measured, so none can be recommended: experiments/overlap.toml compares them.");
    return sentences;
}

} // namespace shardline
