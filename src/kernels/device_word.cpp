// The devices that this build knows, by name.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/device_word.hpp"

#include <charconv>
#include <string>

namespace rung {
namespace {

constexpr std::string_view kEmulated = "emu:";

// Returns a list such as "emu:gfx942, emu:gfx950".
std::string emulated_words() {
  std::string words;
  for (const amdgpu::IsaInfo& info : amdgpu::kIsas)
    if (info.executed) words += fmt::format(", {}{}", kEmulated, info.name);
  return words.substr(2);
}

// Returns "cuda, cuda:NUMBER, hip, hip:NUMBER".
std::string numbered_words() {
  std::string words;
  for (std::string_view kind : kNumberedKinds) words += fmt::format(", {0}, {0}:NUMBER", kind);
  return words.substr(2);
}

// Parses "", which is the first device, or ":NUMBER".
std::optional<int> index_of(std::string_view rest) {
  if (rest.empty()) return 0;
  int index = 0;
  const char* end = rest.data() + rest.size();
  const auto [next, code] = std::from_chars(rest.data() + 1, end, index);
  const bool is_number = rest[0] == ':' && next == end && code == std::errc() && index >= 0;
  return is_number ? std::optional(index) : std::nullopt;
}

}  // namespace

std::optional<amdgpu::Isa> DeviceWord::emulated() const {
  if (!kind.starts_with(kEmulated)) return std::nullopt;
  const auto isa = amdgpu::isa_named(kind.substr(kEmulated.size()));
  return isa && info_of(*isa).executed ? isa : std::nullopt;
}

Result<DeviceWord> parse_device(std::string_view word) {
  const std::string given(word);
  const DeviceWord whole{given, given};
  if (word == "cpu" || whole.emulated()) return whole;
  for (std::string_view kind : kNumberedKinds)
    if (word.starts_with(kind))
      if (auto index = index_of(word.substr(kind.size()))) return DeviceWord{given, std::string(kind), *index};
  return wrong_usage("device: got '{}', wanted cpu, {} or one of {}", word, numbered_words(), emulated_words());
}

std::string_view kind_of_fingerprint(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(' '));
}

std::optional<DeviceWord> first_of_fingerprint(std::string_view fingerprint) {
  const std::string_view kind = kind_of_fingerprint(fingerprint);
  const auto word = parse_device(kind);
  return word && word->kind == kind ? std::optional(*word) : std::nullopt;
}

bool counts_instructions(std::string_view fingerprint) { return fingerprint.starts_with(kEmulated); }

}  // namespace rung
