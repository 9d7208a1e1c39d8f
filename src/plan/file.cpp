// Plan files: JSON in the metadata, tensors beside it, one checksum over both.
// SPDX-License-Identifier: Apache-2.0
#include "plan/file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/parallel.hpp"
#include "base/streamed_hash.hpp"
#include "ir/bool_bytes.hpp"
#include "ir/safetensors.hpp"
#include "kernels/cpu/linear/onednn_version.hpp"
#include "kernels/problem_key.hpp"
#include "plan/build.hpp"
#include "plan/check.hpp"
#include "plan/set_json.hpp"

namespace rung {
namespace {

constexpr std::string_view kFormat = "rung plan 5";

std::string weight_key(size_t index) { return fmt::format("weight/{:06}", index); }
Type bytes_type(uint64_t bytes) { return {DType::u8, {static_cast<int64_t>(bytes)}}; }

// A tensor of the file: its bytes, or a function that reads them.
struct Part {
  std::string name;
  Tensor tensor;
  ReadBytes read = nullptr;
};
using Parts = std::vector<Part>;

// Returns a key such as "default/0/attention_mask", here for the set's first plan.
std::string value_key(const char* kind, size_t plan, const std::string& name) {
  return fmt::format("{}/{}/{}", kind, plan, name);
}

void add_weights(const std::vector<PlanWeight>& weights, Parts& parts) {
  for (const PlanWeight& weight : weights)
    parts.push_back({weight_key(parts.size()),
                     Tensor(bytes_type(weight.bytes), std::const_pointer_cast<std::byte>(weight.data)), weight.read});
}

void add_values(size_t index, const Plan& plan, Parts& parts) {
  for (const auto& input : plan.inputs)
    if (input.value) parts.push_back({value_key("default", index, input.name), *input.value});
  for (const auto& frozen : plan.frozen) parts.push_back({value_key("frozen", index, frozen.name), frozen.value});
  for (const auto& state : plan.states)
    if (state.value) parts.push_back({value_key("state", index, state.name), *state.value});
}

Result<uint64_t> sum_of(const Part& part) {
  const size_t bytes = part.tensor.bytes();
  if (!part.read) return hash_bytes(part.tensor.data(), bytes);
  StreamedHash hash;
  std::vector<std::byte> piece(std::min<size_t>(bytes, 1 << 20));
  for (size_t at = 0; at < bytes; at += piece.size()) {
    const size_t some = std::min(piece.size(), bytes - at);
    RUNG_CHECK(part.read(at, piece.data(), some));
    hash.add(piece.data(), some);
  }
  return hash.value();
}

// Hashes the JSON, then each tensor's name, type and own sum; several threads compute the sums.
Result<std::string> checksum(const std::string& json, const Parts& parts) {
  std::vector<Result<uint64_t>> sums(parts.size());
  parallel_for(parts.size(), [&](size_t i) { sums[i] = sum_of(parts[i]); });
  uint64_t hash = hash_text(json);
  for (size_t i = 0; i < parts.size(); ++i) {
    RUNG_TRY(uint64_t sum, std::move(sums[i]));
    hash = hash_text(fmt::format("{} {} {}", parts[i].name, parts[i].tensor.type(), hex64(sum)), hash);
  }
  return hex64(hash);
}

// A CPU plan copies its weights into its own host memory. A GPU plan leaves them in the file until they are uploaded,
// and reads the file without touching its mapping.
Status load_weight(const Safetensors& file, size_t index, bool gpu, PlanWeight& weight) {
  const std::string key = weight_key(index);
  auto found = file.tensors().find(key);
  if (found == file.tensors().end() || !(found->second.type == bytes_type(weight.bytes)))
    return fail("weight '{}': there is no tensor '{}' of {} bytes", weight.name, key, weight.bytes);
  RUNG_TRY(Tensor tensor, gpu ? file.load(key) : file.copy(key));
  if (gpu) weight.read = file.reader(key);
  auto holder = std::make_shared<Tensor>(std::move(tensor));
  weight.data = {holder, holder->data()};
  return {};
}

Status load_weights(const Safetensors& file, ListedPlans& listed, const Target& target) {
  std::vector<PlanWeight>& weights = listed.weights;
  std::vector<Status> done(weights.size());
  parallel_for(weights.size(), [&](size_t i) { done[i] = load_weight(file, i, target.gpu != nullptr, weights[i]); });
  for (Status& status : done) RUNG_CHECK(std::move(status));
  for (size_t p = 0; p < listed.plans.size(); ++p)
    for (size_t i = 0; i < listed.uses[p].size(); ++i) listed.plans[p].weights[i] = weights[listed.uses[p][i]];
  return {};
}

Status load_values(const Safetensors& file, size_t index, Plan& plan) {
  for (auto& input : plan.inputs) {
    const std::string key = value_key("default", index, input.name);
    if (!file.tensors().contains(key)) continue;
    RUNG_TRY(input.value, file.copy(key));
    if (!(input.value->type() == input.type))
      return fail("default of '{}': got {}, wanted {}", input.name, input.value->type(), input.type);
    RUNG_CHECK(check_bools("default of", input.name, input.type, input.value->data()));
  }
  for (auto& frozen : plan.frozen) {
    RUNG_TRY(frozen.value, file.copy(value_key("frozen", index, frozen.name)));
    RUNG_CHECK(check_bools("frozen input", frozen.name, frozen.value.type(), frozen.value.data()));
  }
  for (auto& state : plan.states) {
    if (state.initial != Initial::value) continue;
    RUNG_TRY(state.value, file.copy(value_key("state", index, state.name)));
    RUNG_CHECK(check_bools("state", state.name, state.value->type(), state.value->data()));
  }
  return {};
}

// Weights may lie in oneDNN's own layouts; on a GPU the library's version is part of the device's fingerprint.
Status check_layouts(const Metadata& metadata, const Target& target) {
  if (target.gpu) return {};
  auto layouts = metadata.find("layouts");
  if (layouts == metadata.end())
    return fail("it does not name the library in whose layouts its weights are: build it again here");
  if (std::string here = cpu::gemm::onednn_layouts(); layouts->second != here)
    return mismatch("its weights are laid out by '{}', here is '{}': climb or build again here", layouts->second, here);
  return {};
}

// The JSON of a plan file, and the checksum it must have.
struct Texts {
  const std::string &plan, &checksum;
};
Result<Texts> texts_of(const Metadata& metadata) {
  auto format = metadata.find("format");
  if (format == metadata.end()) return fail("not a plan: its metadata has no 'format'");
  if (format->second != kFormat)
    return fail("got format '{}', wanted '{}': another release of rung made it: climb or build again here",
                format->second, kFormat);
  auto text = metadata.find("plan"), sum = metadata.find("checksum");
  if (text == metadata.end() || sum == metadata.end())
    return fail("not a plan: its metadata lacks 'plan' or 'checksum'");
  return Texts{text->second, sum->second};
}

// Checks that the file is whole and unchanged: every tensor is listed, and the checksum matches.
Status check_parts(const Safetensors& file, const Texts& texts, const ListedPlans& listed) {
  Parts parts;
  add_weights(listed.weights, parts);
  for (size_t i = 0; i < listed.plans.size(); ++i) add_values(i, listed.plans[i], parts);
  if (parts.size() != file.tensors().size())
    return fail("damaged: got {} tensors, wanted {}", file.tensors().size(), parts.size());
  RUNG_TRY(std::string got, checksum(texts.plan, parts));
  return got == texts.checksum ? Status{} : fail("damaged: its checksum is {}, wanted {}", got, texts.checksum);
}

// Proves a plan, gives it the code that may run, and fills in the problem keys of its steps.
Status settle(const CodeSection& code, const std::vector<std::string>& named, CodeUse use, Plan& plan) {
  RUNG_CHECK(check_plan(plan));
  RUNG_CHECK(take_code(code, named, use, plan));
  for (Step& step : plan.steps) step.problem = problem_key(problem_of(step, plan.recipe.threads));
  return {};
}

Result<PlanSet> read_plans(const Safetensors& file, const ChooseTarget& choose, CodeUse use) {
  RUNG_TRY(Texts texts, texts_of(file.metadata()));
  RUNG_TRY(auto json, parse_json(texts.plan, "plan"));
  RUNG_TRY(ListedPlans listed, set_from_json(json));
  if (listed.plans.empty()) return fail("malformed plan: got no plan, wanted at least one");
  const std::string& device = listed.plans[0].device;
  RUNG_TRY(const Target* target, choose(device));
  RUNG_CHECK(load_weights(file, listed, *target));
  for (size_t i = 0; i < listed.plans.size(); ++i) {
    listed.plans[i].target = target;
    RUNG_CHECK(load_values(file, i, listed.plans[i]));
  }
  RUNG_CHECK(check_parts(file, texts, listed));
  if (device != target->fingerprint)
    return mismatch("built for '{}', this is '{}': climb or build again here", device, target->fingerprint);
  RUNG_CHECK(check_layouts(file.metadata(), *target));
  RUNG_TRY(const CodeSection code, code_from_json(json));
  for (size_t i = 0; i < listed.plans.size(); ++i) RUNG_CHECK(settle(code, code.named[i], use, listed.plans[i]));
  return PlanSet::make(std::move(listed.plans));
}

}  // namespace

Status save_plan(const Plan& plan, const std::string& path) {
  return save_plans(PlanSet(std::make_shared<const Plan>(plan)), path);
}

Status save_plans(const PlanSet& set, const std::string& path) {
  PendingFiles files;
  RUNG_CHECK(add_plans(files, set, path));
  return files.commit();
}

Status add_plans(PendingFiles& files, const PlanSet& set, const std::string& path) {
  Parts parts;
  add_weights(weights_of(set), parts);
  for (size_t i = 0; i < set.size(); ++i) add_values(i, *set[i], parts);
  RUNG_TRY(const CodeSection code, code_of(set));
  auto set_json = set_to_json(set);
  add_code(code, set_json);
  std::string json = dump_json(set_json);
  RUNG_TRY(std::string sum, checksum(json, parts));
  Metadata metadata{{"format", std::string(kFormat)}, {"checksum", std::move(sum)}, {"plan", std::move(json)}};
  if (!set.first().target->gpu) metadata["layouts"] = cpu::gemm::onednn_layouts();
  TensorList tensors;
  for (const Part& part : parts) tensors.emplace_back(part.name, part.tensor);
  return files.add(path, [&](std::ostream& out) { return write_safetensors(out, tensors, metadata); });
}

Result<Plan> load_plan(const std::string& path, const Target& target) {
  RUNG_TRY(PlanSet set, load_plans(path, [&](const std::string&) { return &target; }));
  if (set.size() != 1) return mismatch("'{}' holds {} plans, wanted one", path, set.size());
  return Plan(set.first());
}

Result<PlanSet> load_plans(const std::string& path, const ChooseTarget& choose, CodeUse use) {
  RUNG_TRY(auto file, Safetensors::open(path));
  auto set = errors_of(ErrorKind::file, read_plans(*file, choose, use));
  if (!set) return fail_in(set.error(), "'{}'", path);
  return set;
}

}  // namespace rung
