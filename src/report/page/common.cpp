// Shared functions of the page's parts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/format.hpp"
#include "report/page/sections.hpp"

namespace rung::report {

Html hatch_pattern() {
  return {
      "<svg width='0' height='0' aria-hidden='true' class='defs'><defs><pattern id='hatch' width='6' height='6' "
      "patternUnits='userSpaceOnUse' patternTransform='rotate(45)'><rect class='hatch' width='2' height='6'/></pattern>"
      "</defs></svg>\n"};
}

std::string whole_page(std::string_view title, const Html& body) {
  Html page = html(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>"
      "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">"
      "<title>{} · rung</title><style>{}</style></head>\n",
      title, Html{std::string(style_sheet())});
  page += html("<body><main>\n{}</main><div id='tip' role='tooltip' hidden></div><script>{}</script></body></html>\n",
               body, Html{std::string(script())});
  return std::move(page.text);
}

Html section(std::string_view id, std::string_view title, std::string_view how_to_read, const Html& content) {
  return html(
      "<section id='{}' aria-labelledby='{}-title'><h2 id='{}-title'>{}</h2><p class='how'>{}</p>\n{}</section>\n", id,
      id, id, title, how_to_read, content);
}

// Keeps line breaks, which other text of a page loses.
Html command_block(std::string_view text) {
  Html lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines += html("{}{}", at > 0 ? Html{"\n"} : Html{}, text.substr(at, end - at));
    at = end + 1;
  }
  return html("<pre class='command' tabindex='0'><code>{}</code></pre>\n", lines);
}

Html contents(const Html& body) {
  constexpr std::string_view kSection = "<section id='", kHeading = "-title'>";
  Html links, first;
  for (size_t at = 0; (at = body.text.find(kSection, at)) != std::string::npos;) {
    const size_t id = at + kSection.size(),
                 title = body.text.find(kHeading, body.text.find("<h2", id)) + kHeading.size();
    const std::string target = body.text.substr(id, body.text.find('\'', id) - id);
    const Html name{body.text.substr(title, body.text.find("</h2>", title) - title)};
    if (first.text.empty()) first = html("<a class='skip' href='#{}'>Skip to “{}”</a>", target, name);
    links += html("<li><a href='#{}'>{}</a></li>", target, name);
    at = title;
  }
  if (links.text.empty()) return {};
  return first + html("<nav class='contents' aria-label='On this page'><ul>{}</ul></nav>\n", links);
}

Html sortable(std::string_view title, std::string_view css) {
  return html("<th scope='col' class='{}'><button type='button' class='sort'>{}</button></th>", css, title);
}

std::string_view category_class(Category category) {
  constexpr std::string_view kClasses[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6"};
  return kClasses[static_cast<size_t>(category)];
}

}  // namespace rung::report
