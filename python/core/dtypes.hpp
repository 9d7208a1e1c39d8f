// The dtypes of inputs and outputs, by the names that NumPy, ml_dtypes and PyTorch give them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>

#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

struct NamedType {
  const char* name;
  rung_dtype dtype;
  const char* storage;  // NumPy's own dtype of that size: another one where only ml_dtypes has this
};

inline bool operator==(const rung_dtype& a, const rung_dtype& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// Errors: RUNG_MISMATCH, a dtype that no array here has.
const NamedType& named_type(rung_dtype dtype);
// "float64", "uint16" ..., also of dtypes that no input has.
std::string_view name_of(rung_dtype dtype);
const NamedType* find_type(std::string_view name);
// NumPy's dtype object of a buffer's values; none where it is neither NumPy's own nor ml_dtypes is installed.
nb::object numpy_dtype(const NamedType& type);
// Of a buffer protocol's format and item size, which describe one native value; nothing for any other.
std::optional<rung_dtype> dtype_of_format(const char* format, size_t bytes);

}  // namespace rung::python
