// Properties of work beyond its category: copies that change an order or a type, softmax, small steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// Returns the name of the operation that launched it; empty: there is none.
std::string_view op_name(const Analysis& analysis, const Work& work);
// Returns the operation's name, or the kernel's without its arguments, for sequences.
std::string label_of(const Analysis& analysis, const Work& work);

bool is_softmax(const Analysis& analysis, const Work& work);
// Returns whether it is element-wise, or a sum or norm: work that a compiler can fuse.
bool is_small_step(const Work& work);

// A copy of a tensor into new memory, if strides are recorded.
struct TensorCopy {
  CallOperand to, from;
  bool is_expanded = false;   // reads elements more than once: a stride of 0
  bool is_reordered = false;  // the same type, other strides
};
std::optional<TensorCopy> tensor_copy_of(const Analysis& analysis, const Work& work);
// Recognise by the kernel's name a copy by strides without conversion, and a conversion between NCHW and NHWC.
bool is_strided_copy_kernel(std::string_view kernel);
bool is_format_kernel(std::string_view kernel);

// Returns the launch shape of a kernel; zeros if it is not recorded.
LaunchShape launch_of(const Analysis& analysis, const Work& work);

// Returns the innermost operation around the work with `part` in its name, within 64 levels; none: kNone.
uint32_t op_around(const Analysis& analysis, const Work& work, std::string_view part);

}  // namespace rung::trace
