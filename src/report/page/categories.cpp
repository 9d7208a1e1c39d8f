// Shows kinds of work in per cent, before and after.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "report/format.hpp"
#include "report/op_groups.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

constexpr size_t kCategories = kCategoryNames.size();
// Returns whether a part of `share` of a bar of `width` pixels has room for its name.
bool has_room(std::string_view name, double share, double width) {
  return share * width > 8.0 * static_cast<double>(name.size()) + 12;
}
constexpr double kPhone = 270, kDesk = 600;  // least widths of the bar, pixels

struct Shares {
  std::array<double, kCategories> us{}, floor_us{};
  std::array<int, kCategories> launches{};
  double total = 0;
  double of(size_t i) const { return total > 0 ? us[i] / total : 0; }
};

Shares after(const ClimbResult& result) {
  Shares s;
  for (const OpGroup& group : group_ops(result.ops)) {
    size_t i = static_cast<size_t>(group.category);
    s.us[i] += group.us, s.floor_us[i] += group.floor_us, s.launches[i] += group.count;
  }
  if (std::isfinite(result.host_us) && result.host_us > 0)
    s.us[static_cast<size_t>(Category::launch)] += result.host_us;
  for (double us : s.us) s.total += us;
  return s;
}

// Words that name no category count as other.
Shares before(const ClimbResult& result) {
  Shares s;
  for (const auto& [name, us] : result.baseline_categories_us) {
    auto it = std::ranges::find(kCategoryNames, name);
    size_t i = it == kCategoryNames.end() ? kCategories - 1 : static_cast<size_t>(it - kCategoryNames.begin());
    if (std::isfinite(us) && us > 0) s.us[i] += us, s.total += us;
  }
  return s;
}

Html stack(std::string_view title, const Shares& shares, Clock clock) {
  Strip strip(34);
  double x = 0;
  for (size_t i = 0; i < kCategories; ++i) {
    double width = shares.of(i) * 100;
    strip.bar(x, x + width, std::string(category_class(Category(i))) + " part");
    if (has_room(kCategoryNames[i], shares.of(i), kDesk)) {
      bool always = has_room(kCategoryNames[i], shares.of(i), kPhone);
      strip.label(x + width / 2, kCategoryNames[i], always ? "inside" : "inside wide");
    }
    x += width;
  }
  return html("<div class='stack'><span class='stack-name'>{}</span>{}<span class='stack-total'>{}</span></div>\n",
              title, strip.decoration(), duration_us(shares.total, clock));
}

Html table(const Shares& was, const Shares& now, Clock clock) {
  std::array<size_t, kCategories> order{};
  for (size_t i = 0; i < kCategories; ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return now.us[a] > now.us[b]; });
  bool known = was.total > 0;
  Html rows;
  for (size_t i : order) {
    if (now.us[i] <= 0 && was.us[i] <= 0) continue;
    rows += html("<tr><th scope='row' class='name'><span class='key {}'></span>{}</th>", category_class(Category(i)),
                 kCategoryNames[i]);
    if (known) rows += html("<td class='number'>{}</td>", percent(was.of(i)));
    double left = now.us[i] - now.floor_us[i];
    rows += html(
        "<td class='number'>{}</td><td class='number'>{}</td><td class='number wide'>{}</td>"
        "<td class='number wide'>{}</td></tr>",
        percent(now.of(i)), fixed(now.us[i], 1), now.floor_us[i] > 0 ? fixed(std::max(0.0, left), 1) : kNone,
        now.launches[i] > 0 ? count(now.launches[i]) : std::string(kNone));
  }
  return html(
      "<table class='compact'><thead><tr><th scope='col' class='name'>kind</th>{}<th scope='col' class='number'>{}</th>"
      "<th scope='col' class='number'>{}</th><th scope='col' class='number wide'>{} above floor</th>"
      "<th scope='col' class='number wide'>launches</th></tr></thead><tbody>{}</tbody></table>\n",
      Html{known ? "<th scope='col' class='number'>before</th>" : ""}, known ? "after" : "share", us_word(clock),
      us_word(clock), rows);
}

}  // namespace

Html categories(const ClimbResult& result) {
  Shares was = before(result), now = after(result);
  const Clock clock = clock_of(result.device);
  if (now.total <= 0 && was.total <= 0) return {};
  Html bars =
      (was.total > 0 ? stack("before", was, clock) : Html{}) + (now.total > 0 ? stack("after", now, clock) : Html{});
  return section(
      "categories", "Where the time goes",
      "Each bar is one whole run, in per cent. Launches are timed one at a time with weights out of the cache, so "
      "their sum may exceed the latency above.",
      bars + table(was, now, clock));
}

}  // namespace rung::report
