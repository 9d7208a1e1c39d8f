// Where exceptions of libraries end: what leaves a function by a throw becomes its Error.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"

namespace rung {

// The error of the exception that is being handled: call it in a `catch (...)`.
Error error_of_exception();

// body() is a Status or any other Result.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return tl::unexpected<Error>(error_of_exception());
  }
}

}  // namespace rung
