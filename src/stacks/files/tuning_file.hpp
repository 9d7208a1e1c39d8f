// A tuning file in memory: every line as it stands, and what its format makes of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "stacks/files/gemm_shape.hpp"
#include "stacks/files/machine.hpp"

namespace rung::stacks {

struct Format;

enum class LineEnd : uint8_t { lf, crlf, none };  // none: the file ends here
struct Line {
  std::string text;
  LineEnd end = LineEnd::lf;
};

struct Solution {
  std::string library;           // "hipblaslt", "rocblas", "asm", "ck", ...; empty: the file does not say
  std::string name;              // as the format has it: "Gemm_Hipblaslt_1234", "Default", a kernel's, a solver's
  std::optional<int64_t> index;  // of the library's list
  std::optional<int64_t> split_k;
};

// A result, or a row of a list of what is to be tuned.
struct Entry {
  size_t line = 0;                 // from 1; 0: new
  uint32_t table = 0;              // whose columns the line has
  std::optional<GemmShape> shape;  // none: not a matrix product (a convolution)
  std::string key;                 // what the stack looks up
  std::optional<Solution> solution;
  std::optional<double> us;  // not finite: the stack wrote that it did not measure
  std::string architecture;  // that the row is for: "gfx942"; empty: the file does not say
  int compute_units = 0;     // likewise; 0
  // Columns of a new entry that are the format's own, which nothing above has. For those of a line that was read:
  // cell_of().
  std::map<std::string, std::string, std::less<>> others;
};

struct Fact {
  std::string name, value;  // a validator, a version
  size_t line = 0;
};

// A line that is none of the format's: kept, and not used. `text` says got and wanted.
struct Refused {
  size_t line = 0;
  std::string text;
};

struct TuningFile {
  std::string path;  // for messages
  const Format* format = nullptr;
  char separator = ',';  // another one: the stack reads no line, and neither does this
  std::vector<Line> lines;
  std::vector<std::vector<std::string>> tables;  // columns, of formats that name them; hipBLASLt's before each row
  std::vector<Fact> facts;
  std::vector<Entry> entries;  // in the order of lines
  std::vector<Refused> refused;
};

// By content, or by the name of a format. Errors: unreadable, larger than limits allow, no format's, not text. Rows
// that are malformed are no error: they are `refused`.
Result<TuningFile> read_tuning_file(const std::string& path, std::string_view format = "");
Result<TuningFile> read_tuning_text(const std::string& name, std::string_view text, std::string_view format = "");
// An error for the first refused line, if any: for those who may not go on without a row.
Status expect_no_refused(const TuningFile& file);

// The text of a column in the line of an entry; empty: there is none.
std::string cell_of(const TuningFile& file, const Entry& entry, std::string_view column);

// A file with the format's header alone, for this machine. Errors: a format that is only read, facts that it needs and
// the machine lacks.
Result<TuningFile> new_tuning_file(std::string_view format, const Machine& machine);
// Replaces the entry of the same key that the stack would take, or adds a line. An entry that was read and changed
// keeps what nothing here understands. Errors: what the format cannot say.
Status put(TuningFile& file, Entry entry);
// Byte by byte what was read, but for what was put.
std::string text_of(const TuningFile& file);

}  // namespace rung::stacks
