// Reads rows of a CSV file one after another: the header shows the separator, and only one row is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/read_ahead.hpp"

namespace rung::trace {

// Returns the most frequent of ',', ';' and tab outside quotes in this text's first line, as its separator.
char separator_of(std::string_view text);
// Returns the fields of a text's first line.
std::vector<std::string> first_row(std::string_view text);

class CsvRows {
 public:
  static constexpr size_t kMostRowBytes = size_t{1} << 20;

  // Reads the header as well. Errors: those of ByteSource, no header, a header with a single column.
  static Result<CsvRows> open(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  // Returns the fields of the next non-empty row, valid until the next call; no fields: the end. Errors: the source's,
  // and a row beyond kMostRowBytes.
  Result<const std::vector<std::string_view>*> next();
  const std::string& path() const { return path_; }

 private:
  struct Place {
    size_t begin, end;
    bool doubled;  // has doubled quotes, which stand for one
  };
  CsvRows(std::string path, ByteSource source);
  Status read_header();
  Status read_row();
  Status load();
  bool scan_row();
  bool scan_field(size_t& at);
  bool scan_quoted(size_t& at);
  void cut_fields();

  std::string path_;
  std::unique_ptr<ReadAhead> source_;
  std::string text_, chunk_;
  size_t at_ = 0;  // begin of the next row
  bool ended_ = false;
  char separator_ = ',';
  size_t rows_ = 0;
  std::vector<std::string> header_;
  std::vector<Place> places_;
  std::vector<std::string_view> fields_;
};

}  // namespace rung::trace
