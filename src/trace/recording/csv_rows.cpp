// A quote ends a field only before a separator or the end of the line: profilers write names with quotes inside.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/csv_rows.hpp"

#include <algorithm>
#include <array>

namespace rung::trace {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::array kSeparators{',', ';', '\t'};

bool ends_line(char c) { return c == '\n' || c == '\r'; }

std::string_view first_line(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string without_quotes(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
  return std::string(field);
}

}  // namespace

char separator_of(std::string_view text) {
  std::array<size_t, kSeparators.size()> counts{};
  bool quoted = false;
  for (const char c : first_line(text)) {
    quoted ^= c == '"';
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += !quoted && c == kSeparators[i];
  }
  return kSeparators[static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

std::vector<std::string> first_row(std::string_view text) {
  const char separator = separator_of(text);
  std::vector<std::string> fields;
  std::string_view line = first_line(text);
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size()) quoted ^= line[i] == '"';
    if (i < line.size() && (quoted || line[i] != separator)) continue;
    fields.push_back(without_quotes(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return fields;
}

CsvRows::CsvRows(std::string path, ByteSource source)
    : path_(std::move(path)), source_(std::make_unique<ReadAhead>(std::move(source))) {}

Result<CsvRows> CsvRows::open(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  CsvRows rows(path, std::move(source));
  RUNG_CHECK(rows.read_header());
  return rows;
}

Status CsvRows::read_header() {
  while (!ended_ && text_.find('\n') == std::string::npos && text_.size() <= kMostRowBytes) RUNG_CHECK(load());
  separator_ = separator_of(text_);
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  RUNG_CHECK(read_row());
  header_.assign(fields_.begin(), fields_.end());
  while (!header_.empty() && header_.back().empty()) header_.pop_back();
  if (header_.size() < 2) return bad_file("'{}': got no columns, wanted a first line that names them", path_);
  return {};
}

Result<const std::vector<std::string_view>*> CsvRows::next() {
  RUNG_CHECK(read_row());
  // A separator after the last column begins no further column.
  if (fields_.size() == header_.size() + 1 && fields_.back().empty()) fields_.pop_back();
  return &fields_;
}

Status CsvRows::read_row() {
  fields_.clear();
  for (;;) {
    while (at_ < text_.size() && ends_line(text_[at_])) ++at_;
    if (at_ == text_.size() && ended_) return {};
    if (at_ < text_.size() && scan_row()) break;
    if (text_.size() - at_ > kMostRowBytes)
      return bad_file("'{}': row {} is longer than {} bytes: is a quote not closed?", path_, rows_ + 1, kMostRowBytes);
    RUNG_CHECK(load());
  }
  ++rows_;
  cut_fields();
  return {};
}

// Discards the text read before, which holds the fields of the previous row.
Status CsvRows::load() {
  RUNG_CHECK(source_->next(chunk_));
  ended_ = chunk_.empty();
  text_.erase(0, at_);
  at_ = 0;
  text_ += chunk_;
  return {};
}

// Returns false if the row is incomplete.
bool CsvRows::scan_row() {
  places_.clear();
  size_t at = at_;
  for (;;) {
    if (!scan_field(at)) return false;
    if (at == text_.size() || text_[at] != separator_) break;
    ++at;
  }
  at_ = at;
  return true;
}

bool CsvRows::scan_field(size_t& at) {
  if (at < text_.size() && text_[at] == '"') return scan_quoted(at);
  const size_t begin = at;
  while (at < text_.size() && text_[at] != separator_ && !ends_line(text_[at])) ++at;
  if (at == text_.size() && !ended_) return false;
  places_.push_back({begin, at, false});
  return true;
}

bool CsvRows::scan_quoted(size_t& at) {
  const size_t begin = at + 1;
  bool doubled = false;
  for (size_t quote = begin;; ++quote) {
    quote = text_.find('"', quote);
    if (quote == std::string::npos || quote + 1 == text_.size()) {
      if (!ended_) return false;
      at = text_.size();
      places_.push_back({begin, quote == std::string::npos ? at : quote, doubled});
      return true;
    }
    const char after = text_[quote + 1];
    if (after == separator_ || ends_line(after)) {
      at = quote + 1;
      places_.push_back({begin, quote, doubled});
      return true;
    }
    if (after == '"') {
      doubled = true;
      ++quote;
    }
  }
}

void CsvRows::cut_fields() {
  for (const Place& place : places_) {
    size_t end = place.end;
    if (place.doubled) {  // in place, as the row is not scanned again
      end = place.begin;
      for (size_t i = place.begin; i < place.end; ++i) {
        text_[end++] = text_[i];
        if (text_[i] == '"' && i + 1 < place.end && text_[i + 1] == '"') ++i;
      }
    }
    fields_.push_back(std::string_view(text_).substr(place.begin, end - place.begin));
  }
}

}  // namespace rung::trace
