// What several findings ask of one recording, worked out when it is first asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "advise/advice/products.hpp"

namespace rung::advise {

struct Derived {
  std::optional<std::vector<Product>> products;
  std::optional<std::vector<int64_t>> host_ns_of_work;
};

// Of this analysis, whose other parts must not change any more. By one thread at a time.
Derived& derived(const Analysis& analysis);

}  // namespace rung::advise
