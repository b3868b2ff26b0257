#include "model/findings.hpp"

namespace shardline {

std::vector<Finding> failed_checks(std::span<const RunData>) { return {}; }
std::vector<Finding> findings_in(std::span<const RunData> launches, std::span<const PointSamples>) { return failed_checks(launches); }

} // namespace shardline
