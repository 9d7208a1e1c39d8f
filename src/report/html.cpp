// A climb's result as one HTML page.
// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include "report/page/sections.hpp"

namespace rung {
namespace {

using namespace report;

// The policy lets the page load nothing at all, whatever text it holds.
Html head(const ClimbResult& result) {
  return html(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>"
      "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">"
      "<title>{} · rung</title><style>{}</style></head>\n",
      result.model, Html{std::string(style_sheet())});
}

// What a reader asks, in the order of asking.
Html body(const ClimbResult& result) {
  Html out = hatch_pattern();
  out += headline(result);
  out += ladder(result);
  out += receipts(result);
  out += ablation(result);
  out += categories(result);
  out += stages(result);
  out += ops(result);
  out += roofline(result);
  out += choices(result);
  out += latency(result);
  out += machine(result);
  out += reproduce(result);
  return out;
}

}  // namespace

std::string render_html(const ClimbResult& result) {
  Html page = head(result);
  page += html("<body><main>\n{}</main><div id='tip' role='tooltip' hidden></div><script>{}</script></body></html>\n",
               body(result), Html{std::string(script())});
  return std::move(page.text);
}

}  // namespace rung
