// Processors that a process may use: its mask, and the quotas of control groups of both versions, its own and those
// above it.
// SPDX-License-Identifier: Apache-2.0
#include "base/cores.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_directory.hpp"

namespace rung {
namespace {

class CoresOf : public testing::Test {
 protected:
  CoresOf() { set("proc/self/status", "Name:\tprogram\nCpus_allowed_list:\t0-3,8,10-12\n"); }
  void set(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ / file).parent_path());
    root_.write(file, text);
  }
  Cores read() const { return read_cores(root_.path()); }

  // Groups of both versions, mounted as a distribution does.
  void mount_v2(const std::string& group, const std::string& mounted = "/") {
    set("proc/self/cgroup", "0::" + group + "\n");
    set("proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n36 35 0:32 " + mounted +
                                   " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void mount_v1(const std::string& group, const std::string& mounted = "/") {
    set("proc/self/cgroup", "5:memory:/other\n4:cpuset:/other\n3:cpu,cpuacct:" + group + "\n");
    set("proc/self/mountinfo", "35 30 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n36 30 0:32 " +
                                   mounted + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }

 private:
  TemporaryDirectory root_;
};

TEST_F(CoresOf, MaskAreCounted) {
  EXPECT_EQ(read().allowed, 8);
  EXPECT_EQ(read().usable(), 8);
  EXPECT_FALSE(read().limited());
}

TEST_F(CoresOf, ContainerAreLimitedByItsGroup) {
  set("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(read().quota, 2.5);
  EXPECT_EQ(read().usable(), 2);
  EXPECT_EQ(read().quota_file, "sys/fs/cgroup/cpu.max");
}

TEST_F(CoresOf, ContainerOfVersion1AreLimitedByItsGroup) {
  set("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  set("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().usable(), 3);
  EXPECT_EQ(read().quota_file, "sys/fs/cgroup/cpu/cpu.cfs_quota_us");
}

TEST_F(CoresOf, NestedGroupTakeTheLeastQuota) {
  mount_v2("/a.slice/b.service");
  set("sys/fs/cgroup/a.slice/cpu.max", "200000 100000\n");
  set("sys/fs/cgroup/a.slice/b.service/cpu.max", "600000 100000\n");
  set("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(read().usable(), 2);
  EXPECT_EQ(read().quota_file, "sys/fs/cgroup/a.slice/cpu.max");
}

TEST_F(CoresOf, NestedGroupOfVersion1TakeTheLeastQuota) {
  mount_v1("/a/b");
  set("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
  set("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  set("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "50000\n");
  set("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(read().usable(), 5);
}

TEST_F(CoresOf, GroupThatIsMountedItselfAreLimited) {
  mount_v1("/docker/0123", "/docker/0123");
  set("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  set("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().usable(), 1);
}

TEST_F(CoresOf, LessThanOneIsOne) {
  set("sys/fs/cgroup/cpu.max", "10000 100000\n");
  EXPECT_EQ(read().usable(), 1);
  EXPECT_TRUE(read().limited());
}

TEST_F(CoresOf, NoQuotaMeansNoLimit) {
  for (const char* text : {"max 100000\n", "", "\n", "-1 100000", "200000", "2 0", "nonsense"}) {
    set("sys/fs/cgroup/cpu.max", text);
    EXPECT_FALSE(read().limited()) << text;
  }
}

TEST(Cores, OfEmptyFoldersAreUnknownButOneUsable) {
  const TemporaryDirectory empty;
  EXPECT_EQ(read_cores(empty.path()).allowed, 0);
  EXPECT_EQ(read_cores(empty.path()).usable(), 1);
}

TEST(Cores, OfThisProcessAreThoseOfItsMask) {
  EXPECT_GE(cores().allowed, 1);
  EXPECT_EQ(cores().allowed, read_cores("").allowed);
}

}  // namespace
}  // namespace rung
