// Draws one step as two strips.
// SPDX-License-Identifier: Apache-2.0
#include "report/advice/timeline.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "report/format.hpp"
#include "report/page/sections.hpp"

namespace rung::report {
namespace {

using trace::Bar;

constexpr double kLeastWidth = 0.08;  // per cent of the strip: a pixel of a wide page
constexpr double kHeight = 30;

struct Piece {
  double from = 0, to = 0;  // per cent
  std::string_view what, css;
  size_t count = 0;
  std::string name;  // the first bar's name
};

std::vector<Piece> pieces_of(const trace::Summary& summary, bool gaps, double length_us) {
  std::vector<Piece> pieces;
  for (const Bar& bar : summary.timeline) {
    if (bar.gap != gaps) continue;
    const double from = bar.from_us / length_us * 100, to = std::min(bar.to_us / length_us * 100, 100.0);
    Piece* last = pieces.empty() ? nullptr : &pieces.back();
    const bool joins = last && last->what == bar.what() && from - last->to < kLeastWidth && to - from < kLeastWidth * 4;
    if (joins)
      last->to = std::max(last->to, to), ++last->count;
    else
      pieces.push_back({from, to, bar.what(), bar.gap ? class_of(bar.cause) : class_of(bar.category), 1, bar.name});
  }
  return pieces;
}

Html piece_html(const Piece& piece, double length_us) {
  std::string tip = fmt::format("{}, {}", piece.what, duration_us((piece.to - piece.from) / 100 * length_us));
  if (piece.count > 1)
    tip += ", " + counted(piece.count, "piece");
  else if (!piece.name.empty())
    tip += ": " + shorten(printable(piece.name), 160);
  return html("<rect class='{}' x='{:.3f}%' width='{:.3f}%' y='3' height='{:g}' data-tip='{}'></rect>", piece.css,
              piece.from, std::max(piece.to - piece.from, kLeastWidth), kHeight - 6, tip);
}

Html strip_html(std::string_view name, const std::vector<Piece>& pieces, double length_us) {
  return html(
      "<div class='stack'><span class='stack-name'>{}</span><svg class='strip' height='{:g}' role='img' "
      "aria-label='{} of one step'>{}</svg><span class='stack-total'>{}</span></div>\n",
      name, kHeight, name, each(pieces, [&](const Piece& p) { return piece_html(p, length_us); }),
      duration_us(length_us));
}

Html keys(const std::vector<Piece>& pieces) {
  Html out;
  std::set<std::string_view> seen;
  for (const Piece& piece : pieces)
    if (seen.insert(piece.what).second)
      out += html("<span class='entry'><span class='key {}'></span>{}</span>", piece.css, piece.what);
  return out;
}

}  // namespace

std::string_view class_of(trace::KernelCategory category) {
  constexpr std::array<std::string_view, trace::kKernelCategoryWords.size()> kClasses{
      "c0", "c1", "c2", "c3", "c4", "c5", "c6", "rest", "refused"};
  return kClasses[static_cast<size_t>(category)];
}

std::string_view class_of(trace::GapCause cause) {
  constexpr std::array<std::string_view, trace::kGapCauseWords.size()> kClasses{
      "loss", "c4", "c5", "c3", "c1", "c6", "c2", "c0", "rest", "refused", "refused"};
  return kClasses[static_cast<size_t>(cause)];
}

Html timeline(const trace::Summary& summary) {
  const double length_us = summary.step_ms() * 1e3;
  if (!(length_us > 0) || summary.timeline.empty()) return {};
  const std::vector<Piece> work = pieces_of(summary, false, length_us), gaps = pieces_of(summary, true, length_us);
  return section("timeline", "One step",
                 "The step whose length is the median, from left to right: what the device did, and below it why it "
                 "stood still. Point at a piece for its name.",
                 strip_html("device", work, length_us) + strip_html("gaps", gaps, length_us) +
                     html("<p class='caption'>{}{}</p>\n", keys(work), keys(gaps)));
}

}  // namespace rung::report
