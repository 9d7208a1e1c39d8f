// The row of gather: dense lines behind the gathered axis are copied whole, single elements one by one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernel.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

// x is [before, axis, line].
struct GatherPlan {
  int64_t before = 1, line = 1, count = 0;     // count: indices
  int64_t x_before = 0, x_axis = 0, size = 0;  // strides in elements; size of the axis
  size_t element = 0;
  bool wide = true;  // indices are i64
};

Operand after_axis(const Operand& x, int axis) {
  Operand line{x.dtype, {}, {}, false};
  for (int i = axis + 1; i < x.shape.rank(); ++i)
    line.shape.push_back(x.shape[i]), line.strides.push_back(x.strides[i]);
  return line;
}

// Puts the axes before `axis` together, with one stride. Returns false where they have no common one.
bool join_before(const Operand& x, int axis, GatherPlan& plan) {
  for (int i = axis - 1; i >= 0; --i) {
    if (x.shape[i] == 1) continue;
    if (plan.before == 1) plan.x_before = x.strides[i];
    if (x.strides[i] != plan.x_before * plan.before) return false;
    plan.before *= x.shape[i];
  }
  return true;
}

Verdict supports(const Problem& p, const Machine&) {
  const Operand& x = p.inputs[0];
  const int axis = axis_of(p.as<Gather>().axis, x.shape);
  GatherPlan plan;
  if (!p.inputs[1].contiguous()) return reject("the indices are not contiguous");
  if (!join_before(x, axis, plan)) return reject("the axes before the gathered one do not make one");
  return after_axis(x, axis).contiguous() ? accept() : reject("what an index selects is not dense");
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  const Operand& x = p.inputs[0];
  const int axis = axis_of(p.as<Gather>().axis, x.shape);
  auto plan = std::make_shared<GatherPlan>();
  join_before(x, axis, *plan);
  plan->line = after_axis(x, axis).shape.product(), plan->count = p.inputs[1].shape.product();
  plan->x_axis = x.strides[axis], plan->size = x.shape[axis], plan->element = size_of(x.dtype);
  plan->wide = p.inputs[1].dtype == DType::i64;
  return plan;
}

// A run of indices that select from one place of the axes before.
template <class Index>
struct Run {
  const GatherPlan& plan;
  const std::byte* from;
  const Index* indices;
  int64_t count;
  std::byte* to;
};

// Copies the lines of a run; those of indices outside become zeros. Returns whether all were inside.
template <class Index>
bool copy_lines(const Run<Index>& run) {
  const size_t bytes = static_cast<size_t>(run.plan.line) * run.plan.element;
  bool all = true;
  for (int64_t i = 0; i < run.count; ++i) {
    std::byte* to = run.to + static_cast<size_t>(i) * bytes;
    const auto index = static_cast<int64_t>(run.indices[i]);
    if (index < 0 || index >= run.plan.size) {
      std::memset(to, 0, bytes);
      all = false;
    } else {
      std::memcpy(to, run.from + static_cast<size_t>(index * run.plan.x_axis) * run.plan.element, bytes);
    }
  }
  return all;
}
// The same for lines of one element, of which a call of memcpy() would take most of the time.
template <class T, class Index>
bool copy_elements(const Run<Index>& run) {
  const T* from = reinterpret_cast<const T*>(run.from);
  T* to = reinterpret_cast<T*>(run.to);
  bool all = true;
  for (int64_t i = 0; i < run.count; ++i) {
    const auto index = static_cast<int64_t>(run.indices[i]);
    const bool is_inside = index >= 0 && index < run.plan.size;
    to[i] = is_inside ? from[index * run.plan.x_axis] : T{};
    all &= is_inside;
  }
  return all;
}

template <class Index>
bool copy_run(const Run<Index>& run) {
  if (run.plan.line != 1) return copy_lines(run);
  switch (run.plan.element) {
    case 1:
      return copy_elements<uint8_t>(run);
    case 2:
      return copy_elements<uint16_t>(run);
    case 4:
      return copy_elements<uint32_t>(run);
    default:
      return copy_elements<uint64_t>(run);
  }
}

template <class Index>
void copy_share(const Call& call, const GatherPlan& plan) {
  const size_t bytes = static_cast<size_t>(plan.line) * plan.element;
  const Range mine = share(plan.before * plan.count, call.part, call.parts);
  for (int64_t i = mine.begin; i < mine.end;) {
    const int64_t before = i / plan.count, first = i % plan.count, count = std::min(plan.count - first, mine.end - i);
    const std::byte* from = call.in<std::byte>(0) + static_cast<size_t>(before * plan.x_before) * plan.element;
    std::byte* to = call.out<std::byte>() + static_cast<size_t>(i) * bytes;
    if (!copy_run(Run<Index>{plan, from, call.in<Index>(1) + first, count, to}))
      call.fault->store(Fault::index_out_of_range, std::memory_order_relaxed);
    i += count;
  }
}

void run(const Call& call) {
  const auto& plan = *static_cast<const GatherPlan*>(call.state);
  plan.wide ? copy_share<int64_t>(call, plan) : copy_share<int32_t>(call, plan);
}

}  // namespace

extern const Kernel gather_copy{
    .name = "gather_copy", .op = "gather", .supports = supports, .run = run, .prepare = prepare};

}  // namespace rung::cpu
