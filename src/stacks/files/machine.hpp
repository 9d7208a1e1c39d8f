// The machine that a tuning file is compared with: the GPU and the versions of its libraries, as far as they are known.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

namespace rung::stacks {

// Empty or zero fields are unknown, and the linter says nothing about them.
struct TunedMachine {
  std::string gpu;           // "mi300x": for messages
  std::string architecture;  // "gfx942", "sm_90"; a device's may be "gfx942:sramecc+:xnack-"
  int compute_units = 0;     // or multiprocessors
  // Keys are TunableOp's validators, as torch.cuda.tunable.get_validators() names them: PT_VERSION, HIP_VERSION,
  // CUBLASLT_VERSION, ...; and "Git Version", the hash of hipBLASLt's build.
  std::map<std::string, std::string, std::less<>> versions;

  bool is_amd() const { return architecture.starts_with("gfx"); }
  bool is_nvidia() const { return architecture.starts_with("sm_"); }
  std::string processor() const { return architecture.substr(0, architecture.find(':')); }  // "gfx942"
};

}  // namespace rung::stacks
