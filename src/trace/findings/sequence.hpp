// Presents several pieces of work as one row of evidence.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// Returns "aten::bmm + 2 aten::copy_ + aten::_softmax": names in order, at most eight.
std::string sequence_of(const Analysis& analysis, std::span<const size_t> work);
int64_t duration_of(const Analysis& analysis, std::span<const size_t> work);
// Returns first..last, including both.
std::vector<size_t> indices(size_t first, size_t last);
// Returns "[1,32,2048,128]".
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace rung::trace
