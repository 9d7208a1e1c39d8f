// On ROCm a kernel's device number counts all agents, including CPUs, whereas properties count GPUs only: 2 may be GPU
// 0 of a host with two CPUs.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_devices.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/card_peaks.hpp"
#include "base/json.hpp"

namespace rung::trace {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostDeviceText = size_t{1} << 20;
constexpr size_t kMostDevices = 1024;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// Some builds of ROCm leave the name empty.
std::string name_of(const Json& device) {
  std::string name = text_at(device, "name");
  if (!name.empty()) return name;
  const CardPeaks* card = peaks_of_size(number_at(device, "numSms"), number_at(device, "totalGlobalMem"));
  return card ? std::string(card->name) : std::string();
}

std::set<int> devices_of(const std::vector<Lane>& lanes) {
  std::set<int> devices;
  for (const Lane& lane : lanes)
    if (lane.on_device) devices.insert(lane.device);
  return devices;
}

}  // namespace

bool ChromeDevices::take(std::string_view json) {
  if (json.size() > kMostDeviceText) return false;
  const auto devices = parse_json(json, "deviceProperties");
  if (!devices || !devices->is_array()) return false;
  for (const Json& device : *devices) {
    const auto id = device.find("id");
    if (!device.is_object() || id == device.end() || !id->is_number_unsigned() || devices_.size() == kMostDevices)
      continue;
    if (std::string name = name_of(device); !name.empty()) devices_.push_back({id->get<uint64_t>(), std::move(name)});
  }
  return true;
}

void ChromeDevices::name(RecordingBuilder& builder) const {
  if (devices_.empty()) return;
  const bool one_kind =
      std::ranges::all_of(devices_, [&](const Device& device) { return device.name == devices_.front().name; });
  const std::set<int> used = devices_of(builder.lanes());
  const bool by_id = std::ranges::all_of(used, [&](int device) {
    return std::ranges::find(devices_, static_cast<uint64_t>(device), &Device::id) != devices_.end();
  });
  // Agents of several kinds are in the order of their GPUs; unless all were used, it is unknown which ones were.
  if (!by_id && !one_kind && used.size() != devices_.size()) return;
  if (by_id)
    for (const Device& device : devices_) builder.name_device(device.id, device.name);
  else
    for (size_t place = 0; const int device : used)
      builder.name_device(static_cast<size_t>(device), devices_[one_kind ? 0 : place++].name);
}

}  // namespace rung::trace
