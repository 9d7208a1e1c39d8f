// Keeps derived facts with the analysis.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/derived.hpp"

namespace rung::trace {

Derived& derived(const Analysis& analysis) {
  if (!analysis.derived) analysis.derived = std::make_shared<Derived>();
  return *analysis.derived;
}

const KnownHost& held_host(const Analysis& analysis) {
  std::unique_ptr<KnownHost>& known = derived(analysis).host;
  if (!known) known = std::make_unique<KnownHost>(analysis);
  return *known;
}

}  // namespace rung::trace
