// Dtypes, shapes and places of tensors that callers bring.
// SPDX-License-Identifier: Apache-2.0
#include "api/tensors.hpp"

#include <algorithm>

#include "api/handles.hpp"

namespace rung {
namespace {

constexpr int kManagedCuda = 13;  // DLPack's kDLCUDAManaged: the device reads it, too

struct DTypeRow {
  DType inside;
  rung_dtype outside;
};
constexpr DTypeRow kDTypes[] = {
    {DType::f32, {RUNG_FLOAT, 32, 1}},
    {DType::f16, {RUNG_FLOAT, 16, 1}},
    {DType::bf16, {RUNG_BFLOAT, 16, 1}},
    {DType::f8e4m3fn, {RUNG_FLOAT8_E4M3FN, 8, 1}},
    {DType::f8e4m3fnuz, {RUNG_FLOAT8_E4M3FNUZ, 8, 1}},
    {DType::i64, {RUNG_INT, 64, 1}},
    {DType::i32, {RUNG_INT, 32, 1}},
    {DType::i8, {RUNG_INT, 8, 1}},
    {DType::u8, {RUNG_UINT, 8, 1}},
    {DType::boolean, {RUNG_BOOL, 8, 1}},
};

bool same(rung_dtype a, rung_dtype b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

Result<DType> dtype_of_public(rung_dtype dtype) {
  for (const DTypeRow& row : kDTypes)
    if (same(row.outside, dtype)) return row.inside;
  return mismatch("got a dtype that no plan has (DLPack's code {}, {} bits, {} lanes)", dtype.code, dtype.bits,
                  dtype.lanes);
}

Result<Type> type_of_public(const rung_tensor& tensor) {
  RUNG_TRY(DType dtype, dtype_of_public(tensor.dtype));
  if (tensor.ndim < 0 || tensor.ndim > Dims::kMaxRank)
    return mismatch("got {} dimensions, wanted at most {}", tensor.ndim, Dims::kMaxRank);
  if (tensor.ndim > 0 && !tensor.shape) return wrong_usage("got no shape for {} dimensions", tensor.ndim);
  const Type type{dtype, Shape(std::span(tensor.shape, static_cast<size_t>(tensor.ndim)))};
  for (int64_t extent : type.shape)
    if (extent < 0) return mismatch("got an extent of {}", extent);
  return type;
}

// Returns whether a tensor is row-major without gaps; the stride of an extent of 1 means nothing.
bool is_dense(const rung_tensor& tensor) {
  if (!tensor.strides || std::count(tensor.shape, tensor.shape + tensor.ndim, 0) > 0) return true;
  int64_t dense = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != dense) return false;
    dense *= tensor.shape[axis];
  }
  return true;
}

Status check_dense(const rung_tensor& tensor) {
  if (is_dense(tensor)) return {};
  return mismatch("got strides {}, wanted row-major without gaps: make it contiguous",
                  fmt::format("[{}]", fmt::join(tensor.strides, tensor.strides + tensor.ndim, ",")));
}

bool on_host(int32_t type) { return type == RUNG_CPU || type == RUNG_CUDA_HOST || type == RUNG_ROCM_HOST; }

std::string device_text(rung_device device) {
  if (on_host(device.type)) return "the host";
  if (device.type == RUNG_ROCM) return fmt::format("hip:{}", device.index);
  if (device.type == RUNG_CUDA || device.type == kManagedCuda) return fmt::format("cuda:{}", device.index);
  return fmt::format("device of DLPack's type {}", device.type);
}

// Memory that the session's device reads by itself is pinned. Memory of another vendor's device is like any other.
bool is_pinned(int32_t type, rung_device session) {
  return (type == RUNG_CUDA_HOST && session.type == RUNG_CUDA) || (type == RUNG_ROCM_HOST && session.type == RUNG_ROCM);
}

Result<Place> place_on(rung_device got, rung_device session) {
  if (is_pinned(got.type, session)) return Place::pinned;
  if (on_host(got.type)) return Place::host;
  const int32_t type = got.type == kManagedCuda ? int32_t{RUNG_CUDA} : got.type;
  if (type == session.type && got.index == session.index) return Place::device;
  return mismatch("got memory of {}, wanted {}", device_text(got),
                  session.type == RUNG_CPU ? "the host's" : "the host's or that of " + device_text(session));
}

// Puts the name of the port before an error's message.
template <class T>
Result<T> about(PortName port, Result<T> result) {
  if (!result) result.error().message = fmt::format("{} '{}': {}", port.side, port.name, result.error().message);
  return result;
}

Result<Placed> placed(const Type& wanted, const rung_tensor& tensor, rung_device device) {
  RUNG_TRY(Type type, type_of_public(tensor));
  if (!(type == wanted)) return mismatch("got {}, wanted {}", type, wanted);
  RUNG_CHECK(check_dense(tensor));
  RUNG_TRY(Place place, place_on(tensor.device, device));
  if (!tensor.data && wanted.bytes() > 0) return wrong_usage("got a tensor without data");
  return Placed{place, static_cast<std::byte*>(tensor.data) + tensor.byte_offset};
}

}  // namespace

rung_dtype to_public(DType dtype) {
  return std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DTypeRow& row) { return row.inside == dtype; })
      ->outside;
}

rung_tensor tensor_over(void* data, const Type& type, rung_device device) {
  // The interface's shape is not const, as DLPack's is not; nothing writes through it.
  return {.data = data,
          .device = device,
          .ndim = type.shape.rank(),
          .dtype = to_public(type.dtype),
          .shape = const_cast<int64_t*>(type.shape.begin()),
          .strides = nullptr,
          .byte_offset = 0};
}

Result<Placed> place_of(PortName port, const Type& wanted, const rung_tensor& tensor, rung_device device) {
  return about(port, placed(wanted, tensor, device));
}

Result<NamedTensors> copies_of(std::span<const rung_named_tensor> tensors) {
  constexpr rung_device kHost{RUNG_CPU, 0};
  NamedTensors copies;
  for (const rung_named_tensor& given : tensors) {
    if (!given.name || !given.tensor) return wrong_usage("got an input without a name or a tensor");
    const PortName port{"input", given.name};
    RUNG_TRY(Type type, about(port, type_of_public(*given.tensor)));
    RUNG_TRY(Placed from, place_of(port, type, *given.tensor, kHost));
    Tensor copy(type);
    std::copy_n(from.data, type.bytes(), copy.data());
    if (!copies.emplace(given.name, std::move(copy)).second)
      return wrong_usage("input '{}' is given twice", given.name);
  }
  return copies;
}

}  // namespace rung

using rung::table;
using rung::TensorSets;

size_t rung_tensors_count(const rung_tensors* tensors) {
  const auto open = table<TensorSets>().use(tensors);
  return open ? open->all.size() : 0;
}

const char* rung_tensors_name(const rung_tensors* tensors, size_t index) {
  const auto open = table<TensorSets>().use(tensors);
  return open && index < open->all.size() ? open->all[index].first.c_str() : nullptr;
}

rung_tensor rung_tensors_get(const rung_tensors* tensors, size_t index) {
  const auto open = table<TensorSets>().use(tensors);
  if (!open || index >= open->all.size()) return {};
  const rung::Tensor& tensor = open->all[index].second;
  return rung::tensor_over(const_cast<std::byte*>(tensor.data()), tensor.type(), {RUNG_CPU, 0});
}

int64_t rung_tensors_text_tokens(const rung_tensors* tensors) {
  const auto open = table<TensorSets>().use(tensors);
  return open ? open->tokens : 0;
}

int64_t rung_tensors_text_kept(const rung_tensors* tensors) {
  const auto open = table<TensorSets>().use(tensors);
  return open ? open->kept : 0;
}

void rung_tensors_free(rung_tensors* tensors) { table<TensorSets>().close(tensors); }
