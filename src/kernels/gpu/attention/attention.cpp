// Reads attention problems for the rows of attention kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"

namespace rung::gpu {
namespace {

// Returns whether an operand is one of q, k and v.
bool has_heads(const Problem& problem, size_t i) { return i == 0 || i >= problem.as<Attention>().first_key(); }

void copy_strides(const Operand& from, int64_t (&to)[3]) {
  for (int axis = 0; axis < 3; ++axis) to[axis] = from.shape[axis] == 1 ? 0 : from.strides[axis];
}

void set_mask(const Call& call, AttentionArguments& a) {
  const auto at = call.problem.as<Attention>().slots.before(AttentionSlot::mask);
  const Operand& mask = call.problem.inputs[at];
  a.mask = static_cast<const float*>(device_pointer(call.inputs[at]));
  for (int axis = mask.shape.rank() - 1, to = 3; axis >= 0; --axis, --to)
    a.mask_stride[to] = mask.shape[axis] == 1 ? 0 : mask.strides[axis];
}

// Limits beyond all keys and queries are cut, so that sums of them and of places fit 32 bits.
int32_t cut(int64_t reach) {
  constexpr int64_t kBeyond = INT32_MAX / 2;
  return static_cast<int32_t>(std::clamp(reach, -kBeyond, kBeyond));
}

AttentionSpan span_of(const KeySpan& span) {
  return {span.sees_all(), cut(span.before), cut(span.after), cut(span.prefix)};
}

}  // namespace

AttentionShape::AttentionShape(const Problem& problem)
    : batch(problem.output.shape[0]),
      queries(problem.output.shape[1]),
      heads(problem.output.shape[2]),
      width(problem.output.shape[3]),
      groups(1),
      keys(0),
      first_key(problem.as<Attention>().first_key()) {
  groups = problem.inputs[first_key].shape[2];
  for (size_t i = first_key; i < problem.inputs.size(); i += 2) keys += problem.inputs[i].shape[1];
}

Verdict supports_attention(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture == 0) return reject("no GPU");
  const AttentionShape shape(problem);
  if (!is_computed_float(problem.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  if (const DType of_machine = machine_f8(machine.gpu), out = problem.output.dtype; is_f8(out) && out != of_machine)
    return reject(fmt::format("a result of {}, wanted {}", name_of(out), name_of(of_machine)));
  if (const DType of_machine = machine_f8(machine.gpu), k = problem.inputs.back().dtype; is_f8(k) && k != of_machine)
    return reject(fmt::format("keys of {}, wanted {}", name_of(k), name_of(of_machine)));
  if (problem.as<Attention>().segments > kMaxAttentionSegments)
    return reject(fmt::format("more than {} segments", kMaxAttentionSegments));
  if (shape.width > kMaxAttentionWidth) return reject(fmt::format("heads wider than {}", kMaxAttentionWidth));
  if (problem.output.shape.product() > INT32_MAX || shape.rows() * shape.heads > UINT32_MAX ||
      shape.keys > INT32_MAX / 2 || shape.groups > 65535 || shape.batch > 65535)
    return reject("more rows, keys, heads or batches than a launch has");
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (has_heads(problem, i) && shape.width > 1 && problem.inputs[i].strides[3] != 1)
      return reject("a head's values are not dense");
  return accept();
}

Verdict supports_plain_result(const Problem& problem) {
  return problem.as<Attention>().is_plain() ? accept() : reject("a result of 8 bits, or with a factor");
}

Verdict supports_keys_like_queries(const Problem& problem) {
  return problem.inputs.back().dtype == problem.inputs[0].dtype ? accept() : reject("keys of 8 bits");
}

Verdict supports_matrix_attention(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_attention(problem, machine); !verdict) return verdict;
  if (size_of(problem.inputs[0].dtype) != 2) return reject("only bf16 and f16");
  if (AttentionShape(problem).width % 8 != 0) return reject("the heads' width is not a multiple of 8");
  return attention_unit(problem) == 8 ? accept() : reject("rows are not multiples of 16 bytes apart");
}

DType key_type_of(const Problem& problem) {
  const DType k = problem.inputs.back().dtype;
  return is_f8(k) ? DType::f8e4m3fn : k;
}

int64_t attention_unit(const Problem& problem) {
  int64_t unit = std::gcd(int64_t{8}, AttentionShape(problem).width);
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    for (int axis = 0; axis < 3 && has_heads(problem, i); ++axis)
      if (problem.inputs[i].shape[axis] != 1) unit = std::gcd(unit, problem.inputs[i].strides[axis]);
  return unit;
}

AttentionArguments attention_arguments(const Call& call) {
  const Problem& problem = call.problem;
  const auto& op = problem.as<Attention>();
  const AttentionShape shape(problem);
  AttentionArguments a{};
  a.q = device_pointer(call.inputs[0]);
  a.out = device_pointer(call.output);
  a.out_type = problem.output.dtype, a.factor = op.factor;
  copy_strides(problem.inputs[0], a.q_stride);
  if (op.has_mask()) set_mask(call, a);
  if (const Address* length = op.slots.find(call.inputs, AttentionSlot::length))
    a.length = static_cast<const int64_t*>(device_pointer(*length)), a.fault = call.fault;
  for (size_t i = shape.first_key; i < problem.inputs.size(); i += 2) {
    AttentionSegment& segment = a.segment[a.segments++];
    segment.k = device_pointer(call.inputs[i]), segment.v = device_pointer(call.inputs[i + 1]);
    segment.keys = static_cast<int32_t>(problem.inputs[i].shape[1]);
    copy_strides(problem.inputs[i], segment.k_stride);
    copy_strides(problem.inputs[i + 1], segment.v_stride);
  }
  a.batch = static_cast<int32_t>(shape.batch), a.queries = static_cast<int32_t>(shape.queries);
  a.heads = static_cast<int32_t>(shape.heads), a.groups = static_cast<int32_t>(shape.groups);
  a.width = static_cast<int32_t>(shape.width), a.keys = static_cast<int32_t>(shape.keys);
  a.ratio = a.heads / a.groups, a.ratio_inverse = inverse_of(a.ratio);
  a.scale = op.scale;
  a.softcap = op.softcap;
  a.span = span_of(op.span);
  return a;
}

Launch attention_launch(const Call& call, int rows, int splits) {
  const AttentionShape shape(call.problem);
  const int64_t tiles = (shape.rows() + rows - 1) / rows;
  return {.grid = {static_cast<uint32_t>(tiles * splits), static_cast<uint32_t>(shape.groups),
                   static_cast<uint32_t>(shape.batch)},
          .dependent = call.gpu.info().dependent_launch};
}

}  // namespace rung::gpu
