// The plan: a flat list of launches over fixed addresses, with weights in their final layout. It is plain data:
// build.hpp builds it, session/ runs it, file.hpp stores it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/read_bytes.hpp"
#include "ir/category.hpp"
#include "ir/graph.hpp"
#include "ir/tensor.hpp"
#include "kernels/choice.hpp"
#include "kernels/target.hpp"
#include "measure/stage.hpp"
#include "plan/recipe.hpp"

namespace rung {

namespace gpu {
struct GeneratedCode;
}

// The place of an operand: a buffer of the arena, or a weight.
enum class Storage : uint8_t { buffer, weight };

struct PlanOperand {
  Storage storage = Storage::buffer;
  uint32_t index = 0;   // of the buffer or weight
  uint64_t offset = 0;  // bytes into it
  Operand view;         // the kernel's view of it
};

// Intermediate storage. Buffers whose lifetimes do not overlap may share addresses.
struct Buffer {
  uint64_t offset = 0, bytes = 0;          // in the arena, at kBufferAlignment; a state has no offset
  uint32_t first_step = 0, last_step = 0;  // alive from the step that writes it to the last that reads it
};

// Contents are shared: several plans or a mapped model file may hold them.
struct PlanWeight {
  std::string name;
  uint64_t bytes = 0;
  std::shared_ptr<const std::byte> data;
  ReadBytes read = nullptr;  // if set, reads the contents: `data` maps a plan file and must not be touched
};

struct Step {
  KernelChoice choice;
  Op op;
  std::vector<PlanOperand> inputs;
  // The first result; results_of() places further ones behind it in the same buffer. Operands that the op updates
  // (ir/op.hpp) are results in their own buffers.
  PlanOperand output;
  std::optional<uint32_t> scratch;  // a buffer
  std::string label;
  std::string problem;  // problem_key() of the kernel's problem
  Category category = Category::other;
  double flops = 0, bytes = 0;  // least work of the op
  NodeId node = kNoNode;        // in the lowered graph; none: a copy of an operand, or the plan was read from a file
  // The code of a generated kernel that take_code() allowed to run; null: it is compiled when a session opens.
  std::shared_ptr<const gpu::GeneratedCode> code = nullptr;
};

struct PlanInput {
  std::string name;
  Type type;
  uint32_t buffer = 0;
  std::string meaning;                 // for help and errors
  std::optional<Tensor> value;         // the default if the caller gives none
  std::optional<int64_t> first, last;  // range of integers
};

// An input that was made a constant: a run may give it only this value.
struct FrozenInput {
  std::string name;
  Tensor value;
};

// A state's value when the first run begins.
enum class Initial : uint8_t { nothing, zeros, value };

// A buffer outside the arena that outlives a run: each run finds it as the last one left it. Plans of one set that use
// the same name share it. At most one step of a plan writes it whole; others may update it.
struct PlanState {
  std::string name;
  Type type;
  uint32_t buffer = 0;
  Initial initial = Initial::nothing;  // nothing: a run must write it before one reads it
  std::optional<Tensor> value;         // with Initial::value
};

struct PlanOutput {
  std::string name;
  Type type;
  uint32_t buffer = 0;
};

struct Plan {
  std::string model, architecture;
  std::string device;  // fingerprint of the device it was built for
  const Target* target = &cpu_target();
  Recipe recipe;
  std::vector<Stage> stages;  // the model's, for reports
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  std::vector<PlanWeight> weights;
  std::vector<PlanInput> inputs;
  std::vector<FrozenInput> frozen;
  std::vector<PlanOutput> outputs;
  std::vector<PlanState> states;
  std::map<std::string, std::string> attachments;  // files that the model needs beside its graph: "vocab.txt"
  // The code that its file holds for its generated kernels, used or not; a plan that was built has none here.
  std::vector<std::shared_ptr<const gpu::GeneratedCode>> code;
  uint64_t arena_bytes = 0;

  uint64_t weight_bytes() const {
    uint64_t total = 0;
    for (const auto& weight : weights) total += weight.bytes;
    return total;
  }
};

inline Type type_of(const PlanOperand& operand) { return {operand.view.dtype, operand.view.shape}; }
std::vector<Type> operand_types(const Step& step);
// Returns the coarsest float that the plan computes in or stores between its steps: answers are as exact as it.
DType computed_in(const Plan& plan);
// Returns the problem of a step as its kernel sees it.
Problem problem_of(const Step& step, int threads);

}  // namespace rung
