// Raises small stacks.
// SPDX-License-Identifier: Apache-2.0
#include "cli/stack.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

namespace rung::cli {
namespace {

constexpr rlim_t kUsual = rlim_t{8} << 20;     // of Linux
constexpr rlim_t kLeast = rlim_t{256} << 10;   // attention with AVX-512 overflows 64 KiB, and not 128
constexpr size_t kOfThread = size_t{1} << 20;  // memory that nothing touches costs nothing

// The C library took the stacks' size for threads from the limit when the process began.
void enlarge_stacks_of_threads() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  size_t bytes = 0;
  if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < kOfThread &&
      pthread_attr_setstacksize(&attributes, kOfThread) == 0)
    pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

Status ensure_stack() {
  enlarge_stacks_of_threads();
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kUsual) return {};
  limit.rlim_cur = std::min(kUsual, limit.rlim_max);
  if (limit.rlim_cur < kLeast)
    return wrong_usage("the limit of the stack (ulimit -s): got {} KiB, wanted at least {} KiB", limit.rlim_max >> 10,
                       kLeast >> 10);
  setrlimit(RLIMIT_STACK, &limit);
  return {};
}

}  // namespace rung::cli
