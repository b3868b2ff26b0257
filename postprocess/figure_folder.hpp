#pragma once

#include "postprocess/figures.hpp"
#include "postprocess/output.hpp"

#include <string>

namespace shardline {

/// Writes what was drawn into `folder`, and with Existing::replace removes what an earlier report drew there. What keeps figures from being
/// drawn, or leaves them out, is said on standard error and changes nothing else. Throws InputError as write_folder does.
void write_figures(const std::string& folder, const Figures& figures, const DrawnFigures& drawn, Existing existing);

} // namespace shardline
