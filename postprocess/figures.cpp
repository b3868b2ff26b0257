#include "postprocess/figures.hpp"

#include "postprocess/sweeps.hpp"

namespace shardline {

Figures figures_of(const Analysis& analysis, std::span<const RunData> launches)
{
    Figures figures;
    add_link_figure(analysis, figures);
    add_algorithm_figures(analysis, figures);
    if (is_study(analysis)) { // nobody looks for the figures of a sweep
        if (!analysis.roofline) return figures;
        add_memory_roofline_figures(analysis, figures);
        add_rank_figure(launches, figures);
        return figures;
    }
    add_crossover_figures(analysis, figures);
    add_roofline_figures(analysis, figures);
    add_memory_roofline_figures(analysis, figures);
    add_overlap_figures(analysis, figures);
    add_regime_figures(analysis, figures);
    add_allreduce_figures(analysis, figures);
    add_law_figure(analysis, launches, figures);
    add_rank_figure(launches, figures);
    add_repetition_figures(analysis, launches, figures);
    if (figures.drawn.empty()) figures.omitted = {"No figures: no sweep with communication was measured."}; // one reason for all
    return figures;
}

} // namespace shardline
