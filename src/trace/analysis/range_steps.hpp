// Steps by ranges that repeat, and what all ways of finding steps share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

struct Sources {
  const Recording& recording;
  const std::vector<uint32_t>& around;
  const DeviceWork& device;
};

// The spans that begin when the one before is over, out of spans by start.
std::vector<Span> apart(const std::vector<Span>& spans);
// How many spans begin at or before `ns`.
size_t begun_by(const std::vector<Span>& spans, int64_t ns);

// Found by this, a recording is one pass over numbered parts (layers): no kernels that repeat in it are steps.
inline constexpr std::string_view kOnePass = "one pass over numbered ranges";

// Ranges of a thread with one name, or names that differ in a number at their end, in which most work is launched.
// Numbered parts of something (layers) are no steps: a pass over all of them is one.
Steps range_steps(const Sources& from);

}  // namespace rung::trace
