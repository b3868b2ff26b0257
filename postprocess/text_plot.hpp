#pragma once

#include "model/analysis.hpp"

#include <string>

namespace shardline {

/// The crossover figures as text, `width` columns wide: t_comp, t_comm and t_step over D on logarithmic axes, D_law and D_obs marked
/// below. Plain characters without escapes; one line where there is nothing to draw.
std::string crossover_plots(const Analysis& analysis, int width);

} // namespace shardline
