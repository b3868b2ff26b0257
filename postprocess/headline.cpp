#include "postprocess/headline.hpp"

#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace shardline {
std::string headline(const Analysis& analysis)
{
    if (std::ranges::find(analysis.claims, analysis.reason, &Claim::reason) != analysis.claims.end()) {
        const auto said = [&] {
            switch (analysis.verdict) {
            case Verdict::holds: return "holds";
            case Verdict::explained: return "holds once what was measured is taken into account";
            case Verdict::refuted: return "does not hold";
            case Verdict::inconclusive: return "is not decided";
            }
            return "";
        };
        return fmt::format("What this run was to test {}: {}.", said(), analysis.reason);
    }
    // The crossover that the verdict is about: the first of the worst.
    const auto found = std::ranges::find(analysis.crossovers, analysis.verdict, &Crossover::verdict);
    if (analysis.verdict == Verdict::inconclusive || found == analysis.crossovers.end() || !found->D_obs || !found->D_law)
        return analysis.verdict == Verdict::refuted
                   ? fmt::format("This machine does not behave as the law says: {}.", analysis.reason)
                   : fmt::format("These measurements do not tell where the matrix multiply stops waiting for the network: {}.", analysis.reason);
    const std::string where = fmt::format("Split over {} ranks, a matrix multiply of this kind waits for the network below D = {} and is limited by its own "
                                          "arithmetic above", found->P, D_estimate_text(*found->D_obs));
    const std::string law = D_estimate_text(*found->D_law);
    switch (analysis.verdict) {
    case Verdict::holds: return fmt::format("{}; that is where the law puts it, at {}.", where, law);
    case Verdict::explained:
        return fmt::format("{}; the law puts that at {}, and what was measured of processors and network accounts for the difference.", where, law);
    default: return fmt::format("{}; the law puts that at {}, and nothing that was measured accounts for the difference.", where, law);
    }
}

} // namespace shardline
