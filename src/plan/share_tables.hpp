// Lets gathers read rows of a table where a linear already holds the table in its own layout, so that a plan holds a
// table of tokens that is the head, too, once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"
#include "plan/weight_table.hpp"

namespace rung {

// Works on a lowered plan, whose weights are those of the table; both lose the weights that nothing reads any more.
void share_tables(Plan& plan, WeightTable& weights);

}  // namespace rung
