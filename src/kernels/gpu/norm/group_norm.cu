// Group norms of dense tensors whose channels stand last: a block takes a group, whose channels it reads apart.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/norm/group_norm.hpp"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

template <int unit>
struct Values {
  float at[unit];
};

template <GroupNormConfig config>
class Group {
 public:
  using Unit = Values<config.unit>;

  __device__ explicit Group(const GroupNormArguments& arguments)
      : a(arguments), first(int64_t{blockIdx.x / a.groups} * a.places * a.channels + blockIdx.x % a.groups * a.run) {}

  __device__ void hold() {
    if constexpr (config.held > 0) {
      RawVector raw[config.held];
#pragma unroll
      for (int i = 0; i < config.held; ++i)
        if (has(unit_of(i))) raw[i] = load_vector(a.x, a.type, place_of(unit_of(i)));
#pragma unroll
      for (int i = 0; i < config.held; ++i)
        if (has(unit_of(i))) unpack(raw[i], a.type, held[i].at);
    }
  }
  // Calls f on each of this thread's units.
  template <class F>
  __device__ void each(F f) {
    if constexpr (config.held > 0) {
#pragma unroll
      for (int i = 0; i < config.held; ++i)
        if (has(unit_of(i))) f(unit_of(i), held[i]);
    } else {
#pragma unroll 8
      for (uint32_t at = threadIdx.x; at < a.units; at += blockDim.x) {
        Unit values;
        read(at, values.at);
        f(at, values);
      }
    }
  }
  __device__ void store(uint32_t at, const float (&values)[kVector]) const {
    store_vector(a.out, a.out_type, place_of(at), values);
  }
  __device__ void store(uint32_t at, const float (&values)[2]) const {
    if (a.out_type == DType::f32)
      element<float2>(a.out, place_of(at) / 2) = {values[0], values[1]};
    else
      element<uint32_t>(a.out, place_of(at) / 2) =
          a.out_type == DType::bf16 ? pack<bf16>(values[0], values[1]) : pack<f16>(values[0], values[1]);
  }
  __device__ void store(uint32_t at, const float (&values)[1]) const {
    store_as<float>(a.out, a.out_type, place_of(at), values[0]);
  }

 private:
  __device__ static uint32_t unit_of(int i) { return threadIdx.x + i * blockDim.x; }
  __device__ bool has(uint32_t at) const { return at < a.units; }
  __device__ int64_t place_of(uint32_t at) const {
    const uint32_t place = a.units_of_run.divide(at);
    return first + static_cast<int64_t>(place) * a.channels + (at - place * a.units_of_run.value) * config.unit;
  }
  __device__ void read(uint32_t at, float (&values)[kVector]) const {
    unpack(load_vector(a.x, a.type, place_of(at)), a.type, values);
  }
  __device__ void read(uint32_t at, float (&values)[2]) const {
    if (a.type == DType::f32) {
      const float2 pair = element<const float2>(a.x, place_of(at) / 2);
      values[0] = pair.x, values[1] = pair.y;
    } else {
      unpack_pair(element<const uint32_t>(a.x, place_of(at) / 2), a.type, values);
    }
  }
  __device__ void read(uint32_t at, float (&values)[1]) const { values[0] = load_as<float>(a.x, a.type, place_of(at)); }

  const GroupNormArguments& a;
  const int64_t first;  // the group's first element
  Unit held[config.held > 0 ? config.held : 1];
};

template <GroupNormConfig config>
__device__ void group_norm(const GroupNormArguments& a) {
  __shared__ float partial[2][kMaxWarps];
  allow_dependents();
  using Unit = typename Group<config>::Unit;
  Group<config> group(a);
  const float count = static_cast<float>(a.places) * static_cast<float>(a.run);
  wait_for_producers();
  group.hold();
  float sum = 0, squares = 0;
  group.each([&](uint32_t, const Unit& values) {
    for (const float value : values.at) sum += value;
  });
  const float mean = reduce_block(sum, Sum{}, partial[0]) / count;
  group.each([&](uint32_t, const Unit& values) {
    for (const float value : values.at) squares += (value - mean) * (value - mean);
  });
  const float scale = rsqrtf(reduce_block(squares, Sum{}, partial[1]) / count + a.eps);
  group.each([&](uint32_t at, Unit& values) {
    for (float& value : values.at) value = (value - mean) * scale;
    group.store(at, values.at);
  });
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                             \
  RUNG_KERNEL((GroupNormConfig{__VA_ARGS__}.most_threads())) \
      entry(const __grid_constant__ GroupNormArguments a) { group_norm<GroupNormConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/norm/group_norm.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
