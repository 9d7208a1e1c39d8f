// Composes views into strides and binds kernels to addresses.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bind.hpp"

#include <cstdlib>
#include <new>

#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Operand dense(const Type& type) { return {type.dtype, type.shape, contiguous_strides(type.shape)}; }

// Returns a view node's result as a view of `source`, the view of its operand, if strides can express it.
std::optional<ViewOf> through(const Node& node, const ViewOf& source) {
  ViewOf result = source;
  result.operand.shape = node.type.shape;
  if (const auto* reshape = as<Reshape>(node.op)) {
    auto strides = reshaped_strides(source.operand, reshape->shape);
    if (!strides) return std::nullopt;
    result.operand.strides = *strides;
    return result;
  }
  View view = view_of(node.op, source.operand, node.type.shape);
  result.operand.strides = view.strides;
  result.offset += view.offset;
  return result;
}

}  // namespace

ViewOf resolve_view(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (is_view(node.op))
    if (auto view = through(node, resolve_view(graph, node.operands[0]))) return *view;
  ViewOf self{id, 0, dense(node.type)};
  self.operand.constant = graph.is_constant(id);
  return self;
}

Problem problem_of(const Graph& graph, NodeId id, int threads) {
  Problem problem{graph[id].op, {}, dense(graph.type(id)), threads, {}};
  for (NodeId operand : graph[id].operands) problem.inputs.push_back(resolve_view(graph, operand).operand);
  return problem;
}

std::shared_ptr<std::byte> aligned_bytes(size_t bytes) {
  size_t rounded = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  void* data = std::aligned_alloc(64, rounded);
  if (!data) throw std::bad_alloc();
  return {static_cast<std::byte*>(data), [](std::byte* p) { std::free(p); }};
}

std::shared_ptr<std::byte> pack_operand(const Kernel& kernel, const Problem& problem, const Machine& machine, size_t i,
                                        const void* from) {
  const size_t bytes = kernel.packed_for(problem, machine, i);
  if (bytes == 0) return nullptr;
  auto packed = aligned_bytes(bytes);
  kernel.pack(problem, machine, i, from, packed.get());
  return packed;
}

void Bound::run(Team& team, std::atomic<Fault>* fault) const {
  run_parts(team, kernel->split_for(problem, cpu_info()), {problem, inputs.data(), output, scratch, state.get(), fault},
            kernel->run);
}

Bound bind(const Kernel& kernel, Problem problem, std::vector<const void*> inputs, void* output) {
  Bound bound{&kernel, std::move(problem), std::move(inputs), output, nullptr, nullptr, {}};
  for (size_t i = 0; i < bound.inputs.size(); ++i)
    if (auto packed = pack_operand(kernel, bound.problem, cpu_info(), i, bound.inputs[i])) {
      bound.inputs[i] = packed.get();
      bound.owned.push_back(std::move(packed));
    }
  if (size_t bytes = kernel.scratch_for(bound.problem, cpu_info())) {
    bound.owned.push_back(aligned_bytes(bytes));
    bound.scratch = bound.owned.back().get();
  }
  bound.state = kernel.state_for(bound.problem, cpu_info(), bound.inputs);
  return bound;
}

}  // namespace rung::cpu
