// The GPUs that Kineto describes, and those on which kernels ran.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class ChromeDevices {
 public:
  // Reads "deviceProperties": [{"id": 0, "name": "NVIDIA H200", ...}]. Returns false if they are not understood.
  bool take(std::string_view json);
  // Names the builder's devices once all lanes are known.
  void name(RecordingBuilder& builder) const;

 private:
  struct Device {
    uint64_t id;
    std::string name;
  };
  std::vector<Device> devices_;
};

}  // namespace rung::trace
