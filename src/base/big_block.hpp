// Large zeroed blocks of memory on huge pages where the system grants them: streaming weights then misses the TLB
// rarely.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

namespace rung {

// Returns zero-filled memory, 64-byte aligned at least; null when there is none.
std::shared_ptr<std::byte> allocate_block(size_t bytes);

}  // namespace rung
