// The devices that this build knows, by name.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/device_word.hpp"

#include <charconv>
#include <string>

namespace rung {
namespace {

constexpr std::string_view kEmulated = "emu:";

// "emu:gfx942, emu:gfx950"
std::string emulated_words() {
  std::string words;
  for (const amdgpu::TargetInfo& info : amdgpu::kTargets)
    if (info.executed) words += fmt::format(", {}{}", kEmulated, info.name);
  return words.substr(2);
}

}  // namespace

Result<DeviceWord> parse_device(std::string_view word) {
  if (word == "cpu" || word == "cuda") return DeviceWord{std::string(word)};
  constexpr std::string_view kNumbered = "cuda:";
  int index = 0;
  const char* end = word.data() + word.size();
  if (word.size() > kNumbered.size() && word.starts_with(kNumbered))
    if (auto [next, code] = std::from_chars(word.data() + kNumbered.size(), end, index);
        next == end && code == std::errc() && index >= 0)
      return DeviceWord{"cuda", index};
  if (word.starts_with(kEmulated))
    if (auto target = amdgpu::target_named(word.substr(kEmulated.size())); target && info_of(*target).executed)
      return DeviceWord{std::string(word), 0, target};
  return wrong_usage("device: got '{}', wanted cpu, cuda, cuda:NUMBER or one of {}", word, emulated_words());
}

std::string_view kind_of_fingerprint(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(' '));
}

bool counts_instructions(std::string_view fingerprint) { return fingerprint.starts_with(kEmulated); }

}  // namespace rung
