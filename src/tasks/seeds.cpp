// Judges a plan of the watched graph, and sums up by value.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "open/inputs.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

// Sums up the verdicts of some inputs, one of each seed.
std::vector<ValueErrors> summed_up(std::span<const Verification> verdicts, const std::vector<uint64_t>& seeds) {
  std::vector<ValueErrors> values;
  for (size_t i = 0; i < verdicts.size(); ++i)
    for (size_t v = 0; v < verdicts[i].outputs.size(); ++v) {
      const auto& output = verdicts[i].outputs[v];
      if (i == 0) values.push_back({output.name, output.rel_l2, 0, seeds[0]});
      values[v].mean += output.rel_l2 / static_cast<double>(verdicts.size());
      if (output.rel_l2 > values[v].worst) values[v].worst = output.rel_l2, values[v].worst_seed = seeds[i];
    }
  return values;
}

std::optional<ErrorGrowth> growth_of(const std::vector<ValueErrors>& values, const std::vector<std::string>& watched) {
  std::optional<ErrorGrowth> most;
  const ValueErrors* before = nullptr;
  for (const std::string& label : watched) {
    const auto value = std::ranges::find(values, label, &ValueErrors::name);
    if (value == values.end()) continue;
    const double factor = before && before->mean > 0 ? value->mean / before->mean : 0;
    if (std::isfinite(factor) && factor > (most ? most->factor : 0)) most = {before->name, value->name, factor};
    before = &*value;
  }
  return most;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json set_json(const std::vector<uint64_t>& seeds, const std::vector<ValueErrors>& values) {
  Json list = Json::array();
  for (const ValueErrors& value : values)
    list.push_back({{"name", value.name},
                    {"worst_rel_l2", finite_or_null(value.worst)},
                    {"mean_rel_l2", finite_or_null(value.mean)},
                    {"worst_seed", value.worst_seed}});
  return {{"first", seeds.front()}, {"count", seeds.size()}, {"values", std::move(list)}};
}

}  // namespace

std::vector<uint64_t> fresh_seeds(size_t count, std::optional<uint64_t> first) {
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first.value_or(kFrozenSeeds + 1 + std::random_device()()));
  return seeds;
}

Result<SeedErrors> errors_over_seeds(Workbench& bench, const Recipe& recipe, std::vector<uint64_t> fresh) {
  const Model& model = bench.subject().model;
  Graph watched = model.graph;
  for (const std::string& label : model.watched) RUNG_CHECK(observe(watched, label));
  RUNG_TRY(auto session, bench.session_of(watched, recipe));
  RUNG_TRY(const Judgement judgement, bench.judge().error_of(*session));
  const std::span<const Verification> verdicts = judgement.verdicts;
  SeedErrors errors{.frozen = std::vector<uint64_t>(kFrozenSeeds), .fresh = std::move(fresh)};
  std::iota(errors.frozen.begin(), errors.frozen.end(), uint64_t{1});
  errors.of_frozen = summed_up(verdicts.first(errors.frozen.size()), errors.frozen);
  errors.of_fresh = summed_up(verdicts.subspan(errors.frozen.size()), errors.fresh);
  errors.growth = growth_of(errors.of_fresh, model.watched);
  return errors;
}

Json to_json(const SeedErrors& errors) {
  Json json{{"frozen", set_json(errors.frozen, errors.of_frozen)},
            {"fresh", set_json(errors.fresh, errors.of_fresh)},
            {"growth", nullptr}};
  if (const auto& growth = errors.growth)
    json["growth"] = {{"from", growth->from}, {"to", growth->to}, {"factor", growth->factor}};
  return json;
}

}  // namespace rung::tasks
