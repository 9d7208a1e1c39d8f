// Loops over the lanes of an access to memory, compiled for several instruction sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "amdgpu/run/lanes.hpp"

namespace rung::amdgpu {

struct AccessLanes {
  // Returns whether every address is as far from the first as `from_first` says.
  bool (*lie_so)(const uint64_t* addresses, const int64_t* from_first);
  // Moves `dwords` of each lane, one lane behind the other in memory, into as many registers, and back.
  void (*spread)(const std::byte* from, Lanes* to, unsigned dwords);
  void (*collect)(const Lanes* from, std::byte* to, unsigned dwords);
  // Does the same for lanes anywhere, at host address `base` + address.
  void (*gather)(uint64_t base, const uint64_t* addresses, Lanes* to, unsigned dwords);
  void (*scatter)(const Lanes* from, uint64_t base, const uint64_t* addresses, unsigned dwords);
};
namespace baseline {
extern const AccessLanes kAccessLanes;
}
namespace avx2 {
extern const AccessLanes kAccessLanes;
}
const AccessLanes& access_lanes();  // the best loops that this processor has

}  // namespace rung::amdgpu
