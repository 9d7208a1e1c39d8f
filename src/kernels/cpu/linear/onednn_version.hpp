// The version of the oneDNN that runs here: plans hold weights in layouts that depend on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung::cpu::gemm {

std::string onednn_version();  // "oneDNN 2.6.3"
// Returns the version and the instruction sets that oneDNN allows itself, which decide the layout of weights:
// "oneDNN 2.6.3 for AVX2".
std::string onednn_layouts();

}  // namespace rung::cpu::gemm
