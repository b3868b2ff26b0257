#include "measure/folder.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

using test::TemporaryFolder;

TEST(FileSystemOf, IsThatOfTheNearestMount)
{
    const TemporaryFolder folder;
    folder.write("mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                              "30 22 0:25 / /home rw shared:2 master:3 - nfs4 server:/home rw,vers=4.2\n"
                              "31 30 0:26 / /home/a\\040b rw - lustre x@tcp:/l rw\n"
                              "32 22 0:27 / /tmp rw - xfs /dev/sdb rw\n"
                              "33 32 0:28 / /tmp rw - tmpfs tmpfs rw\n");
    const auto kind = [&](const char* path) { return file_system_of(path, folder / "mountinfo"); };
    EXPECT_EQ(kind("/usr/lib"), "ext4");
    EXPECT_EQ(kind("/home/user/results"), "nfs4");
    EXPECT_EQ(kind("/home/a b/c"), "lustre");
    EXPECT_EQ(kind("/homes"), "ext4");
    EXPECT_EQ(kind("/tmp"), "tmpfs"); // the later mount hides the earlier
    EXPECT_EQ(file_system_of("/usr", folder / "none"), "");
}

FolderFacts sound() { return {.path = "out", .exists = true, .writable = true, .file_system = "nfs4", .free_bytes = int64_t{1} << 40, .without = {}}; }

std::string said(const FolderFacts& folder, Severity severity)
{
    const auto findings = folder_findings(folder);
    return findings.size() == 1 && findings[0].severity == severity ? findings[0].text : "";
}

TEST(FolderFindings, NothingOnASharedDisk) { EXPECT_TRUE(folder_findings(sound()).empty()); }

TEST(FolderFindings, WhatWouldLoseOrRefuseTheFile)
{
    FolderFacts folder = sound();
    folder.exists = folder.writable = false;
    EXPECT_NE(said(folder, Severity::invalid).find("there is no folder out"), std::string::npos);
    folder.exists = true;
    EXPECT_NE(said(folder, Severity::invalid).find("takes no files"), std::string::npos);
    folder = sound();
    folder.file_system = "tmpfs";
    EXPECT_NE(said(folder, Severity::warning).find("in memory"), std::string::npos);
    folder = sound();
    folder.without = {"n1", "n2"};
    EXPECT_NE(said(folder, Severity::warning).find("not there on n1, n2"), std::string::npos);
    folder = sound();
    folder.free_bytes = 5'000'000;
    EXPECT_NE(said(folder, Severity::warning).find("5.0 MB left"), std::string::npos);
}

} // namespace
} // namespace shardline
