// Times one candidate over rotating copies of its constant operands.
// SPDX-License-Identifier: Apache-2.0
#include "tune/trial.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "ir/sampling.hpp"
#include "measure/clock.hpp"
#include "measure/processor_time.hpp"
#include "measure/statistics.hpp"
#include "plan/step_cost.hpp"

namespace rung {
namespace {

constexpr size_t kMinRuns = 7;

// Fills the settings of a sample so that it draws from all tokens; random ones would be out of their ranges. Returns
// whether the operand has settings.
bool fill_settings(const Problem& problem, size_t i, std::span<float> out) {
  const auto* sample = as<Sample>(problem.op);
  if (!sample || sample->slots.at(SampleSlot::settings) != static_cast<int>(i)) return false;
  const auto numbers = std::bit_cast<std::array<float, sampling::kSettings>>(sampling::Settings{});
  for (size_t j = 0; j < numbers.size(); ++j) out[j * static_cast<size_t>(problem.inputs[i].strides[0])] = numbers[j];
  return true;
}

// Returns places of a text's tokens one behind the other: were they all the same, most would store nothing. Nullopt:
// the operand has no places.
std::optional<Tensor> places_in_caches(const Problem& problem, size_t i) {
  if (!as<CacheHeads>(problem.op) || i != CacheHeads::kPlaces) return std::nullopt;
  Tensor places({DType::i64, problem.inputs[i].shape});
  const int64_t slots = problem.inputs[CacheHeads::kKeys].shape[0];
  int64_t next = 0;
  for (int64_t& place : places.as<int64_t>()) place = next++ % slots;
  return places;
}

}  // namespace

Tensor random_operand(const Problem& problem, size_t i, int64_t most) {
  const Operand& operand = problem.inputs[i];
  const auto* linear = as<Linear>(problem.op);
  const bool squares = linear && linear->slots.at(LinearSlot::squares) == static_cast<int>(i);
  Type type{operand.dtype, {std::min(operand.span(), most)}};
  // Shorter texts take less time by every row, but one that does not split keys does not lose by it there.
  if (const auto length = full_length(problem, i)) return Tensor::of<int64_t>({1}, {*length});
  if (auto places = places_in_caches(problem, i)) return std::move(*places);
  if (!is_float(type.dtype)) return Tensor(type);
  Tensor values({DType::f32, type.shape});
  auto out = values.as<float>();
  if (fill_settings(problem, i, out)) return values;
  for (size_t j = 0; j < out.size(); ++j) {
    const float value = 2 * random_uniform(i + 1, j) - 1;
    out[j] = squares ? std::abs(value) : value;
  }
  return convert(values, type.dtype);
}

std::vector<Tensor> read_results(const Problem& problem, const std::byte* memory) {
  std::vector<Tensor> results;
  for (const ResultPlace& place : results_of(problem)) {
    Tensor result(place.type);
    std::memcpy(result.data(), memory + place.offset, result.bytes());
    results.push_back(convert(result, DType::f32));
  }
  return results;
}

TrialOperands::TrialOperands(const Problem& problem) : problem_(problem) {
  for (size_t i = 0; i < problem.inputs.size(); ++i) tensors_.push_back(random_operand(problem, i, INT64_MAX));
}

std::vector<const void*> TrialOperands::addresses() const {
  std::vector<const void*> all;
  for (const auto& tensor : tensors_) all.push_back(tensor.data());
  return all;
}

size_t TrialOperands::constant_bytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (problem_.inputs[i].constant) bytes += tensors_[i].bytes();
  return bytes;
}

Trial::Trial(const TrialOperands& operands, const KernelCandidate& candidate, size_t working_set_bytes)
    : output_(cpu::aligned_bytes(results_of(operands.problem()).back().end())) {
  std::memset(output_.get(), 0xcb, results_of(operands.problem()).back().end());  // hides results of other calls
  Problem with_params = operands.problem();
  with_params.params = candidate.params;
  copies_.push_back(cpu::bind(*candidate.kernel, with_params, operands.addresses(), output_.get()));
  size_t constant = operands.constant_bytes();
  if (constant == 0) return;
  size_t wanted = std::min(working_set_bytes, 2 * cpu::cpu_info().l3_bytes);
  for (size_t left = std::clamp<size_t>(wanted / constant, 1, kMaxCopies) - 1; left > 0; --left) add_copy();
}

// Adds a copy of the first binding with its own copies of the constant operands, packed or not.
void Trial::add_copy() {
  cpu::Bound copy = copies_[0];
  const auto& problem = copy.problem;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (!problem.inputs[i].constant) continue;
    const size_t packed = copy.kernel->packed_for(problem, cpu::cpu_info(), i);
    size_t bytes = packed ? packed : static_cast<size_t>(problem.inputs[i].span()) * size_of(problem.inputs[i].dtype);
    auto block = cpu::aligned_bytes(bytes);
    std::memcpy(block.get(), copy.inputs[i], bytes);
    copy.inputs[i] = block.get();
    copy.owned.push_back(std::move(block));
  }
  copies_.push_back(std::move(copy));
}

void Trial::run(cpu::Team& team) {
  const cpu::Bound& bound = copies_[next_];
  next_ = (next_ + 1) % copies_.size();
  std::atomic<Fault> fault{Fault::none};
  bound.run(team, &fault);
}

TrialTime Trial::time(cpu::Team& team, double seconds) {
  run(team);
  std::vector<double> us;
  const ProcessorSample before = processor_sample();
  const int64_t begin = now_ns();
  const auto is_within = [&](double limit) { return now_ns() < begin + static_cast<int64_t>(limit * 1e9); };
  do us.push_back(seconds_of([&] { run(team); }) * 1e6);
  while (is_within(seconds) || us.size() < (is_within(kSlowSeconds) ? kMinRuns : kLeastSlowRuns));
  const double taken = share_taken(before, processor_sample(), team.size());
  return {median(us), median_interval(us), taken};
}

std::vector<Tensor> Trial::results(cpu::Team& team) {
  next_ = 0;
  run(team);
  return read_results(copies_[0].problem, output_.get());
}

}  // namespace rung
