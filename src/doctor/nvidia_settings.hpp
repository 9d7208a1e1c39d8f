// The settings of NVIDIA's GPUs as `nvidia-smi -q` lists them: those that the checks read, without data that identifies
// a card.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung::doctor {

// The path of that program's output in a snapshot.
inline constexpr std::string_view kNvidiaSettings = "programs/nvidia-smi";

struct NvidiaGpu {
  std::string address;  // "0000:17:00.0", as in the system's own files
  // Keys are "SECTION/NAME" or "NAME": "Clocks/SM" is "1980 MHz". nvidia_settings.cpp's table has all names and forms.
  std::map<std::string, std::string, std::less<>> values;

  std::optional<std::string> value(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;  // 1980 for "1980 MHz"
  bool is(std::string_view name, std::string_view word) const { return value(name) == word; }
};

struct NvidiaSettings {
  std::string driver, cuda;  // versions; empty: not told
  std::vector<NvidiaGpu> gpus;
};

// Reads any text; settings that it does not tell are left out.
NvidiaSettings read_nvidia_settings(std::string_view text);
// Writes the same form, without serial numbers, UUIDs, processes and settings that no check reads.
std::string written(const NvidiaSettings& settings);

// Returns "0000:17:00.0" of "00000000:17:00.0"; empty: no address.
std::string pci_address(std::string_view text);

}  // namespace rung::doctor
