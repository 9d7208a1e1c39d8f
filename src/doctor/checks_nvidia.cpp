// Checks what NVIDIA's driver tells by nvidia-smi: clocks, power, errors of memory, parts of a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.hpp"
#include "doctor/nvidia_settings.hpp"

namespace rung::doctor {
namespace {

std::vector<NvidiaGpu> nvidia_gpus_of(const Snapshot& machine) {
  return read_nvidia_settings(machine.read(kNvidiaSettings).value_or("")).gpus;
}

std::string subject(const NvidiaGpu& gpu, std::string_view name) {
  return fmt::format("nvidia-smi: GPU {}, {}", gpu.address, name);
}

// A reason that holds clocks down at this moment, in the driver's own words.
struct Reason {
  std::string_view name;
  Severity severity;
  std::string_view why, fix;
};
constexpr Reason kReasons[] = {
    {"HW Thermal Slowdown", Severity::problem, "the GPU is too hot: the hardware halves its clocks or worse",
     "look at fans, air flow and the cooler"},
    {"HW Power Brake Slowdown", Severity::problem, "the power supply asks for less: the hardware halves the clocks",
     "look at the power supply and its cables"},
    {"HW Slowdown", Severity::problem, "the hardware halves the clocks or worse, for heat or for power",
     "look at fans, air flow and the power supply"},
    {"SW Thermal Slowdown", Severity::problem, "the driver lowers the clocks, for the GPU or its memory is hot",
     "look at fans and air flow"},
    {"Sync Boost", Severity::note, "the clocks of several GPUs are kept equal: the slowest one sets them",
     "take the GPU out of its group for synchronous boost (DCGM)"},
    {"SW Power Cap", Severity::note, "the driver lowers the clocks to stay below the power limit",
     "look at the power limit; a smaller one than the default is another finding"},
    {"Applications Clocks Setting", Severity::note, "clocks are held by a setting", "sudo nvidia-smi -rac"},
};

bool is_gddr(std::string_view product) {
  constexpr std::string_view kWords[] = {"L4", "L40", "L40S", "A2", "A10", "A10G", "A16", "A40", "T4", "RTX"};
  const std::string text = fmt::format(" {} ", product);
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(fmt::format(" {} ", word)) != std::string::npos; });
}

}  // namespace

namespace checks {

void nvidia_clocks(const Snapshot& machine, Findings& findings) {
  for (const NvidiaGpu& gpu : nvidia_gpus_of(machine)) {
    const bool by_heat_or_brake = gpu.is("Clocks Event Reasons/HW Thermal Slowdown", "Active") ||
                                  gpu.is("Clocks Event Reasons/HW Power Brake Slowdown", "Active");
    for (const Reason& reason : kReasons) {
      if (!gpu.is(fmt::format("Clocks Event Reasons/{}", reason.name), "Active")) continue;
      if (reason.name == "HW Slowdown" && by_heat_or_brake) continue;  // it says the same in less detail
      findings.push_back({"gpu_clocks", subject(gpu, reason.name), "Active", reason.severity, std::string(reason.why),
                          std::string(reason.fix), "", ""});
    }
    for (const std::string_view clock : {"Graphics", "Memory"}) {
      const auto set = gpu.number(fmt::format("Applications Clocks/{}", clock)),
                 usual = gpu.number(fmt::format("Default Applications Clocks/{}", clock));
      if (!set || !usual || *set >= *usual) continue;
      findings.push_back({"gpu_clocks", subject(gpu, "Applications Clocks"),
                          fmt::format("{}: {:g} of {:g} MHz", clock, *set, *usual), Severity::problem,
                          "applications get lower clocks than by default", "sudo nvidia-smi -rac", "", ""});
    }
  }
}

void nvidia_power_cap(const Snapshot& machine, Findings& findings) {
  for (const NvidiaGpu& gpu : nvidia_gpus_of(machine)) {
    const auto cap = gpu.number("GPU Power Readings/Current Power Limit"),
               usual = gpu.number("GPU Power Readings/Default Power Limit");
    if (!cap || !usual || *cap >= *usual) continue;
    findings.push_back({"power_cap", subject(gpu, "Current Power Limit"), fmt::format("{:g} W of {:g} W", *cap, *usual),
                        Severity::problem, "the GPU may take less power than it is made for: clocks fall under load",
                        fmt::format("sudo nvidia-smi -i {} -pl {:g}", gpu.address, *usual), "", ""});
  }
}

void nvidia_partition(const Snapshot& machine, Findings& findings) {
  for (const NvidiaGpu& gpu : nvidia_gpus_of(machine)) {
    if (!gpu.is("MIG Mode/Current", "Enabled")) continue;
    findings.push_back({"gpu_partition", subject(gpu, "MIG Mode"), "Enabled", Severity::note,
                        "the GPU is split: one inference has a part of its units and of its memory's rate",
                        fmt::format("sudo nvidia-smi -i {} -mig 0", gpu.address), "", ""});
  }
}

void persistence(const Snapshot& machine, Findings& findings) {
  for (const NvidiaGpu& gpu : nvidia_gpus_of(machine)) {
    if (!gpu.is("Persistence Mode", "Disabled")) continue;
    findings.push_back({"persistence", subject(gpu, "Persistence Mode"), "Disabled", Severity::note,
                        "the driver lets go of the GPU with its last process: the next one starts seconds later, and "
                        "settings such as clocks are lost",
                        "sudo nvidia-smi -pm 1, or run nvidia-persistenced", "", ""});
  }
}

void memory_errors(const Snapshot& machine, Findings& findings) {
  for (const NvidiaGpu& gpu : nvidia_gpus_of(machine)) {
    const auto now = gpu.value("ECC Mode/Current"), later = gpu.value("ECC Mode/Pending");
    if (now && later && *now != *later && *now != "N/A" && *later != "N/A")
      findings.push_back({"memory_errors", subject(gpu, "ECC Mode"), fmt::format("{}, then {}", *now, *later),
                          Severity::note, "the correction of memory errors changes at the next reset",
                          fmt::format("sudo nvidia-smi -i {} -r, with nothing running", gpu.address), "", ""});
    if (now == "Enabled" && is_gddr(gpu.value("Product Name").value_or("")))
      findings.push_back(
          {"memory_errors", subject(gpu, "ECC Mode"), "Enabled", Severity::note,
           "memory of this kind (GDDR) keeps its check bits among the data: correcting errors costs "
           "rate and capacity, which it does not where memory is HBM",
           fmt::format("sudo nvidia-smi -i {} -e 0 and reboot, where wrong bits may go unseen", gpu.address), "", ""});
  }
}

}  // namespace checks
}  // namespace rung::doctor
