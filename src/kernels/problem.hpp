// A problem for a kernel: an op over operands that arrive as strides, without addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/fault.hpp"
#include "ir/op.hpp"
#include "kernels/choice.hpp"

namespace rung {

// Returns whether kernels compute with the float type; other float types are only stored.
inline bool is_computed_float(DType d) { return d == DType::f32 || d == DType::bf16 || d == DType::f16; }

// Results and scratch begin at multiples of these bytes, as GPU libraries need it; vectors need less.
inline constexpr uint64_t kBufferAlignment = 256;

// An operand as a kernel gets it. Views arrive as strides: a kernel that needs dense operands checks it in supports().
struct Operand {
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
  bool constant = false;  // known when the plan is built, so pack() may change its layout
  bool contiguous() const { return strides == contiguous_strides(shape); }
  // Returns whether the last axis is dense and all leading axes collapse to rows of one stride; see row_stride().
  bool is_rows() const;
  int64_t span() const;  // elements from the first to just past the last, through the strides
  int64_t rows() const { return shape.back() ? shape.product() / shape.back() : 0; }
  int64_t row_stride() const;  // elements from one row to the next; needs is_rows()
};

// `params` are the tuner's choices, by name; absent means the kernel's default.
struct Problem {
  Op op;
  std::vector<Operand> inputs;
  Operand output;   // the first result; always contiguous
  int threads = 1;  // of the team; 0 on a GPU
  Params params;
  int64_t param(std::string_view name, int64_t fallback) const {
    auto it = params.find(name);
    return it == params.end() ? fallback : it->second;
  }
  template <class T>
  const T& as() const {
    return std::get<T>(op);
  }
  // Returns the operand in a linear's slot; null if it has none.
  const Operand* linear_operand(LinearSlot slot) const { return as<Linear>().slots.find(inputs, slot); }
};

// A dense result in the memory that a call gets for all results, `offset` bytes from its beginning.
struct ResultPlace {
  Type type;
  uint64_t offset = 0;
  uint64_t end() const { return offset + type.bytes(); }
};
// Places results one after another in the order of the op's results, each at a multiple of kBufferAlignment.
std::vector<ResultPlace> place_results(const std::vector<Type>& types);
// Returns the places of the results but for those that are updated operands (updates(), ir/op.hpp), which come last.
std::vector<ResultPlace> results_of(const Problem& problem);

std::vector<Type> operand_types(const Problem& problem);
Fault fault_of(const Problem& problem);  // the fault that values of its operands can cause

std::string_view op_family(const Op& op);  // the variant's kName: "unary", "linear", ...
// The families of ops that kernels compute: all but inputs, constants and further results.
std::span<const std::string_view> computed_ops();

}  // namespace rung
