#include "postprocess/explanation.hpp"

#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shardline {

namespace {

std::string subject_of(const Crossover& crossover)
{
    return fmt::format("B = {}, F = {}, P = {}, {}", crossover.B, crossover.F, crossover.P, crossover.strategy);
}

/// "Below D = 4980 a step waits for the network, above for its own arithmetic; the law puts that at 5060."
std::string bound_sentence(const Crossover& crossover)
{
    if (!crossover.D_obs)
        return fmt::format("{}: the crossover was not found ({}).", subject_of(crossover), crossover.reason);
    std::string text = fmt::format("{}: below D = {} [{}, {}] a step waits for the network, above it for its own arithmetic", subject_of(crossover),
                                   D_text(crossover.D_obs->value), D_text(crossover.D_obs->low), D_text(crossover.D_obs->high));
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

} // namespace

std::string advice_sentence(const StrategyAdvice& advice)
{
    const std::string where = fmt::format("at B = {}, F = {}, P = {}, D = {}", advice.at.B, advice.at.F, advice.at.P, advice.at.D);
    const std::string gain = fmt::format("{:.2f} [{:.2f}, {:.2f}] times as fast as {}", advice.speedup.value, advice.speedup.low,
                                         advice.speedup.high, advice.against);
    if (advice.at.strategy == advice.against)
        return fmt::format("{} use {} ({} a step): {}", where, advice.at.strategy, time_text(advice.t_step_s),
                           advice.as_good.empty() ? "nothing else is as fast" : "as fast within the intervals: " + advice.as_good);
    if (!advice.certain)
        return fmt::format("{} nothing is gained for certain: {} ({} a step) is {}", where, advice.at.strategy, time_text(advice.t_step_s), gain);
    return fmt::format("{} use {} ({} a step): {}{}", where, advice.at.strategy, time_text(advice.t_step_s), gain,
                       advice.as_good.empty() ? "" : "; as fast within the intervals: " + advice.as_good);
}

std::vector<std::string> explanation(const Analysis& analysis, int64_t D)
{
    std::vector<std::string> sentences;
    for (const Crossover& crossover : analysis.crossovers) {
        sentences.push_back(bound_sentence(crossover));
        if (const std::string change = change_sentence(crossover); !change.empty()) sentences.back() += " " + change;
    }
    if (analysis.crossovers.empty()) sentences.push_back(fmt::format("No crossover: {}.", analysis.reason));
    for (const StrategyAdvice& advice : analysis.advice) {
        if (D > 0 && !is_nearest(advice, analysis.advice, D)) continue;
        std::string sentence = advice_sentence(advice) + ".";
        sentence[0] = 'A';
        sentences.push_back(sentence);
    }
    if (analysis.advice.empty() && !analysis.crossovers.empty())
        sentences.push_back("One strategy was measured, so none can be recommended: experiments/overlap.toml compares them.");
    return sentences;
}

} // namespace shardline
