// What a CPU kernel is: one row that says which op it runs, when it can, how much scratch it needs, how it wants its
// constant operands laid out, and the function that every thread of the team calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/verdict.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/team.hpp"
#include "ir/op.hpp"

namespace rung::cpu {

// An operand as the kernel finds it. Views arrive as strides: a kernel that wants them dense says so in supports().
struct Operand {
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
  bool constant = false;  // known when the plan is built, so pack() may lay it out anew
  bool contiguous() const { return strides == contiguous_strides(shape); }
  // Dense in the last axis, and all leading axes collapse to rows of one stride; see row_stride().
  bool is_rows() const;
  int64_t rows() const { return shape.back() ? shape.product() / shape.back() : 0; }
  int64_t row_stride() const;  // elements from one row to the next; needs is_rows()
};

// What to run, without addresses. `params` are the tuner's choices, by name; absent means the kernel's default.
struct Problem {
  Op op;
  std::vector<Operand> inputs;
  Operand output;  // always contiguous
  int threads = 1;
  std::map<std::string, int64_t, std::less<>> params;
  int64_t param(std::string_view name, int64_t fallback) const {
    auto it = params.find(name);
    return it == params.end() ? fallback : it->second;
  }
  template <class T>
  const T& as() const {
    return std::get<T>(op);
  }
};

// One call on one thread. Every thread of the team makes the same call with its own `thread`; when all have returned
// the output is complete. Inside, call.team->barrier() orders phases.
struct Call {
  const Problem& problem;
  const void* const* inputs;  // by operand; a packed operand points to what pack() made
  void* output;
  void* scratch;      // scratch_bytes(), 64-byte aligned, shared by the team; contents undefined
  const void* state;  // what prepare() returned
  int thread;
  Team* team;
  std::atomic<uint32_t>*
      fault;  // set to 1 + operand's index when its values cannot be used (a gather index out of range)
  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out() const {
    return static_cast<T*>(output);
  }
};

// A parameter that the tuner may set, and the values worth trying; the first is the default.
struct Tunable {
  std::string_view name;
  std::vector<int64_t> values;
};

struct Kernel {
  std::string_view name;  // "linear_avx2"
  std::string_view op;    // the op's word in text, or its family: "linear", "unary", "pointwise"
  Verdict (*supports)(const Problem&, const CpuInfo&);
  void (*run)(const Call&);
  size_t (*scratch_bytes)(const Problem&) = nullptr;
  // Bytes that constant operand `i` takes in this kernel's own layout; 0: used as it is.
  size_t (*packed_bytes)(const Problem&, size_t i) = nullptr;
  void (*pack)(const Problem&, size_t i, const void* from, void* to) = nullptr;
  // Objects too dear to make on every call (library primitives); shared by all calls of one bound step, all threads.
  std::shared_ptr<void> (*prepare)(const Problem&) = nullptr;
  std::vector<Tunable> (*tunables)(const Problem&) = nullptr;
};

// All rows for an op in order of preference, the slow reference row last. `op_word` is the op's family: op_family().
std::span<const Kernel* const> kernels_for(std::string_view family);
std::span<const Kernel* const> all_kernels();
const Kernel* kernel_named(std::string_view name);  // null if there is none
std::string_view op_family(const Op& op);           // the variant's kName: "unary", "linear", ...

}  // namespace rung::cpu
