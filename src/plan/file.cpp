// Plan files: JSON in the metadata, tensors beside it, one checksum over both.
// SPDX-License-Identifier: Apache-2.0
#include "plan/file.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/big_block.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/parallel.hpp"
#include "gemm/problem.hpp"
#include "ir/safetensors.hpp"
#include "plan/build.hpp"
#include "plan/check.hpp"
#include "plan/plan_json.hpp"

namespace rung {
namespace {

constexpr std::string_view kFormat = "rung plan 2";

std::string weight_key(size_t index) { return fmt::format("weight/{:06}", index); }
Type bytes_type(uint64_t bytes) { return {DType::u8, {static_cast<int64_t>(bytes)}}; }

using Tensors = std::vector<std::pair<std::string, Tensor>>;

Tensors tensors_of(const Plan& plan) {
  Tensors tensors;
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const auto& weight = plan.weights[i];
    tensors.emplace_back(weight_key(i),
                         Tensor(bytes_type(weight.bytes), std::const_pointer_cast<std::byte>(weight.data)));
  }
  for (const auto& input : plan.inputs)
    if (input.value) tensors.emplace_back("default/" + input.name, *input.value);
  for (const auto& frozen : plan.frozen) tensors.emplace_back("frozen/" + frozen.name, frozen.value);
  return tensors;
}

// Over the JSON, then over each tensor's name, type and own sum: those are made by several threads.
std::string checksum(const std::string& json, const Tensors& tensors) {
  std::vector<uint64_t> sums(tensors.size());
  parallel_for(tensors.size(), [&](size_t i) {
    const Tensor& tensor = tensors[i].second;
    sums[i] = hash_bytes(tensor.data(), tensor.bytes());
  });
  uint64_t hash = hash_text(json);
  for (size_t i = 0; i < tensors.size(); ++i)
    hash = hash_text(fmt::format("{} {} {}", tensors[i].first, tensors[i].second.type(), hex64(sums[i])), hash);
  return hex64(hash);
}

// Tables that are read here and there stay in the mapped file, as does what goes to a device's memory; what every
// inference of a processor streams goes to huge pages.
std::set<uint32_t> streamed_weights(const Plan& plan) {
  std::set<uint32_t> streamed;
  if (plan.target->gpu) return streamed;
  for (const auto& step : plan.steps)
    for (const auto& input : step.inputs)
      if (input.region == Region::weight && !as<Gather>(step.op)) streamed.insert(input.index);
  return streamed;
}

Status load_weights(const Safetensors& file, Plan& plan) {
  std::set<uint32_t> streamed = streamed_weights(plan);
  for (uint32_t i = 0; i < plan.weights.size(); ++i) {
    auto& weight = plan.weights[i];
    RUNG_TRY(Tensor tensor, file.load(weight_key(i)));
    if (tensor.bytes() != weight.bytes)
      return fail("weight '{}': got {} bytes, wanted {}", weight.name, tensor.bytes(), weight.bytes);
    if (!streamed.contains(i)) {
      auto holder = std::make_shared<Tensor>(std::move(tensor));
      weight.data = {holder, holder->data()};
      continue;
    }
    auto block = allocate_block(weight.bytes);
    if (!block) return fail("weight '{}': no memory for {} bytes", weight.name, weight.bytes);
    std::memcpy(block.get(), tensor.data(), weight.bytes);
    weight.data = std::move(block);
  }
  return {};
}

Status load_values(const Safetensors& file, Plan& plan) {
  for (auto& input : plan.inputs) {
    if (!file.tensors().contains("default/" + input.name)) continue;
    RUNG_TRY(input.value, file.load("default/" + input.name));
    if (!(input.value->type() == input.type))
      return fail("default of '{}': got {}, wanted {}", input.name, input.value->type(), input.type);
  }
  for (auto& frozen : plan.frozen) {
    RUNG_TRY(frozen.value, file.load("frozen/" + frozen.name));
  }
  return {};
}

Result<Plan> read_plan(const Safetensors& file, const Target& target) {
  auto format = file.metadata().find("format");
  if (format == file.metadata().end()) return fail("not a plan: its metadata has no 'format'");
  if (format->second != kFormat) return fail("got format '{}', wanted '{}'", format->second, kFormat);
  auto text = file.metadata().find("plan"), sum = file.metadata().find("checksum");
  if (text == file.metadata().end() || sum == file.metadata().end())
    return fail("not a plan: its metadata lacks 'plan' or 'checksum'");
  RUNG_TRY(auto json, parse_json(text->second, "plan"));
  RUNG_TRY(Plan plan, plan_from_json(json));
  plan.target = &target;
  RUNG_CHECK(load_weights(file, plan));
  RUNG_CHECK(load_values(file, plan));
  Tensors tensors = tensors_of(plan);
  if (tensors.size() != file.tensors().size())
    return fail("damaged: got {} tensors, wanted {}", file.tensors().size(), tensors.size());
  if (std::string got = checksum(text->second, tensors); got != sum->second)
    return fail("damaged: its checksum is {}, wanted {}", got, sum->second);
  if (plan.device != target.fingerprint)
    return fail("built for '{}', this is '{}': climb or build again here", plan.device, target.fingerprint);
  RUNG_CHECK(check_plan(plan));
  for (Step& step : plan.steps) step.problem = problem_key(problem_of(step, plan.recipe.threads));
  return plan;
}

}  // namespace

Status save_plan(const Plan& plan, const std::string& path) {
  PendingFiles files;
  RUNG_CHECK(add_plan(files, plan, path));
  return files.commit();
}

Status add_plan(PendingFiles& files, const Plan& plan, const std::string& path) {
  Tensors tensors = tensors_of(plan);
  std::string json = dump_json(plan_to_json(plan));
  Metadata metadata{{"format", std::string(kFormat)}, {"checksum", checksum(json, tensors)}, {"plan", std::move(json)}};
  return files.add(path, [&](std::ostream& out) { return write_safetensors(out, tensors, metadata); });
}

Result<Plan> load_plan(const std::string& path, const Target& target) {
  RUNG_TRY(auto file, Safetensors::open(path));
  auto plan = read_plan(*file, target);
  if (!plan) return fail("'{}': {}", path, plan.error().message);
  return plan;
}

}  // namespace rung
