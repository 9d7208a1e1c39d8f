// Names the figures of an emulator, which has no time, in JSON: keys that say so hold counts of wave instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace rung::gpu {

// The key that replaces one of time if a device counts: "median_ms" -> "median_instructions", 1,000 for a millisecond;
// "us" -> "instructions", one for a microsecond. None: the key is not of a device's time.
struct CountedKey {
  std::string name;
  double per_unit = 1;
};
std::optional<CountedKey> counted_key(std::string_view key);

// Turns times of JSON at kInstructionsPerMs into counts, which get keys of their own; rates and floors are left out.
// The time that this processor takes to load a model and to run it for the first time stays a time.
void name_counts(nlohmann::json& json);

}  // namespace rung::gpu
