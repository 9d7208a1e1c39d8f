// Status and Result, which carry every user mistake; an Error says what was got and what was wanted, in one line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rung {

// The kind of an error, which says who can do something about it. On the command line `usage` is exit code 2,
// everything else is 1.
enum class ErrorKind : uint8_t {
  failed,        // the work failed, for none of the reasons below
  usage,         // an invalid call or command line
  file,          // missing, unreadable, damaged, not supported, or not writable
  mismatch,      // a name, dtype, shape, layout, device or value other than the model's or the plan's
  memory,        // not enough memory, on the host or on a device
  device,        // there is no such device, no driver for it, or no kernels for it in this build
  device_fault,  // an accelerator failed while working, and does no more for this process
  interrupted,   // the caller asked for the end
};

// The words for the kinds, in their order, as --json prints them.
inline constexpr std::array<std::string_view, 8> kErrorKindWords{"failed", "usage",  "file",         "mismatch",
                                                                 "memory", "device", "device_fault", "interrupted"};
constexpr std::string_view name_of(ErrorKind kind) { return kErrorKindWords[static_cast<size_t>(kind)]; }

struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::failed;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// fail("'{}': got {} bytes, wanted {}", path, got, wanted) converts to any Result.
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

// Make an error of each of the other kinds.
#define RUNG_ERROR_OF(function, kind)                                                                       \
  template <class... Args>                                                                                  \
  tl::unexpected<Error> function(fmt::format_string<Args...> format, Args&&... args) {                      \
    return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), ErrorKind::kind}); \
  }
RUNG_ERROR_OF(wrong_usage, usage)
RUNG_ERROR_OF(bad_file, file)
RUNG_ERROR_OF(mismatch, mismatch)
RUNG_ERROR_OF(no_memory, memory)
RUNG_ERROR_OF(no_device, device)
RUNG_ERROR_OF(device_fault, device_fault)
RUNG_ERROR_OF(was_interrupted, interrupted)
#undef RUNG_ERROR_OF

// Makes an error of the inner one's kind, with words before it: fail_in(error, "'{}': array '{}'", path, name).
template <class... Args>
tl::unexpected<Error> fail_in(const Error& error, fmt::format_string<Args...> format, Args&&... args) {
  std::string where = fmt::format(format, std::forward<Args>(args)...);
  return tl::unexpected<Error>(Error{std::move(where) + ": " + error.message, error.kind});
}

// Gives an error of no kind yet (ErrorKind::failed) the kind `kind`: a caller may know what the parts below it do not,
// such as that the text they read is a file's.
template <class Any>
Any errors_of(ErrorKind kind, Any result) {
  if (!result && result.error().kind == ErrorKind::failed) result.error().kind = kind;
  return result;
}

// Returns whether the error leaves the device unable to run anything more in this process.
template <class T>
bool device_failed(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::device_fault;
}

}  // namespace rung

#define RUNG_CONCAT_(a, b) a##b
#define RUNG_CONCAT(a, b) RUNG_CONCAT_(a, b)

// RUNG_TRY(auto x, f()) sets x = *f(), or returns f's error from here.
#define RUNG_TRY(target, expression) RUNG_TRY_(target, expression, RUNG_CONCAT(rung_try_, __LINE__))
#define RUNG_TRY_(target, expression, result)                                   \
  auto result = (expression);                                                   \
  if (!result) return tl::unexpected<::rung::Error>(std::move(result).error()); \
  target = std::move(*result)

// RUNG_CHECK(f()) returns f's error from here, if any.
#define RUNG_CHECK(expression)                                               \
  do {                                                                       \
    if (auto rung_checked = (expression); !rung_checked)                     \
      return tl::unexpected<::rung::Error>(std::move(rung_checked).error()); \
  } while (0)
