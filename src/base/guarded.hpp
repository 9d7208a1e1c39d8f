// Ends exceptions of libraries: one that would leave a function becomes the function's Error.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"

namespace rung {

// Returns the error of the exception that is being handled: call it in a `catch (...)`.
Error error_of_exception();

// Runs body(), which returns a Status or any other Result.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return tl::unexpected<Error>(error_of_exception());
  }
}

}  // namespace rung
