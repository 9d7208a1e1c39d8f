// Checks of a machine's settings, one function each; the list is the order of the findings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "doctor/finding.hpp"
#include "doctor/snapshot.hpp"

namespace rung::doctor {

// A check, the vendor whose GPUs it is for (empty: any machine), and what it reads: patterns of captured_files(),
// separated by '&' where it wants them all and by '|' where one of several is enough; the words after a ':' must stand
// in the file.
struct Check {
  std::string_view name, vendor, needs;
  void (*find)(const Snapshot&, Findings&);
};
std::span<const Check> system_checks();

// Returns the checks for which the machine, or a text, does not tell enough; "environment" if no variables are told.
// Checks of a vendor's GPUs are left out if only the other vendor's are told.
std::vector<std::string_view> unknown_checks(const Snapshot& machine);

namespace checks {
void numa_balancing(const Snapshot& machine, Findings& findings);
void gpu_affinity(const Snapshot& machine, Findings& findings);
void governor(const Snapshot& machine, Findings& findings);
void idle_states(const Snapshot& machine, Findings& findings);
void huge_pages(const Snapshot& machine, Findings& findings);
void iommu(const Snapshot& machine, Findings& findings);
void pci_link(const Snapshot& machine, Findings& findings);
void gpu_clocks(const Snapshot& machine, Findings& findings);
void gpu_partition(const Snapshot& machine, Findings& findings);
void memory_partition(const Snapshot& machine, Findings& findings);
void power_cap(const Snapshot& machine, Findings& findings);
void page_faults(const Snapshot& machine, Findings& findings);
void access_control(const Snapshot& machine, Findings& findings);
void gpu_group(const Snapshot& machine, Findings& findings);
void cpu_limit(const Snapshot& machine, Findings& findings);
void memory_limit(const Snapshot& machine, Findings& findings);
void shared_memory(const Snapshot& machine, Findings& findings);
void nvidia_clocks(const Snapshot& machine, Findings& findings);
void nvidia_power_cap(const Snapshot& machine, Findings& findings);
void nvidia_partition(const Snapshot& machine, Findings& findings);
void persistence(const Snapshot& machine, Findings& findings);
void memory_errors(const Snapshot& machine, Findings& findings);
}  // namespace checks

struct Gpu {
  std::string address;  // on PCI: 0000:c1:00.0
  std::string folder;   // sys/bus/pci/devices/0000:c1:00.0/
  std::string vendor;   // AMD, NVIDIA
  std::string device;   // 0x74a1
};
std::vector<Gpu> gpus_of(const Snapshot& machine);

// Returns the AMD GPUs that the driver's topology knows: their architecture ("gfx942"), compute units, and the number
// of other GPUs to which each is linked directly (XGMI).
struct KfdGpu {
  std::string architecture;
  int compute_units = 0;
  int links = -1;  // not told
};
std::vector<KfdGpu> kfd_gpus_of(const Snapshot& machine);

// Returns the numbers in a list: "0-3,8" holds 2. Other readers of such lists use it, too.
std::vector<int> ids_of(std::string_view list);

}  // namespace rung::doctor
