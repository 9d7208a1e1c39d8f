// Sound plans, damaged where their launches are described: each is refused, or runs within its memory, op by op and
// replayed, and gives the same bits both ways. The checksum of a file is taken as repaired.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/random.hpp"
#include "measure/cost.hpp"
#include "plan/check.hpp"
#include "plan/plan_json.hpp"
#include "plan_damage.hpp"
#include "plan_seeds.hpp"
#include "seeds.hpp"
#include "session/session.hpp"

namespace {

using namespace rung;

constexpr int kMostThreads = 4;
constexpr double kMostFlops = 2e6, kMostBytes = 2e6;  // of a plan that is run: some milliseconds with sanitizers
constexpr uint64_t kMostWeight = 1 << 22, kMostArena = 1 << 26;

struct Counts {
  uint64_t read = 0, accepted = 0, ran = 0, answered = 0;
};
Counts counts;

void print_counts() {
  std::fprintf(stderr, "plans: %llu loaded, %llu of them accepted, %llu run, %llu to the end\n",
               static_cast<unsigned long long>(counts.read), static_cast<unsigned long long>(counts.accepted),
               static_cast<unsigned long long>(counts.ran), static_cast<unsigned long long>(counts.answered));
}

// The file's tensors, each as long as the plan says.
bool load_contents(const fuzz::Seed& seed, Plan& plan) {
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    PlanWeight& weight = plan.weights[i];
    if (weight.bytes > kMostWeight) return false;
    const PlanWeight& known = seed.weights[i % seed.weights.size()];
    weight.data = known.data;
    if (weight.bytes == known.bytes) continue;
    auto other = fuzz::exact_bytes(weight.bytes);
    std::memcpy(other.get(), known.data.get(), std::min(weight.bytes, known.bytes));
    weight.data = std::move(other);
  }
  for (PlanInput& input : plan.inputs)
    if (auto it = seed.defaults.find(input.name); it != seed.defaults.end()) input.value = it->second;
  for (FrozenInput& frozen : plan.frozen)
    if (auto it = seed.frozen.find(frozen.name); it != seed.frozen.end()) frozen.value = it->second;
  return true;
}

bool is_quick(const Plan& plan) {
  double flops = 0, bytes = 0;
  for (const Step& step : plan.steps) {
    std::vector<Type> types;
    for (const auto& input : step.inputs) types.push_back({input.view.dtype, input.view.shape});
    Cost cost = cost_of(step.op, types, {step.output.view.dtype, step.output.view.shape});
    flops += cost.flops, bytes += cost.bytes;
    for (const Type& type : types) bytes += static_cast<double>(type.bytes());
    bytes += static_cast<double>(step.output.view.shape.product()) * 8;
  }
  return flops <= kMostFlops && bytes <= kMostBytes && plan.arena_bytes <= kMostArena &&
         plan.recipe.threads <= kMostThreads;
}

Tensor input_for(const PlanInput& input, uint64_t seed) {
  Tensor tensor(input.type);
  const auto count = static_cast<size_t>(input.type.elements());
  const uint64_t span = input.first && input.last ? static_cast<uint64_t>(*input.last - *input.first) + 1 : 6;
  for (size_t i = 0; i < count; ++i) {
    const auto bits = random_bits(seed, i);
    std::byte* at = tensor.data() + i * size_of(input.type.dtype);
    const auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    const int64_t whole = input.first.value_or(-1) + static_cast<int64_t>(bits % span);
    switch (input.type.dtype) {
      case DType::f32:
        put(random_normal(seed, i));
        break;
      case DType::bf16:
        put(bf16(random_normal(seed, i)));
        break;
      case DType::f16:
        put(f16(random_normal(seed, i)));
        break;
      case DType::i64:
        put(whole);
        break;
      case DType::i32:
        put(static_cast<int32_t>(whole));
        break;
      case DType::boolean:
        put(static_cast<uint8_t>(bits % 2));
        break;
      default:
        put(static_cast<uint8_t>(bits));
    }
  }
  return tensor;
}

using Outputs = std::vector<std::pair<std::string, Tensor>>;

Result<Outputs> outputs_of(const std::shared_ptr<const Plan>& plan, const NamedTensors& inputs) {
  static std::shared_ptr<cpu::Team> teams[kMostThreads + 1];
  auto& team = teams[plan->recipe.threads];
  if (!team) team = std::make_shared<cpu::Team>(plan->recipe.threads);
  RUNG_TRY(Session session, Session::create(plan, team));
  RUNG_CHECK(session.infer(inputs));
  return session.infer(inputs);
}

bool same(const Outputs& a, const Outputs& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a[i].second.data(), b[i].second.data(), a[i].second.bytes()) != 0) return false;
  return a.size() == b.size();
}

void run_both_ways(const Plan& plan, uint64_t seed) {
  NamedTensors inputs;
  for (const PlanInput& input : plan.inputs)
    if (!input.value) inputs[input.name] = input_for(input, seed);
  auto eager = std::make_shared<Plan>(plan), captured = std::make_shared<Plan>(plan);
  eager->recipe.capture = false, captured->recipe.capture = true;
  ++counts.ran;
  auto one = outputs_of(eager, inputs), other = outputs_of(captured, inputs);
  require(one.has_value() == other.has_value(), "both ways run or fail");
  if (!one) return;
  ++counts.answered;
  require(same(*one, *other), "op by op and replayed, the answer is the same");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  setenv("RUNG_CPU_ISA", "avx2", 0);  // of the vector kernels, those that are built with a sanitizer
  write_seeds(*argc, *argv, {std::string(64, 'a'), std::string(64, 'Z'), "0123456789abcdef0123456789abcdef"});
  std::fprintf(stderr, "%zu sound plans to damage\n", fuzz::seeds().size());
  std::atexit(print_counts);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider decisions(data, size);
  const auto& seeds = fuzz::seeds();
  const auto& seed = seeds[decisions.ConsumeIntegralInRange<size_t>(0, seeds.size() - 1)];
  const bool repaired = decisions.ConsumeBool();
  nlohmann::json json = seed.json;
  fuzz::damage(json, decisions);
  auto plan = plan_from_json(json);
  if (!plan) return 0;
  if (repaired) fuzz::repair(*plan);
  if (seed.weights.empty() && !plan->weights.empty()) return 0;
  if (!load_contents(seed, *plan)) return 0;
  ++counts.read;
  if (!check_plan(*plan)) return 0;
  ++counts.accepted;
  if (is_quick(*plan)) run_both_ways(*plan, decisions.ConsumeIntegral<uint64_t>());
  return 0;
}
