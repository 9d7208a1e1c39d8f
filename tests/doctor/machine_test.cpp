// Machines in folders: nothing is found on the clean one, and each seeded setting is found, alone.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "doctor/checks.hpp"
#include "doctor/diagnosis.hpp"
#include "support/temporary_directory.hpp"

namespace rung::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kClean = std::string(RUNG_TEST_DATA) + "/machine";

// A copy of the clean machine.
class Machine {
 public:
  Machine() { std::filesystem::copy(kClean, folder_ / "machine", std::filesystem::copy_options::recursive); }
  std::string path() const { return folder_ / "machine"; }
  void set(const std::string& file, const std::string& value) const {
    std::filesystem::create_directories(std::filesystem::path(path() + "/" + file).parent_path());
    folder_.write("machine/" + file, value + "\n");
  }
  void remove(const std::string& file) const { std::filesystem::remove(path() + "/" + file); }
  Findings findings() const { return diagnose(*Snapshot::open(path())).findings; }

 private:
  TemporaryDirectory folder_;
};

TEST(CleanMachine, HasNoFindings) {
  const Diagnosis diagnosis = diagnose(*Snapshot::open(kClean));
  EXPECT_THAT(diagnosis.findings, IsEmpty());
  EXPECT_EQ(diagnosis.variables, 2u);
  EXPECT_THAT(diagnosis.facts,
              ::testing::Contains(::testing::Pair("GPU 0000:c1:00.0", "AMD 0x74a1, SPX, NPS1, 750 W")));
}

constexpr const char* kGpu = "sys/bus/pci/devices/0000:c1:00.0/";

struct Seed {
  const char* check;
  std::string file, value;
  Severity severity;
};
void PrintTo(const Seed& seed, std::ostream* out) { *out << seed.file << " = " << seed.value; }

class SeededMachine : public ::testing::TestWithParam<Seed> {};

TEST_P(SeededMachine, HasOneFindingThatSaysWhatToDo) {
  const Machine machine;
  machine.set(GetParam().file, GetParam().value);
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, GetParam().check);
  EXPECT_EQ(findings[0].severity, GetParam().severity);
  EXPECT_FALSE(findings[0].why.empty());
  EXPECT_FALSE(findings[0].fix.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SeededMachine,
    ::testing::Values(
        Seed{"numa_balancing", "proc/sys/kernel/numa_balancing", "1", Severity::problem},
        Seed{"gpu_affinity", "proc/self/status", "Cpus_allowed_list:\t0-7", Severity::problem},
        Seed{"governor", "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave", Severity::problem},
        Seed{"idle_states", "sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0", Severity::problem},
        Seed{"huge_pages", "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", Severity::note},
        Seed{"iommu", std::string(kGpu) + "iommu_group/type", "DMA-FQ", Severity::problem},
        Seed{"pci_link", std::string(kGpu) + "current_link_width", "8", Severity::problem},
        Seed{"pci_link", std::string(kGpu) + "current_link_speed", "2.5 GT/s PCIe", Severity::note},
        Seed{"gpu_clocks", std::string(kGpu) + "power_dpm_force_performance_level", "low", Severity::problem},
        Seed{"gpu_partition", std::string(kGpu) + "current_compute_partition", "CPX", Severity::note},
        Seed{"memory_partition", std::string(kGpu) + "current_memory_partition", "NPS4", Severity::note},
        Seed{"power_cap", std::string(kGpu) + "hwmon/hwmon3/power1_cap", "500000000", Severity::problem},
        Seed{"cpu_limit", "sys/fs/cgroup/cpu.max", "200000 100000", Severity::problem},
        Seed{"memory_limit", "sys/fs/cgroup/memory.max", "4294967296", Severity::note},
        Seed{"shared_memory", "proc/self/mounts", "shm /dev/shm tmpfs rw,size=65536k 0 0", Severity::problem},
        Seed{"environment", "environment", "HIP_CACHE_ENABLED=1", Severity::problem},
        Seed{"environment", "environment", "ROC_GLOBAL_CU_MASK=0:0-19;1:20-39", Severity::problem}));

TEST(Iommu, IsOtherwiseJudgedByTheKernelsCommandLine) {
  const Machine machine;
  machine.remove(std::string(kGpu) + "iommu_group/type");
  EXPECT_THAT(machine.findings(), IsEmpty());
  machine.set("proc/cmdline", "intel_iommu=on");
  ASSERT_EQ(machine.findings().size(), 1u);
  machine.set("proc/cmdline", "intel_iommu=on iommu=pt");
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST(Iommu, IsJudgedByItsGroupWhereGiven) {
  const Machine machine;
  machine.set("proc/cmdline", "intel_iommu=on");
  EXPECT_THAT(machine.findings(), IsEmpty()) << "the group is of identity";
  machine.set("proc/cmdline", "iommu=pt");
  machine.set(std::string(kGpu) + "iommu_group/type", "DMA");
  EXPECT_EQ(machine.findings().size(), 1u);
  machine.remove(std::string(kGpu) + "iommu_group/type");
  machine.set("proc/cmdline", "iommu=force");
  ASSERT_EQ(machine.findings().size(), 1u);
  EXPECT_EQ(machine.findings()[0].found, "iommu=force");
}

TEST(Governor, IsToldWithItsProcessors) {
  const Machine machine;
  const std::string governors[] = {"powersave", "powersave", "performance", "schedutil"};
  for (size_t cpu = 0; cpu < 4; ++cpu)
    machine.set("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor", governors[cpu]);
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].found, "powersave on 2 processors");
  EXPECT_EQ(findings[1].found, "schedutil on 1 processor");
}

TEST(IdleStates, AreEachTold) {
  const Machine machine;
  const std::string folder = "sys/devices/system/cpu/cpu0/cpuidle/";
  machine.set(folder + "state2/disable", "0");
  for (const auto& [latency, found] : {std::pair{"49", "C2 800 us"}, {"50", "C2 800 us, C6 50 us"}}) {
    machine.set(folder + "state3/name", "C6");
    machine.set(folder + "state3/latency", latency);
    machine.set(folder + "state3/disable", "0");
    const Findings findings = machine.findings();
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].found, found);
  }
}

TEST(Limits, AreThoseThatAreStated) {
  const Machine machine;
  const auto is_found = [&](const std::string& file, const std::string& value) {
    machine.set(file, value);
    return !machine.findings().empty();
  };
  EXPECT_TRUE(is_found("sys/fs/cgroup/memory.max", "17179869183"));
  EXPECT_FALSE(is_found("sys/fs/cgroup/memory.max", "17179869184"));
  for (const auto& [size, is_little] : {std::pair{"1073741823", true},
                                        {"1073741824", false},
                                        {"1048575k", true},
                                        {"1048576k", false},
                                        {"1023m", true},
                                        {"1024m", false},
                                        {"1g", false}})
    EXPECT_EQ(is_found("proc/self/mounts", std::string("shm /dev/shm tmpfs rw,size=") + size + " 0 0"), is_little)
        << size;
}

TEST(GpuAffinity, IsRightWhereAProcessorIsNear) {
  const Machine machine;
  for (const auto& [allowed, is_far] : {std::pair{"0-7", true}, {"7-8", false}, {"15", false}, {"0,2-5", true}}) {
    machine.set("proc/self/status", std::string("Cpus_allowed_list:\t") + allowed);
    const Findings findings = machine.findings();
    EXPECT_EQ(findings.size(), is_far ? 1u : 0u) << allowed;
    if (!is_far) continue;
    EXPECT_THAT(findings.at(0).why, HasSubstr(std::string("processors ") + allowed + " alone"));
    EXPECT_EQ(findings.at(0).fix, "numactl --cpunodebind=1 --membind=1 COMMAND");
  }
  machine.set("sys/devices/system/node/online", "0");
  machine.set("proc/self/status", "Cpus_allowed_list:\t0-7");
  EXPECT_THAT(machine.findings(), IsEmpty()) << "there is one node alone";
}

TEST(CpuLimit, SaysHowOftenTheContainerStoodStill) {
  const Machine machine;
  machine.set("sys/fs/cgroup/cpu.max", "200000 100000");
  machine.set("sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled 17");
  EXPECT_THAT(machine.findings().at(0).found, HasSubstr("throttled 17 times"));
}

TEST(CpuLimit, IsAlsoReadFromControlGroupsVersion1) {
  const Machine machine;
  machine.remove("sys/fs/cgroup/cpu.max");
  machine.set("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  machine.set("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_THAT(machine.findings(), IsEmpty());
  machine.set("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000");
  machine.set("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nnr_throttled 3\nthrottled_time 7");
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].subject, "sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  EXPECT_EQ(findings[0].found, "150000 100000, throttled 3 times");
}

TEST(Findings, HaveProblemsFirst) {
  const Machine machine;
  machine.set("sys/kernel/mm/transparent_hugepage/enabled", "[never]");
  machine.set("environment", "AMD_LOG_LEVEL=3");
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].check, "environment");
}

TEST(Machine, WithoutAnyFilesHasNoFindings) {
  const TemporaryDirectory empty;
  EXPECT_THAT(diagnose(*Snapshot::open(empty.path())).findings, IsEmpty());
  EXPECT_FALSE(Snapshot::open(empty / "nowhere"));
}

TEST(Machine, WithDamagedFilesHasNoFindings) {
  const Machine machine;
  for (const CapturedFile& file : captured_files())
    for (const std::string& path : Snapshot::open(kClean)->matches(file.pattern))
      if (path.ends_with("width") || path.ends_with("status") || path.ends_with("online") || path.ends_with("max"))
        machine.set(path, std::string("\x01\xff,-,:", 6));
  EXPECT_NO_THROW(machine.findings());
}

TEST(Capture, GivesTheSameFindings) {
  const Machine machine;
  machine.set("proc/sys/kernel/numa_balancing", "1");
  machine.set("environment", "HIP_CACHE_ENABLED=1\nGPU_MAX_HW_QUEUES=2\nPATH=/bin");
  const TemporaryDirectory folder;
  const auto captured = capture(*Snapshot::open(machine.path()), folder / "captured");
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->variables, 2u);
  EXPECT_EQ(captured->values_left_out, 0u);
  EXPECT_EQ(to_json(diagnose(*Snapshot::open(folder / "captured"))),
            to_json(diagnose(*Snapshot::open(machine.path()))));
}

TEST(Capture, LeavesOutWhoseMachineItIs) {
  const Machine machine;
  machine.set("proc/cmdline", "BOOT_IMAGE=/vmlinuz ip=10.1.2.3::10.1.2.1:255.255.255.0:secrethost iommu=pt");
  machine.set("proc/self/mounts", "server:/home/alice /mnt nfs rw 0 0\nshm /dev/shm tmpfs rw,size=67108864k 0 0");
  machine.set("proc/self/status", "Name:\tsecretprogram\nUid:\t1000\nCpus_allowed_list:\t0-15");
  machine.set("environment",
              "VLLM_API_KEY=abc\nVLLM_HOST_IP=10.1.2.3\nNCCL_TOPO_FILE=/home/alice/topology.xml\n"
              "NCCL_NET=10.1.2.3\nUSER=alice\nNCCL_DEBUG=INFO");
  const TemporaryDirectory folder;
  const auto captured = capture(*Snapshot::open(machine.path()), folder / "captured");
  ASSERT_TRUE(captured);
  EXPECT_EQ(captured->values_left_out, 4u);
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "captured"))
    if (entry.is_regular_file()) all += *read_text_file(entry.path());
  for (const char* own : {"alice", "secret", "10.1.2", "abc", "Uid", "vmlinuz"}) EXPECT_THAT(all, Not(HasSubstr(own)));
  EXPECT_THAT(all, HasSubstr("NCCL_DEBUG=INFO"));
  EXPECT_THAT(all, HasSubstr("NCCL_TOPO_FILE=<path, 24 characters>"));
}

TEST(Capture, WritesIntoNoFolderThatHasSomething) {
  const TemporaryDirectory folder;
  folder.write("file", "mine");
  EXPECT_FALSE(capture(*Snapshot::open(kClean), folder.path()));
}

TEST(Ids, AreReadFromRanges) {
  EXPECT_EQ(ids_of("0-2,5"), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(ids_of(""), std::vector<int>{});
  EXPECT_EQ(ids_of("3-1,x"), std::vector<int>{});
}

}  // namespace
}  // namespace rung::doctor
