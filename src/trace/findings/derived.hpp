// Facts of one recording that several findings need, derived on first use.
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

// A recording's host, and the share of its time that the program itself took, without the profiler.
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

// Returns the derived facts of an analysis, whose other parts must no longer change. Not for several threads at once.
Derived& derived(const Analysis& analysis);
const KnownHost& held_host(const Analysis& analysis);

}  // namespace rung::trace
