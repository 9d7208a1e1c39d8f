// Independent pieces of host work, spread over threads that end with the work: making weights ready, summing files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>

namespace rung {

// Calls work(0) ... work(count - 1), each once, in no order, on a thread for each usable core including the calling
// one, but on at most 8, which bounds the memory that calls hold at once. After a call that throws no further calls
// begin, and the exception is thrown here once all threads have ended.
void parallel_for(size_t count, const std::function<void(size_t)>& work);

}  // namespace rung
