// Rules on rows of all formats: duplicates, times, GPUs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "stacks/files/fields.hpp"
#include "stacks/lint/lint_rules.hpp"

namespace rung::stacks::lint_rules {
namespace {

std::string product_of(const Entry& entry) { return entry.shape ? text_of(*entry.shape) : shown(entry.key); }

bool same_solution(const Entry& a, const Entry& b) {
  if (!a.solution || !b.solution) return a.solution.has_value() == b.solution.has_value();
  return a.solution->name == b.solution->name && a.solution->index == b.solution->index &&
         a.solution->library == b.solution->library && a.solution->split_k == b.solution->split_k;
}

// Describes the difference between two products that the stack cannot tell apart.
std::string unseen_difference(const Entry& a, const Entry& b) {
  if (!a.shape || !b.shape || same_product(*a.shape, *b.shape)) return "";
  return fmt::format("; that one is {}, which the stack does not tell from this", text_of(*a.shape));
}

void note_duplicate(const TuningFile& file, const Entry& first, const Entry& again, LintNotes& notes) {
  const std::string where =
      fmt::format("{} stands in line {}, too{}", product_of(again), first.line, unseen_difference(first, again));
  const bool same_text = file.lines[first.line - 1].text == file.lines[again.line - 1].text;
  switch (file.format->wins) {
    case Wins::every:
      return notes.note(again.line, LintKind::duplicate, where + ": it is tuned once");
    case Wins::none:
      if (same_text) return notes.note(again.line, LintKind::duplicate, where + ", with the same result");
      return notes.problem(again.line, LintKind::duplicate, where + ": the stack stops with an error at such files");
    case Wins::first:
    case Wins::last:
      break;
  }
  const bool last = file.format->wins == Wins::last;
  const std::string wins = fmt::format("{}: line {} counts", where, last ? again.line : first.line);
  if (same_solution(first, again)) return notes.note(again.line, LintKind::duplicate, wins);
  notes.problem(again.line, LintKind::duplicate, wins);
}

// Rows for one target.
struct OnTarget {
  size_t first_line = 0, rows = 0;
};

std::string target_text(const std::string& architecture, int units) {
  if (architecture.empty()) return fmt::format("{} compute units", units);
  return units ? fmt::format("{} with {} compute units", architecture, units) : architecture;
}

std::string why_it_matters(const TuningFile& file) {
  if (file.format == &hipblaslt)
    return "; hipBLASLt does not look at it, and takes the solution of that number in this GPU's library";
  return "; the stack never finds them here";
}

bool is_measured(const Entry& entry) { return entry.us && std::isfinite(*entry.us) && *entry.us > 0; }

bool is_read_on_amd(const TuningFile& file) {
  const Format* const neutral[] = {&tunableop, &tunableop_untuned, &shapes};
  return std::ranges::find(neutral, file.format) == std::end(neutral);
}

}  // namespace

bool is_default(const Entry& entry) {
  return entry.solution && (entry.solution->library == "default" || entry.solution->library == "torch");
}

bool is_for(const Entry& entry, const TunedMachine& machine) {
  const std::string row = entry.architecture.substr(0, entry.architecture.find(':'));
  const bool units_differ =
      entry.compute_units && machine.compute_units && entry.compute_units != machine.compute_units;
  return (row.empty() || machine.architecture.empty() || row == machine.processor()) && !units_differ;
}

void duplicates(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  std::unordered_map<std::string_view, const Entry*> seen;
  for (const Entry& entry : file.entries) {
    const auto [found, is_new] = seen.try_emplace(entry.key, &entry);
    if (!is_new) note_duplicate(file, *found->second, entry, notes);
  }
}

void bad_times(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  for (const Entry& entry : file.entries) {
    if (!entry.us || is_measured(entry)) continue;
    const std::string text = fmt::format("{}: got a time of {:.6g} us", product_of(entry), *entry.us);
    if (std::isfinite(*entry.us) && *entry.us < 0)
      notes.problem(entry.line, LintKind::bad_time, text);
    else
      notes.note(entry.line, LintKind::bad_time, text + ": it was not measured, and the row counts");
  }
}

void slower_than_default(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  std::unordered_map<std::string_view, const Entry*> defaults;
  for (const Entry& entry : file.entries)
    if (is_default(entry) && is_measured(entry)) defaults.try_emplace(entry.key, &entry);
  for (const Entry& entry : file.entries) {
    const auto found = defaults.find(entry.key);
    if (found == defaults.end() || is_default(entry) || !is_measured(entry) || *entry.us <= *found->second->us)
      continue;
    notes.problem(entry.line, LintKind::slower,
                  fmt::format("{} takes {:.6g} us, the default of line {} {:.6g} us", shown(entry.solution->name),
                              *entry.us, found->second->line, *found->second->us));
  }
}

void other_vendor(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (machine.is_nvidia() && is_read_on_amd(file))
    notes.problem(0, LintKind::wrong_gpu,
                  fmt::format("{} are of AMD's stacks, and nothing reads them on {}", file.format->title,
                              machine.gpu.empty() ? machine.architecture : machine.gpu));
}

// A file may hold rows of many GPUs: it is a problem only if the file has none for this GPU.
void other_gpus(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (machine.is_nvidia()) return;
  std::map<std::pair<std::string, int>, OnTarget> others;
  size_t fitting = 0;
  for (const Entry& entry : file.entries) {
    if (is_for(entry, machine)) {
      ++fitting;
      continue;
    }
    OnTarget& target = others[{entry.architecture, entry.compute_units}];
    if (target.rows++ == 0) target.first_line = entry.line;
  }
  for (const auto& [key, target] : others) {
    const std::string text =
        fmt::format("{} {} for {}, this is {}{}", target.rows, target.rows == 1 ? "row is" : "rows from here on are",
                    target_text(key.first, key.second), target_text(machine.processor(), machine.compute_units),
                    why_it_matters(file));
    if (fitting && file.format != &hipblaslt)
      notes.note(target.first_line, LintKind::wrong_gpu, text);
    else
      notes.problem(target.first_line, LintKind::wrong_gpu, text);
  }
}

}  // namespace rung::stacks::lint_rules
