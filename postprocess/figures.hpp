#pragma once

// The figures of a report as gnuplot scripts and the numbers they draw. docs/figures.md shows each one.

#include "model/analysis.hpp"
#include "model/run_data.hpp"
#include "postprocess/output.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

struct Figure {
    std::string name;    ///< of its files, without what follows the dot: "crossover", or "crossover-2" where there are several
    std::string title;   ///< may hold text of a file
    std::string caption; ///< what one sees, and the numbers; may hold text of a file
    std::string setup;   ///< gnuplot: axes, marks, title
    std::string plot;    ///< gnuplot: what follows "plot"
    std::string data;    ///< NAME.dat: blocks of numbers, each headed by a comment that names its columns
};

struct Figures {
    std::vector<Figure> drawn;
    std::vector<std::string> omitted; ///< a sentence for each that has nothing to show
};

/// All figures that the analysis has something for. `launches` are those that it was made from; they must be at least one.
Figures figures_of(const Analysis& analysis, std::span<const RunData> launches);

// Each figure by itself, added to `figures`: drawn, or omitted with the reason.

/// t_comp, t_comm and t_step over D, the bounds of a step, and D_law, D_model, D_obs. One for each curve.
void add_crossover_figures(const Analysis& analysis, Figures& figures);
struct RooflineOptions {
    std::optional<Estimate> M_bytes_per_s; ///< of the memory, where another run measured it: one more roof
    std::string name = "roofline";         ///< of the figure
    std::string of;                        ///< what the title says first; may be empty
};

/// Rate of a step over the FLOP per byte it sends, below the roofs of the link and the processor. One for each shape.
void add_roofline_figures(const Analysis& analysis, Figures& figures, const RooflineOptions& options = {});
/// Rate of dot products and matmuls over the FLOP per byte they move, below the roofs of the memory and the processor. Of a
/// run that measured them, one for each type.
void add_memory_roofline_figures(const Analysis& analysis, Figures& figures);
/// D_obs against the law: over C/W, over V or over P, whichever the crossovers differ in.
void add_law_figure(const Analysis& analysis, std::span<const RunData> launches, Figures& figures);
/// Which side of the crossover a matmul lies on, over B and D. One for each F, P and pair of types.
void add_regime_figures(const Analysis& analysis, Figures& figures);
/// Bus bandwidth of the allreduce over V, by strategy. One for each P and wire type.
void add_allreduce_figures(const Analysis& analysis, Figures& figures);
/// t_step against the longer of its parts over D, by strategy. One for each shape at which strategies were compared.
void add_overlap_figures(const Analysis& analysis, Figures& figures);
/// Every repetition against the median of its point. One for each curve.
void add_repetition_figures(const Analysis& analysis, std::span<const RunData> launches, Figures& figures);
/// Every matmul of every rank against the median over ranks, where a rank is slow.
void add_rank_figure(std::span<const RunData> launches, Figures& figures);

/// What each direction between two ranks carries, as a map. Of a run that measured links.
void add_link_figure(const Analysis& analysis, Figures& figures);
/// Bus bandwidth of the algorithms of the allreduce over V. Of a run that measured them, one for each P.
void add_algorithm_figures(const Analysis& analysis, Figures& figures);

enum class Formats {
    svg, ///< for the page
    all, ///< SVG, PDF and PNG
};

/// The whole script NAME.gp, which draws NAME.svg (NAME.pdf, NAME.png) from NAME.dat.
std::string script_of(const Figure& figure, Formats formats);

/// What became of the figures.
struct DrawnFigures {
    std::vector<NamedText> files;      ///< of each NAME.gp, NAME.dat and what gnuplot made of them
    std::vector<std::string> problems; ///< a sentence for each that could not be drawn; only one where gnuplot, or a temporary folder, is missing
};

DrawnFigures draw(const std::vector<Figure>& figures, Formats formats);

/// Removes from `folder` what an earlier report drew there and `files` does not hold: scripts that begin as ours, and what they draw.
void remove_old_figures(const std::string& folder, const std::vector<NamedText>& files);

} // namespace shardline
