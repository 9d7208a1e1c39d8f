// Audits the environment: one variable at a time, then two that belong together.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

std::string unset(std::string_view name) { return fmt::format("unset {}", name); }

// Quotes a value as one word for a shell, whatever it contains.
std::string shell_word(std::string_view value) {
  std::string word = "'";
  for (const char c : value) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Looks at a variable that only past versions read.
std::optional<Finding> look_at_gone(const std::string& name, const std::string& value) {
  const std::string readers = no_longer_read(name);
  if (readers.empty()) return {};
  Finding finding{"environment", name, value};
  finding.rating = name_of(Rating::no_op);
  finding.why = fmt::format("no effect in current versions: {}, and none later does", readers);
  finding.fix = unset(name);
  return finding;
}

// Looks at a variable that no row rates.
std::optional<Finding> look_at_stranger(const std::string& name, const std::string& value) {
  if (auto gone = look_at_gone(name, value)) return gone;
  if (!has_known_prefix(name) || is_read_somewhere(name)) return {};
  Finding finding{"environment", name, value};
  finding.rating = name_of(Rating::no_op);
  const std::string_view near = nearest_name(name);
  if (near.empty()) {
    finding.severity = Severity::note;
    finding.why = "no component that the table knows reads it";
    finding.fix = unset(name);
  } else {
    finding.why = fmt::format("no component that the table knows reads it; {} is near", near);
    finding.fix = fmt::format("unset {}; export {}={}", name, near, shell_word(value));
  }
  return finding;
}

std::optional<Finding> look_at(const Knob& knob, const std::string& value) {
  Finding finding{"environment", std::string(knob.name), value};
  const Rating rating = rating_on(knob, value);
  finding.rating = name_of(rating);
  finding.source = knob.source->document;
  finding.fix = unset(knob.name);
  if (rating == Rating::no_op) {
    finding.why = fmt::format("no effect: {}", knob.meaning);
    if (!knob.versions.empty()) finding.why += fmt::format(" ({})", knob.versions);
    return finding;
  }
  if (auto gone = look_at_gone(finding.subject, value)) {
    gone->source = finding.source;
    if (is_default(knob, value)) gone->severity = Severity::note;  // as current versions do anyway
    return gone;
  }
  if (finding.why = wrong_form(knob, value); !finding.why.empty()) return finding;
  const bool unchanged = value.empty() || is_default(knob, value);
  if (rating == Rating::neutral || (unchanged && knob.default_value.empty())) return {};
  if (unchanged) {
    finding.severity = Severity::note;
    finding.why = fmt::format("already the default of the {}: setting it changes nothing", knob.source->reader);
    return finding;
  }
  finding.why = std::string(knob.meaning);
  finding.severity = rating == Rating::hurts ? Severity::problem : Severity::note;
  if (rating == Rating::leave) finding.why += "; the default is right for latency";
  if (rating == Rating::measure) finding.why += "; keep it where a measurement with and without says so";
  if (rating == Rating::measure || rating == Rating::set) finding.fix.clear();
  return finding;
}

std::string_view value_of(const Environment& environment, const std::string& name) {
  const auto it = environment.find(name);
  return it == environment.end() ? std::string_view() : it->second;
}

// A measured run should use the file of results, not make it.
void look_at_tuning(const Environment& environment, Findings& findings) {
  if (value_of(environment, "PYTORCH_TUNABLEOP_ENABLED") != "1") return;
  if (value_of(environment, "PYTORCH_TUNABLEOP_TUNING") == "0") return;
  Finding finding{"environment", "PYTORCH_TUNABLEOP_TUNING",
                  std::string(value_of(environment, "PYTORCH_TUNABLEOP_TUNING"))};
  finding.why = "TunableOp is on and tunes by default: the first call at each size searches among thousands of GEMMs";
  finding.fix = "export PYTORCH_TUNABLEOP_TUNING=0";
  const Knob* knob = find_knob(finding.subject);
  finding.rating = name_of(knob->ratings.others);
  finding.source = knob->source->document;
  std::erase_if(findings, [&](const Finding& other) { return other.subject == finding.subject; });
  findings.push_back(std::move(finding));
}

// Reports a setting without effect because its switch is off. This finding says more than the row's finding, and
// replaces it.
void look_at_switches(const Environment& environment, Findings& findings) {
  for (const auto& [name, value] : environment) {
    const Switch* master = switch_of(name);
    if (!master || is_off(value) || is_on(*master, value_of(environment, std::string(master->name)))) continue;
    Finding finding{"environment", name, value};
    // A user who turned the switch off knows about it.
    finding.severity = environment.contains(std::string(master->name)) ? Severity::note : master->severity;
    const std::string_view on = parts(master->on.empty() ? "1" : master->on, '|').front();
    finding.why = fmt::format("no effect: it waits for {}={}, which is not set", master->name, on);
    finding.fix = fmt::format("export {}={}, or unset {}", master->name, on, name);
    finding.rating = name_of(Rating::no_op);
    if (const Knob* knob = find_knob(name)) finding.source = knob->source->document;
    std::erase_if(findings, [&subject = name](const Finding& other) { return other.subject == subject; });
    findings.push_back(std::move(finding));
  }
}

}  // namespace

Environment environment_of_this_process() {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    const size_t equals = line.find('=');
    if (equals != line.npos) environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return environment;
}

Environment parse_environment(std::string_view lines) {
  Environment environment;
  for (std::string_view line : parts(lines, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t equals = line.find('=');
    if (equals != line.npos && equals > 0)
      environment.insert_or_assign(std::string(line.substr(0, equals)), line.substr(equals + 1));
  }
  return environment;
}

Findings audit(const Environment& environment) {
  Findings findings;
  for (const auto& [name, value] : environment) {
    const Knob* knob = find_knob(name);
    if (auto finding = knob ? look_at(*knob, value) : look_at_stranger(name, value))
      findings.push_back(std::move(*finding));
  }
  look_at_tuning(environment, findings);
  look_at_switches(environment, findings);
  return findings;
}

}  // namespace rung::doctor
