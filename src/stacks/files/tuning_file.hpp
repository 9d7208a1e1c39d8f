// A tuning file in memory: every line unchanged, and the entries that its format reads from them.
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
  std::string name;              // in the format's words: "Gemm_Hipblaslt_1234", "Default", a kernel's, a solver's
  std::optional<int64_t> index;  // in the library's list
  std::optional<int64_t> split_k;
};

// A result, or a row of a list of products to tune.
struct Entry {
  size_t line = 0;                 // from 1; 0: new
  uint32_t table = 0;              // index of the table whose columns the line has
  std::optional<GemmShape> shape;  // none: not a matrix product (a convolution)
  std::string key;                 // the stack's look-up key
  std::optional<Solution> solution;
  std::optional<double> us;  // not finite: the stack noted that it did not measure
  std::string architecture;  // the row's GPU: "gfx942"; empty: the file does not say
  int compute_units = 0;     // the row's GPU; 0: the file does not say
  // Cells of a new entry for columns that only its format has, and no field above. For lines that were read use
  // cell_of().
  std::map<std::string, std::string, std::less<>> others;
};

struct Fact {
  std::string name, value;  // a validator, a version
  size_t line = 0;
};

// A line that does not fit the format: kept and not used. `text` gives the value found and the values allowed.
struct Refused {
  size_t line = 0;
  std::string text;
};

struct TuningFile {
  std::string path;  // for messages
  const Format* format = nullptr;
  char separator = ',';  // another one: the stack reads no line, nor does this program
  std::vector<Line> lines;
  std::vector<std::vector<std::string>> tables;  // columns, in formats that name them; hipBLASLt's before each row
  std::vector<Fact> facts;
  std::vector<Entry> entries;  // in the order of lines
  std::vector<Refused> refused;
};

// Finds the format by content, or takes the one named. Errors: unreadable, larger than limits allow, no known format,
// not text. Malformed rows are no error: they are listed in `refused`.
Result<TuningFile> read_tuning_file(const std::string& path, std::string_view format = "");
Result<TuningFile> read_tuning_text(const std::string& name, std::string_view text, std::string_view format = "");
// Returns an error for the first refused line, if any: for callers that need every row.
Status expect_no_refused(const TuningFile& file);

// Returns the cell of a column in the line of an entry; empty: no such cell.
std::string cell_of(const TuningFile& file, const Entry& entry, std::string_view column);

// Makes a file with only the format's header, for this machine. Errors: a read-only format, facts that it needs and the
// machine lacks.
Result<TuningFile> new_tuning_file(std::string_view format, const TunedMachine& machine);
// Replaces the entry that the stack would take for this key, or adds a line. A changed entry keeps the cells that this
// program does not understand. Errors: content that the format cannot express.
Status put(TuningFile& file, Entry entry);
// Returns the file's text: byte for byte as read, except for entries that were put.
std::string text_of(const TuningFile& file);

}  // namespace rung::stacks
