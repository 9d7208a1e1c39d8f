// Moves facts that plans share out of their JSON, and back in.
// SPDX-License-Identifier: Apache-2.0
#include "plan/set_json.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/whole.hpp"
#include "plan/plan_json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

constexpr std::array kModelFacts{"model", "architecture", "device", "stages", "attachments"};

// Assigns each block its index in the file. A weight without contents has no block and gets an index of its own.
class BlockIndices {
 public:
  // Returns the index of the weight's block, and whether it is new.
  std::pair<uint32_t, bool> of(const PlanWeight& weight) {
    if (!weight.data) return {next_++, true};
    auto [it, added] = indices_.try_emplace(weight.data.get(), next_);
    if (added) ++next_;
    return {it->second, added};
  }

 private:
  std::map<const std::byte*, uint32_t> indices_;
  uint32_t next_ = 0;
};

Json weights_to_json(const std::vector<PlanWeight>& weights) {
  Json json = Json::array();
  for (const PlanWeight& weight : weights) json.push_back(Json::array({weight.name, weight.bytes}));
  return json;
}

// Returns the JSON of one plan as plan_from_json() takes it.
Json whole_plan(const Json& file, const Json& part, const std::vector<uint32_t>& uses) {
  Json whole = part;
  for (const char* fact : kModelFacts)
    if (file.contains(fact)) whole[fact] = file[fact];
  Json weights = Json::array();
  for (uint32_t use : uses) weights.push_back(file.at("weights").at(use));
  whole["weights"] = std::move(weights);
  return whole;
}

ListedPlans read_set(const Json& json) {
  ListedPlans listed;
  for (const Json& weight : json.at("weights"))
    listed.weights.push_back({weight.at(0).get<std::string>(), whole<uint64_t>(weight.at(1)), nullptr});
  std::vector<bool> used(listed.weights.size());
  for (const Json& part : json.at("plans")) {
    auto uses = list_of_whole<uint32_t>(part.at("weights"));
    for (uint32_t use : uses) used.at(use) = true;
    listed.plans.push_back(value_or_throw(plan_from_json(whole_plan(json, part, uses))));
    listed.uses.push_back(std::move(uses));
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) throw std::out_of_range(fmt::format("no plan uses weight {} ('{}')", i, listed.weights[i].name));
  return listed;
}

}  // namespace

std::vector<PlanWeight> weights_of(const PlanSet& set) {
  std::vector<PlanWeight> weights;
  BlockIndices indices;
  for (const auto& plan : set)
    for (const PlanWeight& weight : plan->weights)
      if (indices.of(weight).second) weights.push_back(weight);
  return weights;
}

Json set_to_json(const PlanSet& set) {
  Json json{{"weights", weights_to_json(weights_of(set))}, {"plans", Json::array()}};
  BlockIndices indices;
  for (const auto& plan : set) {
    Json part = plan_to_json(*plan);
    for (const char* fact : kModelFacts) {
      json[fact] = std::move(part[fact]);
      part.erase(fact);
    }
    Json uses = Json::array();
    for (const PlanWeight& weight : plan->weights) uses.push_back(indices.of(weight).first);
    part["weights"] = std::move(uses);
    json["plans"].push_back(std::move(part));
  }
  return json;
}

Result<ListedPlans> set_from_json(const Json& json) {
  try {
    return read_set(json);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return fail("malformed plan: {}", reason_of(e));
  }
}

}  // namespace rung
