// Joins and drops spans.
// SPDX-License-Identifier: Apache-2.0
#include "text/span.hpp"

#include <algorithm>
#include <iterator>

namespace rung::text {
namespace {

Spans without_matches(const Spans& spans) {
  Spans out;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(out), [](const Span& span) { return !span.matched; });
  return out;
}

Spans merged_with_previous(const Spans& spans) {
  Spans out;
  bool after_match = false;
  for (const Span& span : spans) {
    if (span.matched && !after_match && !out.empty())
      out.back().end = span.end;
    else
      out.push_back(span);
    after_match = span.matched;
  }
  return out;
}

Spans merged_with_next(const Spans& spans) {
  Spans out;
  bool before_match = false;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (span->matched && !before_match && !out.empty())
      out.back().begin = span->begin;
    else
      out.push_back(*span);
    before_match = span->matched;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

Spans contiguous(const Spans& spans) {
  Spans out;
  for (const Span& span : spans) {
    if (!out.empty() && out.back().matched == span.matched)
      out.back().end = span.end;
    else
      out.push_back(span);
  }
  return out;
}

}  // namespace

Spans arranged(const Spans& spans, Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::removed:
      return without_matches(spans);
    case Behaviour::merged_with_previous:
      return merged_with_previous(spans);
    case Behaviour::merged_with_next:
      return merged_with_next(spans);
    case Behaviour::contiguous:
      return contiguous(spans);
    case Behaviour::isolated:
      break;
  }
  return spans;
}

}  // namespace rung::text
