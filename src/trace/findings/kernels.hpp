// The kind of a piece of work beyond its category: copies that change an order or a type, softmax, small steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// The name of the operation that launched it; empty where there is none.
std::string_view op_name(const Analysis& analysis, const Work& work);
// The operation's name, or the kernel's without its arguments: for sequences.
std::string label_of(const Analysis& analysis, const Work& work);

bool is_softmax(const Analysis& analysis, const Work& work);
// Element by element, or a sum or norm over some: what a compiler can fuse.
bool is_small_step(const Work& work);

// A copy of a tensor into new memory, where strides are recorded.
struct TensorCopy {
  Operand to, from;
  bool is_expanded = false;   // reads elements more than once: a stride of 0
  bool is_reordered = false;  // the same type, other strides
};
std::optional<TensorCopy> tensor_copy_of(const Analysis& analysis, const Work& work);
// By the kernel's name: a copy by strides without conversion, or between NCHW and NHWC.
bool is_strided_copy_kernel(std::string_view kernel);
bool is_format_kernel(std::string_view kernel);

// How a kernel was launched; zeros where that is not recorded.
LaunchShape launch_of(const Analysis& analysis, const Work& work);

// The innermost operation around the work whose name has `part`, not beyond the 64th; none: kNone.
uint32_t op_around(const Analysis& analysis, const Work& work, std::string_view part);

}  // namespace rung::trace
