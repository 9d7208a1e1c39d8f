// Reads rocm-smi: the short table, and the lines "GPU[0] : NAME: VALUE" of its options.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/trimmed.hpp"
#include "doctor/knob.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/pasted/text_form.hpp"

namespace rung::doctor::pasted {
namespace {

constexpr std::string_view kLevels[] = {
    "auto", "low", "high", "manual", "profile_standard", "profile_peak", "perf_determinism", "determinism"};
constexpr std::string_view kComputePartitions[] = {"SPX", "DPX", "TPX", "QPX", "CPX"};
constexpr std::string_view kMemoryPartitions[] = {"NPS1", "NPS2", "NPS4", "NPS8"};

template <size_t Size>
bool is_one_of(const std::string_view (&known)[Size], std::string_view word) {
  return std::ranges::find(known, word) != std::end(known);
}

std::string_view without_comma(std::string_view word) {
  if (word.ends_with(',')) word.remove_suffix(1);
  return word;
}

// Returns the microwatts of "750.0" or "750", as in the driver's file; empty: no number.
std::string microwatts(std::string_view watts) {
  const auto whole = number_of(watts.substr(0, watts.find('.')));
  return whole && *whole > 0 ? fmt::format("{}000000", *whole) : "";
}

// Finds the folder of device N, by the address that another part of the text told, or by its number.
class Devices {
 public:
  explicit Devices(Telling& telling) : telling_(telling) {}

  std::string folder(int64_t number) {
    for (const auto& [known, folder] : folders_)
      if (known == number) return folder;
    folders_.emplace_back(number, telling_.gpu(fmt::format("rocm-smi-{}", number), kAmd));
    return folders_.back().second;
  }
  void set_folder(int64_t number, std::string folder) { folders_.emplace_back(number, std::move(folder)); }
  bool knows(int64_t number) const {
    return std::ranges::any_of(folders_, [&](const auto& f) { return f.first == number; });
  }

 private:
  Telling& telling_;
  std::vector<std::pair<int64_t, std::string>> folders_;
};

// Recognizes "0  2  0x74a1, 28851  41.0°C  140.0W  NPS1, SPX, 0  132Mhz  900Mhz  0%  auto  750.0W  0%  0%".
bool is_row(const std::vector<std::string_view>& words) {
  return words.size() >= 8 && number_of(words[0]) && words.back().find_first_of("%/") != std::string_view::npos;
}

void read_row(const std::vector<std::string_view>& words, Devices& devices, Telling& telling) {
  const int64_t number = *number_of(words[0]);
  const bool has_node = words[2].starts_with("0x");
  if (has_node && !devices.knows(number) && number_of(words[1]))
    if (const std::string folder = telling.gpu_of_node(*number_of(words[1])); !folder.empty())
      devices.set_folder(number, folder);
  const std::string folder = devices.folder(number);
  if (has_node) telling.set(folder + "device", std::string(without_comma(words[2])));
  bool after_level = false;
  for (const std::string_view raw : words) {
    const std::string_view word = without_comma(raw);
    if (is_one_of(kComputePartitions, word)) telling.set(folder + "current_compute_partition", std::string(word));
    if (is_one_of(kMemoryPartitions, word)) telling.set(folder + "current_memory_partition", std::string(word));
    if (after_level && word.ends_with('W'))
      if (std::string cap = microwatts(word.substr(0, word.size() - 1)); !cap.empty())
        telling.set(folder + "hwmon/hwmon0/power1_cap", std::move(cap));
    if (!is_one_of(kLevels, word)) continue;
    telling.set(folder + "power_dpm_force_performance_level", std::string(word));
    after_level = true;
  }
}

// A line like "GPU[0]          : Performance Level: auto".
struct Property {
  int64_t device;
  std::string_view name, value;
};
std::optional<Property> property_of(std::string_view line) {
  line = trimmed(line);
  const size_t end = line.find(']');
  if (!line.starts_with("GPU[") || end == line.npos) return std::nullopt;
  const auto device = number_of(line.substr(4, end - 4));
  line = trimmed(line.substr(end + 1));
  if (!device || !line.starts_with(':')) return std::nullopt;
  line = trimmed(line.substr(1));
  const size_t colon = line.find(": ");
  if (colon == line.npos) return std::nullopt;
  return Property{*device, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

void read_address(const Property& property, Devices& devices, Telling& telling) {
  if (property.name != "PCI Bus" || devices.knows(property.device)) return;
  if (const std::string address = pci_address(property.value); !address.empty())
    devices.set_folder(property.device, telling.gpu(address, kAmd));
}

void read_property(const Property& property, Devices& devices, Telling& telling) {
  const std::string value(property.value);
  const auto set = [&](std::string_view file) {
    telling.set(devices.folder(property.device) + std::string(file), value);
  };
  if (property.name == "Performance Level" && is_one_of(kLevels, value)) set("power_dpm_force_performance_level");
  if (property.name == "Compute Partition" && is_one_of(kComputePartitions, value)) set("current_compute_partition");
  if (property.name == "Memory Partition" && is_one_of(kMemoryPartitions, value)) set("current_memory_partition");
  if ((property.name == "Device ID" || property.name == "GPU ID") && value.starts_with("0x")) set("device");
  if (property.name.starts_with("Max Graphics Package Power") || property.name == "Max Power (W)")
    if (std::string cap = microwatts(value); !cap.empty())
      telling.set(devices.folder(property.device) + "hwmon/hwmon0/power1_cap", std::move(cap));
  if (property.name.starts_with("Default Power Cap") || property.name.starts_with("Default Power (W)"))
    if (std::string cap = microwatts(value); !cap.empty())
      telling.set(devices.folder(property.device) + "hwmon/hwmon0/power1_cap_default", std::move(cap));
}

void read_smi(std::span<const Line> lines, Telling& telling) {
  Devices devices(telling);
  for (const Line& line : lines)
    if (const auto property = property_of(line.text)) read_address(*property, devices, telling);
  for (const Line& line : lines) {
    telling.at(line);
    if (const auto property = property_of(line.text)) read_property(*property, devices, telling);
    if (const auto version = value_behind(line.text, "Driver version"))
      if (version->size() < 16) telling.set("sys/module/amdgpu/version", std::string(*version));
    const auto words = words_of(line.text);
    if (is_row(words)) read_row(words, devices, telling);
    if (line.text.find("End of ROCm SMI Log") != std::string::npos) return;
  }
}

}  // namespace

const TextForm rocm_smi_form{"rocm-smi",
                             [](std::string_view line) {
                               return line.starts_with("=") &&
                                      (line.find("ROCm System Management Interface") != line.npos ||
                                       line.find("ROCM System Management Interface") != line.npos);
                             },
                             read_smi};

}  // namespace rung::doctor::pasted
