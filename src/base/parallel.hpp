// Independent pieces of host work, spread over threads that end with it: making weights ready, summing files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>

namespace rung {

// Calls work(0) ... work(count - 1), each once, in no order, on a thread for each usable core, the calling one among
// them, but no more than 8: what calls hold at once stays bounded. After a call that throws no further ones begin, and
// what it threw is thrown here once all threads have ended.
void parallel_for(size_t count, const std::function<void(size_t)>& work);

}  // namespace rung
