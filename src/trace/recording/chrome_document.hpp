// Reads Chrome's JSON: an object with the member "traceEvents", or just the array of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <utility>

#include "trace/recording/chrome_event.hpp"
#include "trace/recording/json_window.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
inline constexpr uint64_t kLeastEventBytes = 128;  // of text, for an event that is kept

// A Recorder takes each event and the member "deviceProperties".
template <class Recorder>
class ChromeDocument {
 public:
  ChromeDocument(ByteSource source, Recorder& recorder) : window_(std::move(source)), recorder_(recorder) {}

  Status read() {
    bool array = false;
    RUNG_CHECK(window_.scan("the beginning", [&](JsonCursor& cursor) {
      if (cursor.starts_with(kByteOrderMark)) cursor.at += kByteOrderMark.size();
      cursor.skip_blanks();
      array = *cursor.at == '[';
      return array || *cursor.at == '{' ? Scan::ok : cursor.stop("'{' or '['");
    }));
    RUNG_CHECK(array ? read_events() : read_members());
    return window_.expect_end();
  }

 private:
  // Scans an event and its comma together, because there are millions.
  Status read_events() {
    bool closed = false;
    RUNG_CHECK(window_.open('[', ']', closed));
    while (!closed) {
      ChromeEvent event;
      RUNG_CHECK(window_.scan("an event", [&](JsonCursor& cursor) {
        event = {};
        const Scan scan = scan_event(cursor, event);
        return scan == Scan::ok ? cursor.comma_or(']', closed) : scan;
      }));
      recorder_.take(event);
    }
    return {};
  }

  Status read_members() {
    bool any_events = false;
    RUNG_CHECK(window_.members([&](const std::string& key) {
      any_events |= key == "traceEvents";
      if (key == "traceEvents") return read_events();
      return key == "deviceProperties" ? read_devices() : window_.skip_value();
    }));
    if (!any_events) return bad_file("'{}': got a JSON object without \"traceEvents\"", window_.path());
    return {};
  }

  Status read_devices() {
    std::string_view value;
    RUNG_CHECK(window_.scan("the devices", [&](JsonCursor& cursor) { return cursor.value(value); }));
    recorder_.take_devices(value);
    return {};
  }

  JsonWindow window_;
  Recorder& recorder_;
};

// Errors: the document's and the recorder's, which begin with the path.
template <class Recorder>
Result<Recording> read_chrome_document(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  Recorder recorder;
  recorder.expect(source.file_bytes() * (source.packed() ? 16 : 1) / kLeastEventBytes);
  RUNG_CHECK(ChromeDocument<Recorder>(std::move(source), recorder).read());
  auto recording = recorder.finish();
  if (!recording) return fail_in(recording.error(), "'{}'", path);
  return recording;
}

// Returns the start of JSON of this kind, after blanks and a byte-order mark; empty: the file is not such JSON.
inline std::string_view chrome_text(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return {};
  return head.substr(first);
}

}  // namespace rung::trace
