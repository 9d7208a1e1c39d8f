// Kept with the analysis.
// SPDX-License-Identifier: Apache-2.0
#include "advise/advice/derived.hpp"

namespace rung::advise {

Derived& derived(const Analysis& analysis) {
  if (!analysis.derived) analysis.derived = std::make_shared<Derived>();
  return *analysis.derived;
}

}  // namespace rung::advise
