// Drops memory from the processor's caches, so that the next reader finds it as cold as after a long pause.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "device/cpu/team.hpp"

namespace rung::cpu {

// Writes back and drops every line of `memory`, from the caches of all cores. It needs no memory of its own, and the
// last cache may have any size. Pages that are not resident (of a mapped file) become so.
void flush_from_caches(std::span<const std::byte> memory);
// Does the same, shared among the threads of the team.
void flush_from_caches(Team& team, std::span<const std::byte> memory);

}  // namespace rung::cpu
