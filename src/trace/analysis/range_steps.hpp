// Finds steps by ranges that repeat; and functions that all ways of finding steps share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

struct Sources {
  const Recording& recording;
  const std::vector<uint32_t>& around;
  const DeviceWork& device;
};

// Takes spans ordered by start; returns those that begin after the last kept span is over.
std::vector<Span> apart(const std::vector<Span>& spans);
// Returns how many spans begin at or before `ns`.
size_t begun_by(const std::vector<Span>& spans, int64_t ns);

// A recording found by this is one pass over numbered parts (layers): kernels that repeat in it are not steps.
inline constexpr std::string_view kOnePass = "one pass over numbered ranges";

// Finds ranges of a thread with one name, or names that differ in a final number, in which most work is launched.
// Numbered parts of something (layers) are not steps: a pass over all of them is one.
Steps range_steps(const Sources& from);

}  // namespace rung::trace
