// Evaluates the reference with the bytes of a plan in place of its own, and compares each of them before it is read.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/follower.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "measure/compare.hpp"
#include "reference/evaluate.hpp"

namespace rung {
namespace {

// A byte and its zero point are at most 255: what is further off is cut, and says nothing about the others' size.
constexpr double kMostSteps = 512;

double within_steps(float value) { return std::clamp<double>(value, -kMostSteps, kMostSteps); }

// Returns the root mean square of the values that are numbers.
double size_of(const Tensor& values) {
  double sum = 0;
  size_t numbers = 0;
  for (const float value : values.as<float>())
    if (!std::isnan(value)) sum += within_steps(value) * within_steps(value), ++numbers;
  return numbers ? std::sqrt(sum / static_cast<double>(numbers)) : 0;
}

// Returns how far values are apart, in the terms of Tolerance.
Sway apart(const Tensor& got, const Tensor& want) {
  const double size = size_of(want);
  const auto moved = got.as<float>(), exact = want.as<float>();
  double sum = 0;
  Sway sway;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(exact[i]) || std::isnan(moved[i])) continue;
    const double difference = std::abs(within_steps(moved[i]) - within_steps(exact[i]));
    sum += difference * difference;
    if (difference > 0)
      sway.element = std::max(sway.element, difference / std::max(std::abs(within_steps(exact[i])), size));
  }
  if (sum > 0) sway.rel_l2 = std::sqrt(sum / static_cast<double>(exact.size())) / size;
  return sway;
}

// Returns the values moved by `direction` times the tolerance of each.
Tensor moved(const Tensor& values, double tolerance, double direction) {
  Tensor to(values.type());
  const double size = size_of(values);
  for (int64_t i = 0; i < values.elements(); ++i) {
    const float value = values.as<float>()[i];
    const double share = tolerance * std::max(std::abs(within_steps(value)), size);
    to.as<float>()[i] = static_cast<float>(value + direction * share);
  }
  return to;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && std::ranges::equal(std::span(a.data(), a.bytes()), std::span(b.data(), b.bytes()));
}

std::string output_name(size_t rounding) { return fmt::format("bytes of rounding {}", rounding); }

}  // namespace

// A rounding as an evaluation comes to it: the operands of its steps.
struct Follower::Visit {
  size_t rounding;
  const StepOperands& operands;
};

// An evaluation of the reference that stops at each rounding, and may go on from other bytes and with moved operands.
class Follower::Evaluation {
 public:
  using AtRounding = std::function<Status(const Visit&)>;
  struct From {
    const std::vector<Tensor>* bytes = nullptr;  // null: its own
    bool moves = false;                          // operands, as rounding_sway() does
  };
  Evaluation(const Follower& follower, From from, AtRounding at_rounding)
      : follower_(follower), from_(from), at_rounding_(std::move(at_rounding)) {
    for (size_t i = 0; i < roundings().size(); ++i) {
      at_[roundings()[i].bytes()] = i;
      for (const NodeId step : roundings()[i].steps) last_[step] = i;
    }
  }

  // Errors: an op's; what at_rounding() returned; interrupted.
  Result<std::vector<Tensor>> run(const NamedTensors& inputs) {
    const EvaluateOptions options{
        .interrupted = [&] { return !status_ || (follower_.interrupted_ && follower_.interrupted_()); },
        .change = [&](NodeId id, std::vector<Tensor>& operands) { visit(id, operands); }};
    auto outputs = evaluate(graph(), inputs, options);
    RUNG_CHECK(status_);
    if (!outputs || !from_.bytes) return outputs;
    for (size_t i = 0; i < outputs->size(); ++i)
      if (const auto at = at_.find(graph().outputs()[i].node); at != at_.end())
        (*outputs)[i] = (*from_.bytes)[at->second];
    return outputs;
  }

 private:
  const Graph& graph() const { return *follower_.reference_; }
  const std::vector<Rounding>& roundings() const { return follower_.roundings_; }

  void visit(NodeId id, std::vector<Tensor>& operands) {
    for (size_t i = 0; from_.bytes && i < operands.size(); ++i)
      if (const auto at = at_.find(graph()[id].operands[i]); at != at_.end()) operands[i] = (*from_.bytes)[at->second];
    if (from_.moves) move_operands(graph(), id, operands);
    if (last_.contains(id)) operands_[id] = operands;
    if (const auto at = at_.find(id); at != at_.end() && status_) {
      status_ = at_rounding_({at->second, operands_});
      for (const NodeId step : roundings()[at->second].steps)
        if (last_[step] == at->second) operands_.erase(step);
    }
  }

  const Follower& follower_;
  From from_;
  AtRounding at_rounding_;
  std::map<NodeId, size_t> at_;    // the rounding that ends there
  std::map<NodeId, size_t> last_;  // the last rounding that has the step
  StepOperands operands_;
  Status status_;
};

Result<Follower> Follower::create(const Graph& reference, std::vector<NamedTensors> inputs, Interrupted interrupted) {
  if (!reference.states().empty()) return fail("its states carry what it rounds from one run to the next");
  Follower made(reference, std::move(inputs), std::move(interrupted));
  RUNG_TRY(made.roundings_, roundings_of(reference));
  if (made.roundings_.empty()) return fail("it rounds nothing to integers of 8 bits");
  std::vector<bool> begins(reference.capacity());
  for (const Rounding& rounding : made.roundings_) begins[rounding.bytes()] = true;
  const std::vector<int64_t> paths = reduction_paths(reference, begins);
  for (const Rounding& rounding : made.roundings_) {
    if (reference.type(rounding.value).dtype != DType::f32)
      return fail("'{}' rounds {}, wanted f32", reference[rounding.bytes()].label, reference.type(rounding.value));
    made.by_length_.push_back(tolerance_for(DType::f32, paths[rounding.value]));
  }
  int64_t longest = 1;
  for (const Output& output : reference.outputs()) longest = std::max(longest, paths[output.node]);
  made.by_length_.push_back(tolerance_for(DType::f32, longest));
  return made;
}

Result<Graph> Follower::with_bytes(const Graph& model) const {
  RUNG_TRY(const std::vector<Rounding> own, roundings_of(model));
  if (own.size() != roundings_.size())
    return fail("it rounds {} values to integers of 8 bits, and its reference {}", own.size(), roundings_.size());
  Graph graph = model;
  for (size_t i = 0; i < own.size(); ++i) {
    const NodeId bytes = own[i].bytes();
    if (graph.type(bytes) != reference_->type(roundings_[i].bytes()))
      return fail("'{}' is {}, and {} in its reference", graph[bytes].label, graph.type(bytes),
                  reference_->type(roundings_[i].bytes()));
    graph.set_output(output_name(i), bytes);
  }
  return graph;
}

Result<std::vector<Tensor>> Follower::bytes_in(const std::vector<std::pair<std::string, Tensor>>& outputs) const {
  std::vector<Tensor> bytes;
  for (size_t i = 0; i < roundings_.size(); ++i) {
    const auto found = std::ranges::find(outputs, output_name(i), [](const auto& output) { return output.first; });
    if (found == outputs.end()) return fail("the plan has no output '{}'", output_name(i));
    bytes.push_back(found->second);
  }
  return bytes;
}

Tolerance Follower::tolerance_of(size_t rounding) const {
  return sways_.empty() ? by_length_[rounding] : tolerance_for_sway(by_length_[rounding], sways_[rounding]);
}

Tolerance Follower::tolerance_of_outputs() const { return tolerance_of(roundings_.size()); }

// Returns why a byte cannot be right; empty: all are.
Result<std::string> Follower::check(const Visit& visit, const Tensor& got, Followed& followed) const {
  const Rounding& rounding = roundings_[visit.rounding];
  const Tensor& value = value_in(rounding, visit.operands);
  const auto if_moved = [&](double direction) -> Result<Tensor> {
    const double share = tolerance_of(visit.rounding).element;
    RUNG_TRY(Tensor bytes, rounded(*reference_, rounding, visit.operands, moved(value, share, direction)));
    return convert(bytes, DType::i32);
  };
  ++followed.roundings, followed.bytes += static_cast<size_t>(got.elements());
  RUNG_TRY(const Tensor exact, rounded(*reference_, rounding, visit.operands, value));
  if (same(got, exact)) return std::string();
  RUNG_TRY(const Tensor lower, if_moved(-1));
  RUNG_TRY(const Tensor upper, if_moved(1));
  const Tensor of_plan = convert(got, DType::i32), of_reference = convert(exact, DType::i32);
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    const int32_t is = of_plan.as<int32_t>()[i], wanted = of_reference.as<int32_t>()[i];
    if (is == wanted) continue;
    const auto [least, most] = std::minmax(lower.as<int32_t>()[i], upper.as<int32_t>()[i]);
    if (std::abs(is - wanted) > 1 || is < least || is > most)
      return fmt::format("'{}': element {} got {}, wanted {} for {:.6g} steps, {}",
                         (*reference_)[rounding.bytes()].label, i, is, wanted, value.as<float>()[i],
                         explained(visit.rounding));
    ++followed.beside;
  }
  return std::string();
}

// Returns how far rounding in f32 may move a value of the rounding.
std::string Follower::explained(size_t rounding) const {
  if (!sways_.empty() && !can_judge(sways_[rounding]))
    return fmt::format("which rounding alone moves by {:.2g}, too far to judge them in f32", sways_[rounding].rel_l2);
  return fmt::format("which rounding moves by {:.2g} of their size at most", tolerance_of(rounding).element);
}

Result<Follower::Way> Follower::follow(size_t input, const std::vector<Tensor>& bytes) {
  RUNG_TRY(Way way, follow_within(input, bytes));
  if (way.wrong.empty() || has_sways()) return way;
  RUNG_CHECK(measure_sways());
  return follow_within(input, bytes);
}

Result<Follower::Way> Follower::follow_within(size_t input, const std::vector<Tensor>& bytes) const {
  Way way;
  Evaluation evaluation(*this, {.bytes = &bytes}, [&](const Visit& visit) -> Status {
    RUNG_TRY(way.wrong, check(visit, bytes[visit.rounding], way.followed));
    return way.wrong.empty() ? Status{} : fail("{}", way.wrong);  // which ends the evaluation
  });
  auto outputs = evaluation.run(inputs_[input]);
  if (!way.wrong.empty()) return way;
  if (!outputs) return tl::unexpected(outputs.error());
  way.outputs = std::move(*outputs);
  return way;
}

Status Follower::measure_sways() {
  std::vector<Sway> worst(by_length_.size());
  for (const NamedTensors& inputs : inputs_) {
    RUNG_TRY(const std::vector<Sway> sways, sways_on(inputs));
    for (size_t i = 0; i < worst.size(); ++i)
      worst[i] = {std::max(worst[i].rel_l2, sways[i].rel_l2), std::max(worst[i].element, sways[i].element)};
  }
  sways_ = std::move(worst);
  return {};
}

Result<std::vector<Sway>> Follower::sways_on(const NamedTensors& inputs) const {
  std::vector<Tensor> values(roundings_.size()), bytes(roundings_.size());
  std::vector<Sway> sways(by_length_.size());
  Evaluation own(*this, {}, [&](const Visit& visit) -> Status {
    const size_t i = visit.rounding;
    values[i] = value_in(roundings_[i], visit.operands);
    RUNG_TRY(bytes[i], rounded(*reference_, roundings_[i], visit.operands, values[i]));
    return {};
  });
  RUNG_TRY(const std::vector<Tensor> exact, own.run(inputs));
  Evaluation moved_from(*this, {.bytes = &bytes, .moves = true}, [&](const Visit& visit) -> Status {
    sways[visit.rounding] = apart(value_in(roundings_[visit.rounding], visit.operands), values[visit.rounding]);
    return {};
  });
  RUNG_TRY(const std::vector<Tensor> moved, moved_from.run(inputs));
  for (size_t i = 0; i < exact.size(); ++i) {
    const Comparison of_output = compare("", moved[i], exact[i], {INFINITY, INFINITY});
    sways.back().rel_l2 = std::max(sways.back().rel_l2, of_output.rel_l2);
    sways.back().element = std::max(sways.back().element, of_output.worst_element);
  }
  return sways;
}

}  // namespace rung
