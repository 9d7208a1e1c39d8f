// The row of scatter.
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "kernels/gpu/copy/scatter_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

// The variants by the type of sums.
constexpr Variant<DType> kVariants[] = {
#include "kernels/gpu/copy/scatter.inc"
};

constexpr int64_t kMostThreads = 1 << 16;  // more would read the indices again for no more work at a time

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  if (!p.inputs[0].contiguous() || !p.inputs[2].contiguous()) return reject("x or the updates are not dense");
  if (p.inputs[1].shape.product() > INT32_MAX) return reject("2^31 indices or more");
  return supports_count(p.output.shape);
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Shape& shape = p.output.shape;
  if (shape.product() == 0) return {};
  const int64_t width = shape.product() / shape[0];
  const auto most_owners = static_cast<uint64_t>(std::clamp<int64_t>(kMostThreads / width, 1, shape[0]));
  ScatterArguments a{call.inputs[0], call.inputs[1], call.inputs[2], call.output, call.fault};
  a.index_step = p.inputs[1].strides[0], a.rows = shape[0];
  a.count = static_cast<uint32_t>(p.inputs[1].shape[0]), a.owners = static_cast<uint32_t>(std::bit_floor(most_owners));
  a.width = Divisor(static_cast<uint32_t>(width));
  a.type = p.output.dtype, a.index_type = p.inputs[1].dtype, a.kind = p.as<Scatter>().kind;
  if (a.kind == ScatterKind::set && a.x == a.out) {
    Launch launch = launch_threads(call, int64_t{a.count} * kScatterThreads, kScatterThreads);
    return call.launch("scatter", is_float(a.type) ? "scatter_set_float" : "scatter_set_integer", launch, a);
  }
  return call.launch("scatter", symbol_of(kVariants, is_float(a.type) ? DType::f32 : DType::i64),
                     launch_threads(call, width * a.owners, kScatterThreads), a);
}

}  // namespace

extern const Kernel scatter_gpu{
    .name = "scatter_gpu", .op = "scatter", .supports = supports, .updates = 0, .enqueue = enqueue};

}  // namespace rung::gpu
