// Checks GPUs on PCI: IOMMU, link, clocks, partition.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "doctor/checks.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {

std::vector<Gpu> gpus_of(const Snapshot& machine) {
  std::vector<Gpu> gpus;
  for (const std::string& address : machine.list("sys/bus/pci/devices")) {
    const std::string folder = "sys/bus/pci/devices/" + address + "/";
    const std::string kind = machine.read(folder + "class").value_or("");
    const std::string vendor = machine.read(folder + "vendor").value_or("");
    const bool display = kind.starts_with("0x03"), accelerator = kind.starts_with("0x12");
    if ((!display && !accelerator) || (vendor != "0x1002" && vendor != "0x10de")) continue;
    gpus.push_back(
        {address, folder, vendor == "0x1002" ? "AMD" : "NVIDIA", machine.read(folder + "device").value_or("")});
  }
  return gpus;
}

namespace checks {

void iommu(const Snapshot& machine, Findings& findings) {
  const std::string fix = "add iommu=pt to the kernel's command line (GRUB_CMDLINE_LINUX), update-grub, reboot";
  const std::string boot = machine.read("proc/cmdline").value_or("");
  const auto has = [&](std::string_view word) {
    for (const std::string_view option : parts(boot, ' '))
      if (option == word) return true;
    return false;
  };
  for (const Gpu& gpu : gpus_of(machine)) {
    const std::string path = gpu.folder + "iommu_group/type";
    const auto type = machine.read(path);
    const bool translates = type ? type->starts_with("DMA") : has("intel_iommu=on") || has("iommu=force");
    if (!translates || (!type && has("iommu=pt"))) continue;
    findings.push_back({"iommu", path, type.value_or(boot), Severity::problem,
                        "the GPU's accesses to host memory are translated: copies and collectives are slower", fix, "",
                        ""});
  }
}

void pci_link(const Snapshot& machine, Findings& findings) {
  for (const Gpu& gpu : gpus_of(machine)) {
    const auto differs = [&](const std::string& what) {
      const auto now = machine.read(gpu.folder + "current_link_" + what),
                 most = machine.read(gpu.folder + "max_link_" + what);
      return now && most && *now != *most && *now != "0" && *now != "Unknown";
    };
    const auto found = [&](const std::string& what) {
      return fmt::format("{} of {}", *machine.read(gpu.folder + "current_link_" + what),
                         *machine.read(gpu.folder + "max_link_" + what));
    };
    const std::string fix =
        fmt::format("sudo lspci -vv -s {}; then seat the card or riser again, look at the BIOS", gpu.address);
    if (differs("width"))
      findings.push_back({"pci_link", gpu.folder + "current_link_width", found("width"), Severity::problem,
                          "the link has fewer lanes than the GPU: copies from and to the host take longer", fix, "",
                          ""});
    if (differs("speed"))
      findings.push_back({"pci_link", gpu.folder + "current_link_speed", found("speed"), Severity::note,
                          "the link is slower than the GPU allows; an idle GPU may lower it, so look under load", fix,
                          "", ""});
  }
}

void gpu_clocks(const Snapshot& machine, Findings& findings) {
  for (const Gpu& gpu : gpus_of(machine)) {
    const std::string path = gpu.folder + "power_dpm_force_performance_level";
    const auto level = machine.read(path);
    if (!level || *level != "low") continue;
    findings.push_back({"gpu_clocks", path, *level, Severity::problem, "the GPU stays at its lowest clocks",
                        "sudo rocm-smi --setperflevel auto", "", ""});
  }
}

void gpu_partition(const Snapshot& machine, Findings& findings) {
  for (const Gpu& gpu : gpus_of(machine)) {
    const std::string path = gpu.folder + "current_compute_partition";
    const auto partition = machine.read(path);
    if (!partition || *partition == "SPX") continue;
    findings.push_back({"gpu_partition", path, *partition, Severity::note,
                        "the GPU is split: one inference has a part of its compute units",
                        "sudo rocm-smi --setcomputepartition SPX", "", ""});
  }
}

}  // namespace checks
}  // namespace rung::doctor
