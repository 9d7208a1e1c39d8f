// The GPU modules that are compiled into this binary, and the architectures that they are for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/verdict.hpp"

namespace rung::gpu {

enum class Vendor : uint8_t { nvidia, amd };

// The vendor of a GpuInfo::architecture: AMD's gfx numbers, 0x90a and on, are above every compute capability times ten.
constexpr Vendor vendor_of(int architecture) { return architecture >= 0x900 ? Vendor::amd : Vendor::nvidia; }
// As its vendor writes it: "sm_90", "gfx942"; 0, which no driver told, is one that is not known.
std::string architecture_name(int architecture);

struct EmbeddedModule {
  std::string_view name;  // of its source: "copy"
  int architecture;       // of a code object of AMD; 0: a fatbin, for all architectures of NVIDIA that it was built for
  const char *begin, *end;
  size_t bytes() const { return static_cast<size_t>(end - begin); }
};

// All of this build.
std::span<const EmbeddedModule> embedded_modules();
// The image of a module that a driver loads on this architecture; null if this build has none.
const void* embedded_module(std::string_view name, int architecture);

// Code for one architecture, which also runs on those after it up to `last`.
struct CompiledFor {
  Vendor vendor;
  std::string_view name;  // "sm_80", "gfx942"
  int first, last;
};

// The architectures that this project compiles kernels for, whether this build has them or not.
std::span<const CompiledFor> compiled_architectures();
// Why this build has no modules for a vendor's GPUs, that is how it was made without them; "" where it has them.
std::string_view missing_modules_reason(Vendor vendor);
// Whether this build has kernels that run on an architecture. No: with what it has.
Verdict has_kernels_for(int architecture);
// "sm_80, sm_90a, gfx90a": what the modules of this build are for; empty: it has none.
std::string architectures_of_this_build();

}  // namespace rung::gpu
