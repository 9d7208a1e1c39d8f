// Devices by their words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/target.hpp"

namespace rung {

inline DeviceWord device_named(std::string_view word) { return parse_device(word).value(); }

inline Result<const Target*> open_target(std::string_view word) {
  RUNG_TRY(const DeviceWord parsed, parse_device(word));
  return open_target(parsed);
}

}  // namespace rung
