// A page's elements, their texts and their numbers, for tests of what stands where.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::testing {

struct Element {
  std::string name, attributes, inner;

  std::string attribute(const std::string& wanted) const {
    size_t at = (" " + attributes).find(" " + wanted + "='");
    if (at == std::string::npos) return "";
    size_t begin = at + wanted.size() + 2;
    return attributes.substr(begin, attributes.find('\'', begin) - begin);
  }
  // Without its unit; NaN where there is none.
  double number(const std::string& wanted) const {
    std::string text = attribute(wanted);
    return text.empty() ? NAN : std::strtod(text.c_str(), nullptr);
  }
  bool is(const std::string& css) const {
    return css.empty() || (" " + attribute("class") + " ").find(" " + css + " ") != std::string::npos;
  }
  // What a reader sees of it.
  std::string text() const {
    std::string out;
    bool markup = false;
    for (char c : inner) {
      if (c == '<' || c == '>')
        markup = c == '<';
      else if (!markup)
        out += c;
    }
    for (auto [entity, character] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&#39;", "'"}, {"&quot;", "\""}, {"&amp;", "&"}})
      for (size_t at = 0; (at = out.find(entity, at)) != std::string::npos; ++at)
        out.replace(at, std::string_view(entity).size(), character);
    return out;
  }
};

// Where the element ends that `begin` is inside of; markup without it to the end.
inline size_t end_of(std::string_view markup, const std::string& name, size_t begin) {
  int depth = 1;
  for (size_t at = begin; (at = markup.find('<', at)) != std::string_view::npos; ++at) {
    std::string_view rest = markup.substr(at + 1);
    if (rest.starts_with("/" + name + ">") && --depth == 0) return at;
    if (rest.starts_with(name + ">") || rest.starts_with(name + " ")) ++depth;
  }
  return markup.size();
}

// Those of one of these names and of that class, in order, those inside others too.
inline std::vector<Element> elements(std::string_view markup, const std::vector<std::string>& names,
                                     const std::string& css = "") {
  std::vector<Element> found;
  for (size_t at = 0; (at = markup.find('<', at)) != std::string_view::npos; ++at) {
    size_t close = markup.find('>', at);
    std::string tag(markup.substr(at + 1, close - at - 1));
    bool empty = tag.ends_with('/');
    if (empty) tag.pop_back();
    size_t space = std::min(tag.find(' '), tag.size());
    Element element{tag.substr(0, space), tag.substr(std::min(space + 1, tag.size())), ""};
    if (std::find(names.begin(), names.end(), element.name) == names.end() || !element.is(css)) continue;
    if (!empty) element.inner = markup.substr(close + 1, end_of(markup, element.name, close + 1) - close - 1);
    found.push_back(std::move(element));
  }
  return found;
}

inline Element section_of(std::string_view page, const std::string& id) {
  for (Element& section : elements(page, {"section"}))
    if (section.attribute("id") == id) return section;
  return {};
}

using Texts = std::vector<std::string>;

inline Texts texts_of(const std::vector<Element>& list) {
  Texts texts;
  for (const Element& element : list) texts.push_back(element.text());
  return texts;
}

// The cells' texts, by row, of all table bodies.
inline std::vector<Texts> rows_of(const Element& part) {
  std::vector<Texts> rows;
  for (const Element& body : elements(part.inner, {"tbody"}))
    for (const Element& row : elements(body.inner, {"tr"})) rows.push_back(texts_of(elements(row.inner, {"th", "td"})));
  return rows;
}

}  // namespace rung::testing
