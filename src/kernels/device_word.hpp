// Words for devices, as people, plans and the tuner's workers write them: "cpu", "cuda", "cuda:1", "hip",
// "emu:gfx942".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "amdgpu/isa/isa.hpp"
#include "base/status.hpp"

namespace rung {

struct DeviceWord {
  std::string word;  // as given
  std::string kind;  // as Target::kind
  int index = 0;     // among the devices of that kind

  std::optional<amdgpu::Isa> emulated() const;  // the GPU that the emulator runs; none: a real device
  friend bool operator==(const DeviceWord&, const DeviceWord&) = default;
};

// The kinds of devices of which a machine may have several: NVIDIA's GPUs by the CUDA driver, AMD's by the HIP runtime.
inline constexpr std::string_view kNumberedKinds[] = {"cuda", "hip"};

// Parses the word of a device. Errors (wrong usage): another word.
Result<DeviceWord> parse_device(std::string_view word);

// Returns the kind of device in a Target::fingerprint or Plan::device, which is its first word.
std::string_view kind_of_fingerprint(std::string_view fingerprint);
// Returns the first device of the fingerprint's kind. Nullopt: rung does not know the kind.
std::optional<DeviceWord> first_of_fingerprint(std::string_view fingerprint);
// Returns whether the device counts instructions where others measure time (GpuInfo::counts_instructions).
bool counts_instructions(std::string_view fingerprint);

}  // namespace rung
