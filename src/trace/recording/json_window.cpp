// Moves the unscanned rest to the front and appends the next chunk.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_window.hpp"

namespace rung::trace {

Result<bool> JsonWindow::refill() {
  RUNG_CHECK(chunks_.next(chunk_));
  if (chunk_.empty()) return false;
  if (end_ - at_ + chunk_.size() > kMostBytes)
    return bad_file("'{}': byte {}: got a value that goes on for more than {} MB", path_, byte(), kMostBytes >> 20);
  text_.erase(end_).erase(0, at_);
  before_ += at_;
  at_ = 0;
  text_ += chunk_;
  end_ = text_.size();
  text_.resize(end_ + kJsonPadding);
  pad_json(text_.data() + end_);
  return true;
}

tl::unexpected<Error> JsonWindow::not_json(const JsonCursor& cursor) const {
  const auto at = static_cast<size_t>(cursor.at - text_.data());
  const auto got = static_cast<unsigned char>(*cursor.at);
  const std::string shown = got > ' ' && got < 0x7f ? fmt::format("'{}'", *cursor.at) : fmt::format("byte {:02x}", got);
  return bad_file("'{}': byte {}: got {}, wanted {}", path_, before_ + at, shown, cursor.wanted);
}

tl::unexpected<Error> JsonWindow::cut_short(const char* what) const {
  return bad_file("'{}': ends at byte {} within {}: the file is cut short, as by a program that ended while writing it",
                  path_, before_ + end_, what);
}

// Scans twice, because the text after the bracket may not be read yet.
Status JsonWindow::open(char opening, char closing, bool& closed) {
  RUNG_CHECK(
      scan("a list", [&](JsonCursor& cursor) { return cursor.expect(opening, opening == '[' ? "'['" : "'{'"); }));
  return scan("a list", [&](JsonCursor& cursor) {
    closed = cursor.take(closing);
    return closed || !cursor.ended() ? Scan::ok : Scan::more;
  });
}

Status JsonWindow::skip_value() {
  JsonNesting nesting;
  bool ended = false;
  while (!ended) RUNG_CHECK(scan("a value", [&](JsonCursor& cursor) { return cursor.skip_part(nesting, ended); }));
  return {};
}

Status JsonWindow::expect_end() {
  for (;;) {
    JsonCursor cursor(text_.data() + at_, text_.data() + end_);
    cursor.skip_blanks();
    if (cursor.stop("the end of the file") == Scan::bad) return not_json(cursor);
    at_ = end_;
    RUNG_TRY(const bool grown, refill());
    if (!grown) return {};
  }
}

}  // namespace rung::trace
