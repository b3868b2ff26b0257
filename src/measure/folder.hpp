#pragma once

// Where a run would write: what kind of file system, and whether it is there for a run that goes on elsewhere.

#include "measure/session.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace shardline {

struct FolderFacts {
    std::string path;
    bool exists = false, writable = false;
    std::string file_system;          ///< the kernel's name for its kind, e.g. "nfs4"; empty: not known
    int64_t free_bytes = 0;           ///< that this user may still fill
    std::vector<std::string> without; ///< hosts of the run that do not have the folder
};

/// Facts about the folder in which `file` would be written, as rank 0 sees it; complete on rank 0. Collective over
/// session.control().
FolderFacts survey_folder(const std::string& file, const Session& session);

/// Kind of the file system that holds an absolute path, from a table like /proc/self/mountinfo; empty where it is not found.
std::string file_system_of(const std::filesystem::path& path, const std::filesystem::path& mountinfo);

/// What is wrong with the folder. Code "folder", Severity::invalid where nothing could be written.
std::vector<Finding> folder_findings(const FolderFacts& folder);

} // namespace shardline
