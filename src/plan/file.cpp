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
#include "plan/plan_json.hpp"

namespace rung {
namespace {

constexpr std::string_view kFormat = "rung plan 4";

std::string weight_key(size_t index) { return fmt::format("weight/{:06}", index); }
Type bytes_type(uint64_t bytes) { return {DType::u8, {static_cast<int64_t>(bytes)}}; }

// A tensor of the file, by its bytes or a way to read them.
struct Part {
  std::string name;
  Tensor tensor;
  ReadBytes read = nullptr;
};
using Parts = std::vector<Part>;

Parts parts_of(const Plan& plan) {
  Parts parts;
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const auto& weight = plan.weights[i];
    parts.push_back({weight_key(i), Tensor(bytes_type(weight.bytes), std::const_pointer_cast<std::byte>(weight.data)),
                     weight.read});
  }
  for (const auto& input : plan.inputs)
    if (input.value) parts.push_back({"default/" + input.name, *input.value});
  for (const auto& frozen : plan.frozen) parts.push_back({"frozen/" + frozen.name, frozen.value});
  return parts;
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

// Over the JSON, then over each tensor's name, type and own sum: those are made by several threads.
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

// Host memory of a processor's plan is its own. A GPU's memory is all that its plan needs in the end: the weights stay
// in the file until they are uploaded, and are read, not touched.
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

Status load_weights(const Safetensors& file, Plan& plan) {
  const bool gpu = plan.target->gpu != nullptr;
  std::vector<Status> done(plan.weights.size());
  parallel_for(plan.weights.size(), [&](size_t i) { done[i] = load_weight(file, i, gpu, plan.weights[i]); });
  for (Status& status : done) RUNG_CHECK(std::move(status));
  return {};
}

Status load_values(const Safetensors& file, Plan& plan) {
  for (auto& input : plan.inputs) {
    if (!file.tensors().contains("default/" + input.name)) continue;
    RUNG_TRY(input.value, file.copy("default/" + input.name));
    if (!(input.value->type() == input.type))
      return fail("default of '{}': got {}, wanted {}", input.name, input.value->type(), input.type);
    RUNG_CHECK(check_bools("default of", input.name, input.type, input.value->data()));
  }
  for (auto& frozen : plan.frozen) {
    RUNG_TRY(frozen.value, file.copy("frozen/" + frozen.name));
    RUNG_CHECK(check_bools("frozen input", frozen.name, frozen.value.type(), frozen.value.data()));
  }
  return {};
}

// Weights may lie in layouts of oneDNN's own; on a GPU the library's version is part of the device's fingerprint.
Status check_layouts(const Metadata& metadata, const Target& target) {
  if (target.gpu) return {};
  auto layouts = metadata.find("layouts");
  if (layouts == metadata.end()) return fail("it does not say in whose layouts its weights are: build it again here");
  if (std::string here = cpu::gemm::onednn_layouts(); layouts->second != here)
    return mismatch("its weights are laid out by '{}', here is '{}': climb or build again here", layouts->second, here);
  return {};
}

Result<Plan> read_plan(const Safetensors& file, const ChooseTarget& choose) {
  auto format = file.metadata().find("format");
  if (format == file.metadata().end()) return fail("not a plan: its metadata has no 'format'");
  if (format->second != kFormat)
    return fail("got format '{}', wanted '{}': another release of rung made it: climb or build again here",
                format->second, kFormat);
  auto text = file.metadata().find("plan"), sum = file.metadata().find("checksum");
  if (text == file.metadata().end() || sum == file.metadata().end())
    return fail("not a plan: its metadata lacks 'plan' or 'checksum'");
  RUNG_TRY(auto json, parse_json(text->second, "plan"));
  RUNG_TRY(Plan plan, plan_from_json(json));
  RUNG_TRY(plan.target, choose(plan.device));
  const Target& target = *plan.target;
  RUNG_CHECK(load_weights(file, plan));
  RUNG_CHECK(load_values(file, plan));
  const Parts parts = parts_of(plan);
  if (parts.size() != file.tensors().size())
    return fail("damaged: got {} tensors, wanted {}", file.tensors().size(), parts.size());
  RUNG_TRY(std::string got, checksum(text->second, parts));
  if (got != sum->second) return fail("damaged: its checksum is {}, wanted {}", got, sum->second);
  if (plan.device != target.fingerprint)
    return mismatch("built for '{}', this is '{}': climb or build again here", plan.device, target.fingerprint);
  RUNG_CHECK(check_layouts(file.metadata(), target));
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
  const Parts parts = parts_of(plan);
  std::string json = dump_json(plan_to_json(plan));
  RUNG_TRY(std::string sum, checksum(json, parts));
  Metadata metadata{{"format", std::string(kFormat)}, {"checksum", std::move(sum)}, {"plan", std::move(json)}};
  if (!plan.target->gpu) metadata["layouts"] = cpu::gemm::onednn_layouts();
  TensorList tensors;
  for (const Part& part : parts) tensors.emplace_back(part.name, part.tensor);
  return files.add(path, [&](std::ostream& out) { return write_safetensors(out, tensors, metadata); });
}

Result<Plan> load_plan(const std::string& path, const Target& target) {
  return load_plan(path, [&](const std::string&) { return &target; });
}

Result<Plan> load_plan(const std::string& path, const ChooseTarget& choose) {
  RUNG_TRY(auto file, Safetensors::open(path));
  auto plan = errors_of(ErrorKind::file, read_plan(*file, choose));
  if (!plan) return fail_in(plan.error(), "'{}'", path);
  return plan;
}

}  // namespace rung
