#pragma once

// Why D_obs is not D_law: a product of named factors.

#include "model/calibration.hpp"

#include <optional>
#include <string>
#include <vector>

namespace shardline {

/// One named reason why D_obs differs from D_law: D_obs / D_law is the product of the factors.
struct Factor {
    std::string
        name; ///< "matmul_efficiency", "rank_imbalance", "allreduce_bandwidth", "start_up", "beyond_model";
              ///< "allreduce_efficiency" for the last three where the allreduce was not calibrated
    double value = 1; ///< its contribution to D_obs / D_law
    std::string
        meaning; ///< a phrase with the number as a user says it: "mpi_allreduce reaches 69 % of the link"
};

/// What is known at the crossing.
struct CrossingFacts {
    double D_obs = 0;
    double t_s = 0;                     ///< t_comp and t_comm there
    double mean_over_max = 1;           ///< of the ranks' matmul times there
    double C_flop_per_s = 0;            ///< calibrated
    double W_bytes_per_s = 0;           ///< calibrated
    std::optional<Line> allreduce_cost; ///< a + b·V in s, calibrated; b > 0
};

/// Factors whose product is D_obs / D_law, D_law = s·(P−1)·C/W. Needs P >= 2.
///   matmul_efficiency    rate at D_obs by the mean over ranks / C
///   rank_imbalance       mean over ranks / maximum over ranks of t_comp
///   allreduce_bandwidth  b·V / (2·(P−1)/P·V/W)
///   start_up             (a + b·V) / (b·V)
///   beyond_model         measured t_comm / (a + b·V)
std::vector<Factor> factors_of(const Sweep& sweep, const CrossingFacts& facts);

} // namespace shardline
