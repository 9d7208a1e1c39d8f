// The configurations and arguments of group norms, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// A block takes a group, whose elements are read in units of `unit` neighbouring channels. A thread keeps up to `held`
// units in registers between passes; 0: it reads them again in every pass.
struct GroupNormConfig {
  int unit, held;
  bool operator==(const GroupNormConfig&) const = default;
  // Returns the threads that a block may have: registers of the held units leave room for fewer.
  constexpr uint32_t most_threads() const { return held > 0 ? 512 : 1024; }
  constexpr uint32_t most_units() const { return static_cast<uint32_t>(held) * most_threads(); }
};

// x and out are dense [batch, places, channels].
struct GroupNormArguments {
  uint64_t x, out;
  DType type, out_type;
  uint32_t places, channels, run, groups;  // run: channels of a group
  uint32_t units;                          // of a group
  Divisor units_of_run;
  float eps;
};

}  // namespace rung::gpu
