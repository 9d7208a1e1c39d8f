// Exceptions in words for the person who meets them.
// SPDX-License-Identifier: Apache-2.0
#include "base/guarded.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

namespace rung {

Error error_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {"out of memory", ErrorKind::memory};
  } catch (const std::length_error&) {  // more than a container can hold
    return {"out of memory", ErrorKind::memory};
  } catch (const std::system_error& error) {  // no thread available, a file that went away
    const bool memory = error.code() == std::errc::not_enough_memory;
    return {fmt::format("the system refused: {}", error.what()), memory ? ErrorKind::memory : ErrorKind::failed};
  } catch (const std::exception& error) {
    return {fmt::format("a mistake in rung, please report it: {}", error.what())};
  } catch (...) {
    return {"a mistake in rung, please report it: an exception of unknown type"};
  }
}

}  // namespace rung
