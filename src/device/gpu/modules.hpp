// The GPU modules compiled into this binary, and the architectures that they are for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/verdict.hpp"

namespace rung::gpu {

enum class Vendor : uint8_t { nvidia, amd };

// Returns an architecture's vendor: AMD's gfx numbers, from 0x90a on, exceed every compute capability times ten.
constexpr Vendor vendor_of(int architecture) { return architecture >= 0x900 ? Vendor::amd : Vendor::nvidia; }
// Returns the vendor's name of an architecture: "sm_90", "gfx942"; no driver told 0, which is an unknown one.
std::string architecture_name(int architecture);

struct EmbeddedModule {
  std::string_view name;  // its source's name: "copy"
  int architecture;       // of a code object of AMD; 0: a fatbin, with all architectures of NVIDIA in the build
  const char *begin, *end;
  size_t bytes() const { return static_cast<size_t>(end - begin); }
};

// Returns all modules of this build.
std::span<const EmbeddedModule> embedded_modules();
// Returns the image of a module that a driver loads on this architecture; null if this build has none.
const void* embedded_module(std::string_view name, int architecture);

// The code for one architecture, which also runs on later ones up to `last`.
struct CompiledFor {
  Vendor vendor;
  std::string_view name;  // "sm_80", "gfx942"
  int first, last;
};

// Returns the architectures that builds such as this one compile kernels for, whether this one has them or not.
std::span<const CompiledFor> compiled_architectures();
// Returns why this build has no modules for a vendor's GPUs: how it was made without them. "": it has them.
std::string_view missing_modules_reason(Vendor vendor);
// Returns whether this build has kernels that run on an architecture; if not, the verdict names those that it has.
Verdict has_kernels_for(int architecture);
// Returns "sm_80, sm_90a, gfx90a", the architectures of this build's modules; empty: it has none.
std::string architectures_of_this_build();

}  // namespace rung::gpu
