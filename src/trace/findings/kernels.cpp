// Recognises kernels and copies by names, and copies by their operands.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernels.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace rung::trace {
namespace {

bool has_word_of_any_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

bool has_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

// Returns the identifier that begins at `at`.
std::string_view identifier_at(std::string_view text, size_t at) {
  return text.substr(at, std::min(text.find_first_not_of(kLetters, at), text.size()) - at);
}

// Returns "MulFunctor" for PyTorch's elementwise_kernel<128, 2, ...BinaryFunctor<float, float, float,
// ...MulFunctor<float> > >(...): the innermost functor names the computation.
std::string_view functor_of(std::string_view kernel) {
  const std::string_view types = kernel.substr(0, kernel.find(", std::array"));
  std::string_view found;
  for (size_t at = types.find_first_of(kLetters); at != types.npos;) {
    const std::string_view name = identifier_at(types, at);
    const bool tells = name.find("Functor") != name.npos || name.find("_kernel_") != name.npos;
    if (tells && !name.starts_with("gpu_kernel")) found = name;
    at = types.find_first_of(kLetters, at + name.size());
  }
  return found;
}

// Removes the return type, namespaces, template arguments and parameters.
std::string_view short_kernel_name(std::string_view kernel) {
  if (kernel.find("elementwise_kernel<") != kernel.npos)
    if (const std::string_view functor = functor_of(kernel); !functor.empty()) return functor;
  for (const std::string_view before : {"void ", "at::native::", "(anonymous namespace)::"})
    if (kernel.starts_with(before)) kernel.remove_prefix(before.size());
  const std::string_view name = kernel.substr(0, std::min(kernel.find_first_of("<("), kernel.size()));
  return name.empty() ? kernel : name;
}

bool reads_twice(const CallOperand& operand) {
  for (size_t i = 0; i < std::min(operand.shape.size(), operand.strides.size()); ++i)
    if (operand.strides[i] == 0 && operand.shape[i] > 1) return true;
  return false;
}

// Strides of dimensions with a single element do not matter.
bool have_other_strides(const CallOperand& a, const CallOperand& b) {
  if (a.strides.size() != a.shape.size() || b.strides.size() != a.shape.size()) return false;
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return true;
  return false;
}

}  // namespace

std::string_view op_name(const Analysis& analysis, const Work& work) {
  return work.op == kNone ? std::string_view{} : analysis.recording.name_of(analysis.recording.events[work.op]);
}

std::string label_of(const Analysis& analysis, const Work& work) {
  if (const std::string_view op = op_name(analysis, work); !op.empty()) return std::string(op);
  return std::string(short_kernel_name(analysis.name(work)));
}

bool is_softmax(const Analysis& analysis, const Work& work) {
  if (work.kind.category == KernelCategory::attention || work.kind.category == KernelCategory::gemm) return false;
  return has_word_of_any_case(analysis.name(work), "softmax");
}

bool is_small_step(const Work& work) {
  switch (work.kind.category) {
    case KernelCategory::norm:
    case KernelCategory::elementwise:
    case KernelCategory::reduction:
    case KernelCategory::copy:
      return true;
    default:
      return false;
  }
}

std::optional<TensorCopy> tensor_copy_of(const Analysis& analysis, const Work& work) {
  if (op_name(analysis, work) != "aten::copy_") return {};
  if (op_around(analysis, work, "aten::clone") == kNone && op_around(analysis, work, "aten::repeat") == kNone)
    return {};
  std::vector<CallOperand> operands = operands_of(analysis.recording, analysis.recording.events[work.op]);
  if (operands.size() < 2 || operands[0].shape.empty() || operands[0].shape != operands[1].shape) return {};
  TensorCopy copy{std::move(operands[0]), std::move(operands[1])};
  copy.is_expanded = reads_twice(copy.from);
  copy.is_reordered = !copy.is_expanded && copy.to.type == copy.from.type && have_other_strides(copy.to, copy.from);
  return copy;
}

bool is_strided_copy_kernel(std::string_view kernel) {
  return kernel.find("direct_copy_kernel") != kernel.npos && kernel.find("nocast") != kernel.npos;
}

bool is_format_kernel(std::string_view kernel) {
  static constexpr std::array<std::string_view, 4> kParts{"nchwToNhwc", "nhwcToNchw", "batched_transpose_",
                                                          "tensorTransform"};
  return has_any(kernel, kParts);
}

LaunchShape launch_of(const Analysis& analysis, const Work& work) {
  const Event& event = analysis.event(work);
  const std::vector<LaunchShape>& launches = analysis.recording.launches;
  return event.kind == EventKind::kernel && event.detail < launches.size() ? launches[event.detail] : LaunchShape{};
}

uint32_t op_around(const Analysis& analysis, const Work& work, std::string_view part) {
  constexpr int kDeepest = 64;  // real nesting is below 20; a file may nest deeper
  const std::vector<Event>& events = analysis.recording.events;
  uint32_t at = work.op;
  for (int depth = 0; depth < kDeepest && at != kNone; ++depth) {
    if (events[at].kind == EventKind::host_op &&
        analysis.recording.name_of(events[at]).find(part) != std::string_view::npos)
      return at;
    at = at < analysis.whole().around.size() ? analysis.whole().around[at] : kNone;
  }
  return kNone;
}

}  // namespace rung::trace
