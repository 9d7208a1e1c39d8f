// Made-up climbs for the report's tests: a plausible one, an empty one, one with thousands of ops, one with hostile
// text, one whose figures all differ.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/result.hpp"

namespace rung::testing {

ClimbResult minilm_climb();       // a sentence encoder on two cores: 10 receipts, 25 ops, 12 choices
ClimbResult empty_climb();        // one receipt, no ops, nothing measured
ClimbResult huge_climb(int ops);  // long labels, very small and very large numbers, infinities
ClimbResult hostile_climb();      // minilm_climb() with markup and control characters in every text
ClimbResult distinct_climb();     // no two figures alike: wherever one stands in another's place, it shows

}  // namespace rung::testing
