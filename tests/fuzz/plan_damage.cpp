// Edge values, swaps, and other rows' names.
// SPDX-License-Identifier: Apache-2.0
#include "plan_damage.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <exception>

#include "device/cpu/start_team.hpp"
#include "kernels/access.hpp"

namespace rung::fuzz {
namespace {

using Json = nlohmann::json;

constexpr int64_t kEdges[] = {0,
                              1,
                              -1,
                              2,
                              3,
                              4,
                              5,
                              7,
                              8,
                              16,
                              31,
                              33,
                              63,
                              64,
                              65,
                              255,
                              4096,
                              65535,
                              65536,
                              2147483647,
                              2147483648,
                              4294967295,
                              4294967296,
                              int64_t{1} << 38,
                              int64_t{1} << 40,
                              int64_t{1} << 48,
                              int64_t{1} << 53,
                              int64_t{1} << 62,
                              INT64_MAX,
                              INT64_MIN};
constexpr const char* kDTypes[] = {"f32", "f16", "bf16", "f8e4m3fn", "i64", "i32", "i8", "u8", "bool"};

class Damager {
 public:
  Damager(Json& plan, FuzzedDataProvider& decisions) : plan_(plan), next_(decisions) {}

  void run() {
    Json& steps = plan_["steps"];
    const size_t where = pick(16);
    if (steps.empty() || where == 0) return change(plan_);
    Json& step = steps[pick(steps.size())];
    if (where < 3) return change(step["out"]);
    if (where < 7) return change(step["in"]);
    if (where < 9) return rename_kernel(step);
    if (where < 11) return change_text(step["op"]);
    if (where == 11) return change(plan_["buffers"]);
    if (where == 12) return change(plan_["ports"]);
    if (where == 13) return change(plan_["weights"]);
    if (where == 14) return change(steps);
    step["scratch"] = edge();
  }

 private:
  size_t pick(size_t count) { return count < 2 ? 0 : next_.ConsumeIntegralInRange<size_t>(0, count - 1); }
  int64_t edge() { return pick(2) ? kEdges[pick(std::size(kEdges))] : next_.ConsumeIntegralInRange<int64_t>(0, 20); }

  // Walks down at random and changes what it comes to.
  void change(Json& at) {
    if (!at.is_structured() || at.empty() || pick(8) == 0) return change_here(at);
    if (at.is_array()) return change(at[pick(at.size())]);
    auto member = at.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(pick(at.size())));
    change(*member);
  }

  void change_here(Json& at) {
    if (at.is_number()) return change_number(at);
    if (at.is_boolean()) return void(at = !at.get<bool>());
    if (at.is_string()) return void(at = kDTypes[pick(std::size(kDTypes))]);
    if (at.is_array()) return change_array(at);
    at = edge();
  }

  void change_number(Json& at) {
    const auto value = at.is_number_integer() ? at.get<int64_t>() : 0;
    switch (pick(6)) {
      case 0:
        return void(at = int64_t(uint64_t(value) + 1));
      case 1:
        return void(at = int64_t(uint64_t(value) - 1));
      case 2:
        return void(at = int64_t(uint64_t(value) * 2));
      case 3:
        return void(at = value / 2);
      default:
        at = edge();
    }
  }

  void change_array(Json& at) {
    const size_t one = pick(at.size()), other = pick(at.size());
    switch (pick(5)) {
      case 0:
        if (!at.empty()) at.erase(one);
        return;
      case 1:
        return at.push_back(at.empty() ? Json(edge()) : Json(at[one]));
      case 2:
        return void(at.insert(at.begin(), edge()));
      case 3:
        if (!at.empty()) at[one] = Json(at[other]);
        return;
      default:
        if (!at.empty()) std::swap(at[one], at[other]);
    }
  }

  // Mostly to a row of its family, which the name begins with.
  void rename_kernel(Json& step) {
    const auto rows = cpu_target().kernels;
    const auto name = step["kernel"].get<std::string>();
    const std::string family = name.substr(0, name.rfind('_'));
    std::vector<std::string> names;
    const bool any = pick(4) == 0;
    for (const Kernel* row : rows)
      if (any || row->name.starts_with(family.substr(0, 4))) names.emplace_back(row->name);
    if (!names.empty()) step["kernel"] = names[pick(names.size())];
  }

  // A number of the op's text, another step's op, a flag.
  void change_text(Json& at) {
    auto text = at.get<std::string>();
    if (pick(4) == 0) return void(at = plan_["steps"][pick(plan_["steps"].size())]["op"]);
    if (pick(4) == 0) {
      for (auto [from, to] : {std::pair{"true", "false"}, {"false", "true"}, {"f32", "bf16"}, {"bf16", "f32"}})
        if (size_t found = text.find(from); found != text.npos)
          return void(at = text.replace(found, std::strlen(from), to));
    }
    std::vector<size_t> digits;
    for (size_t i = 0; i < text.size(); ++i)
      if (std::isdigit(static_cast<unsigned char>(text[i]))) digits.push_back(i);
    if (digits.empty()) return;
    const size_t first = digits[pick(digits.size())];
    size_t last = first;
    while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last]))) ++last;
    at = text.replace(first, last - first, std::to_string(edge()));
  }

  Json& plan_;
  FuzzedDataProvider& next_;
};

constexpr uint64_t kMostBytes = 1 << 22;

// What check_plan() asks of a step before it calls its row.
bool repair_types(Step& step) {
  std::vector<Type> types;
  for (PlanOperand& input : step.inputs) {
    if (!dense_access(input.view)) return false;
    types.push_back({input.view.dtype, input.view.shape});
  }
  auto type = infer_type(step.op, types);
  if (!type) return false;
  step.output = {Region::buffer, step.output.index, 0, {type->dtype, type->shape, contiguous_strides(type->shape)}};
  auto access = dense_access(step.output.view);
  return access && access->bytes <= kMostBytes;
}

bool repair_step(Plan& plan, Step& step) {
  const Kernel* kernel = plan.target->kernel_named(step.choice.kernel);
  if (!kernel || kernel->op != op_family(step.op) || !repair_types(step)) return false;
  Problem problem = problem_of(step, plan.recipe.threads);
  if (!plan.target->supports(*kernel, problem)) return false;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    auto access = operand_access(*kernel, problem, plan.target->machine, i);
    const PlanOperand& input = step.inputs[i];
    if (access && access->packed && input.region == Region::weight && input.index < plan.weights.size() &&
        access->bytes <= kMostBytes)
      plan.weights[input.index].bytes = access->bytes;
  }
  const uint64_t scratch = kernel->scratch_for(problem, plan.target->machine);
  step.scratch.reset();
  if (scratch > kMostBytes || step.output.index >= plan.buffers.size()) return false;
  if (scratch > 0) {
    step.scratch = static_cast<uint32_t>(plan.buffers.size());
    plan.buffers.push_back({.bytes = scratch});
  }
  plan.buffers[step.output.index].bytes = dense_access(step.output.view)->bytes;
  return true;
}

void repair_ports(Plan& plan) {
  for (PlanOutput& output : plan.outputs)
    for (const Step& step : plan.steps)
      if (step.output.index == output.buffer) output.type = {step.output.view.dtype, step.output.view.shape};
  for (const PlanInput& input : plan.inputs)
    if (auto access = dense_access({input.type.dtype, input.type.shape, contiguous_strides(input.type.shape)});
        access && access->bytes <= kMostBytes && input.buffer < plan.buffers.size())
      plan.buffers[input.buffer].bytes = access->bytes;
}

}  // namespace

void damage(Json& plan, FuzzedDataProvider& decisions) {
  try {
    for (int left = decisions.ConsumeIntegralInRange(0, 3); left >= 0; --left) Damager(plan, decisions).run();
  } catch (const Json::exception&) {  // an earlier damage left nothing here to damage
  }
}

void repair(Plan& plan) {
  if (!cpu::check_threads(plan.recipe.threads)) return;  // rows are not asked about no threads
  try {
    for (Step& step : plan.steps)
      if (!repair_step(plan, step)) break;
  } catch (const std::exception&) {  // of a library; the checker says the same
  }
  repair_ports(plan);
  plan.arena_bytes = 0;
  for (Buffer& buffer : plan.buffers) {
    if (buffer.bytes > kMostBytes) return;
    buffer = {plan.arena_bytes, buffer.bytes, 0, static_cast<uint32_t>(plan.steps.size())};
    plan.arena_bytes += (buffer.bytes + 63) / 64 * 64;
  }
}

}  // namespace rung::fuzz
