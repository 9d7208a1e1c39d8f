// Reads and writes {"version": 1, "machines": {"cpu ... on 2 threads": {"read_gbps": 21.3, ...}}}.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/kept_peaks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/kept_file.hpp"
#include "base/log.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

constexpr double kMostRate = 1e9;  // an EFLOP/s, which no machine reaches

struct Rate {
  const char* name;
  double Peaks::*value;
};
constexpr std::array kRates{Rate{"fma_f32_gflops", &Peaks::fma_f32_gflops},
                            Rate{"gemm_f32_gflops", &Peaks::gemm_f32_gflops},
                            Rate{"gemm_bf16_gflops", &Peaks::gemm_bf16_gflops}, Rate{"read_gbps", &Peaks::read_gbps}};

Status check_machine(const std::string& path, const std::string& machine, const Json& rates) {
  const auto refuse = [&](const std::string& reason) {
    return bad_file("'{}': '{}': {}: repair or remove it", path, machine, reason);
  };
  if (!rates.is_object()) return refuse(fmt::format("got {}, wanted an object", describe(rates)));
  for (const auto& [name, value] : rates.items()) {
    const bool known = std::ranges::any_of(kRates, [&, &key = name](const Rate& rate) { return key == rate.name; });
    if (!known) return refuse(fmt::format("got the field '{}', which no rate has", name));
    if (!value.is_number() || !(value.get<double>() >= 0) || !(value.get<double>() <= kMostRate))
      return refuse(fmt::format("{}: got {}, wanted a rate from 0 to {}", name, describe(value), kMostRate));
  }
  return {};
}

Result<Json> read_peaks(const std::string& path) {
  RUNG_TRY(Json json, read_kept_file(path, {.what = "file of machines' peaks", .version = 1, .section = "machines"}));
  for (const auto& [machine, rates] : json["machines"].items()) RUNG_CHECK(check_machine(path, machine, rates));
  return json;
}

}  // namespace

std::string peaks_beside(const std::string& database) {
  if (database.empty()) return "";
  return (std::filesystem::path(database).parent_path() / "peaks.json").string();
}

Peaks best_of_kept(const std::string& path, const std::string& machine, const Peaks& measured) {
  if (path.empty()) return measured;
  auto file = read_peaks(path);
  if (!file) {
    log(0, "floors are by what was measured now: {}", file.error().message);
    return measured;
  }
  Peaks best = measured;
  Json& rates = (*file)["machines"][machine];
  bool learns = false;
  for (const Rate& rate : kRates) {
    const double kept = rates.is_object() ? rates.value(rate.name, 0.0) : 0;
    if (!(measured.*rate.value <= kMostRate)) continue;  // a device without time has no rate to keep
    learns = learns || measured.*rate.value > kept;
    rates[rate.name] = best.*rate.value = std::max(kept, measured.*rate.value);
  }
  if (!learns) return best;
  if (Status written = write_kept_file(path, *file); !written)
    log(1, "peaks are not kept: {}", written.error().message);
  return best;
}

}  // namespace rung
