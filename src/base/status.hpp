// Status and Result: how every user mistake travels; an Error says what was got and what was wanted, in one line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rung {

// Exit code classes of the command line: `usage` is 2, everything else is 1. `device`: an accelerator failed under its
// work, and does no more for this process.
enum class ErrorKind { failed, usage, device };

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
template <class... Args>
tl::unexpected<Error> wrong_usage(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), ErrorKind::usage});
}

// Is this an error after which nothing more can be run here?
template <class T>
bool device_failed(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::device;
}

}  // namespace rung

#define RUNG_CONCAT_(a, b) a##b
#define RUNG_CONCAT(a, b) RUNG_CONCAT_(a, b)

// RUNG_TRY(auto x, f()) : x = *f(), or return f's error from here.
#define RUNG_TRY(target, expression) RUNG_TRY_(target, expression, RUNG_CONCAT(rung_try_, __LINE__))
#define RUNG_TRY_(target, expression, result)                                   \
  auto result = (expression);                                                   \
  if (!result) return tl::unexpected<::rung::Error>(std::move(result).error()); \
  target = std::move(*result)

// RUNG_CHECK(f()) : return f's error from here, if any.
#define RUNG_CHECK(expression)                                              \
  do {                                                                      \
    if (auto rung_status = (expression); !rung_status)                      \
      return tl::unexpected<::rung::Error>(std::move(rung_status).error()); \
  } while (0)
