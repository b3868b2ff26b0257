#include "measure/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

namespace shardline {

namespace {

namespace fs = std::filesystem;

struct Group {
    fs::path folder;
    std::string name; ///< as /proc/self/cgroup names it
    int version = 2;
};

/// First number in a file; nothing where there is none ("max", no such file).
std::optional<int64_t> number_in(const fs::path& file)
{
    std::ifstream in(file);
    int64_t value = 0;
    return in >> value ? std::optional(value) : std::nullopt;
}

/// Number after `key` in a file of "key number" lines; 0 where it is missing.
int64_t number_after(const std::string& key, const fs::path& file)
{
    std::ifstream in(file);
    std::string name;
    for (int64_t value = 0; in >> name >> value;)
        if (name == key) return value;
    return 0;
}

bool lists(const std::string& controllers, const std::string& controller)
{
    std::istringstream in(controllers);
    for (std::string name; std::getline(in, name, ',');)
        if (name == controller) return true;
    return false;
}

/// Folder of a hierarchy. Version 2 is mounted at the top, or in "unified" beside version 1, whose folders
/// are named after all their controllers or after one.
fs::path hierarchy(const fs::path& mount, const std::string& controllers, const std::string& controller)
{
    const fs::path first = mount / (controllers.empty() ? "unified" : controllers);
    if (fs::exists(first)) return first;
    return controllers.empty() ? mount : mount / controller;
}

/// Groups that limit this process for one controller, from its own to the top. In a container the names may be the host's, of
/// which nothing is mounted but the top: then that is the container's own.
std::vector<Group> groups_of(const std::string& controller, const CgroupFiles& files)
{
    std::vector<Group> groups;
    std::ifstream in(files.membership);
    for (std::string line; std::getline(in, line);) { // number:controllers:path
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !lists(controllers, controller)) continue;
        const fs::path top = hierarchy(files.mount, controllers, controller);
        for (fs::path path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
            groups.push_back({top / path, "/" + path.string(), controllers.empty() ? 2 : 1});
            if (path.empty()) break;
        }
    }
    return groups;
}

/// Cores' worth of CPU time, 0 where this group sets no limit.
double quota_of(const Group& group)
{
    double quota = -1, period = 0; // µs
    if (group.version == 2) {
        std::ifstream in(group.folder / "cpu.max"); // "max 100000" leaves the quota unread
        in >> quota >> period;
    } else {
        quota = static_cast<double>(number_in(group.folder / "cpu.cfs_quota_us").value_or(-1));
        period = static_cast<double>(number_in(group.folder / "cpu.cfs_period_us").value_or(0));
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

std::optional<int64_t> memory_left_in(const Group& group)
{
    const bool v2 = group.version == 2;
    const auto limit = number_in(group.folder / (v2 ? "memory.max" : "memory.limit_in_bytes"));
    const auto used = number_in(group.folder / (v2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!limit || !used) return std::nullopt;
    const int64_t dropped_on_demand = number_after(v2 ? "inactive_file" : "total_inactive_file", group.folder / "memory.stat");
    return std::max<int64_t>(0, *limit - std::max<int64_t>(0, *used - dropped_on_demand));
}

/// Two containers may give their groups the same name; their namespaces differ.
std::string cgroup_namespace()
{
    std::error_code error;
    return fs::read_symlink("/proc/self/ns/cgroup", error).string();
}

} // namespace

CpuQuota cpu_quota(const CgroupFiles& files)
{
    CpuQuota least;
    for (const Group& group : groups_of("cpu", files))
        if (const double cores = quota_of(group); cores > 0 && (least.cores == 0 || cores < least.cores))
            least = {cores, cgroup_namespace() + group.name};
    return least;
}

int64_t cgroup_memory_left_bytes(const CgroupFiles& files)
{
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Group& group : groups_of("memory", files))
        if (const auto left = memory_left_in(group)) least = std::min(least, *left);
    return least;
}

} // namespace shardline
