// A kernel on any device: one row with the op that it runs, the problems that it supports, the scratch that it needs,
// the layout of its constant operands, and the function that runs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "base/verdict.hpp"
#include "device/machine.hpp"
#include "kernels/choice.hpp"
#include "kernels/problem.hpp"

namespace rung {

namespace cpu {
struct Call;
}
namespace gpu {
struct Call;
struct GeneratedSource;
}  // namespace gpu

// Parameters that the tuner sets together, and the values that they take; the first values are the defaults. Most
// parameters stand alone; the sizes of a tile go together, as not all combinations are compiled.
struct Tunable {
  using Values = std::vector<int64_t>;  // one of each parameter

  std::vector<std::string_view> names;
  std::vector<Values> values;
  size_t tried = std::numeric_limits<size_t>::max();  // the number of first values that are worth a trial

  Tunable(std::string_view name, const std::vector<int64_t>& of_one, size_t worth_a_trial = SIZE_MAX)
      : names{name}, tried(worth_a_trial) {
    for (int64_t value : of_one) values.push_back({value});
  }
  explicit Tunable(std::span<const std::string_view> together) : names(together.begin(), together.end()) {}

  std::span<const Values> values_to_try() const { return std::span(values).first(std::min(tried, values.size())); }
  Params params(const Values& of) const {
    Params params;
    for (size_t i = 0; i < names.size(); ++i) params.emplace(names[i], of[i]);
    return params;
  }
};

// Returns the configuration whose parameters_of() are the problem's parameters; null: there is none.
template <class Config>
const Config* find_asked(const Problem& problem, std::span<const std::string_view> names,
                         const std::vector<Config>& all) {
  const auto is_asked = [&](const Config& config) {
    const Tunable::Values values = parameters_of(config);
    for (size_t i = 0; i < names.size(); ++i)
      if (const auto it = problem.params.find(names[i]); it == problem.params.end() || it->second != values[i])
        return false;
    return true;
  };
  const auto it = std::find_if(all.begin(), all.end(), is_asked);
  return it == all.end() ? nullptr : &*it;
}

// The cut of a call of a CPU row. All parts of a phase are done before any part of the next phase begins.
struct Split {
  int parts = 1;
  int phases = 1;
};

// The role of a row among the rows of its op.
enum class Role : uint8_t {
  fast,
  library,   // calls a GEMM library; an op's first such row is its baseline, and always a candidate
  fallback,  // slow, takes what no other row does: copying operands for another row is better, no fusion is worth it
};

// How a row of a GPU does neighbouring calls of a plan in one launch.
struct Joining {
  size_t barrier_bytes;  // of memory that is zero before the first launch and that no two launches use at a time
  // Returns how many of these problems of the row one launch does, the first ones; 1: the first by itself.
  size_t (*count)(std::span<const Problem>, const Machine&);
  // `barriers`: the address of that memory. `beside`: the shared bytes of each block of the next launch, which is there
  // before this one ends if its blocks find room.
  Status (*enqueue)(std::span<const gpu::Call>, uint64_t barriers, uint32_t beside);
};

struct Kernel {
  std::string_view name;  // "linear_avx2"
  std::string_view op;    // the op's word in text, or its family: "linear", "unary", "pointwise"
  Verdict (*supports)(const Problem&, const Machine&);
  void (*run)(const cpu::Call&) = nullptr;  // CPU rows: called for each part of each phase
  size_t (*scratch_bytes)(const Problem&, const Machine&) = nullptr;
  // Returns the bytes that constant operand `i` takes in this kernel's own layout; 0: the kernel uses it as it is.
  size_t (*packed_bytes)(const Problem&, const Machine&, size_t i) = nullptr;
  void (*pack)(const Problem&, const Machine&, size_t i, const void* from, void* to) = nullptr;
  // Makes objects that are too costly for every call (library primitives); all calls and threads of a bound step share
  // them.
  std::shared_ptr<void> (*prepare)(const Problem&, const Machine&) = nullptr;
  // The same of CPU rows whose objects hold values of constants: `inputs` are those of a call, by operand, of which it
  // reads constants alone.
  std::shared_ptr<void> (*prepare_with)(const Problem&, const Machine&, std::span<const void* const> inputs) = nullptr;
  std::vector<Tunable> (*tunables)(const Problem&, const Machine&) = nullptr;
  uint64_t alignment = 1;  // of operands, in bytes; a plan copies views without it
  int updates = -1;        // the operand that may be the result's own memory, which the row then updates; -1: none
  Status (*enqueue)(const gpu::Call&) = nullptr;  // GPU rows: puts its launches into the call's stream
  const Joining* joining = nullptr;
  // Returns the bytes of shared memory of each block, for which launches in front that do several calls leave room.
  uint32_t (*shared_bytes)(const Problem&, const Machine&) = nullptr;
  Role role = Role::fast;
  // Returns the name of the row that is the default in this one's place, if it takes the problem; empty: none.
  std::string_view (*yields_to)(const Problem&) = nullptr;
  std::string_view library = {};  // the word of the library that it calls: "cublaslt"; empty for other roles
  Split (*split)(const Problem&, const Machine&) = nullptr;  // CPU rows; null: one part for each thread
  // GPU rows whose code is compiled for each problem: returns its source, or why there is none, as supports() says.
  Result<gpu::GeneratedSource> (*source)(const Problem&, const Machine&) = nullptr;
  // Returns the row of gather, with its parameters, that reads rows of constant operand `i` in this kernel's own
  // layout; its name is empty where there is none.
  KernelChoice (*gathered_by)(const Problem&, const Machine&, size_t i) = nullptr;

  // The functions below call the fields above, or return the defaults where a row leaves them out.
  size_t scratch_for(const Problem& problem, const Machine& machine) const {
    return scratch_bytes ? scratch_bytes(problem, machine) : 0;
  }
  size_t packed_for(const Problem& problem, const Machine& machine, size_t i) const {
    return packed_bytes && problem.inputs[i].constant ? packed_bytes(problem, machine, i) : 0;
  }
  KernelChoice gather_for(const Problem& problem, const Machine& machine, size_t i) const {
    return gathered_by ? gathered_by(problem, machine, i) : KernelChoice{};
  }
  std::shared_ptr<void> state_for(const Problem& problem, const Machine& machine,
                                  std::span<const void* const> inputs = {}) const {
    if (prepare_with) return prepare_with(problem, machine, inputs);
    return prepare ? prepare(problem, machine) : nullptr;
  }
  std::vector<Tunable> tunables_for(const Problem& problem, const Machine& machine) const {
    return tunables ? tunables(problem, machine) : std::vector<Tunable>{};
  }
  Split split_for(const Problem& problem, const Machine& machine) const {
    return split ? split(problem, machine) : Split{.parts = std::max(1, problem.threads)};
  }
};

}  // namespace rung
