// GPUs of a machine: what they are, how they are set up, and how several are linked and divided.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "doctor/acs.hpp"
#include "doctor/checks.hpp"
#include "doctor/diagnosis.hpp"
#include "support/temporary_directory.hpp"

namespace rung::doctor {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* kFirstGpu = "sys/bus/pci/devices/0000:c1:00.0/";

class GpuMachine {
 public:
  GpuMachine() {
    std::filesystem::copy(std::string(RUNG_TEST_DATA) + "/machine", folder_ / "m",
                          std::filesystem::copy_options::recursive);
  }
  void set(const std::string& file, const std::string& value) const { set_bytes(file, value + "\n"); }
  void set_bytes(const std::string& file, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / ("m/" + file)).parent_path());
    folder_.write("m/" + file, bytes);
  }
  Snapshot snapshot() const { return *Snapshot::open(folder_ / "m"); }
  Findings findings() const { return diagnose(snapshot()).findings; }

  // One more GPU of AMD's on the bus.
  void add_gpu(const std::string& address) const {
    set("sys/bus/pci/devices/" + address + "/class", "0x120000");
    set("sys/bus/pci/devices/" + address + "/vendor", "0x1002");
  }
  // One more, set up as the first.
  void copy_gpu(const std::string& address) const {
    const std::string bus = folder_ / "m/sys/bus/pci/devices/";
    std::filesystem::copy(bus + "0000:c1:00.0", bus + address, std::filesystem::copy_options::recursive);
  }
  static constexpr int kPci = 2, kXgmi = 11;  // kinds of links
  // As the driver tells of `count` GPUs, each linked with all others so, and with the processor by PCI Express.
  void add_nodes(int count, int link = kXgmi) const {
    for (int node = 1; node <= count; ++node) {
      const std::string folder = "sys/class/kfd/kfd/topology/nodes/" + std::to_string(node) + "/";
      set(folder + "properties", "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nunique_id 123456789");
      for (int other = 0; other <= count; ++other)
        if (other != node)
          set(folder + "io_links/" + std::to_string(other) + "/properties",
              "type " + std::to_string(other == 0 ? kPci : link) + "\nnode_to " + std::to_string(other));
    }
  }

 private:
  TemporaryDirectory folder_;
};

// A configuration space with an ACS capability behind another one.
std::string configuration(unsigned control) {
  std::string bytes(4096, '\0');
  const auto put = [&](size_t at, unsigned value) {
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i & 0xff);
  };
  put(0x100, 0x2000'0001u | 1u << 16);  // error reporting, the next at 0x200
  put(0x200, 0x0001'000du);
  put(0x204, control << 16);
  return bytes;
}

TEST(Acs, IsReadFromTheConfiguration) {
  EXPECT_EQ(acs_control(configuration(0x1d)), "acs_control 0x001d");
  EXPECT_EQ(acs_control(configuration(0)), "acs_control 0x0000");
  EXPECT_EQ(acs_control("acs_control 0x001d"), "acs_control 0x001d") << "as a captured folder has it";
}

TEST(Acs, IsUnknownWhereTheFileEndsBeforeIt) {
  const std::string whole = configuration(0x1d);
  for (const size_t bytes : {0, 64, 256, 0x200, 0x206, 0x207}) EXPECT_EQ(acs_control(whole.substr(0, bytes)), "");
}

TEST(Acs, EndsOnAListThatLeadsBack) {
  std::string bytes = configuration(0x1d);
  bytes[0x103] = '\x10';  // the next of the first is the first
  EXPECT_EQ(acs_control(bytes), "");
  bytes[0x103] = '\x08';  // or lies before them all
  EXPECT_EQ(acs_control(bytes), "");
}

TEST(AccessControl, IsAProblemOfABridgeBetweenGpus) {
  const GpuMachine machine;
  machine.set("sys/bus/pci/devices/0000:c0:00.0/class", "0x060400");
  machine.set_bytes("sys/bus/pci/devices/0000:c0:00.0/config", configuration(0x1d));
  EXPECT_THAT(machine.findings(), IsEmpty()) << "one GPU has no peer";
  machine.add_gpu("0000:c2:00.0");
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "access_control");
  EXPECT_EQ(findings[0].found, "acs_control 0x001d");
  EXPECT_EQ(findings[0].fix, "sudo setpci -s 0000:c0:00.0 ECAP_ACS+0x6.w=0000");
  machine.set_bytes("sys/bus/pci/devices/0000:c0:00.0/config", configuration(0));
  EXPECT_THAT(machine.findings(), IsEmpty());
  machine.set_bytes("sys/bus/pci/devices/0000:c0:00.0/config", configuration(0x1d).substr(0, 64));
  EXPECT_THAT(machine.findings(), IsEmpty()) << "only root may read on";
}

TEST(AccessControl, IsAProblemOfEachSuchBridge) {
  const GpuMachine machine;
  machine.add_gpu("0000:c2:00.0");
  for (const std::string bridge : {"0000:a0:00.0", "0000:b0:00.0", "0000:d0:00.0"}) {
    machine.set("sys/bus/pci/devices/" + bridge + "/class", "0x060400");
    machine.set_bytes("sys/bus/pci/devices/" + bridge + "/config", configuration(bridge[5] == 'b' ? 0 : 0x1d));
  }
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].fix, "sudo setpci -s 0000:a0:00.0 ECAP_ACS+0x6.w=0000");
  EXPECT_EQ(findings[1].fix, "sudo setpci -s 0000:d0:00.0 ECAP_ACS+0x6.w=0000");
}

// Each check of a GPU looks at all of them, and names those that it means.
TEST(SeveralGpus, AreEachJudged) {
  struct Setting {
    const char *check, *file, *value;
  };
  const Setting kSettings[] = {
      {"iommu", "iommu_group/type", "DMA"},
      {"pci_link", "current_link_width", "8"},
      {"pci_link", "current_link_speed", "2.5 GT/s PCIe"},
      {"gpu_clocks", "power_dpm_force_performance_level", "low"},
      {"gpu_partition", "current_compute_partition", "CPX"},
      {"memory_partition", "current_memory_partition", "NPS4"},
      {"power_cap", "hwmon/hwmon3/power1_cap", "500000000"},
      {"gpu_affinity", "numa_node", "0"},
  };
  const std::string kAddresses[] = {"0000:c1:00.0", "0000:c2:00.0", "0000:c3:00.0"};
  for (unsigned wrong = 0; wrong < 8; ++wrong) {
    SCOPED_TRACE("of GPUs " + std::to_string(wrong));
    const GpuMachine machine;
    machine.set("proc/self/status", "Cpus_allowed_list:\t8-15");
    for (const size_t gpu : {1, 2}) machine.copy_gpu(kAddresses[gpu]);
    std::vector<std::pair<std::string, std::string>> wanted, found;  // checks and files
    for (size_t gpu = 0; gpu < 3; ++gpu)
      for (const Setting& setting : kSettings) {
        const std::string file = "sys/bus/pci/devices/" + kAddresses[gpu] + "/" + setting.file;
        if ((wrong >> gpu & 1) == 0) continue;
        machine.set(file, setting.value);
        wanted.emplace_back(setting.check, file);
      }
    for (const Finding& finding : machine.findings()) {
      found.emplace_back(finding.check, finding.subject);
      const size_t address = finding.fix.find("0000:c");
      if (address == std::string::npos) continue;
      EXPECT_THAT(finding.subject, HasSubstr(finding.fix.substr(address, 12))) << "what to do is for that GPU";
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(wanted));
  }
}

TEST(PowerCap, BelowTheUsualOneIsAProblem) {
  const GpuMachine machine;
  machine.set(std::string(kFirstGpu) + "hwmon/hwmon3/power1_cap", "500000000");
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "power_cap");
  EXPECT_EQ(findings[0].found, "500 W of 750 W");
}

TEST(MemoryPartition, OtherThanWholeIsNoted) {
  const GpuMachine machine;
  machine.set(std::string(kFirstGpu) + "current_memory_partition", "NPS4");
  ASSERT_EQ(machine.findings().size(), 1u);
  EXPECT_EQ(machine.findings()[0].check, "memory_partition");
}

TEST(PageFaults, ThatAreRetriedAreNoted) {
  const GpuMachine machine;
  machine.set("sys/module/amdgpu/parameters/noretry", "0");
  ASSERT_EQ(machine.findings().size(), 1u);
  EXPECT_EQ(machine.findings()[0].check, "page_faults");
  machine.set("sys/module/amdgpu/parameters/noretry", "-1");
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST(GpuNodes, TellArchitectureUnitsAndLinks) {
  const GpuMachine machine;
  machine.add_nodes(8);
  const std::vector<KfdGpu> gpus = kfd_gpus_of(machine.snapshot());
  ASSERT_EQ(gpus.size(), 8u);
  EXPECT_EQ(gpus[0].architecture, "gfx942");
  EXPECT_EQ(gpus[0].compute_units, 304);
  EXPECT_EQ(gpus[0].links, 7);
  machine.set("sys/class/kfd/kfd/topology/nodes/1/properties",
              "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010");
  EXPECT_EQ(kfd_gpus_of(machine.snapshot())[0].architecture, "gfx90a");
}

TEST(GpuNodes, AreInTheOrderOfTheirNumbers) {
  const GpuMachine machine;
  machine.add_nodes(11);
  machine.set("sys/class/kfd/kfd/topology/nodes/10/properties",
              "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010");
  const std::vector<KfdGpu> gpus = kfd_gpus_of(machine.snapshot());
  ASSERT_EQ(gpus.size(), 11u);
  for (size_t i = 0; i < gpus.size(); ++i) EXPECT_EQ(gpus[i].architecture, i == 9 ? "gfx90a" : "gfx942") << i;
}

TEST(GpuGroup, OfAPartOfLinkedGpusIsNoted) {
  const GpuMachine machine;
  machine.add_nodes(8);
  machine.set("environment", "ROCR_VISIBLE_DEVICES=0,1,2,3");
  const Findings findings = machine.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "gpu_group");
  EXPECT_EQ(findings[0].found, "4 of 8 GPUs");
  for (const char* right : {"ROCR_VISIBLE_DEVICES=3", "ROCR_VISIBLE_DEVICES=0,1,2,3,4,5,6,7", "NCCL_DEBUG=WARN"}) {
    machine.set("environment", right);
    for (const Finding& finding : machine.findings()) EXPECT_NE(finding.check, "gpu_group") << right;
  }
}

TEST(GpuGroup, IsChosenByEachOfThreeVariables) {
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    for (const int chosen : {1, 2, 7, 8}) {
      std::string devices = "0";
      for (int device = 1; device < chosen; ++device) devices += "," + std::to_string(device);
      const GpuMachine machine;
      machine.add_nodes(8);
      machine.set("environment", std::string(name) + "=" + devices);
      std::vector<std::pair<std::string, std::string>> found;
      for (const Finding& finding : machine.findings())
        if (finding.check == "gpu_group") found.emplace_back(finding.subject, finding.found);
      const bool is_part = chosen > 1 && chosen < 8;
      ASSERT_EQ(found.size(), is_part ? 1u : 0u) << name << " " << chosen;
      if (is_part) {
        EXPECT_THAT(found[0], Pair(name, std::to_string(chosen) + " of 8 GPUs"));
      }
    }
  }
}

TEST(GpuNodes, ThatPciExpressAloneConnectsAreNotLinked) {
  const GpuMachine machine;
  machine.add_nodes(8, GpuMachine::kPci);
  const auto gpus = kfd_gpus_of(machine.snapshot());
  ASSERT_EQ(gpus.size(), 8u);
  for (const KfdGpu& gpu : gpus) EXPECT_EQ(gpu.links, 0);
}

TEST(GpuGroup, OfGpusWithoutSuchLinksIsNotJudged) {
  const GpuMachine machine;
  machine.add_nodes(4);
  machine.set("environment", "ROCR_VISIBLE_DEVICES=0,1");
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST(Facts, HaveLibrariesWithVersionsAndGpus) {
  const auto facts = diagnose(GpuMachine().snapshot()).facts;
  EXPECT_THAT(facts, Contains(Pair("rocBLAS", "4.4.60401")));
  EXPECT_THAT(facts, Contains(Pair("GPU 0000:c1:00.0", "AMD 0x74a1, SPX, NPS1, 750 W")));
  EXPECT_THAT(facts, Contains(Pair("GPU node 0", "gfx942, 304 compute units")));
}

TEST(Facts, OfNvidia) {
  const GpuMachine machine;
  machine.set("sys/bus/pci/devices/0000:1b:00.0/class", "0x030200");
  machine.set("sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de");
  machine.set("sys/bus/pci/devices/0000:1b:00.0/device", "0x2335");
  machine.set("proc/driver/nvidia/gpus/0000:1b:00.0/information", "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-1234");
  machine.set("usr/local/cuda/version.json",
              "{\n \"cuda\" : {\n  \"name\" : \"CUDA SDK\",\n  \"version\" : \"13.0.1\"\n }\n}");
  machine.set("usr/lib/x86_64-linux-gnu/libnccl.so.2.27.3", "x");
  const auto facts = diagnose(machine.snapshot()).facts;
  EXPECT_THAT(facts, Contains(Pair("GPU 0000:1b:00.0", "NVIDIA 0x2335, NVIDIA H200")));
  EXPECT_THAT(facts, Contains(Pair("CUDA", "13.0.1")));
  EXPECT_THAT(facts, Contains(Pair("NCCL", "2.27.3")));
}

TEST(CapturedGpus, GiveTheSameFindingsAndNoSerialNumbers) {
  const GpuMachine machine;
  machine.add_nodes(8);
  machine.add_gpu("0000:c2:00.0");
  machine.set("sys/bus/pci/devices/0000:c0:00.0/class", "0x060400");
  machine.set_bytes("sys/bus/pci/devices/0000:c0:00.0/config", configuration(0x1d));
  machine.set("environment", "HIP_VISIBLE_DEVICES=0,1");
  const TemporaryDirectory folder;
  ASSERT_TRUE(capture(machine.snapshot(), folder / "captured"));
  const Snapshot captured = *Snapshot::open(folder / "captured");
  ASSERT_EQ(diagnose(captured).findings.size(), 2u);
  EXPECT_EQ(diagnose(captured).facts, diagnose(machine.snapshot()).facts);
  EXPECT_THAT(*captured.read("sys/class/kfd/kfd/topology/nodes/1/properties"), Not(HasSubstr("unique_id")));
  std::string raw;
  std::getline(std::ifstream(folder / "captured/sys/bus/pci/devices/0000:c0:00.0/config"), raw);
  EXPECT_EQ(raw, "acs_control 0x001d");
}

}  // namespace
}  // namespace rung::doctor
