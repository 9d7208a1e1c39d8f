// Prints the ladder as a table on a terminal.
// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/ladder_rows.hpp"

namespace rung {
namespace {

using namespace report;

constexpr size_t kNumbers = 7;       // columns before the reason
constexpr size_t kLeastReason = 24;  // columns; a narrower reason goes on its own line
constexpr size_t kReasonIndent = 4;
using Line = std::array<std::string, kNumbers>;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kGreen = "\x1b[32m", kRed = "\x1b[31m",
                           kReset = "\x1b[0m";

std::string pad(const std::string& text, size_t width, bool right) {
  std::string blanks(width - std::min(width, display_width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

std::string paint(const std::string& text, std::string_view style, bool color) {
  return color && !style.empty() ? fmt::format("{}{}{}", style, text, kReset) : text;
}

Line cells(const LadderRow& row, int decimals) {
  const Receipt& r = row.receipt;
  std::string interval = bracketed(r.ci95);
  return {shorten(row.name, 24),        row.baseline ? "" : row.verdict,
          fixed(r.ms, decimals),        row.baseline ? "" : ratio(r.ratio),
          row.baseline ? "" : interval, count(r.kernels),
          scientific(r.rel_l2)};
}

// Breaks text at blanks; cuts a word longer than the width.
std::vector<std::string> wrap(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find(' ', i), text.size());
    std::string word = shorten(text.substr(i, end - i), width);
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    i = end + 1;
  }
  return lines;
}

class Table {
 public:
  Table(std::vector<Line> lines, bool color, size_t width) : lines_(std::move(lines)), color_(color), width_(width) {
    for (const Line& line : lines_)
      for (size_t i = 0; i < kNumbers; ++i) widths_[i] = std::max(widths_[i], display_width(line[i]));
    for (size_t w : widths_) used_ += w + 2;
  }

  std::string row(size_t index, const std::string& reason, std::string_view style,
                  std::string_view verdict_style) const {
    std::string out;
    for (size_t i = 0; i < kNumbers; ++i) {
      std::string text = pad(lines_[index][i], widths_[i], i >= 2);
      out += paint(text, i == 1 && !verdict_style.empty() ? verdict_style : style, color_) + "  ";
    }
    std::string tail = reason_text(reason, style);
    return (tail.empty() || tail[0] == '\n' ? trimmed(out) : out) + tail + "\n";
  }

  bool beside() const { return used_ + kLeastReason <= width_; }  // reasons fit beside the numbers

 private:
  std::string reason_text(const std::string& reason, std::string_view style) const {
    size_t indent = beside() ? used_ : kReasonIndent;
    std::string out;
    for (const std::string& line : wrap(reason, std::max(width_, indent + kLeastReason) - indent)) {
      bool first_beside = out.empty() && beside();
      out += (first_beside ? "" : "\n" + std::string(indent, ' ')) + paint(line, style, color_);
    }
    return reason.empty() ? "" : out;
  }
  static std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  std::vector<Line> lines_;
  bool color_;
  size_t width_, used_ = 0;
  std::array<size_t, kNumbers> widths_{};
};

}  // namespace

std::string ladder_table(const ClimbResult& result, bool color, int width) {
  std::vector<LadderRow> rows = ladder_rows(result);
  std::vector<double> times;
  for (const LadderRow& row : rows) times.push_back(row.receipt.ms);
  std::vector<Line> lines{{"rung", "verdict", std::string(ms_word(clock_of(result.device))), "× before",
                           "95 % interval", "kernels", "rel. L2"}};
  for (const LadderRow& row : rows) lines.push_back(cells(row, decimals_for(times)));

  Table table(lines, color, static_cast<size_t>(std::max(width, 40)));
  std::string out = table.row(0, table.beside() ? "reason" : "", kBold, "");
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool rejected = rows[i].verdict == "rejected";
    out += table.row(i + 1, printable(rows[i].receipt.reason), rejected ? kDim : "", rejected ? "" : kGreen);
  }
  out += "\n";
  for (const std::string& line : headlines(result)) {
    bool bad = line.starts_with("NOT VERIFIED") || line.starts_with("THROTTLED") || line.starts_with("DISTURBED");
    out += paint(line, bad ? kRed : "", color) + "\n";
  }
  return out;
}

}  // namespace rung
