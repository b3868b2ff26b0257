#include "postprocess/across.hpp"

#include "postprocess/gnuplot.hpp"
#include "postprocess/plot_builder.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/run_texts.hpp"
#include "postprocess/sweeps.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace shardline {
namespace {

/// A crossover and the run it is of.
struct Place {
    const AnalysedRun* of = nullptr;
    const Crossover* crossover = nullptr;
};

std::vector<Place> places_of(std::span<const AnalysedRun> runs)
{
    std::vector<Place> places;
    for (const AnalysedRun& its : runs)
        for (const Crossover& crossover : its.analysis.crossovers) places.push_back({&its, &crossover});
    return places;
}

/// Of each run the name of its file, without folders where that tells them apart.
std::map<const AnalysedRun*, std::string> names_of(std::span<const AnalysedRun> runs)
{
    std::map<const AnalysedRun*, std::string> names;
    std::set<std::string> different;
    for (const AnalysedRun& its : runs) different.insert(names[&its] = printable(std::filesystem::path(its.run.path).filename().string()));
    if (different.size() < runs.size())
        for (const AnalysedRun& its : runs) names[&its] = file_name(its.run);
    return names;
}

/// "f32", or "f32 > bf16" where the matmul's type is not that on the wire.
std::string types_text(const Crossover& crossover)
{
    const std::string_view compute = name_of(crossover.compute_type), wire = name_of(crossover.wire_type);
    return compute == wire ? std::string(wire) : fmt::format("{} > {}", compute, wire);
}

int most_ranks_on_a_machine(const RunData& run)
{
    std::map<std::string, int> by_machine;
    int most = 0;
    for (const RankInfo& rank : run.ranks) most = std::max(most, ++by_machine[rank.machine]);
    return most;
}

/// M of another run that stands for a rank of this one, or nullptr.
const Estimate* memory_of(const AnalysedRun& its, std::span<const AnalysedRun> runs)
{
    for (const AnalysedRun& other : runs)
        if (other.analysis.roofline && other.analysis.roofline->M_bytes_per_s && same_processors(other.run, its.run)) return &*other.analysis.roofline->M_bytes_per_s;
    return nullptr;
}

void add_across_figure(std::span<const AnalysedRun> runs, Figures& figures)
{
    struct Group {
        std::string title;
        Rows rows = {};
    };
    std::vector<Group> groups; // one for each run
    const auto names = names_of(runs);
    Range x, y;
    for (const AnalysedRun& its : runs) {
        Group group{names.at(&its)};
        std::set<int32_t> ranks;
        std::set<std::string_view> wires;
        for (const Crossover& crossover : its.analysis.crossovers) {
            if (!crossover.D_law || !crossover.D_obs) continue;
            group.rows.push_back({crossover.D_law->value, crossover.D_obs->value, crossover.D_law->low, crossover.D_law->high, crossover.D_obs->low,
                                  crossover.D_obs->high});
            ranks.insert(crossover.P);
            wires.insert(name_of(crossover.wire_type));
            x.take(*crossover.D_law);
            y.take(*crossover.D_obs);
        }
        if (group.rows.empty()) continue;
        if (ranks.size() == 1) group.title += fmt::format(", P = {}", *ranks.begin());
        if (wires.size() == 1) group.title += fmt::format(", {}", *wires.begin());
        groups.push_back(std::move(group));
    }
    if (groups.empty()) {
        figures.omitted.emplace_back("No figure of D* across files: none has both D_law and D_obs.");
        return;
    }
    PlotBuilder plot("across");
    const double tolerance = AnalysisOptions{}.tolerance;
    const Range wide = x.widened(1.5);
    Rows band;
    for (const double at : {wide.low, wide.high}) {
        band.push_back({at, at / tolerance, at * tolerance});
        y.take(at / tolerance);
        y.take(at * tolerance);
    }
    plot.add("s(P-1)C/W, law / tolerance, law * tolerance (elements of D)", band,
             {fmt::format("using 1:2:3 with filledcurves fc rgb grey fs transparent solid 0.35 title 'within a factor {} of the law'", tolerance),
              "using 1:1 with lines lw 2 lc rgb black title 'law: D* = s(P-1)C/W'"});
    for (size_t i = 0; i < groups.size(); ++i)
        plot.add("D_law, D_obs, D_law low, high, D_obs low, high (elements of D)", groups[i].rows,
                 {fmt::format("using 1:2:3:4:5:6 with xyerrorbars {} title {}", look(i).points(), gnuplot_string(groups[i].title))});
    figures.drawn.push_back(std::move(plot).figure(
        "D* against the law, across files",
        "The law: where computation and communication cross as measured, over s(P-1)C/W by each file's own calibration, with 95 % intervals. On the line "
        "the law holds.",
        log_axis('x', wide, "D_law = s(P-1)C/W (elements)") + log_axis('y', y.widened(1.2), "D_obs (elements)")));
}

} // namespace

bool same_processors(const RunData& a, const RunData& b)
{
    const auto processors = [](const RunData& run) {
        std::set<std::tuple<std::string, std::string, int32_t>> kinds;
        for (const RankInfo& rank : run.ranks) kinds.insert({rank.cpu_model, rank.blas_kernel, rank.blas_threads});
        return kinds;
    };
    // Ranks of a machine share its memory, so as many of them have to be at work.
    return processors(a) == processors(b) && most_ranks_on_a_machine(a) == most_ranks_on_a_machine(b);
}

AcrossVerdict verdict_across(std::span<const AnalysedRun> runs)
{
    const std::vector<Place> places = places_of(runs);
    if (places.empty()) return {Verdict::inconclusive, "no file holds a crossover: give runs of experiments/crossover.toml"};
    const Place* worst = worst_of(places, [](const Place& place) { return place.crossover->verdict; });
    const Crossover& crossover = *worst->crossover;
    if (crossover.verdict == Verdict::holds) return {Verdict::holds, fmt::format("D* lies where the law puts it at all {}", counted(places.size(), "place"))};
    return {crossover.verdict, fmt::format("{}, {}: {}", worst->of->run.path, sweep_text(sweep_of(crossover)), crossover.reason)};
}

std::string across_text(std::span<const AnalysedRun> runs, size_t width)
{
    using Align = TextTable::Align;
    TextTable table;
    table.add_column("file", Align::left);
    for (const char* heading : {"B", "F", "P"}) table.add_column(heading, Align::right);
    table.add_column("types", Align::left);
    for (const char* heading : {"s(P-1)C/W", "D_obs", "+-", "ratio"}) table.add_column(heading, Align::right);
    table.add_column("verdict", Align::left);
    Range law, ratio;
    std::string strategies;
    const std::vector<Place> places = places_of(runs);
    const auto names = names_of(runs);
    for (const auto& [of, c] : places) {
        table.add_row({names.at(of), std::to_string(c->B), std::to_string(c->F), std::to_string(c->P), types_text(*c), c->D_law ? D_text(c->D_law->value) : "-", c->D_obs ? D_text(c->D_obs->value) : "-",
                       c->D_obs ? fmt::format("{:.1f} %", 100 * c->D_obs->relative_half_width()) : "", c->ratio ? fmt::format("{:.3f}", *c->ratio) : "-",
                       std::string(name_of(c->verdict))});
        if (c->strategy != "mpi_allreduce")
            strategies += wrapped(fmt::format("{}: D_obs = {} is that of {}.", names.at(of), c->D_obs ? D_text(c->D_obs->value) : "-",
                                              printable(c->strategy)), width, 2);
        if (!c->ratio) continue;
        law.take(c->D_law->value);
        ratio.take(*c->ratio);
    }
    std::string text = fmt::format("shardline across\n  {}, each by itself\n\n", counted(runs.size(), "file"));
    if (!places.empty()) text += table.text(2) + strategies + "\n";
    for (const AnalysedRun& its : runs) {
        if (const std::string status = status_text(its.run); !status.empty()) text += wrapped(status, width, 2);
        if (its.analysis.crossovers.empty()) text += wrapped(fmt::format("{} holds no crossover.", names.at(&its)), width, 2);
    }
    if (!ratio.empty())
        text += wrapped(fmt::format("The law spans D = {} to {}, a factor of {}; D_obs/D_law lies between {:.3f} and {:.3f}.", D_text(law.low), D_text(law.high),
                                    significant(law.high / law.low, 3), ratio.low, ratio.high),
                        width, 2);
    const AcrossVerdict verdict = verdict_across(runs);
    return text + "\n" + wrapped(fmt::format("Verdict: {}: {}", name_of(verdict.verdict), printable(verdict.reason)), width, 2);
}

Figures figures_across(std::span<const AnalysedRun> runs)
{
    Figures figures;
    add_across_figure(runs, figures);
    const auto names = names_of(runs);
    std::vector<std::pair<const AnalysedRun*, const Estimate*>> with_memory;
    for (const AnalysedRun& its : runs)
        if (const Estimate* M = memory_of(its, runs); M && !shapes_of(its.analysis).empty()) with_memory.emplace_back(&its, M);
    if (with_memory.empty())
        figures.omitted.emplace_back("No roofline of memory and link together: it takes a run of experiments/roofline.toml and a sweep on the same processors, "
                                     "with as many ranks on a machine.");
    for (size_t i = 0; i < with_memory.size(); ++i) {
        const auto& [its, M] = with_memory[i];
        add_roofline_figures(its->analysis, figures, {*M, numbered("roofline", i, with_memory.size()), names.at(its)});
    }
    return figures;
}

} // namespace shardline
