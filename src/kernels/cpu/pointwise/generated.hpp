// Element-wise programs of any number of results as generated code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/rows.hpp"
#include "kernels/generated/primitives.hpp"

namespace rung::cpu {

template <CpuIsa isa>
constexpr generated::VectorSet kVectors =
    isa == CpuIsa::avx512 ? generated::VectorSet::avx512 : generated::VectorSet::avx2;

struct GeneratedElements;

// The problem is of an element-wise op, or of a region without values of rows.
Verdict supports_elements(const Problem& p, generated::VectorSet set);
std::shared_ptr<const GeneratedElements> plan_elements(const Problem& p, generated::VectorSet set);
void run_elements(const Call& call, const GeneratedElements& plan);

}  // namespace rung::cpu
