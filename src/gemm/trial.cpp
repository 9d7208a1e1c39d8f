// Times one candidate over rotating copies of its constant operands.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/trial.hpp"

#include <algorithm>
#include <chrono>

#include "base/random.hpp"

namespace rung {
namespace {

constexpr size_t kMaxCopies = 64;
constexpr int kMinRuns = 7;

// Enough elements to reach the operand's last one through its strides.
int64_t span_of(const cpu::Operand& operand) {
  int64_t last = 0;
  for (int i = 0; i < operand.shape.rank(); ++i) {
    if (operand.shape[i] == 0) return 0;
    last += (operand.shape[i] - 1) * operand.strides[i];
  }
  return last + 1;
}

Tensor random_operand(const cpu::Operand& operand, uint64_t seed) {
  Type type{operand.dtype, {span_of(operand)}};
  if (!is_float(type.dtype)) return Tensor(type);
  Tensor values({DType::f32, type.shape});
  auto out = values.as<float>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = 2 * random_uniform(seed, i) - 1;
  return convert(values, type.dtype);
}

size_t copies_for(const cpu::Bound& bound, size_t working_set) {
  size_t constant = 0;
  for (const auto& input : bound.problem.inputs)
    if (input.constant) constant += static_cast<size_t>(span_of(input)) * size_of(input.dtype);
  if (constant == 0) return 1;
  size_t wanted = std::min(working_set, 2 * cpu::cpu_info().l3_bytes);
  return std::clamp<size_t>(wanted / constant, 1, kMaxCopies);
}

}  // namespace

Trial::Trial(const cpu::Problem& problem, const KernelCandidate& candidate, size_t working_set_bytes)
    : output_({problem.output.dtype, problem.output.shape}) {
  cpu::Problem with_params = problem;
  with_params.params = candidate.params;
  std::vector<const void*> inputs;
  for (const auto& input : problem.inputs) operands_.push_back(random_operand(input, operands_.size() + 1));
  for (const auto& operand : operands_) inputs.push_back(operand.data());
  copies_.push_back(cpu::bind(*candidate.kernel, with_params, inputs, output_.data()));
  for (size_t n = copies_for(copies_[0], working_set_bytes); copies_.size() < n;) {
    if (!candidate.kernel->packed_bytes)  // constants used in place: copy them, so that each call reads others
      for (size_t i = 0; i < inputs.size(); ++i)
        if (problem.inputs[i].constant)
          inputs[i] = operands_.emplace_back(convert(convert(operands_[i], DType::f32), operands_[i].dtype())).data();
    copies_.push_back(cpu::bind(*candidate.kernel, with_params, inputs, output_.data()));
  }
}

void Trial::run(cpu::Team& team) {
  const cpu::Bound& bound = copies_[next_];
  next_ = (next_ + 1) % copies_.size();
  std::atomic<uint32_t> fault{0};
  team.run([&](int thread) { bound.run(team, thread, &fault); });
}

double Trial::median_us(cpu::Team& team, double seconds) {
  using Clock = std::chrono::steady_clock;
  run(team);
  std::vector<double> times;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    auto start = Clock::now();
    run(team);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end || times.size() < kMinRuns);
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

Tensor Trial::result(cpu::Team& team) {
  next_ = 0;
  run(team);
  return convert(output_, DType::f32);
}

}  // namespace rung
