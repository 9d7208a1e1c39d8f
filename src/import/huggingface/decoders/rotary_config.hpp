// The rotary positions that a decoder's config.json describes, as frequencies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json_config.hpp"

namespace rung::huggingface {

// Column i of the first half of the rotated columns of a head turns with column i of the second half.
struct RotaryFrequencies {
  std::vector<float> inverse;       // radians for each token of distance, one for each pair of columns
  std::vector<float> inverse_long;  // the same for texts of more than `original` tokens; empty: no other ones
  int64_t original = 0;
  float amplitude = 1;  // factor of all cosines and sines

  int64_t columns() const { return 2 * static_cast<int64_t>(inverse.size()); }
  const std::vector<float>& of(int64_t tokens) const {
    return inverse_long.empty() || tokens <= original ? inverse : inverse_long;
  }
};

struct RotaryRequest {
  int64_t head_width = 0;
  double base = 10000.0;  // unless the config has another one
  double part = 1.0;      // of a head's columns that rotate, unless the config has another one
  const char* base_field = "rope_theta";
  const char* part_field = "partial_rotary_factor";
  const char* layer_type = "";  // its own parameters are read if there are any; "": all layers have the same
  bool is_scaled = true;        // reads the `rope_scaling` of older files
  bool reads_yarn = true;       // "yarn" means YaRN; false: the published library takes it for longrope
};

// Reads `rope_parameters`, or the fields that older files have instead of it. Errors: types of scaling that are not
// known, and parameters that are missing or out of bounds.
Result<RotaryFrequencies> read_rotary(const Config& config, const RotaryRequest& request);

}  // namespace rung::huggingface
