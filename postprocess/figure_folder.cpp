#include "postprocess/figure_folder.hpp"

namespace shardline {

void write_figures(const std::string& folder, const Figures& figures, const DrawnFigures& drawn, Existing existing)
{
    write_folder(folder, drawn.files, existing);
    if (existing == Existing::replace) remove_old_figures(folder, drawn.files);
    for (const std::string& problem : drawn.problems) print_message(problem);
    if (drawn.problems.empty())
        for (const std::string& omitted : figures.omitted) print_message(omitted);
}

} // namespace shardline
