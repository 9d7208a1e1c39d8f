// The devices that this build knows, by name.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/device_word.hpp"

#include <charconv>

namespace rung {

Result<DeviceWord> parse_device(std::string_view word) {
  if (word == "cpu" || word == "cuda") return DeviceWord{std::string(word)};
  constexpr std::string_view kNumbered = "cuda:";
  int index = 0;
  const char* end = word.data() + word.size();
  if (word.size() > kNumbered.size() && word.starts_with(kNumbered))
    if (auto [next, code] = std::from_chars(word.data() + kNumbered.size(), end, index);
        next == end && code == std::errc() && index >= 0)
      return DeviceWord{"cuda", index};
  return wrong_usage("device: got '{}', wanted cpu, cuda or cuda:NUMBER", word);
}

std::string_view kind_of_fingerprint(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(' '));
}

}  // namespace rung
