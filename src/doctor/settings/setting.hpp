// The table of settings worth trying for latency, by the framework that serves and the GPU it serves on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/knob.hpp"

namespace rung::doctor {

enum class Framework : uint8_t { pytorch, vllm, sglang, rung };
inline constexpr std::array<std::string_view, 4> kFrameworkWords{"pytorch", "vllm", "sglang", "rung"};
constexpr std::string_view name_of(Framework framework) { return kFrameworkWords[static_cast<size_t>(framework)]; }

enum class SettingKind : uint8_t {
  variable,  // an environment variable: a row of the knob table
  flag,      // of the command that serves
  code,      // a change of the program
  command,   // run once, before
};
inline constexpr std::array<std::string_view, 4> kSettingKindWords{"variable", "flag", "code", "command"};
constexpr std::string_view name_of(SettingKind kind) { return kSettingKindWords[static_cast<size_t>(kind)]; }

enum class GpuGeneration : uint8_t { hopper, blackwell, mi200, mi300, mi350 };

struct SettingGpu {
  std::string_view word, name;  // "mi300x", "AMD Instinct MI300X"
  GpuGeneration generation;
};
std::span<const SettingGpu> setting_gpus();
// Returns null if no GPU has this word.
const SettingGpu* setting_gpu(std::string_view word);

// The GPUs that a setting is for. with_f8 is all but MI200: GPUs with 8-bit floats. cdna3 is MI300 and MI350: for
// settings that AMD's libraries keep for CDNA 3 and later.
enum class GpuFamily : uint8_t { any, nvidia, hopper, blackwell, amd, mi200, mi300, mi350, cdna3, with_f8 };
bool is_of(GpuFamily family, GpuGeneration gpu);

struct Setting {
  Framework framework;
  GpuFamily gpus;
  SettingKind kind;
  Rating rating;           // set: nothing is known against it; measure: helps some and hurts others
  std::string_view name;   // "NCCL_MIN_NCHANNELS", "--kv-cache-dtype"; of code and commands: the action, in a few words
  std::string_view value;  // of code and commands: a one-line example
  std::string_view when;   // empty: always
  std::string_view reason;
  std::string_view measure;  // the measurement to compare with and without it
  std::string_view traps;    // empty: none known
  const Source* source;
};

std::span<const Setting> setting_table();
// Returns settings to set before settings to measure, each in the table's order.
std::vector<const Setting*> settings_for(Framework framework, GpuGeneration gpu);

// Returns a variable's readers with versions: "SGLang since 0.5.6, PyTorch to 2.8"; empty if none is known.
std::string read_by(const Setting& setting);

}  // namespace rung::doctor
