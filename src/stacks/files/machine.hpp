// The machine that a tuning file is compared with: the GPU and the versions of its libraries, as far as they are known.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

namespace rung::stacks {

// Fields that are empty or 0 are not known, and nothing is said about them.
struct Machine {
  std::string gpu;           // "mi300x": for messages
  std::string architecture;  // "gfx942", "sm_90"; of a device also "gfx942:sramecc+:xnack-"
  int compute_units = 0;     // or multiprocessors
  // By the names of TunableOp's validators, as torch.cuda.tunable.get_validators() says: PT_VERSION, HIP_VERSION,
  // CUBLASLT_VERSION, ...; and "Git Version", the hash of hipBLASLt's build.
  std::map<std::string, std::string, std::less<>> versions;

  bool is_amd() const { return architecture.starts_with("gfx"); }
  bool is_nvidia() const { return architecture.starts_with("sm_"); }
  std::string processor() const { return architecture.substr(0, architecture.find(':')); }  // "gfx942"
};

}  // namespace rung::stacks
