// Any text as a tuning file of every format: refused, or a file whose bytes are the same again, whose rows are made
// again with the same meaning, and that the linter goes through.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "seeds.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/samples.hpp"
#include "stacks/lint/lint.hpp"

using namespace rung;
using namespace rung::stacks;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> seeds;
  for (const Sample& one : samples()) seeds.push_back(one.text);
  write_seeds(*argc, *argv, seeds);
  return 0;
}

namespace {

// Each row that its format can say is put in its own place: the stack finds the same product there.
void put_again(const TuningFile& read) {
  TuningFile file = read;
  std::map<std::string, size_t> rows;  // of each key; where there are several, one of them is replaced
  for (const Entry& entry : read.entries) ++rows[entry.key];
  for (const Entry& entry : read.entries) {
    if (rows[entry.key] > 1 || !put(file, entry)) continue;
    require(file.entries.size() == read.entries.size(), "a row is put in its own place");
  }
  const auto again = read_tuning_text(file.path, text_of(file), read.format->name);
  require(again.has_value(), "what is written is read");
  require(again->entries.size() == read.entries.size(), "with the same number of rows");
  for (size_t i = 0; i < read.entries.size(); ++i) {
    require(again->entries[i].key == read.entries[i].key, "which the stack finds by the same key");
    require(again->entries[i].shape.has_value() == read.entries[i].shape.has_value(), "of the same kind");
    if (read.entries[i].shape)
      require(text_of(*again->entries[i].shape) == text_of(*read.entries[i].shape), "and the same product");
  }
}

void hold(const TuningFile& file, std::string_view text) {
  require(text_of(file) == text, "a file that was read has the same bytes");
  put_again(file);
  for (const TunedMachine& machine : {TunedMachine{}, mi300x(), h200()}) {
    const LintReport report = lint(file, {machine, [](const Entry&) -> Result<MeasuredRow> {
                                            return MeasuredRow{2, 1, 0};
                                          }});
    require(!to_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty(),
            "a report is text");
    require(report.rows == file.entries.size(), "of all rows");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto file = read_tuning_text("f", text)) hold(*file, text);
  for (const Format* format : formats())
    if (const auto file = read_tuning_text("f", text, format->name)) hold(*file, text);
  return 0;
}
