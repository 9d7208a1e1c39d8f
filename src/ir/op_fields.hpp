// The fields of an op's struct by their words, and the macros that declare what ops have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <tuple>

#include "ir/category.hpp"
#include "ir/fault.hpp"
#include "ir/narrowing.hpp"

namespace rung {

// A field by its word in text. `part`: the struct within `Struct` that has it; text does not tell them apart.
template <class Struct, class Part, class Member>
struct Field {
  std::string_view name;
  Part Struct::*part;
  Member Part::*member;
  const Member& of(const Struct& op) const { return op.*part.*member; }
  Member& of(Struct& op) const { return op.*part.*member; }
};
template <class Struct, class Member>
struct Field<Struct, void, Member> {
  std::string_view name;
  Member Struct::*member;
  const Member& of(const Struct& op) const { return op.*member; }
  Member& of(Struct& op) const { return op.*member; }
};

// Declares an op's word in text and tables, the category its time is accounted to, the fault that values of its
// operands can cause (fault_of() has a more precise answer), and its rule for storing in fewer bits.
#define RUNG_OP(text, category, fault, narrowing)           \
  static constexpr std::string_view kName = text;           \
  static constexpr Category kCategory = Category::category; \
  static constexpr Fault kFault = Fault::fault;             \
  static constexpr Narrowing kNarrowing = Narrowing::narrowing
// The most results of an op that may have several: further_types() and compute_further() take it.
#define RUNG_RESULTS(most) static constexpr size_t kMostResults = most
#define RUNG_FIELDS(...) \
  static constexpr auto fields() { return std::make_tuple(__VA_ARGS__); }
#define RUNG_FIELD(Struct, member) \
  Field<Struct, void, decltype(Struct::member)> { #member, &Struct::member }
#define RUNG_PART_FIELD(Struct, part, member)                            \
  Field<Struct, decltype(Struct::part), decltype(Struct::part.member)> { \
#member, &Struct::part, &decltype(Struct::part)::member              \
  }
#define RUNG_EQUAL(Struct) friend bool operator==(const Struct&, const Struct&) = default

}  // namespace rung
