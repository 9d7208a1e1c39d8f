// Markup in which text cannot inject anything: by its type, text becomes part of a page only escaped.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rung::report {

// Escapes text for an HTML element and a quoted attribute; control characters and broken UTF-8 become U+FFFD.
std::string escape(std::string_view text);

// Finished markup.
struct Html {
  std::string text;
  Html& operator+=(const Html& other) {
    text += other.text;
    return *this;
  }
  friend Html operator+(Html a, const Html& b) { return std::move(a += b); }
};

inline const std::string& as_markup(const Html& html) { return html.text; }
inline std::string as_markup(std::string_view text) { return escape(text); }
inline std::string as_markup(const std::string& text) { return escape(text); }
inline std::string as_markup(const char* text) { return escape(text); }
template <class T>
requires std::is_arithmetic_v<T> T as_markup(T number) { return number; }
template <class T>
using Markup = std::decay_t<decltype(as_markup(std::declval<const T&>()))>;

// Formats html("<td>{}</td>", name): escapes every argument except numbers and Html.
template <class... Args>
Html html(std::type_identity_t<fmt::format_string<Markup<Args>&...>> format, const Args&... args) {
  return {[&](auto... ready) { return fmt::vformat(format, fmt::make_format_args(ready...)); }(as_markup(args)...)};
}

// Returns a dotted name that may break after its dots, slashes and underlines.
Html breakable(std::string_view name);

// Joins the markup of the items.
template <class Range, class F>
Html each(const Range& range, F&& f) {
  Html out;
  for (const auto& item : range) out += f(item);
  return out;
}

}  // namespace rung::report
