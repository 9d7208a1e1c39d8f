// Rows of a CSV file, one after another: the separator is told by the header, and no more than a row is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/read_ahead.hpp"

namespace rung::trace {

// The separator of this text's first line: ',', ';' or a tab, whichever it has most of outside quotes.
char separator_of(std::string_view text);
// The fields of a text's first line.
std::vector<std::string> first_row(std::string_view text);

class CsvRows {
 public:
  static constexpr size_t kMostRowBytes = size_t{1} << 20;

  // Reads the header, too. Errors: those of ByteSource, no header, one of a single column.
  static Result<CsvRows> open(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  // The fields of the next row that is not empty, valid until the next call; no fields: the end. Errors: the source's,
  // and a row beyond kMostRowBytes.
  Result<const std::vector<std::string_view>*> next();
  const std::string& path() const { return path_; }

 private:
  struct Place {
    size_t begin, end;
    bool doubled;  // has quotes that stand for one
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
  size_t at_ = 0;  // where the next row begins
  bool ended_ = false;
  char separator_ = ',';
  size_t rows_ = 0;
  std::vector<std::string> header_;
  std::vector<Place> places_;
  std::vector<std::string_view> fields_;
};

}  // namespace rung::trace
