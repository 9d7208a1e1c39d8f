// The table of dtypes, and what buffers call them.
// SPDX-License-Identifier: Apache-2.0
#include "core/dtypes.hpp"

#include <cstring>
#include <string>

#include "core/errors.hpp"

namespace rung::python {
namespace {

constexpr NamedType kTypes[] = {
    {"float32", {RUNG_FLOAT, 32, 1}, "float32"},
    {"float16", {RUNG_FLOAT, 16, 1}, "float16"},
    {"bfloat16", {RUNG_BFLOAT, 16, 1}, "uint16"},
    {"int64", {RUNG_INT, 64, 1}, "int64"},
    {"int32", {RUNG_INT, 32, 1}, "int32"},
    {"int8", {RUNG_INT, 8, 1}, "int8"},
    {"uint8", {RUNG_UINT, 8, 1}, "uint8"},
    {"bool", {RUNG_BOOL, 8, 1}, "bool"},
    {"float8_e4m3fn", {RUNG_FLOAT8_E4M3FN, 8, 1}, "uint8"},
    {"float8_e4m3fnuz", {RUNG_FLOAT8_E4M3FNUZ, 8, 1}, "uint8"},
    // Of arrays that a program may have, and no input does.
    {"float64", {RUNG_FLOAT, 64, 1}, "float64"},
    {"int16", {RUNG_INT, 16, 1}, "int16"},
    {"uint16", {RUNG_UINT, 16, 1}, "uint16"},
    {"uint32", {RUNG_UINT, 32, 1}, "uint32"},
    {"uint64", {RUNG_UINT, 64, 1}, "uint64"},
};

}  // namespace

const NamedType& named_type(rung_dtype dtype) {
  for (const NamedType& type : kTypes)
    if (type.dtype == dtype) return type;
  raise(RUNG_MISMATCH, "got a dtype of code " + std::to_string(dtype.code) + " and " + std::to_string(dtype.bits) +
                           " bits, which rung's Python package does not know");
}

std::string_view name_of(rung_dtype dtype) {
  for (const NamedType& type : kTypes)
    if (type.dtype == dtype) return type.name;
  return "another dtype";
}

const NamedType* find_type(std::string_view name) {
  for (const NamedType& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

nb::object numpy_dtype(const NamedType& type) {
  nb::object dtype = nb::module_::import_("numpy").attr("dtype");
  if (std::strcmp(type.name, type.storage) == 0) return dtype(type.name);
  try {
    return dtype(nb::module_::import_("ml_dtypes").attr(type.name));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    return nb::none();
  }
}

std::optional<rung_dtype> dtype_of_format(const char* format, size_t bytes) {
  if (!format) return rung_dtype{RUNG_UINT, 8, 1};
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (!*format || format[1]) return std::nullopt;
  auto bits = static_cast<uint8_t>(bytes * 8);
  if (std::strchr("bhilqn", *format)) return rung_dtype{RUNG_INT, bits, 1};
  if (std::strchr("BHILQN", *format)) return rung_dtype{RUNG_UINT, bits, 1};
  if (std::strchr("efd", *format)) return rung_dtype{RUNG_FLOAT, bits, 1};
  if (*format == '?') return rung_dtype{RUNG_BOOL, bits, 1};
  return std::nullopt;
}

}  // namespace rung::python
