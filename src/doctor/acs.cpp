// Walks the list of extended capabilities, which begins at byte 256.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/acs.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace rung::doctor {
namespace {

constexpr std::string_view kWord = "acs_control ";
constexpr size_t kFirst = 256, kEnd = 4096, kControl = 6;
constexpr uint32_t kAcs = 0x000d;
constexpr int kMostCapabilities = (kEnd - kFirst) / 4;  // ends a list that leads back into itself

uint32_t little_endian(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

std::string acs_control(std::string_view configuration) {
  if (configuration.starts_with(kWord)) return std::string(configuration);
  size_t at = kFirst;
  for (int i = 0; i < kMostCapabilities; ++i) {
    if (at < kFirst || at + kControl + 2 > configuration.size()) return "";
    const uint32_t header = little_endian(configuration, at, 4);
    if ((header & 0xffff) == kAcs)
      return fmt::format("{}0x{:04x}", kWord, little_endian(configuration, at + kControl, 2));
    at = header >> 20;
  }
  return "";
}

}  // namespace rung::doctor
