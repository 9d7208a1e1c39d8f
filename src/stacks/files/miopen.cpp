// MIOpen's text databases, read only: "KEY=ID:VALUES;ID:VALUES". The find database has solvers with their times, the
// performance database solvers with their parameters.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"

namespace rung::stacks {
namespace {

struct DatabaseTarget {
  std::string architecture;
  int compute_units = 0;
};

// Reads the target from a file's name: "gfx906_60" has 60 units, "gfx90a6e" 0x6e, "gfx942130" 0x130: up to 64 are
// decimal after '_', more are hexadecimal. After "gfx" come three letters and digits, or four if the first is '1'.
DatabaseTarget target_of(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  if (!name.starts_with("gfx")) return {};
  const size_t letters = name.size() > 3 && name[3] == '1' ? 7 : 6;
  if (name.size() <= letters) return {std::string(name), 0};
  std::string_view units = name.substr(letters);
  const bool decimal = units.starts_with('_');
  if (decimal) units.remove_prefix(1);
  int count = 0;
  const auto [end, error] = std::from_chars(units.data(), units.data() + units.size(), count, decimal ? 10 : 16);
  if (error != std::errc() || end != units.data() + units.size()) count = 0;
  return {std::string(name.substr(0, letters)), count};
}

// Reads an entry's time, workspace and algorithm. Before MIOpen 2.20 the id named the algorithm, and the solver came
// first.
Status take_find_values(std::string_view values, Entry& entry) {
  auto cells = cells_of(values);
  if (cells.size() == 5) {
    entry.solution->name = cells[0];
    cells.erase(cells.begin());
  }
  if (cells.size() < 3) return mismatch("got {}, wanted a time, a workspace and an algorithm", shown(values));
  const auto ms = real_number(cells[0]);
  if (!ms) return mismatch("time: got {}, wanted milliseconds such as 0.0123", shown(cells[0]));
  if (!whole_number(cells[1])) return mismatch("workspace: got {}, wanted bytes", shown(cells[1]));
  entry.us = *ms * 1000;
  return {};
}

Result<Entry> solver_entry(std::string_view key, std::string_view item, bool times) {
  const size_t colon = item.find(':');
  if (colon == item.npos || colon == 0) return mismatch("got {}, wanted a solver and its values", shown(item));
  Entry entry;
  entry.key = fmt::format("{}:{}", key, item.substr(0, colon));
  entry.solution = Solution{"miopen", std::string(item.substr(0, colon)), {}, {}};
  if (times) RUNG_CHECK(take_find_values(item.substr(colon + 1), entry));
  return entry;
}

Status parse_record(TuningFile& file, std::string_view text, size_t number, bool times) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return add_entry(file, mismatch("got {}, wanted KEY=SOLVER:VALUES", shown(text)), number);
  if (equals + 1 == text.size()) return add_entry(file, mismatch("got no solver for {}", shown(text)), number);
  const DatabaseTarget target = target_of(file.path);
  for (const std::string_view item : cells_of(text.substr(equals + 1), ';')) {
    Result<Entry> entry = solver_entry(text.substr(0, equals), item, times);
    if (entry) entry->architecture = target.architecture, entry->compute_units = target.compute_units;
    RUNG_CHECK(add_entry(file, std::move(entry), number));
  }
  return {};
}

Status parse_records(TuningFile& file, bool times) {
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view text = i == 0 ? without_mark(file.lines[i].text) : std::string_view(file.lines[i].text);
    if (!text.empty()) RUNG_CHECK(parse_record(file, text, i + 1, times));
  }
  return {};
}

// Returns the first "ID:VALUES" of a line "KEY=ID:VALUES" whose key has sizes, separated by '-' or 'x'.
std::string_view first_item(std::span<const Line> head) {
  for (const Line& line : head) {
    const std::string_view text = without_mark(line.text);
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || text.substr(0, equals).find_first_of("-x") == text.npos) continue;
    const std::string_view item = text.substr(equals + 1, text.find(';', equals) - equals - 1);
    if (item.find(':') != item.npos) return item;
  }
  return {};
}

bool has_time(std::string_view item) { return item.find("miopen") != item.npos; }  // the name of an algorithm

}  // namespace

const Format miopen_find_db{"miopen_find_db",
                            "MIOpen's find database",
                            "MIOpen: *.fdb.txt of MIOPEN_SYSTEM_DB_PATH, *.ufdb.txt of MIOPEN_USER_DB_PATH",
                            Wins::first,
                            [](std::span<const Line> head) { return has_time(first_item(head)); },
                            [](TuningFile& file) { return parse_records(file, true); },
                            nullptr,
                            nullptr};

const Format miopen_perf_db{"miopen_perf_db",
                            "MIOpen's performance database",
                            "MIOpen: *.udb.txt of MIOPEN_USER_DB_PATH",
                            Wins::first,
                            [](std::span<const Line> head) { return !first_item(head).empty(); },
                            [](TuningFile& file) { return parse_records(file, false); },
                            nullptr,
                            nullptr};

}  // namespace rung::stacks
