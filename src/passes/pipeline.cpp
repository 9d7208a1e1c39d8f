// THE list: every pass, in the order it runs, with the rung it belongs to and why it stands where it stands.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include "passes/passes.hpp"

namespace rung {
namespace {

// clang-format off
constexpr Pass kPipeline[] = {
    {"simplify",       "reduce", "drops what does nothing, so that later patterns see plain chains", passes::simplify},
    {"fold_constants", "reduce", "small constant expressions become literals: frozen masks, positions", passes::fold_constants},
    {"merge_equal",    "reduce", "equal nodes become one: this hoists what unrolled loop steps share", passes::merge_equal},
};
// clang-format on

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

}  // namespace rung
