// Makes arrays by nanobind's ndarray.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory.hpp"

#include <nanobind/ndarray.h>

#include <cstring>
#include <vector>

#include "core/dtypes.hpp"

namespace rung::python {
namespace {

nb::dlpack::dtype dlpack(rung_dtype dtype) { return {dtype.code, dtype.bits, dtype.lanes}; }

}  // namespace

nb::object array_over(const rung_tensor& tensor, nb::handle owner) {
  std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  void* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (tensor.device.type == RUNG_CUDA || tensor.device.type == RUNG_ROCM)
    return nb::cast(nb::ndarray<>(data, shape.size(), shape.data(), owner, nullptr, dlpack(tensor.dtype),
                                  tensor.device.type, tensor.device.index));
  const NamedType& type = named_type(tensor.dtype);
  const NamedType& stored = *find_type(type.storage);
  nb::object array =
      nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, dlpack(stored.dtype)));
  if (&type == &stored) return array;
  nb::object view_as = numpy_dtype(type);
  return view_as.is_none() ? array : nb::object(array.attr("view")(view_as));
}

}  // namespace rung::python
