// The table of environment variables: who reads each, the form of its value, and its effect on latency.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.hpp"

namespace rung::doctor {

enum class FormKind : uint8_t {
  any,        // only whether it is set counts
  zero_one,   // 0 or 1, nothing else
  boolean,    // 0, 1, true, false, yes, no, on, off
  integer,    // decimal, or hexadecimal after 0x
  hex_mask,   // 0xff or ff
  cu_ranges,  // 0,2-3:0-19;1:0xff, as ROCr takes it
  version,    // 9.4.2
  devices,    // 0,2 or GPU-1234abcd or MIG-...
  settings,   // key:value,key:value
  words,      // one of the row's words
  path,
  text,
};

struct Form {
  FormKind kind;
  std::string_view words;  // separated by '|'
};

// The effect on latency of a value other than the default.
enum class Rating : uint8_t {
  set,      // worth setting
  leave,    // the default is right, or it does not matter for latency
  measure,  // helps some and hurts others: keep it where a measurement says so
  hurts,
  no_op,    // nothing in the stack reads it
  neutral,  // chooses devices, files and the like
};
inline constexpr std::array<std::string_view, 6> kRatingWords{"set", "leave", "measure", "hurts", "no_op", "neutral"};
constexpr std::string_view name_of(Rating rating) { return kRatingWords[static_cast<size_t>(rating)]; }

struct Source {
  std::string_view reader;    // "HIP runtime (clr)"
  std::string_view document;  // public page, or repository and file
};

// The rating on values other than the default, with another rating on some of them.
struct Ratings {
  Rating others = Rating::neutral;
  std::string_view values;  // separated by '|'
  Rating on_values = Rating::neutral;

  // Most rows have one rating. NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Ratings(Rating on_others) : others(on_others) {}
  // hurts.but("0", neutral): every value hurts, but 0 does not.
  constexpr Ratings but(std::string_view some, Rating rating) const {
    Ratings ratings = *this;
    ratings.values = some, ratings.on_values = rating;
    return ratings;
  }
};

struct Knob {
  const Source* source;
  std::string_view name;
  Form form;
  std::string_view default_value;  // empty: unset, or chosen at run time; equivalent values are separated by '|'
  Ratings ratings;
  std::string_view versions;  // empty: nothing known
  std::string_view meaning;
};

std::span<const Knob> knob_table();
const Knob* find_knob(std::string_view name);  // null: no row
Rating rating_on(const Knob& knob, std::string_view value);
bool is_read_somewhere(std::string_view name);  // a row has it, or the sources read it without a row
bool has_known_prefix(std::string_view name);   // HSA_, HIP_, ...: the names of these stacks

// A component that reads a name, and its versions that do, as far as their sources were looked at.
struct Reader {
  std::string_view component, since, until;  // empty: the oldest version looked at; the newest
};
std::vector<Reader> readers_of(std::string_view name);
// Returns "vLLM reads it up to version 0.14.1" if no newest version reads the name; empty: one does, or none is known.
std::string no_longer_read(std::string_view name);

// A variable that does nothing unless another is set, too.
struct Switch {
  std::string_view name, on;  // the switch, and the values that turn it on, separated by '|'; empty: any but off
  Severity severity;          // of a setting without it
  std::string_view names;     // separated by '|'; a last '*' stands for the rest of a name
};
std::span<const Switch> switch_table();
const Switch* switch_of(std::string_view name);  // null: none
bool is_on(const Switch& master, std::string_view value);
bool is_off(std::string_view value);  // 0, false, no, off, none, or empty
std::vector<std::string_view> parts(std::string_view text, char separator);

// Returns the fault in the form of a value; empty: none.
std::string wrong_form(const Knob& knob, std::string_view value);
// Returns whether a value means what the default means.
bool is_default(const Knob& knob, std::string_view value);

// Returns the known name that this may be a misspelling of; empty: none is near.
std::string_view nearest_name(std::string_view name);

}  // namespace rung::doctor
