#include "model/factors.hpp"

#include "model/law.hpp"
#include "model/text.hpp"

namespace shardline {

std::vector<Factor> factors_of(const Sweep& sweep, const CrossingFacts& facts)
{
    // D/P, not ⌈D/P⌉: the crossing lies between integers.
    const double flops =
        matmul_flops(static_cast<double>(sweep.B), facts.D_obs / sweep.P, static_cast<double>(sweep.F));
    const double matmul_efficiency = flops / (facts.t_s * facts.mean_over_max) / facts.C_flop_per_s;
    const double bound_s = allreduce_bandwidth_bound_s(sweep.V(), sweep.P, facts.W_bytes_per_s);

    std::vector<Factor> factors;
    factors.push_back(
        {"matmul_efficiency", matmul_efficiency,
         "the matmul at D* runs at " + percent_text(matmul_efficiency) + " of the calibrated rate"});
    factors.push_back({"rank_imbalance", facts.mean_over_max,
                       "the mean over ranks of the matmul time is " + percent_text(facts.mean_over_max) +
                           " of the slowest rank's"});
    if (!facts.allreduce_cost) {
        const double slower = facts.t_s / bound_s;
        factors.push_back({"allreduce_efficiency", slower,
                           sweep.strategy + " reaches " + percent_text(1 / slower) + " of the link"});
        return factors;
    }
    const double transfer_s = facts.allreduce_cost->b * sweep.V(),
                 modelled_s = facts.allreduce_cost->at(sweep.V());
    factors.push_back({"allreduce_bandwidth", transfer_s / bound_s,
                       sweep.strategy + " reaches " + percent_text(bound_s / transfer_s) + " of the link"});
    factors.push_back(
        {"start_up", modelled_s / transfer_s,
         "start-up is " + percent_text(1 - transfer_s / modelled_s) + " of " + sweep.strategy + "'s time"});
    factors.push_back({"beyond_model", facts.t_s / modelled_s,
                       sweep.strategy + " in the sweep takes " + percent_text(facts.t_s / modelled_s) +
                           " of the time its calibration predicts"});
    return factors;
}

} // namespace shardline
