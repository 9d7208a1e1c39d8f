// Pasted text gives the verdicts that the machine would give, and says what it does not tell.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/pasted/pasted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "doctor/diagnosis.hpp"
#include "doctor/kept_words.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/pasted/pasted_samples.hpp"
#include "support/temporary_directory.hpp"

namespace rung::doctor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;

Pasted pasted(std::string_view text) {
  auto read = read_pasted("paste.txt", text);
  EXPECT_TRUE(read) << read.error().message;
  return std::move(*read);
}

Diagnosis told(std::string_view text) { return diagnose(pasted(text).machine); }

std::string replaced(std::string_view text, const std::string& from, const std::string& to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

std::vector<std::string> checks_of(const Findings& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(finding.check);
  return names;
}

TEST(Pasted, FormsAreToldByContent) {
  const std::pair<std::string_view, std::string_view> kForms[] = {
      {kNvidiaQuery, "nvidia-smi -q"},   {kNvidiaTable, "nvidia-smi"}, {kRocmSmi, "rocm-smi"},
      {kRocmSmiAll, "rocm-smi"},         {kRocminfo, "rocminfo"},      {kEnv, "env"},
      {kCollectEnvNvidia, "collect_env"}};
  for (const auto& [text, form] : kForms) EXPECT_THAT(pasted(text).forms, ElementsAre(form));
  const std::string all = std::string(kCollectEnv) + std::string(kRocminfo) + std::string(kRocmSmi) +
                          std::string(kNvidiaTable) + std::string(kNvidiaQuery) + std::string(kEnv);
  EXPECT_THAT(pasted(all).forms,
              ElementsAre("collect_env", "rocminfo", "rocm-smi", "nvidia-smi", "nvidia-smi -q", "env"));
}

TEST(Pasted, OtherTextIsRefused) {
  for (const std::string_view text : {"", "hello\nworld\n", "a == b", "== nothing ==", "3D=x"}) {
    const auto read = read_pasted("paste.txt", text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("'paste.txt': wanted the output of collect_env, rocm-smi, rocminfo"));
  }
}

// ---- nvidia-smi -q
TEST(PastedNvidiaQuery, OfAGoodGpuHasNoFindings) {
  const Diagnosis diagnosis = told(kNvidiaQuery);
  EXPECT_THAT(checks_of(diagnosis.findings), IsEmpty());
  EXPECT_THAT(diagnosis.facts, Contains(Pair("nvidia driver", "570.86.15")));
  EXPECT_THAT(diagnosis.facts,
              Contains(Pair("GPU 0000:c1:00.0", "NVIDIA 0x2330, NVIDIA H100 80GB HBM3, 700 W, 1980 of 1980 MHz")));
}

TEST(PastedNvidiaQuery, SeedsAreFoundAlone) {
  struct PastedSeed {
    std::string from, to, check, found;
    Severity severity;
  };
  const PastedSeed kSeeds[] = {
      {"Persistence Mode                      : Enabled", "Persistence Mode : Disabled", "persistence", "Disabled",
       Severity::note},
      {"MIG Mode\n        Current                           : Disabled", "MIG Mode\n        Current : Enabled",
       "gpu_partition", "Enabled", Severity::note},
      {"HW Thermal Slowdown           : Not Active", "HW Thermal Slowdown : Active", "gpu_clocks", "Active",
       Severity::problem},
      {"SW Power Cap                      : Not Active", "SW Power Cap : Active", "gpu_clocks", "Active",
       Severity::note},
      {"Current Power Limit               : 700.00 W", "Current Power Limit : 450.00 W", "power_cap", "450 W of 700 W",
       Severity::problem},
      {"Applications Clocks\n        Graphics                          : 1980 MHz",
       "Applications Clocks\n        Graphics : 1410 MHz", "gpu_clocks", "Graphics: 1410 of 1980 MHz",
       Severity::problem},
      {"Pending                           : Enabled", "Pending : Disabled", "memory_errors", "Enabled, then Disabled",
       Severity::note},
      {"NVIDIA H100 80GB HBM3", "NVIDIA L40S", "memory_errors", "Enabled", Severity::note},
      {"Current                   : 16x", "Current : 8x", "pci_link", "8 of 16", Severity::problem},
      {"Current                   : 5", "Current : 1", "pci_link", "2.5 GT/s PCIe of 32.0 GT/s PCIe", Severity::note},
  };
  for (const PastedSeed& seed : kSeeds) {
    const Findings findings = told(replaced(kNvidiaQuery, seed.from, seed.to)).findings;
    ASSERT_EQ(findings.size(), 1u) << seed.to;
    EXPECT_EQ(findings[0].check, seed.check);
    EXPECT_EQ(findings[0].found, seed.found);
    EXPECT_EQ(findings[0].severity, seed.severity) << seed.to;
    EXPECT_FALSE(findings[0].why.empty() || findings[0].fix.empty());
  }
}

// The GPU of the sample, and another as it: each is judged by its own section, and what to do names it.
TEST(PastedNvidiaQuery, SeveralGpusAreEachJudged) {
  struct PastedSeed {
    std::string from, to, check;
  };
  const PastedSeed kSeeds[] = {
      {"Persistence Mode                      : Enabled", "Persistence Mode : Disabled", "persistence"},
      {"MIG Mode\n        Current                           : Disabled", "MIG Mode\n        Current : Enabled",
       "gpu_partition"},
      {"SW Power Cap                      : Not Active", "SW Power Cap : Active", "gpu_clocks"},
      {"Current Power Limit               : 700.00 W", "Current Power Limit : 450.00 W", "power_cap"},
      {"Applications Clocks\n        Graphics                          : 1980 MHz",
       "Applications Clocks\n        Graphics : 1410 MHz", "gpu_clocks"},
      {"Pending                           : Enabled", "Pending : Disabled", "memory_errors"},
      {"NVIDIA H100 80GB HBM3", "NVIDIA L40S", "memory_errors"},
      {"Current                   : 16x", "Current : 8x", "pci_link"},
  };
  const size_t begin = kNvidiaQuery.find("GPU 00000000:C1:00.0");
  const std::string head(kNvidiaQuery.substr(0, begin)), first(kNvidiaQuery.substr(begin));
  for (const PastedSeed& seed : kSeeds)
    for (unsigned wrong = 0; wrong < 4; ++wrong) {
      SCOPED_TRACE(seed.to + " of GPUs " + std::to_string(wrong));
      std::string text = head;
      std::vector<std::string> wanted, found;
      for (unsigned gpu = 0; gpu < 2; ++gpu) {
        const bool is_wrong = (wrong >> gpu & 1) != 0;
        std::string section = is_wrong ? replaced(first, seed.from, seed.to) : first;
        const std::string address = gpu == 0 ? "C1:00.0" : "C2:00.0";
        for (size_t at = 0; (at = section.find("C1:00.0", at)) != section.npos; ++at) section.replace(at, 7, address);
        text += section;
        if (is_wrong) wanted.push_back(gpu == 0 ? "c1:00.0" : "c2:00.0");
      }
      const Diagnosis diagnosis = told(text);
      for (const Finding& finding : diagnosis.findings) {
        EXPECT_EQ(finding.check, seed.check);
        const bool is_second = finding.subject.find("c2:00.0") != std::string::npos;
        EXPECT_THAT(finding.subject, HasSubstr(is_second ? "c2:00.0" : "c1:00.0"));
        EXPECT_THAT(finding.fix, Not(HasSubstr(is_second ? "c1:00.0" : "c2:00.0")));
        found.emplace_back(is_second ? "c2:00.0" : "c1:00.0");
      }
      EXPECT_EQ(found, wanted);
      if (seed.check != "power_cap") continue;
      for (unsigned gpu = 0; gpu < 2; ++gpu) {
        const bool is_low = (wrong >> gpu & 1) != 0;
        const auto address = HasSubstr(gpu == 0 ? "c1:00.0" : "c2:00.0");
        EXPECT_THAT(diagnosis.facts, Contains(Pair(address, HasSubstr(is_low ? "450 W" : "700 W"))));
        EXPECT_THAT(diagnosis.facts, Not(Contains(Pair(address, HasSubstr(is_low ? "700 W" : "450 W")))));
      }
    }
}

TEST(PastedNvidiaQuery, TheHardwaresReasonIsSaidOnce) {
  const std::string hot = replaced(replaced(kNvidiaQuery, "HW Slowdown                       : Not", "HW Slowdown :"),
                                   "HW Thermal Slowdown           : Not", "HW Thermal Slowdown :");
  const Findings findings = told(hot).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].subject, HasSubstr("HW Thermal Slowdown"));
}

TEST(PastedNvidiaQuery, NamesOfOlderDriversAreTheSame) {
  std::string old = replaced(kNvidiaQuery, "Clocks Event Reasons", "Clocks Throttle Reasons");
  old = replaced(old, "GPU Power Readings", "Power Readings");
  old = replaced(old, "Current Power Limit               : 700.00 W", "Power Limit : 300.00 W");
  old = replaced(old, "SW Thermal Slowdown               : Not Active", "SW Thermal Slowdown : Active");
  EXPECT_THAT(checks_of(told(old).findings), testing::UnorderedElementsAre("gpu_clocks", "power_cap"));
}

TEST(PastedNvidiaQuery, WhatAbsentValuesSayIsUnknown) {
  const Diagnosis diagnosis =
      told(replaced(kNvidiaQuery, "Default Power Limit               : 700.00 W", "Default Power Limit : N/A"));
  EXPECT_THAT(diagnosis.unknown, Contains("power_cap"));
  EXPECT_THAT(told(kNvidiaQuery).unknown, Not(Contains("power_cap")));
}

// ---- the table of nvidia-smi
TEST(PastedNvidiaTable, TellsModesAndLimits) {
  const Diagnosis diagnosis = told(kNvidiaTable);
  EXPECT_THAT(checks_of(diagnosis.findings), testing::UnorderedElementsAre("persistence", "gpu_partition"));
  for (const Finding& finding : diagnosis.findings) EXPECT_THAT(finding.subject, HasSubstr("0000:c1:00.0"));
  EXPECT_THAT(diagnosis.unknown, IsSupersetOf({"gpu_clocks", "power_cap", "memory_errors", "pci_link"}));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU 0000:c2:00.0", "NVIDIA, NVIDIA H100 80GB HBM3, 700 W")));
}

TEST(PastedNvidiaTable, GivesWayToTheList) {
  for (const std::string& both :
       {std::string(kNvidiaTable) + std::string(kNvidiaQuery), std::string(kNvidiaQuery) + std::string(kNvidiaTable)})
    EXPECT_THAT(checks_of(told(both).findings), IsEmpty());
}

// ---- AMD
TEST(PastedRocmSmi, TellsLevelsAndPartitions) {
  const Diagnosis diagnosis = told(kRocmSmi);
  EXPECT_THAT(checks_of(diagnosis.findings),
              testing::UnorderedElementsAre("gpu_clocks", "gpu_partition", "memory_partition"));
  EXPECT_EQ(diagnosis.findings[0].check, "gpu_clocks");
  EXPECT_EQ(diagnosis.findings[0].subject, "rocm-smi, line 7 (rocm-smi-0/power_dpm_force_performance_level)");
  EXPECT_THAT(diagnosis.unknown, Contains("power_cap")) << "the default is not told";
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU rocm-smi-0", "AMD 0x74a1, SPX, NPS1, 750 W")));
}

TEST(PastedRocmSmi, TellsPowerByItsOptions) {
  const Diagnosis diagnosis = told(kRocmSmiAll);
  ASSERT_THAT(checks_of(diagnosis.findings), ElementsAre("power_cap"));
  EXPECT_EQ(diagnosis.findings[0].found, "550 W of 750 W");
  EXPECT_THAT(diagnosis.facts, Contains(Pair("amdgpu driver", "6.10.5")));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU 0000:c1:00.0", "AMD 0x74a1, SPX, NPS1, 550 W")));
}

TEST(PastedRocminfo, TellsUnitsAndFaults) {
  const Diagnosis diagnosis = told(kRocminfo);
  EXPECT_THAT(checks_of(diagnosis.findings), ElementsAre("page_faults"));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU node 0", "gfx942, 304 compute units")));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("processor", "AMD EPYC 9654 96-Core Processor")));
  EXPECT_THAT(told(replaced(kRocminfo, "XNACK enabled:           YES", "XNACK enabled: NO")).findings, IsEmpty());
}

TEST(PastedRocminfo, AndRocmSmiSpeakOfOneGpu) {
  const Diagnosis diagnosis = told(std::string(kRocmSmi) + std::string(kRocminfo));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU c1:00.0", "AMD 0x74a1, SPX, NPS1, 750 W")));
  EXPECT_THAT(diagnosis.facts, Not(Contains(Pair("GPU rocm-smi-0", testing::_))));
  EXPECT_THAT(diagnosis.facts, Contains(Pair("GPU rocm-smi-1", testing::_))) << "rocminfo says nothing of node 3";
}

// ---- collect_env and env
TEST(PastedCollectEnv, TellsVersionsNodesAndVariables) {
  const Diagnosis diagnosis = told(kCollectEnv);
  for (const auto& [name, value] : {std::pair{"PyTorch", "2.9.0"},
                                    {"PyTorch's ROCm", "6.4.43483"},
                                    {"vLLM", "0.11.2"},
                                    {"HIP runtime", "6.4.43483"},
                                    {"MIOpen", "3.4.0"},
                                    {"kernel", "5.15.0-125-generic"},
                                    {"NUMA nodes", "0-1"},
                                    {"processor", "AMD EPYC 9654 96-Core Processor"}})
    EXPECT_THAT(diagnosis.facts, Contains(Pair(name, value)));
  EXPECT_EQ(diagnosis.variables, 2u);
  EXPECT_THAT(diagnosis.unknown, Not(Contains("environment")));
  EXPECT_THAT(diagnosis.unknown, IsSupersetOf({"numa_balancing", "governor", "gpu_affinity", "gpu_clocks"}));
}

TEST(PastedCollectEnv, NamesGpusAndLibrariesOfNvidia) {
  const Diagnosis diagnosis = told(kCollectEnvNvidia);
  for (const auto& [name, value] : {std::pair{"GPU 1", "NVIDIA H100 80GB HBM3"},
                                    {"cuDNN", "9.7.1"},
                                    {"CUDA", "12.8.61"},
                                    {"nvidia driver", "570.86.15"}})
    EXPECT_THAT(diagnosis.facts, Contains(Pair(name, value)));
  EXPECT_THAT(diagnosis.unknown, Not(Contains("page_faults"))) << "no AMD GPU is there";
  EXPECT_THAT(diagnosis.unknown, Contains("persistence"));
  EXPECT_THAT(diagnosis.unknown, Contains("environment"));
}

TEST(PastedEnv, GivesTheVerdictsOfTheVariables) {
  const Diagnosis diagnosis = told(kEnv);
  EXPECT_EQ(diagnosis.variables, 3u);
  EXPECT_EQ(diagnosis.findings[0].subject, "HIP_LAUNCH_BLOCKING");
  const Pasted text = pasted(kEnv);
  const Environment& environment = text.machine.environment();
  EXPECT_EQ(environment.at("NCCL_DEBUG"), "INFO") << "without the quotes of export -p";
  EXPECT_EQ(environment.at("GPU_MAX_HW_QUEUES"), "2");
}

TEST(Pasted, ColoursAndOtherLineEndsAreNoMatter) {
  std::string windows;
  for (const char c : kRocmSmi) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(checks_of(told(windows).findings), checks_of(told(kRocmSmi).findings));
  const std::string coloured = replaced(kRocmSmi, "low   750.0W", "\x1b[31mlow\x1b[0m   750.0W");
  EXPECT_EQ(checks_of(told(coloured).findings), checks_of(told(kRocmSmi).findings));
}

// This process has this variable, and this machine has files: a text that tells neither knows neither.
TEST(Pasted, NothingIsAssumedOfThisMachine) {
  setenv("HIP_LAUNCH_BLOCKING", "1", 1);
  const Diagnosis diagnosis = told(kNvidiaTable);
  unsetenv("HIP_LAUNCH_BLOCKING");
  EXPECT_EQ(diagnosis.variables, 0u);
  for (const char* here : {"processor", "kernel", "NUMA nodes"})
    EXPECT_THAT(diagnosis.facts, Not(Contains(Pair(here, testing::_))));
  std::vector<std::string_view> unknown = diagnosis.unknown;
  for (const char* check : {"numa_balancing", "governor", "idle_states", "huge_pages", "iommu", "cpu_limit",
                            "memory_limit", "shared_memory", "access_control", "gpu_affinity", "environment"})
    EXPECT_THAT(unknown, Contains(check));
}

// A folder that was captured on the machine knows what its text told.
TEST(Pasted, IsTheSameWhenItIsCaptured) {
  for (const std::string_view text : {kNvidiaQuery, kRocminfo, kRocmSmiAll, kCollectEnv, kEnv, kNvidiaTable}) {
    const Pasted from = pasted(text);
    const TemporaryDirectory folder;
    ASSERT_TRUE(capture(from.machine, folder / "captured"));
    const Diagnosis first = diagnose(from.machine), again = diagnose(*Snapshot::open(folder / "captured"));
    EXPECT_EQ(checks_of(again.findings), checks_of(first.findings)) << text;
    EXPECT_EQ(again.facts, first.facts) << text;
  }
}

TEST(Pasted, CapturesHaveNoSecrets) {
  const std::string all = std::string(kCollectEnv) + std::string(kRocminfo) + std::string(kRocmSmiAll) +
                          std::string(kNvidiaTable) + std::string(kNvidiaQuery) + std::string(kEnv);
  const TemporaryDirectory folder;
  ASSERT_TRUE(capture(pasted(all).machine, folder / "captured"));
  std::string written;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "captured"))
    if (entry.is_regular_file()) written += entry.path().string() + "\n" + *read_text_file(entry.path());
  for (const char* secret : {"alice", "hunter2", "hf_", "8932f937", "1653322012345", "deadbeef", "692312345678",
                             "38ad9cbd", "serve.py", "a187df25c"})
    EXPECT_THAT(written, Not(HasSubstr(secret)));
  EXPECT_THAT(written, HasSubstr("Product Name : NVIDIA H100 80GB HBM3"));
}

TEST(KeptWords, AreKeptAgain) {
  for (const std::string_view text : {"6.8.0-alice-generic bob", "NVIDIA alice H100-bob", "<text, 5 characters>-x"}) {
    const std::string once = kept_words(text, Vocabulary::products);
    EXPECT_EQ(kept_words(once, Vocabulary::products), once) << text;
  }
  EXPECT_THAT(kept_words("<text, alice characters>", Vocabulary::products), Not(HasSubstr("alice")));
}

// ---- the settings themselves
TEST(NvidiaSettings, AreTheSameWhenTheyAreReadAgain) {
  const std::string once = written(read_nvidia_settings(kNvidiaQuery));
  EXPECT_EQ(written(read_nvidia_settings(once)), once);
  EXPECT_THAT(once, HasSubstr("    Clocks\n        Memory : 2619 MHz\n        SM : 1980 MHz\n"));
}

TEST(NvidiaSettings, ValuesOfAnotherFormAreLeftOut) {
  const NvidiaSettings settings = read_nvidia_settings(
      "Driver Version : 570.86.15-alice\nGPU 00000000:01:00.0\n    Persistence Mode : hunter2\n    Clocks\n"
      "        SM : fast\n        Memory : 99999999999 MHz\n    Product Name : NVIDIA alice\nGPU nowhere\n"
      "    Persistence Mode : Enabled\n");
  EXPECT_EQ(settings.driver, "");
  ASSERT_EQ(settings.gpus.size(), 1u);
  EXPECT_EQ(settings.gpus[0].value("Persistence Mode"), std::nullopt);
  EXPECT_EQ(settings.gpus[0].number("Clocks/SM"), std::nullopt);
  EXPECT_EQ(settings.gpus[0].number("Clocks/Memory"), std::nullopt);
  EXPECT_EQ(settings.gpus[0].value("Product Name"), "NVIDIA <text, 5 characters>");
}

TEST(NvidiaSettings, AddressesAreThoseOfTheSystem) {
  EXPECT_EQ(pci_address("00000000:C1:00.0"), "0000:c1:00.0");
  EXPECT_EQ(pci_address("0001:0a:1f.7"), "0001:0a:1f.7");
  for (const char* other : {"", "c1:00.0", "00000000:C1:00", "0000:C1:00,0", "000:c1:00.0", "GPU-8932f937"})
    EXPECT_EQ(pci_address(other), "");
}

}  // namespace
}  // namespace rung::doctor
