// The functions of operators.inc, which stand in a file for each family.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/pt2/call.hpp"

namespace rung::pt2 {

namespace operators {
// Several names have one function: the second declaration repeats the first.
#define RUNG_PT2(name, function) Values function(const Call& call);
#include "import/pt2/operators.inc"
#undef RUNG_PT2
}  // namespace operators

}  // namespace rung::pt2
