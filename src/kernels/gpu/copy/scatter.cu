// Scatter: each row of the result has threads that own it, one for each column; they read all indices and join the
// updates of their rows one after another, so that the order is the op's whatever the device does. Rows that are set in
// place need no order: the last update of each is known from the indices.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/scatter_arguments.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

// Returns the smaller value; a NaN on either side stays.
template <class T>
__device__ T least(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
__device__ T joined(ScatterKind kind, T a, T b) {
  switch (kind) {
    case ScatterKind::add: return a + b;
    case ScatterKind::mul: return a * b;
    case ScatterKind::max: return Max{}(a, b);
    case ScatterKind::min: return least(a, b);
    default: return b;
  }
}

template <class T>
__device__ void scatter(const ScatterArguments& a) {
  allow_dependents();
  const uint32_t at = blockIdx.x * kScatterThreads + threadIdx.x, owner = a.width.divide(at);
  if (owner >= a.owners) return;
  const uint32_t column = at - owner * a.width.value;
  const int64_t width = a.width.value;
  wait_for_producers();
  for (int64_t row = owner; row < a.rows && a.x != a.out; row += a.owners)
    store_as<T>(a.out, a.type, row * width + column, load_as<T>(a.x, a.type, row * width + column));
  for (uint32_t i = 0; i < a.count; ++i) {
    const int64_t row = load_as<int64_t>(a.indices, a.index_type, i * a.index_step);
    if (row < 0 || row >= a.rows) {
      report_fault(a.fault, Fault::index_out_of_range);
      continue;
    }
    if ((static_cast<uint64_t>(row) & (a.owners - 1)) != owner) continue;
    const int64_t to = row * width + column;
    const T update = load_as<T>(a.updates, a.type, i * width + column);
    store_as<T>(a.out, a.type, to, joined(a.kind, load_as<T>(a.out, a.type, to), update));
  }
}

// Sets rows in place: a block has one update, which it writes unless a later one is for the same row.
template <class T>
__device__ void set_rows(const ScatterArguments& a) {
  allow_dependents();
  const uint32_t i = blockIdx.x;
  const int64_t width = a.width.value;
  wait_for_producers();
  const auto row_of = [&](uint32_t update) { return load_as<int64_t>(a.indices, a.index_type, update * a.index_step); };
  const int64_t row = row_of(i);
  if (row < 0 || row >= a.rows) {
    report_fault(a.fault, Fault::index_out_of_range);
    return;
  }
  __shared__ int overwritten;
  if (threadIdx.x == 0) overwritten = 0;
  sync_block();
  for (uint32_t later = i + 1 + threadIdx.x; later < a.count; later += kScatterThreads)
    if (row_of(later) == row) overwritten = 1;
  sync_block();
  if (overwritten) return;
  for (int64_t column = threadIdx.x; column < width; column += kScatterThreads)
    store_as<T>(a.out, a.type, row * width + column, load_as<T>(a.updates, a.type, i * width + column));
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kScatterThreads) entry(const __grid_constant__ ScatterArguments a) { scatter<Element<type>>(a); }
#include "kernels/gpu/copy/scatter.inc"
#undef RUNG_VARIANT

RUNG_KERNEL(kScatterThreads) scatter_set_float(const __grid_constant__ ScatterArguments a) { set_rows<float>(a); }
RUNG_KERNEL(kScatterThreads) scatter_set_integer(const __grid_constant__ ScatterArguments a) { set_rows<int64_t>(a); }

}  // namespace rung::gpu
