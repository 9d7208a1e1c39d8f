// A window onto a JSON text of any length, moved along as the text is read: a value to scan must fit, and scanned text
// is dropped.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "trace/recording/json_cursor.hpp"
#include "trace/recording/read_ahead.hpp"

namespace rung::trace {

class JsonWindow {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;  // for one value

  explicit JsonWindow(ByteSource source) : path_(source.path()), chunks_(std::move(source)) {}

  // Calls scan(cursor) where the last scan ended, again with more text as long as the scan wants it. Results stay in
  // place until the next call. Errors give the byte; `what` names what was being read.
  template <class F>
  Status scan(const char* what, const F& scan_one) {
    for (;;) {
      JsonCursor cursor(text_.data() + at_, text_.data() + end_);
      const Scan result = end_ == 0 ? Scan::more : scan_one(cursor);
      if (result == Scan::ok) {
        at_ = static_cast<size_t>(cursor.at - text_.data());
        return {};
      }
      if (result == Scan::bad) return not_json(cursor);
      RUNG_TRY(const bool grown, refill());
      if (!grown) return cut_short(what);
    }
  }
  // Scans the next opening bracket, and the closing one if nothing is between them.
  Status open(char opening, char closing, bool& closed);
  // Reads an array: read_element() reads each element by further calls.
  template <class F>
  Status elements(const F& read_element) {
    return items('[', ']', read_element);
  }
  // Reads an object: read_member(key) reads each member's value by further calls.
  template <class F>
  Status members(const F& read_member) {
    return items('{', '}', [&]() -> Status {
      std::string_view key;
      RUNG_CHECK(scan("an object", [&](JsonCursor& cursor) { return cursor.key(key); }));
      return read_member(std::string(key));
    });
  }
  // Skips a value of any length; only its strings must fit.
  Status skip_value();
  // Checks that only blanks follow.
  Status expect_end();
  uint64_t byte() const { return before_ + at_; }
  const std::string& path() const { return path_; }

 private:
  template <class F>
  Status items(char opening, char closing, const F& read_item) {
    bool closed = false;
    RUNG_CHECK(open(opening, closing, closed));
    while (!closed) {
      RUNG_CHECK(read_item());
      RUNG_CHECK(scan("a list", [&](JsonCursor& cursor) { return cursor.comma_or(closing, closed); }));
    }
    return {};
  }
  Result<bool> refill();  // false: there is no more
  tl::unexpected<Error> not_json(const JsonCursor& cursor) const;
  tl::unexpected<Error> cut_short(const char* what) const;

  std::string path_;
  ReadAhead chunks_;
  std::string chunk_;
  std::string text_;         // padded
  size_t at_ = 0, end_ = 0;  // in `text_`: the scan position, the end of the text
  uint64_t before_ = 0;      // bytes of the whole text before `text_`
};

}  // namespace rung::trace
