// The words for ops and their kinds, and the text of their fields.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ir/functions.hpp"
#include "ir/op.hpp"

namespace rung {
namespace {

constexpr std::array<std::string_view, 3> kReduce{"sum", "mean", "max"};
constexpr std::array<std::string_view, 3> kCell{"rnn", "gru", "lstm"};
constexpr std::array<std::string_view, 14> kLinearSlot{
    "x",       "w",     "bias",    "residual",    "cos",          "sin",        "norm_weight",
    "squares", "scale", "x_scale", "group_scale", "group_offset", "x_outliers", "w_outliers"};
constexpr std::array<std::string_view, 5> kConvSlot{"x", "w", "bias", "residual", "scale"};
constexpr std::array<std::string_view, 3> kAttentionSlot{"q", "mask", "length"};
constexpr std::array<std::string_view, 4> kLayerNormSlot{"x", "residual", "weight", "bias"};
constexpr std::array<std::string_view, 5> kSampleSlot{"logits", "settings", "draw", "bias", "seen"};
constexpr const auto& words_of(LinearSlot) { return kLinearSlot; }
constexpr const auto& words_of(ConvSlot) { return kConvSlot; }
constexpr const auto& words_of(AttentionSlot) { return kAttentionSlot; }
constexpr const auto& words_of(LayerNormSlot) { return kLayerNormSlot; }
constexpr const auto& words_of(SampleSlot) { return kSampleSlot; }

template <class Kind, size_t N>
std::optional<Kind> find(const std::array<std::string_view, N>& names, std::string_view name) {
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Kind>(it - names.begin());
}

template <class Kind, class Facts>
std::optional<Kind> find(std::span<const Facts> functions, std::string_view word) {
  auto it = std::find_if(functions.begin(), functions.end(), [&](const Facts& facts) { return facts.word == word; });
  if (it == functions.end()) return std::nullopt;
  return static_cast<Kind>(it - functions.begin());
}

template <size_t I = 0>
std::optional<Op> op_of_struct(std::string_view name) {
  if constexpr (I == std::variant_size_v<Op>) {
    return std::nullopt;
  } else {
    using Struct = std::variant_alternative_t<I, Op>;
    if (Struct::kName == name) return Op(Struct{});
    return op_of_struct<I + 1>(name);
  }
}

std::string value_text(const std::string& v) { return fmt::format("\"{}\"", v); }
std::string value_text(bool v) { return v ? "true" : "false"; }
std::string value_text(float v) { return fmt::format("{}", v); }
std::string value_text(int64_t v) { return fmt::format("{}", v); }
std::string value_text(DType v) { return std::string(name_of(v)); }
std::string value_text(std::optional<DType> v) { return v ? value_text(*v) : "none"; }
std::string value_text(const Dims& v) { return to_string(v); }
std::string value_text(const Columns& v) { return fmt::format("[{}]", fmt::join(v, ",")); }
std::string value_text(ReduceKind v) { return std::string(name_of(v)); }
std::string value_text(FormulaKind v) { return std::string(name_of(v)); }
std::string value_text(ScatterKind v) { return std::string(name_of(v)); }
std::string value_text(CellKind v) { return std::string(name_of(v)); }
std::string value_text(Activation v) { return std::string(name_of(v)); }
// Returns words of the slots that `slots` may lack, or, if `had`, of those among them that it has.
template <class Slot, Slot... always>
std::vector<std::string_view> optional_words(const Slots<Slot, always...>& slots, bool had) {
  std::vector<std::string_view> out;
  const auto& words = words_of(Slot{});
  for (size_t i = 0; i < words.size(); ++i)
    if (const auto slot = static_cast<Slot>(i); !slots.always_has(slot) && (!had || slots.has(slot)))
      out.push_back(words[i]);
  return out;
}
template <class Slot, Slot... always>
std::string value_text(const Slots<Slot, always...>& v) {
  return fmt::format("{}", fmt::join(optional_words(v, true), "+"));
}
template <class Slot, Slot... always>
Status add_slot(std::string_view name, Slots<Slot, always...>& slots) {
  const auto slot = find<Slot>(words_of(Slot{}), name);
  if (!slot || slots.always_has(*slot) || slots.has_from(*slot))
    return fail("got slot '{}', wanted some of {}, each once and in this order", name,
                fmt::join(optional_words(slots, false), ", "));
  return slots.add(*slot), Status();
}

}  // namespace

std::string_view name_of(UnaryKind kind) { return facts_of(kind).word; }
std::string_view name_of(BinaryKind kind) { return facts_of(kind).word; }
std::string_view name_of(ReduceKind kind) { return kReduce[static_cast<size_t>(kind)]; }
std::string_view name_of(Activation a) {
  const auto kind = unary_of(a);
  return kind ? name_of(*kind) : "none";
}
std::string_view name_of(LinearSlot slot) { return kLinearSlot[static_cast<size_t>(slot)]; }
std::optional<Activation> activation_named(std::string_view name) {
  if (name == name_of(Activation::none)) return Activation::none;
  const auto kind = find<UnaryKind>(unary_functions(), name);
  return kind ? activation_of(*kind) : std::nullopt;
}
std::optional<ReduceKind> reduce_named(std::string_view name) { return find<ReduceKind>(kReduce, name); }
std::string_view name_of(CellKind cell) { return kCell[static_cast<size_t>(cell)]; }
std::optional<CellKind> cell_named(std::string_view name) { return find<CellKind>(kCell, name); }

Status add_slot_named(std::string_view name, LinearSlots& slots) { return add_slot(name, slots); }
Status add_slot_named(std::string_view name, ConvSlots& slots) { return add_slot(name, slots); }
Status add_slot_named(std::string_view name, AttentionSlots& slots) { return add_slot(name, slots); }
Status add_slot_named(std::string_view name, LayerNormSlots& slots) { return add_slot(name, slots); }
Status add_slot_named(std::string_view name, SampleSlots& slots) { return add_slot(name, slots); }

std::string_view name_of(const Op& op) {
  if (const auto* unary = as<Unary>(op)) return name_of(unary->kind);
  if (const auto* binary = as<Binary>(op)) return name_of(binary->kind);
  return std::visit([](const auto& s) { return s.kName; }, op);
}

std::optional<Op> op_named(std::string_view name) {
  if (auto kind = find<UnaryKind>(unary_functions(), name)) return Op(Unary{*kind});
  if (auto kind = find<BinaryKind>(binary_functions(), name)) return Op(Binary{*kind});
  if (name == Unary::kName || name == Binary::kName) return std::nullopt;
  return op_of_struct(name);
}

std::string fields_to_string(const Op& op) {
  std::string text;
  std::visit(
      [&](const auto& value) {
        using Struct = std::decay_t<decltype(value)>;
        const Struct defaults{};
        auto one = [&](const auto& field) {
          if (field.of(value) == field.of(defaults)) return;
          text += fmt::format("{}{}={}", text.empty() ? "" : ", ", field.name, value_text(field.of(value)));
        };
        std::apply([&](const auto&... field) { (one(field), ...); }, Struct::fields());
      },
      op);
  return text;
}

Category category_of(const Op& op) {
  return std::visit([](const auto& s) { return s.kCategory; }, op);
}

Narrowing narrowing_of(const Op& op) {
  return std::visit([](const auto& s) { return s.kNarrowing; }, op);
}

Fault fault_of(const Op& op, std::span<const Type> operands) {
  const auto* binary = as<Binary>(op);
  if (binary && (!binary->divides() || is_float(operands[1].dtype))) return Fault::none;
  const auto* formula = as<Formula>(op);
  if (formula && (!formula->divides() || is_float(operands[1].dtype))) return Fault::none;
  const auto* attention = as<Attention>(op);
  if (attention && !attention->has_length()) return Fault::none;
  return std::visit([](const auto& s) { return s.kFault; }, op);
}

DType* result_dtype(Op& op) {
  return std::visit(
      [](auto& s) -> DType* {
        if constexpr (requires(DType * found) { found = &s.out; }) return &s.out;
        if constexpr (requires { s.to; }) return &s.to;
        return nullptr;
      },
      op);
}

int64_t* axis_field(Op& op) {
  return std::visit(
      [](auto& s) -> int64_t* {
        if constexpr (requires { s.axis; }) return &s.axis;
        return nullptr;
      },
      op);
}

bool is_view(const Op& op) { return as<Reshape>(op) || as<Transpose>(op) || as<Slice>(op) || as<Broadcast>(op); }
bool is_elementwise(const Op& op) { return as<Unary>(op) || as<Binary>(op) || as<Cast>(op) || as<Select>(op); }

}  // namespace rung
