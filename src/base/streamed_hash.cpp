// XXH3 (libxxhash) over pieces.
// SPDX-License-Identifier: Apache-2.0
#include "base/streamed_hash.hpp"

#include <xxhash.h>

#include <new>

namespace rung {
namespace {

XXH3_state_t* of(const std::shared_ptr<void>& state) { return static_cast<XXH3_state_t*>(state.get()); }

}  // namespace

StreamedHash::StreamedHash()
    : state_(XXH3_createState(), [](void* state) { XXH3_freeState(static_cast<XXH3_state_t*>(state)); }) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(of(state_));
}
void StreamedHash::add(const void* data, size_t bytes) { XXH3_64bits_update(of(state_), data, bytes); }
uint64_t StreamedHash::value() const { return XXH3_64bits_digest(of(state_)); }

}  // namespace rung
