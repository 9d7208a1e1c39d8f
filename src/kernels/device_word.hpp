// Words for devices, as people, plans and the tuner's workers write them: "cpu", "cuda", "cuda:1", "hip",
// "emu:gfx942".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "amdgpu/isa/target.hpp"
#include "base/status.hpp"

namespace rung {

struct DeviceWord {
  std::string word;  // as it was given
  std::string kind;  // as Target::kind
  int index = 0;     // among the devices of that kind

  std::optional<amdgpu::Target> emulated() const;  // what this processor plays
  friend bool operator==(const DeviceWord&, const DeviceWord&) = default;
};

// The kinds of which a machine may have several: NVIDIA's GPUs by the CUDA driver, AMD's by the HIP runtime.
inline constexpr std::string_view kNumberedKinds[] = {"cuda", "hip"};

// Errors (wrong usage): another word.
Result<DeviceWord> parse_device(std::string_view word);

// The kind of the device that a Target::fingerprint or Plan::device tells: it comes first.
std::string_view kind_of_fingerprint(std::string_view fingerprint);
// The first device of that kind. Nullopt: it is none that rung knows.
std::optional<DeviceWord> first_of_fingerprint(std::string_view fingerprint);
// Does it count instructions where others take time (GpuInfo::counts_instructions)?
bool counts_instructions(std::string_view fingerprint);

}  // namespace rung
