// Rows that move elements in the longest possible runs: views made dense, concat and im2col.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "ir/with_type.hpp"
#include "kernels/collapse.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

// A copy is one nest of loops from an operand to the output; strides are in elements.
struct Copy {
  Loops loops;  // operand 0: from, 1: to
  int64_t from = 0, to = 0;
};
struct CopyPlan {
  std::vector<Copy> copies;  // by operand
  size_t element = 0;
};

Copy copy_of(const Shape& shape, const Strides& from, const Strides& to) {
  Strides both[] = {from, to};
  return {collapse(shape, both)};
}

template <class T>
void copy_elements(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

// Copies `bytes` of a short run by two words that may overlap: a call of memcpy takes longer than these.
void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  const auto ends = [&](auto word) {
    auto last = word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(&last, from + bytes - sizeof last, sizeof last);
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + bytes - sizeof last, &last, sizeof last);
  };
  if (bytes > 2 * sizeof(uint64_t)) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= sizeof(uint64_t)) {
    ends(uint64_t{});
  } else if (bytes >= sizeof(uint32_t)) {
    ends(uint32_t{});
  } else if (bytes >= sizeof(uint16_t)) {
    ends(uint16_t{});
  } else if (bytes == 1) {
    *to = *from;
  }
}

void copy_run(const Loops& loops, size_t element, const std::byte* from, std::byte* to, Range part) {
  int64_t from_stride = loops.inner_strides[0], to_stride = loops.inner_strides[1], count = part.end - part.begin;
  int64_t size = static_cast<int64_t>(element);
  from += part.begin * from_stride * size;
  to += part.begin * to_stride * size;
  if (from_stride == 1 && to_stride == 1) {
    return copy_bytes(to, from, static_cast<size_t>(count) * element);
  }
  auto typed = [&](auto tag) {
    using T = decltype(tag);
    copy_elements(reinterpret_cast<const T*>(from), from_stride, reinterpret_cast<T*>(to), to_stride, count);
  };
  switch (element) {
    case 1:
      return typed(uint8_t{});
    case 2:
      return typed(uint16_t{});
    case 4:
      return typed(uint32_t{});
    default:
      return typed(uint64_t{});
  }
}

// Copies one part's share of the outer positions, or of the one long run.
void copy_share(const Copy& copy, size_t element, const Call& call, const void* from) {
  const Loops& loops = copy.loops;
  bool rows = loops.outer > 1;
  Range mine = rows ? share(loops.outer, call.part, call.parts) : share(loops.inner, call.part, call.parts, 64);
  int64_t size = static_cast<int64_t>(element);
  const std::byte* source = static_cast<const std::byte*>(from) + copy.from * size;
  std::byte* target = static_cast<std::byte*>(call.output) + copy.to * size;
  if (!rows) return copy_run(loops, element, source, target, mine);
  // Divisions find the first of neighbours along the last outer axis, and not each of them: runs may be few bytes long.
  const int last = loops.rank - 1;
  const int64_t next_from = loops.strides[last][0] * size, next_to = loops.strides[last][1] * size;
  for (int64_t row = mine.begin, count = 0; row < mine.end; row += count) {
    count = std::min(mine.end - row, loops.shape[last] - row % loops.shape[last]);
    int64_t offsets[2] = {0, 0}, rest = row;
    for (int axis = last; axis >= 0; --axis) {
      int64_t index = rest % loops.shape[axis];
      rest /= loops.shape[axis];
      for (int i = 0; i < 2; ++i) offsets[i] += index * loops.strides[axis][i];
    }
    const std::byte* from_run = source + offsets[0] * size;
    std::byte* to_run = target + offsets[1] * size;
    for (int64_t i = 0; i < count; ++i, from_run += next_from, to_run += next_to)
      copy_run(loops, element, from_run, to_run, {0, loops.inner});
  }
}

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const auto& plan = *static_cast<const CopyPlan*>(call.state);
  for (size_t i = 0; i < plan.copies.size(); ++i)
    if (call.problem.inputs[i].shape.product() > 0) copy_share(plan.copies[i], plan.element, call, call.inputs[i]);
}

std::shared_ptr<void> prepare_view(const Problem& p, const Machine&) {
  const Operand& x = p.inputs[0];
  auto plan = std::make_shared<CopyPlan>();
  plan->element = size_of(x.dtype);
  const Shape& shape = as<Reshape>(p.op) ? x.shape : p.output.shape;
  View view = as<Reshape>(p.op) ? View{x.strides, 0} : view_of(p.op, x, shape);
  plan->copies.push_back(copy_of(shape, view.strides, contiguous_strides(shape)));
  plan->copies.back().from = view.offset;
  return plan;
}

std::shared_ptr<void> prepare_concat(const Problem& p, const Machine&) {
  auto plan = std::make_shared<CopyPlan>();
  plan->element = size_of(p.output.dtype);
  int axis = axis_of(p.as<Concat>().axis, p.output.shape);
  Strides out = contiguous_strides(p.output.shape);
  int64_t begin = 0;
  for (const Operand& x : p.inputs) {
    plan->copies.push_back(copy_of(x.shape, x.strides, out));
    plan->copies.back().to = begin * out[axis];
    begin += x.shape[axis];
  }
  return plan;
}

std::shared_ptr<void> prepare_im2col(const Problem& p, const Machine&) {
  const Operand& x = p.inputs[0];
  int64_t patch = p.as<Im2col>().patch;
  const Strides& s = x.strides;
  // The result is seen as [batch, rows of patches, patches in a row, channels, patch, patch].
  Shape shape{x.shape[0], x.shape[2] / patch, x.shape[3] / patch, x.shape[1], patch, patch};
  auto plan = std::make_shared<CopyPlan>();
  plan->element = size_of(x.dtype);
  plan->copies.push_back(
      copy_of(shape, {s[0], s[2] * patch, s[3] * patch, s[1], s[2], s[3]}, contiguous_strides(shape)));
  return plan;
}

using Prepare = decltype(Kernel::prepare);
constexpr Kernel row(std::string_view name, std::string_view op, Prepare prepare) {
  return {name, op, supports, run, nullptr, nullptr, nullptr, prepare};
}

}  // namespace

extern const Kernel reshape_copy = row("reshape_copy", "reshape", prepare_view);
extern const Kernel transpose_copy = row("transpose_copy", "transpose", prepare_view);
extern const Kernel slice_copy = row("slice_copy", "slice", prepare_view);
extern const Kernel broadcast_copy = row("broadcast_copy", "broadcast", prepare_view);
extern const Kernel concat_copy = row("concat_copy", "concat", prepare_concat);
extern const Kernel im2col_copy = row("im2col_copy", "im2col", prepare_im2col);

}  // namespace rung::cpu
