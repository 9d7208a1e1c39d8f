// Ends each call of the C interface: a Status, or a library's exception, becomes a rung_status and rung_error()'s line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/guarded.hpp"
#include "rung/rung.h"

namespace rung {

// Keeps the error's line for this thread's rung_error().
rung_status tell(const Error& error) noexcept;

// Runs body(), which returns a Status, and returns its rung_status.
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

// Copies a text; the caller frees it by rung_free().
char* copy_of(const std::string& text);

// The error of an argument that must not be NULL.
inline Status want(const void* argument, const char* name) {
  return argument ? Status{} : wrong_usage("got NULL for '{}'", name);
}

// Checks the size of a struct that may grow at its end: the caller's has at least the `first` bytes of the first
// version, and nothing but zeros beyond what this library knows.
Status check_size(size_t got, size_t first, size_t known, const void* options, const char* name);

// Returns the bytes of the first version of a struct; those that have grown since are listed below.
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

// Returns the caller's options. Initial values stand for those that it does not give, or is too old to know.
template <class Options>
Result<Options> options_of(const Options* given, const Options& initial, const char* name) {
  if (!given) return initial;
  RUNG_CHECK(check_size(given->size, first_size<Options>(), sizeof(Options), given, name));
  Options options = initial;
  std::memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

}  // namespace rung
