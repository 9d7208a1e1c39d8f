// Writes a climb's result as one HTML page.
// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include "report/page/sections.hpp"

namespace rung {
namespace {

using namespace report;

// Returns the page's parts, in the order in which readers want them.
Html body(const ClimbResult& result) {
  Html out = next(result);
  out += ladder(result);
  out += receipts(result);
  out += ablation(result);
  out += precision(result);
  out += categories(result);
  out += stages(result);
  out += ops(result);
  out += roofline(result);
  out += choices(result);
  out += latency(result);
  out += machine(result);
  out += reproduce(result);
  return hatch_pattern() + headline(result) + contents(out) + out;
}

}  // namespace

std::string render_html(const ClimbResult& result) { return whole_page(result.model, body(result)); }

}  // namespace rung
