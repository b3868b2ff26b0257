#pragma once

// shardline-run --doctor: what a run would stand on, without measuring.

#include "measure/folder.hpp"
#include "measure/launch.hpp"
#include "measure/rank_facts.hpp"
#include "model/run_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace shardline {

/// What the ranks found, and what the findings would change, as text for a terminal. `facts` are of all ranks, in rank order.
std::string doctor_text(const std::optional<Launch>& launch, const std::vector<RankFacts>& facts, const FolderFacts& folder,
                        const std::vector<Finding>& findings);

} // namespace shardline
