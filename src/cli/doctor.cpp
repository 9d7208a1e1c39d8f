// rung doctor: finds settings of a machine and its environment that cost latency. It changes nothing.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "doctor/diagnosis.hpp"
#include "doctor/knob.hpp"
#include "doctor/pasted/pasted.hpp"

namespace rung::cli {
namespace {

struct DoctorFlags {
  std::string root = "/", capture, from;
  bool json = false;
};

// Replaces control characters: a value comes from outside, and a terminal would obey them.
std::string shown(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

void print_finding(const doctor::Finding& finding) {
  const bool variable = !finding.rating.empty();
  fmt::print("\n{}: {}{}{}\n  {}\n", name_of(finding.severity), shown(finding.subject), variable ? "=" : ": ",
             shown(finding.found), shown(finding.why));
  if (!finding.fix.empty()) fmt::print("  fix: {}\n", shown(finding.fix));
  if (!finding.source.empty()) fmt::print("  see: {}\n", finding.source);
}

void print_diagnosis(const doctor::Diagnosis& diagnosis) {
  for (const auto& [name, value] : diagnosis.facts) fmt::print("{:<16} {}\n", name, shown(value));
  for (const doctor::Finding& finding : diagnosis.findings) print_finding(finding);
  const auto problems = std::ranges::count(diagnosis.findings, doctor::Severity::problem, &doctor::Finding::severity);
  const auto notes = static_cast<ptrdiff_t>(diagnosis.findings.size()) - problems;
  std::string found;
  for (const auto& [count, word] : {std::pair{problems, "problem"}, std::pair{notes, "note"}})
    if (count > 0) found += (found.empty() ? "" : ", ") + words::counted(count, word);
  if (!diagnosis.facts.empty() || !diagnosis.findings.empty()) fmt::print("\n");
  if (std::ranges::find(diagnosis.unknown, "environment") == diagnosis.unknown.end())
    fmt::print("Checked {} known variables; {} {} set; ", doctor::knob_table().size(), diagnosis.variables,
               diagnosis.variables == 1 ? "is" : "are");
  else
    fmt::print("No variables are told; ");
  fmt::print("{}.\n", found.empty() ? "no problems found" : found);
}

std::string listed(const std::vector<std::string_view>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

// Prints which forms of text told of the machine, and which checks stay open, as a text tells only a part.
void print_telling(const std::vector<std::string_view>& forms, const doctor::Diagnosis& diagnosis) {
  fmt::print("Told by {}.", listed(forms));
  if (!diagnosis.unknown.empty())
    fmt::print(" Unknown, because the text does not tell it: {}.", listed(diagnosis.unknown));
  fmt::print("\n");
}

Status run_capture(const doctor::Snapshot& machine, const DoctorFlags& flags) {
  RUNG_TRY(const doctor::Captured captured, doctor::capture(machine, flags.capture));
  if (flags.json)
    print_json({{"folder", flags.capture},
                {"files", captured.files},
                {"variables", captured.variables},
                {"values_left_out", captured.values_left_out}});
  else
    fmt::print("{}: {} and {}. Values that are no number or known word became their kind and length ({}).\n",
               flags.capture, words::counted(captured.files, "file"), words::counted(captured.variables, "variable"),
               captured.values_left_out);
  return {};
}

Status run_on_text(const DoctorFlags& flags) {
  RUNG_TRY(const std::string text, read_text_file(flags.from));
  RUNG_TRY(const doctor::Pasted pasted, doctor::read_pasted(flags.from, text));
  if (!flags.capture.empty()) return run_capture(pasted.machine, flags);
  const doctor::Diagnosis diagnosis = diagnose(pasted.machine);
  if (flags.json) {
    nlohmann::json object = to_json(diagnosis);
    object["told_by"] = pasted.forms;
    print_json(object);
  } else {
    print_diagnosis(diagnosis);
    print_telling(pasted.forms, diagnosis);
  }
  return {};
}

Status run_doctor(const DoctorFlags& flags) {
  if (!flags.from.empty()) return run_on_text(flags);
  RUNG_TRY(const doctor::Snapshot machine, doctor::Snapshot::open(flags.root));
  if (machine.is_empty())
    return bad_file("'{}': got a folder without a machine's files, wanted one that `rung doctor --capture` made",
                    flags.root);
  if (!flags.capture.empty()) return run_capture(machine, flags);
  const doctor::Diagnosis diagnosis = diagnose(machine);
  if (flags.json)
    print_json(to_json(diagnosis));
  else
    print_diagnosis(diagnosis);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> doctor_command(CLI::App& app) {
  auto flags = std::make_shared<DoctorFlags>();
  auto* command = add_command(app, "doctor", "find settings of this machine and its environment that cost latency");
  add(*command, "json", flags->json);
  const Option root = add(*command, "root", flags->root);
  add(*command, "from", flags->from).excludes(root);
  add(*command, "capture", flags->capture);
  return {command, [flags] { return run_doctor(*flags); }};
}

}  // namespace rung::cli
