// Errors of the C++ interface, as values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/rung.h>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace rung::api {

// The kind of an error; the kinds are documented in rung_status.
enum class Kind {
  ok = RUNG_OK,
  failed = RUNG_FAILED,
  usage = RUNG_USAGE,
  file = RUNG_FILE,
  device = RUNG_DEVICE,
  memory = RUNG_MEMORY,
  mismatch = RUNG_MISMATCH,
  interrupted = RUNG_INTERRUPTED,
};
// Returns the word for a kind, such as "mismatch". See rung_status_name().
inline const char* name_of(Kind kind) { return rung_status_name(static_cast<rung_status>(kind)); }

// Success, or a kind of error and one line that says what was got and what was wanted.
class [[nodiscard]] Status {
 public:
  // Success.
  Status() = default;
  // An error of the caller's own.
  Status(Kind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  // Makes the status of a call of the C interface, on the thread that made the call.
  static Status of(rung_status code) {
    return code == RUNG_OK ? Status() : Status(static_cast<Kind>(code), rung_error());
  }
  // Returns whether the call succeeded.
  explicit operator bool() const { return kind_ == Kind::ok; }
  // Return Kind::ok and "" for a success.
  Kind kind() const { return kind_; }
  const std::string& message() const { return message_; }

 private:
  Kind kind_ = Kind::ok;
  std::string message_;
};

// A value, or the error that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  // Takes a value, or an error, which must not be a success.
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Status error) : held_(std::in_place_index<1>, std::move(error)) {}
  // Converts a result whose value T can be made from.
  template <class From, class = std::enable_if_t<!std::is_same_v<From, T> && std::is_convertible_v<From, T>>>
  Result(Result<From> other)
      : held_(other ? decltype(held_)(std::in_place_index<0>, *std::move(other))
                    : decltype(held_)(std::in_place_index<1>, other.error())) {}
  // Returns whether there is a value.
  explicit operator bool() const { return held_.index() == 0; }
  // Return the value; they throw std::bad_variant_access if there is none.
  T& operator*() & { return std::get<0>(held_); }
  const T& operator*() const& { return std::get<0>(held_); }
  T&& operator*() && { return std::get<0>(std::move(held_)); }
  T* operator->() { return &std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  // Returns the error; its kind is Kind::ok if there is a value.
  Status error() const { return *this ? Status() : std::get<1>(held_); }

 private:
  std::variant<T, Status> held_;
};

}  // namespace rung::api
