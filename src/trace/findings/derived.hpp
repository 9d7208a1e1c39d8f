// Facts of one recording that several findings ask for, worked out when first asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trace/findings/held_host.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/profiler_cost.hpp"

namespace rung::trace {

// A recording's host, and how much of its time was its own and not the profiler's.
struct KnownHost {
  explicit KnownHost(const Analysis& analysis) : held(analysis), own_share(largest_own_share(analysis, held)) {}
  HeldHost held;
  double own_share;
};

struct Derived {
  std::unique_ptr<KnownHost> host;
  std::optional<std::vector<Product>> products;
  std::optional<std::vector<int64_t>> host_ns_of_work;
};

// The facts of this analysis, whose other parts must not change any more. By one thread at a time.
Derived& derived(const Analysis& analysis);
const KnownHost& held_host(const Analysis& analysis);

}  // namespace rung::trace
