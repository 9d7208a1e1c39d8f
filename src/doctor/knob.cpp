// The knob table and the look-up by name.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace rung::doctor {
namespace {

#define RUNG_SOURCE(id, reader, document) constexpr Source id{reader, document};
namespace sources {
#include "doctor/knobs/sources.inc"
}
#undef RUNG_SOURCE

namespace forms {
constexpr Form any{FormKind::any, {}}, zero_one{FormKind::zero_one, {}}, boolean{FormKind::boolean, {}},
    integer{FormKind::integer, {}}, hex_mask{FormKind::hex_mask, {}}, cu_ranges{FormKind::cu_ranges, {}},
    version{FormKind::version, {}}, devices{FormKind::devices, {}}, settings{FormKind::settings, {}},
    path{FormKind::path, {}}, text{FormKind::text, {}};
constexpr Form words(std::string_view words) { return {FormKind::words, words}; }
}  // namespace forms

// Ratings in the form of rows: `hurts`, or `hurts.but("0", neutral)`.
namespace ratings {
constexpr Ratings set{Rating::set}, leave{Rating::leave}, measure{Rating::measure}, hurts{Rating::hurts},
    no_op{Rating::no_op}, neutral{Rating::neutral};
}  // namespace ratings

#define RUNG_KNOB(source, name, form, default_value, rating, versions, meaning) \
  Knob{&sources::source, #name, forms::form, default_value, ratings::rating, versions, meaning},
constexpr Knob kKnobs[] = {
#include "doctor/knobs/cuda.inc"
#include "doctor/knobs/hip.inc"
#include "doctor/knobs/nccl.inc"
#include "doctor/knobs/phantoms.inc"
#include "doctor/knobs/pytorch.inc"
#include "doctor/knobs/rocm_libraries.inc"
#include "doctor/knobs/rocr.inc"
#include "doctor/knobs/sglang.inc"
#include "doctor/knobs/triton.inc"
#include "doctor/knobs/vllm.inc"
};
#undef RUNG_KNOB

constexpr std::string_view kReadNames[] = {
#include "doctor/knobs/read_names.inc"
};
static_assert(std::is_sorted(std::begin(kReadNames), std::end(kReadNames)));

constexpr std::string_view kPrefixes[] = {
#include "doctor/knobs/prefixes.inc"
};

constexpr Switch kSwitches[] = {
#define RUNG_SWITCH(name, on, severity, names) {#name, on, Severity::severity, names},
#include "doctor/knobs/switches.inc"
#undef RUNG_SWITCH
};

using Readers = std::multimap<std::string_view, Reader>;
const Readers& all_readers() {
  static const Readers readers = [] {
    Readers made;
#define RUNG_READ(component, since, until, names) \
  for (const std::string_view name : parts(names, '|')) made.emplace(name, Reader{component, since, until});
#include "doctor/knobs/read/aiter.inc"
#include "doctor/knobs/read/clr.inc"
#include "doctor/knobs/read/hipblaslt.inc"
#include "doctor/knobs/read/miopen.inc"
#include "doctor/knobs/read/nccl.inc"
#include "doctor/knobs/read/pytorch.inc"
#include "doctor/knobs/read/rccl.inc"
#include "doctor/knobs/read/rocblas.inc"
#include "doctor/knobs/read/rocr.inc"
#include "doctor/knobs/read/sglang.inc"
#include "doctor/knobs/read/vllm.inc"
#undef RUNG_READ
    return made;
  }();
  return readers;
}

bool is_named_in(const Switch& master, std::string_view name) {
  return std::ranges::any_of(parts(master.names, '|'), [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

// Returns the least number of letters to change, insert, leave out or swap with the next, but at most `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() >= limit) return limit;
  std::vector<size_t> before_last, last(a.size() + 1), row(a.size() + 1);
  for (size_t i = 0; i <= a.size(); ++i) last[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    row[0] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      row[i] = std::min({row[i - 1] + 1, last[i] + 1, last[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[i] = std::min(row[i], before_last[i - 2] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return std::min(last[a.size()], limit);
}

}  // namespace

std::span<const Knob> knob_table() { return kKnobs; }

const Knob* find_knob(std::string_view name) {
  const auto* it = std::ranges::find(kKnobs, name, &Knob::name);
  return it == std::end(kKnobs) ? nullptr : it;
}

bool is_read_somewhere(std::string_view name) {
  return find_knob(name) || all_readers().contains(name) || std::ranges::binary_search(kReadNames, name);
}

std::vector<Reader> readers_of(std::string_view name) {
  std::vector<Reader> readers;
  for (auto [it, end] = all_readers().equal_range(name); it != end; ++it) readers.push_back(it->second);
  return readers;
}

std::string no_longer_read(std::string_view name) {
  if (std::ranges::binary_search(kReadNames, name)) return "";
  std::string text;
  for (const Reader& reader : readers_of(name)) {
    if (reader.until.empty()) return "";
    text += fmt::format("{}{} reads it up to version {}", text.empty() ? "" : ", ", reader.component, reader.until);
  }
  return text;
}

std::span<const Switch> switch_table() { return kSwitches; }

const Switch* switch_of(std::string_view name) {
  const auto* it = std::ranges::find_if(kSwitches, [&](const Switch& master) { return is_named_in(master, name); });
  return it == std::end(kSwitches) ? nullptr : it;
}

bool has_known_prefix(std::string_view name) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view nearest_name(std::string_view name) {
  size_t least = std::min<size_t>(3, name.size() / 4);  // in a short name two letters make another word
  std::string_view nearest;
  const auto consider = [&](std::string_view known) {
    const size_t d = distance(name, known, least);
    if (d < least) least = d, nearest = known;
  };
  for (const Knob& knob : kKnobs)
    if (knob.ratings.others != Rating::no_op) consider(knob.name);
  for (const std::string_view known : kReadNames) consider(known);
  for (const auto& [known, reader] : all_readers())
    if (reader.until.empty()) consider(known);
  return nearest;
}

}  // namespace rung::doctor
