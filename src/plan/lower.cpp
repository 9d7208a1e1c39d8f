// Lowers a graph to launches, one node at a time in order.
// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "kernels/problem_key.hpp"
#include "measure/cost.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/location.hpp"
#include "plan/memory.hpp"
#include "plan/state_use.hpp"

namespace rung {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, const Recipe& recipe, Plan& plan)
      : graph_(graph),
        recipe_(recipe),
        plan_(plan),
        weights_(graph, plan.target->machine),
        constant_(constant_nodes(graph)),
        at_(graph.capacity()) {
    for (const auto& [problem, choice] : recipe.choices) undecided_.insert(problem);
  }

  Result<WeightTable> run() {
    for (NodeId id : graph_.order()) {
      if (constant_[id]) continue;
      if (!graph_.as<Input>(id)) RUNG_CHECK(check_elements(id));
      if (const auto* input = graph_.as<Input>(id))
        RUNG_CHECK(add_input(id, input->name));
      else if (const auto* further = graph_.as<NthResult>(id))
        at_[id] = further_result(id, static_cast<size_t>(further->index));
      else if (is_view(graph_[id].op))
        RUNG_CHECK(lower_view(id));
      else
        RUNG_CHECK(lower_op(id));
    }
    for (const Output& output : graph_.outputs())
      if (!graph_.is_next(output.name)) RUNG_CHECK(add_output(output));
    RUNG_CHECK(write_states());
    for (const auto& input : plan_.inputs) keep_alive(input.buffer);
    for (const auto& state : plan_.states) keep_alive(state.buffer);
    for (const auto& output : plan_.outputs)
      plan_.buffers[output.buffer].last_step = static_cast<uint32_t>(plan_.steps.size());
    plan_.arena_bytes = plan_memory(plan_.buffers, plan_.states);
    for (const auto& problem : undecided_) plan_.recipe.choices.erase(problem);
    return std::move(weights_);
  }

 private:
  uint32_t new_buffer(uint64_t bytes) {
    auto now = static_cast<uint32_t>(plan_.steps.size());
    plan_.buffers.push_back({0, std::max<uint64_t>(bytes, 1), now, now});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }

  // Kernels divide by sizes. The pass drop_empty leaves no value without elements but inputs and outputs, which no step
  // touches, and those of ops that have no right answer, such as a gather from a table without rows.
  Status check_elements(NodeId id) const {
    const auto some = [](const Type& type) { return type.elements() > 0; };
    const std::vector<Type> operands = graph_.operand_types(id);
    if (some(graph_.type(id)) && std::ranges::all_of(operands, some)) return {};
    return fail("{} '{}': got {} of {}, wanted at least one element in each", name_of(graph_[id].op), graph_[id].label,
                graph_.type(id), fmt::join(operands, ", "));
  }

  // An input may be set at any time between runs, and a state outlives them, so no other buffer shares their addresses.
  void keep_alive(uint32_t buffer) {
    plan_.buffers[buffer].first_step = 0;
    plan_.buffers[buffer].last_step = static_cast<uint32_t>(plan_.steps.size());
  }

  Status add_input(NodeId id, const std::string& name) {
    const Type& type = graph_.type(id);
    uint32_t buffer = new_buffer(type.bytes());
    at_[id] = dense_operand(Storage::buffer, buffer, type);
    if (const State* state = graph_.state_of(name); state && type.elements() == 0)
      return fail("state '{}': got {}, wanted at least one element", name, type);
    if (const State* state = graph_.state_of(name)) return add_state(*state, type, buffer);
    plan_.inputs.push_back({.name = name, .type = type, .buffer = buffer});
    return {};
  }

  Status add_state(const State& state, const Type& type, uint32_t buffer) {
    PlanState& added = plan_.states.emplace_back(PlanState{.name = state.input, .type = type, .buffer = buffer});
    if (!state.initial) return {};
    RUNG_TRY(added.value, state.initial->load());
    const std::span bytes(added.value->data(), added.value->bytes());
    const bool zeros = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
    added.initial = zeros ? Initial::zeros : Initial::value;
    if (zeros) added.value.reset();
    return {};
  }

  // Returns a further result's operand: it is an operand that the op updates, or lies behind the op's first result in
  // the same buffer.
  PlanOperand further_result(NodeId id, size_t index) const {
    const NodeId first = graph_[id].operands[0];
    if (updates(graph_[first].op, index)) return std::ranges::find(plan_.steps, first, &Step::node)->inputs[index];
    const auto types = result_types(graph_[first].op, graph_.operand_types(first), graph_.type(first));
    PlanOperand result = dense_operand(Storage::buffer, at_[first]->index, graph_.type(id));
    result.offset = place_results(types)[index].offset;
    return result;
  }

  // Returns the operand a step reads for a node: the node's place, or a constant's dense form (packing may replace it).
  PlanOperand operand_of(NodeId id) const {
    if (!constant_[id]) return *at_[id];
    return dense_operand(Storage::weight, UINT32_MAX, graph_.type(id));
  }

  Status lower_view(NodeId id) {
    NodeId source = graph_[id].operands[0];
    PlanOperand from = operand_of(source);
    at_[id] = view_of(graph_[id].op, from, graph_.type(id));
    if (at_[id]) return {};
    RUNG_TRY(PlanOperand dense, shared_copy(from, graph_[id].label));
    at_[id] = view_of(graph_[id].op, dense, graph_.type(id));
    return {};
  }

  Status lower_op(NodeId id) {
    const Node& node = graph_[id];
    std::vector<PlanOperand> inputs;
    for (NodeId operand : node.operands) inputs.push_back(operand_of(operand));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (updates(node.op, i) && !may_change(id, i)) {
        RUNG_TRY(inputs[i], copy_to_update(node, i));
      }
    RUNG_TRY(KernelCandidate chosen, choose(node, inputs));
    Problem problem = problem_over(node.op, inputs, node.type);
    problem.params = chosen.params;
    place_weights(node, *chosen.kernel, problem, inputs);
    at_[id] = add_step(node, *chosen.kernel, std::move(problem), std::move(inputs));
    plan_.steps.back().node = id;
    return {};
  }

  // Returns whether a step may update its operand where it is: it is a state that nothing else reads, and that becomes
  // what the step makes of it.
  bool may_change(NodeId id, size_t i) const {
    const NodeId operand = graph_[id].operands[i];
    const auto* input = graph_.as<Input>(operand);
    const State* state = input ? graph_.state_of(input->name) : nullptr;
    if (!state || !graph_.single_use(operand)) return false;
    const NodeId next = std::ranges::find(graph_.outputs(), state->next, &Output::name)->node;
    const auto* further = graph_.as<NthResult>(next);
    return further && graph_[next].operands[0] == id && further->index == static_cast<int64_t>(i);
  }

  // Returns a copy of an operand that no other step reads.
  Result<PlanOperand> copy_to_update(const Node& node, size_t i) {
    PlanOperand from = operand_of(node.operands[i]);
    if (from.storage == Storage::weight) from.index = weights_.plain(node.operands[i]);
    return copy_dense(from, node.label);
  }

  // Chooses a kernel for the node. It copies operands that no fast kernel reads through their strides, or whose offset
  // the chosen kernel cannot read: a copy costs less than a fallback. Copies may change the first choice, so it asks
  // again.
  Result<KernelCandidate> choose(const Node& node, std::vector<PlanOperand>& inputs) {
    std::vector<PlanOperand> read = inputs;  // as the kernel would read them
    std::vector<bool> copied(inputs.size());
    while (true) {
      RUNG_TRY(KernelCandidate chosen, kernel_for(problem_over(node.op, read, node.type)));
      bool again = false;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (copied[i] || reads(chosen.kernel, inputs[i])) continue;
        copied[i] = again = true;
        read[i].view.strides = contiguous_strides(read[i].view.shape);
      }
      if (again) continue;
      if (!chosen.kernel) return fallback(node, problem_over(node.op, inputs, node.type));
      for (size_t i = 0; i < inputs.size(); ++i)
        if (copied[i]) {
          RUNG_TRY(inputs[i], shared_copy(inputs[i], node.label));
        }
      return chosen;
    }
  }

  // Returns whether the kernel can read the operand at its offset. A null kernel reads only contiguous operands.
  static bool reads(const Kernel* kernel, const PlanOperand& operand) {
    return kernel ? operand.offset % kernel->alignment == 0 : operand.view.contiguous();
  }

  // Returns the row that takes any problem that no other row does.
  Result<KernelCandidate> fallback(const Node& node, const Problem& problem) const {
    const std::string_view family = op_family(node.op);
    const auto rows = plan_.target->kernels_for(family);
    if (rows.empty()) return fail("{}: {} has no kernel for {}", node.label, plan_.target->name, family);
    const Kernel* row = plan_.target->row_of(family, Role::fallback);
    if (!row) row = rows.back();  // its verdict says why it cannot
    if (Verdict verdict = plan_.target->supports(*row, problem); !verdict)
      return fail("{}: no kernel runs {}: {}", node.label, problem_key(problem), verdict.reason);
    return KernelCandidate{row, {}};
  }

  Result<KernelCandidate> kernel_for(const Problem& problem) {
    if (recipe_.tuned_kernels && !undecided_.empty()) undecided_.erase(problem_key(problem));
    return choose_kernel(*plan_.target, problem, recipe_);
  }

  Problem problem_over(const Op& op, const std::vector<PlanOperand>& inputs, const Type& result) const {
    Problem problem{.op = op,
                    .inputs = {},
                    .output = {result.dtype, result.shape, contiguous_strides(result.shape)},
                    .threads = recipe_.threads};
    for (const auto& input : inputs) problem.inputs.push_back(input.view);
    return problem;
  }

  // Returns the operand in row-major order, from the same copy for all its readers: no step changes what it read.
  Result<PlanOperand> shared_copy(const PlanOperand& from, const std::string& label) {
    const auto is_same = [&](const auto& made) { return reads_the_same(made.first, from); };
    if (const auto made = std::ranges::find_if(copies_, is_same); made != copies_.end()) return made->second;
    RUNG_TRY(const PlanOperand dense, copy_dense(from, label));
    if (from.storage == Storage::buffer) copies_.emplace_back(from, dense);
    return dense;
  }

  static bool reads_the_same(const PlanOperand& a, const PlanOperand& b) {
    return a.storage == b.storage && a.index == b.index && a.offset == b.offset && a.view.dtype == b.view.dtype &&
           a.view.shape == b.view.shape && a.view.strides == b.view.strides;
  }

  // Copies a strided operand into row-major order, with a kernel row of reshape.
  Result<PlanOperand> copy_dense(const PlanOperand& from, const std::string& label,
                                 std::optional<uint32_t> into = std::nullopt) {
    Node copy{.op = Reshape{from.view.shape},
              .type = {from.view.dtype, from.view.shape},
              .operands = {},
              .users = {},
              .label = label};
    std::vector<PlanOperand> inputs{from};
    Problem problem = problem_over(copy.op, inputs, copy.type);
    RUNG_TRY(KernelCandidate chosen, kernel_for(problem));
    if (!chosen.kernel) {
      RUNG_TRY(chosen, fallback(copy, problem));
    }
    return add_step(copy, *chosen.kernel, std::move(problem), std::move(inputs), into);
  }

  void place_weights(const Node& node, const Kernel& kernel, const Problem& problem, std::vector<PlanOperand>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].storage != Storage::weight || inputs[i].index != UINT32_MAX) continue;
      const bool packs = kernel.packed_for(problem, plan_.target->machine, i) > 0;
      inputs[i].index =
          packs ? weights_.packed({node.operands[i], kernel, problem, i}) : weights_.plain(node.operands[i]);
    }
  }

  // Adds a step that writes to buffer `into`; without one the step gets a buffer of its own.
  PlanOperand add_step(const Node& node, const Kernel& kernel, Problem problem, std::vector<PlanOperand> inputs,
                       std::optional<uint32_t> into = std::nullopt) {
    Step step{.choice = {std::string(kernel.name), problem.params},
              .op = node.op,
              .inputs = std::move(inputs),
              .output = {},
              .scratch = std::nullopt,
              .label = node.label,
              .problem = problem_key(problem),
              .category = category_of(node.op)};
    for (const auto& input : step.inputs) touch(input);
    if (size_t bytes = kernel.scratch_for(problem, plan_.target->machine)) step.scratch = new_buffer(bytes);
    const uint32_t buffer = into ? *into : new_buffer(results_of(problem).back().end());
    step.output = dense_operand(Storage::buffer, buffer, node.type);
    const Cost cost = cost_of(node.op, operand_types(step), node.type);
    step.flops = cost.flops;
    step.bytes = cost.bytes;
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().output;
  }

  void touch(const PlanOperand& operand) {
    if (operand.storage == Storage::buffer)
      plan_.buffers[operand.index].last_step = static_cast<uint32_t>(plan_.steps.size());
  }

  // An output needs a whole dense buffer of its own: any other value (a view, an input, a constant, a value already
  // output under another name) is copied.
  Status add_output(const Output& output) {
    const Type& type = graph_.type(output.node);
    if (type.elements() == 0) return plan_.outputs.push_back({output.name, type, new_buffer(0)}), Status{};
    PlanOperand from = operand_of(output.node);
    const bool taken = is_output_buffer(from.index);
    bool own = from.storage == Storage::buffer && !graph_.as<Input>(output.node) && from.offset == 0 &&
               from.view.contiguous() && plan_.buffers[from.index].bytes == type.bytes() && !taken &&
               !is_input_buffer(from.index);
    if (from.storage == Storage::weight) from.index = weights_.plain(output.node);
    if (!own) {
      RUNG_TRY(from, copy_dense(from, output.name));
    }
    plan_.outputs.push_back({output.name, type, from.index});
    return {};
  }

  bool is_input_buffer(uint32_t buffer) const {
    return std::any_of(plan_.inputs.begin(), plan_.inputs.end(), [&](const auto& i) { return i.buffer == buffer; }) ||
           state_in(plan_, buffer);
  }

  // A state's next value: its operand, and the state's buffer.
  struct Next {
    PlanOperand from;
    uint32_t state = 0;
    std::string label;
  };

  // Writes the states after all other steps, which read what the last run left. A next value that lies in another state
  // (two states that swap) is copied before any state is written.
  Status write_states() {
    std::vector<Next> all;
    for (const PlanState& state : plan_.states) {
      RUNG_TRY(Next next, next_of(state));
      if (next.from.index != state.buffer || next.from.storage != Storage::buffer) all.push_back(std::move(next));
    }
    for (Next& next : all) {
      if (next.from.storage != Storage::buffer || !state_in(plan_, next.from.index)) continue;
      RUNG_TRY(next.from, copy_dense(next.from, next.label));
    }
    for (const Next& next : all)
      if (!write_in_place(next)) RUNG_CHECK(copy_dense(next.from, next.label, next.state));
    return {};
  }

  Result<Next> next_of(const PlanState& state) {
    const State& of = *graph_.state_of(state.name);
    const NodeId node = std::ranges::find(graph_.outputs(), of.next, &Output::name)->node;
    Next next{operand_of(node), state.buffer, of.next};
    if (next.from.storage == Storage::weight) next.from.index = weights_.plain(node);
    const bool is_view_of_itself = next.from.storage == Storage::buffer && next.from.index == state.buffer &&
                                   (next.from.offset != 0 || !next.from.view.contiguous());
    if (is_view_of_itself) {
      RUNG_TRY(next.from, copy_dense(next.from, next.label));
    }
    return next;
  }

  // Lets the step that makes the value write the state itself, if no step from that one on reads the old value, other
  // than to update it, and no one else uses the new value.
  bool write_in_place(const Next& next) {
    const PlanOperand& from = next.from;
    if (from.storage != Storage::buffer || is_input_buffer(from.index) || from.offset != 0 || !from.view.contiguous())
      return false;
    if (plan_.buffers[from.index].bytes != plan_.buffers[next.state].bytes || is_output_buffer(from.index))
      return false;
    const auto maker = std::ranges::find(plan_.steps, from.index, [](const Step& step) { return step.output.index; });
    for (auto step = maker; step != plan_.steps.end(); ++step) {
      if (step->output.index == next.state) return false;
      for (size_t i = 0; i < step->inputs.size(); ++i)
        if (is_in(step->inputs[i], next.state) && !(step == maker && may_update(plan_, *maker, i))) return false;
    }
    if (reads(*maker, next.state)) count_update(*maker);
    maker->output.index = next.state;
    for (Step& step : plan_.steps)
      for (PlanOperand& input : step.inputs)
        if (is_in(input, from.index)) input.index = next.state;
    plan_.buffers[from.index].bytes = 1;  // no longer holds anything
    return true;
  }

  static bool reads(const Step& step, uint32_t state) {
    return std::ranges::any_of(step.inputs, [&](const PlanOperand& input) { return is_in(input, state); });
  }

  // A step that updates its state leaves most of it where it is: it reads its other operands, and writes as much.
  static void count_update(Step& step) {
    step.bytes = 2 * (step.bytes - 2.0 * static_cast<double>(type_of(step.output).bytes()));
  }

  bool is_output_buffer(uint32_t buffer) const {
    return std::ranges::count(plan_.outputs, buffer, &PlanOutput::buffer) > 0;
  }

  const Graph& graph_;
  const Recipe& recipe_;
  Plan& plan_;
  WeightTable weights_;
  std::vector<bool> constant_;
  std::vector<std::optional<PlanOperand>> at_;
  std::vector<std::pair<PlanOperand, PlanOperand>> copies_;  // operands, and their copies in row-major order
  std::set<std::string> undecided_;                          // the recipe's choices that no problem has asked for
};

}  // namespace

Result<WeightTable> lower(const Graph& graph, const Recipe& recipe, Plan& plan) {
  return Lowering(graph, recipe, plan).run();
}

}  // namespace rung
