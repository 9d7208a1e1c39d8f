// How JSON names the figures of an emulator, which has no time: counts of wave instructions, under keys that say so.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace rung::gpu {

// A key of time, for a device that counts: "median_ms" -> "median_instructions", of which 1,000 stand as a millisecond;
// "us" -> "instructions", each as a microsecond. None: the key is of no time of a device.
struct CountedKey {
  std::string name;
  double per_unit = 1;
};
std::optional<CountedKey> counted_key(std::string_view key);

// JSON whose keys are those of time, at kInstructionsPerMs: counts get keys of their own, rates and floors go. What
// this processor takes to load a model and to run it for the first time stays a time.
void name_counts(nlohmann::json& json);

}  // namespace rung::gpu
