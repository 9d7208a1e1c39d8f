// Which oneDNN runs here: plans hold weights in layouts that depend on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung::cpu::gemm {

std::string onednn_version();  // "oneDNN 2.6.3"
// With the instruction sets that it allows itself: "oneDNN 2.6.3 for AVX2". Both decide how it lays weights out.
std::string onednn_layouts();

}  // namespace rung::cpu::gemm
