// Checks of a machine's settings, one function each; the list is the order of the findings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "doctor/finding.hpp"
#include "doctor/snapshot.hpp"

namespace rung::doctor {

// A check, the vendor of the GPUs that it is of (empty: of any machine), and what it reads: patterns of
// captured_files(), separated by '&' where it wants them all and by '|' where one of several will do; behind a ':'
// stands what the file must say.
struct Check {
  std::string_view name, vendor, needs;
  void (*find)(const Snapshot&, Findings&);
};
std::span<const Check> system_checks();

// The checks that the machine, or a text, does not tell enough of; "environment" where no variables are told. Checks of
// a vendor's GPUs are not among them where only the other's are told.
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
  std::string address;  // of PCI: 0000:c1:00.0
  std::string folder;   // sys/bus/pci/devices/0000:c1:00.0/
  std::string vendor;   // AMD, NVIDIA
  std::string device;   // 0x74a1
};
std::vector<Gpu> gpus_of(const Snapshot& machine);

// The AMD GPUs that the driver's topology knows: their architecture ("gfx942"), compute units, and to how many of the
// others each is linked directly (XGMI).
struct KfdGpu {
  std::string architecture;
  int compute_units = 0;
  int links = -1;  // not told
};
std::vector<KfdGpu> kfd_gpus_of(const Snapshot& machine);

// "0-3,8" holds 2; shared with what else reads such lists.
std::vector<int> ids_of(std::string_view list);

}  // namespace rung::doctor
