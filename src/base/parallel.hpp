// Independent pieces of host work, spread over threads that end with it: making weights ready, summing files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>

namespace rung {

// Calls work(0) ... work(count - 1), each once, in no order, on the calling thread and so many others as have a core
// of this process's mask, at most `threads` in all. After a call that throws no further ones begin, and what it threw
// is thrown here once all threads have ended.
void parallel_for(size_t count, size_t threads, const std::function<void(size_t)>& work);

}  // namespace rung
