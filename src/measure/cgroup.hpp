#pragma once

// What the control groups of this process (containers, batch systems) leave it, versions 1 and 2. A limit of any
// parent holds too, so each is read from the process's own group upwards.

#include <cstdint>
#include <filesystem>
#include <string>

namespace shardline {

/// Where the kernel shows control groups; a test gives folders of its own.
struct CgroupFiles {
    std::filesystem::path mount = "/sys/fs/cgroup";
    std::filesystem::path membership = "/proc/self/cgroup";
};

/// CPU time that a group of processes may take for each second.
struct CpuQuota {
    double cores = 0;  ///< 0: no limit
    std::string group; ///< the group whose processes share it
};

/// The smallest quota over the groups of this process.
CpuQuota cpu_quota(const CgroupFiles& files = {});

/// Bytes this process's groups may still take; the largest int64_t where there is no limit. Cached file data that the kernel
/// drops on demand counts as free.
int64_t cgroup_memory_left_bytes(const CgroupFiles& files = {});

} // namespace shardline
