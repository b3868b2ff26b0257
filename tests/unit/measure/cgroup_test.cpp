#include "measure/cgroup.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace shardline {
namespace {

using test::TemporaryFolder;

constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();

CgroupFiles files_in(const TemporaryFolder& folder) { return {folder / "cgroup", folder / "membership"}; }

TEST(CpuQuota, IsNoneWithoutControlGroups)
{
    const TemporaryFolder folder;
    EXPECT_EQ(cpu_quota(files_in(folder)).cores, 0);
}

TEST(CpuQuota, Version2OfTheOwnGroup)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/job/step\n");
    folder.write("cgroup/job/step/cpu.max", "150000 100000\n");
    folder.write("cgroup/job/cpu.max", "max 100000\n");
    const CpuQuota quota = cpu_quota(files_in(folder));
    EXPECT_DOUBLE_EQ(quota.cores, 1.5);
    EXPECT_TRUE(quota.group.ends_with("/job/step")) << quota.group;
}

TEST(CpuQuota, AParentsSmallerQuotaHolds)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/job/step\n");
    folder.write("cgroup/job/step/cpu.max", "400000 100000\n");
    folder.write("cgroup/job/cpu.max", "50000 50000\n");
    const CpuQuota quota = cpu_quota(files_in(folder));
    EXPECT_DOUBLE_EQ(quota.cores, 1);
    EXPECT_TRUE(quota.group.ends_with("/job")) << quota.group;
}

TEST(CpuQuota, MaxIsNone)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/job\n");
    folder.write("cgroup/job/cpu.max", "max 100000\n");
    EXPECT_EQ(cpu_quota(files_in(folder)).cores, 0);
}

TEST(CpuQuota, Version1UnderEitherFolderName)
{
    for (const std::string name : {"cpu,cpuacct", "cpu"}) {
        const TemporaryFolder folder;
        folder.write("membership", "12:cpuset:/\n4:cpu,cpuacct:/docker/abc\n0::/\n");
        folder.write("cgroup/unified/cgroup.procs", "");
        folder.write("cgroup/" + name + "/docker/abc/cpu.cfs_quota_us", "200000\n");
        folder.write("cgroup/" + name + "/docker/abc/cpu.cfs_period_us", "100000\n");
        folder.write("cgroup/" + name + "/cpu.cfs_quota_us", "-1\n");
        folder.write("cgroup/" + name + "/cpu.cfs_period_us", "100000\n");
        EXPECT_DOUBLE_EQ(cpu_quota(files_in(folder)).cores, 2) << name;
    }
}

TEST(CpuQuota, InAContainerTheTopIsTheOwnGroup)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/../../host/name/of/it\n");
    folder.write("cgroup/cpu.max", "250000 100000\n");
    EXPECT_DOUBLE_EQ(cpu_quota(files_in(folder)).cores, 2.5);
}

TEST(CgroupMemory, IsTheLeastOverTheParents)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/job/step\n");
    folder.write("cgroup/job/step/memory.max", "max\n");
    folder.write("cgroup/job/step/memory.current", "100\n");
    folder.write("cgroup/job/memory.max", "1000\n");
    folder.write("cgroup/job/memory.current", "700\n");
    EXPECT_EQ(cgroup_memory_left_bytes(files_in(folder)), 300);
}

TEST(CgroupMemory, CachedFilesCountAsFree)
{
    const TemporaryFolder folder;
    folder.write("membership", "5:memory:/job\n");
    folder.write("cgroup/memory/job/memory.limit_in_bytes", "1000\n");
    folder.write("cgroup/memory/job/memory.usage_in_bytes", "900\n");
    folder.write("cgroup/memory/job/memory.stat", "cache 700\ntotal_inactive_file 600\n");
    EXPECT_EQ(cgroup_memory_left_bytes(files_in(folder)), 700);
}

TEST(CgroupMemory, NoLimitIsNoLimit)
{
    const TemporaryFolder folder;
    folder.write("membership", "0::/job\n");
    folder.write("cgroup/job/memory.max", "max\n");
    folder.write("cgroup/job/memory.current", "100\n");
    EXPECT_EQ(cgroup_memory_left_bytes(files_in(folder)), no_limit);
}

} // namespace
} // namespace shardline
