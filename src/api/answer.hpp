// Where a call of the C interface ends: its Status, or an exception out of a library, becomes a rung_status and the
// line that rung_error() tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/guarded.hpp"
#include "rung/rung.h"

namespace rung {

// Keeps the error's line for this thread's rung_error().
rung_status tell(const Error& error) noexcept;

// body() is a Status.
template <class Body>
rung_status answer(const Body& body) noexcept {
  try {
    Status status = body();
    return status ? RUNG_OK : tell(status.error());
  } catch (...) {
    try {
      return tell(error_of_exception());
    } catch (...) {
      return tell({});  // not even memory for an error's text
    }
  }
}

// The error of an argument that must not be NULL.
inline Status want(const void* argument, const char* name) {
  return argument ? Status{} : wrong_usage("got NULL for '{}'", name);
}

// Structs that may grow at their end: the caller's holds at least what the first version had, `first` bytes, and
// nothing beyond what this library knows.
Status check_size(size_t got, size_t first, size_t known, const void* options, const char* name);

// Bytes of the first version of a struct, where that has grown since.
template <class Options>
constexpr size_t first_size() {
  return sizeof(Options);
}
template <>
constexpr size_t first_size<rung_options>() {
  return offsetof(rung_options, drop_head);
}

template <>
constexpr size_t first_size<rung_task_options>() {
  return offsetof(rung_task_options, goes_on);
}

// The caller's options, or their initial values where it gives none or is too old to know them.
template <class Options>
Result<Options> options_of(const Options* given, const Options& initial, const char* name) {
  if (!given) return initial;
  RUNG_CHECK(check_size(given->size, first_size<Options>(), sizeof(Options), given, name));
  Options options = initial;
  std::memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

}  // namespace rung
