// Turns a node of a graph into a call: its operands become strides over their buffers, and its kernel gets addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "device/cpu/team.hpp"
#include "ir/graph.hpp"
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

// A value as a view of `base`: the nearest ancestor that is not a view, or is a view that strides cannot express (a
// reshape of a transpose), which a kernel must therefore make.
struct ViewOf {
  NodeId base = kNoNode;
  int64_t offset = 0;  // elements from base's first
  Operand operand;
};
ViewOf resolve_view(const Graph& graph, NodeId node);

// Returns the problem that a node poses to a kernel: operands resolved through views, and one dense output. A view node
// poses the problem of copying its operand.
Problem problem_of(const Graph& graph, NodeId node, int threads);

// Packs operand `i` into the kernel's own layout; null if the kernel takes it as it is. `from` is its first element.
std::shared_ptr<std::byte> pack_operand(const Kernel& kernel, const Problem& problem, const Machine& machine, size_t i,
                                        const void* from);
// Allocates bytes that are 64-byte aligned and not cleared.
std::shared_ptr<std::byte> aligned_bytes(size_t bytes);

// Runs all parts of a call, phase after phase.
template <class CallPart>
void run_parts(Team& team, Split split, Call call, CallPart&& call_part) {
  call.parts = split.parts;
  for (call.phase = 0; call.phase < split.phases; ++call.phase)
    team.run(split.parts, [&](int part, int thread) {
      Call mine = call;
      mine.part = part, mine.thread = thread;
      call_part(mine);
    });
}

// A kernel bound to all that it needs; run() neither allocates nor decides anything.
struct Bound {
  const Kernel* kernel = nullptr;
  Problem problem;
  std::vector<const void*> inputs;  // packed where the kernel packs
  void* output = nullptr;
  void* scratch = nullptr;
  std::shared_ptr<void> state;
  std::vector<std::shared_ptr<std::byte>> owned;  // keeps packed operands and scratch alive; bind() fills it

  void run(Team& team, std::atomic<Fault>* fault) const;
};

// Packs constant operands, allocates scratch and prepares state. The kernel must support the problem.
Bound bind(const Kernel& kernel, Problem problem, std::vector<const void*> inputs, void* output);

}  // namespace rung::cpu
