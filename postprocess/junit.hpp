#pragma once

#include "model/comparison.hpp"

#include <string>

namespace shardline {

/// How every such text begins.
inline constexpr const char* junit_beginning = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"shardline compare\" ";

/// The comparison in JUnit's XML, as continuous integration reads it: a test case for each point that both groups visited, and one
/// for each D_obs. Failed where one of its values has changed, skipped where none could be compared.
std::string comparison_junit(const Comparison& comparison, const ComparisonOptions& options);

} // namespace shardline
