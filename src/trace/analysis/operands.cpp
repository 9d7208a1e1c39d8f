// Reads shapes, strides and types of an operation's arguments from the JSON that PyTorch's profiler writes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "trace/analysis/analysis.hpp"
#include "trace/recording/json_cursor.hpp"
#include "trace/recording/json_numbers.hpp"

namespace rung::trace {
namespace {

struct TypeWord {
  std::string_view recorded, ours;
};
constexpr TypeWord kTypeWords[] = {
    {"float", "f32"},
    {"double", "f64"},
    {"c10::Half", "f16"},
    {"c10::BFloat16", "bf16"},
    {"c10::Float8_e4m3fn", "f8e4m3fn"},
    {"c10::Float8_e4m3fnuz", "f8e4m3fnuz"},
    {"c10::Float8_e5m2", "f8e5m2"},
    {"c10::Float8_e5m2fnuz", "f8e5m2fnuz"},
    {"long", "i64"},
    {"long int", "i64"},
    {"int", "i32"},
    {"short", "i16"},
    {"short int", "i16"},
    {"signed char", "i8"},
    {"unsigned char", "u8"},
    {"bool", "bool"},
};

std::string_view our_word(std::string_view type) {
  for (const TypeWord& word : kTypeWords)
    if (word.recorded == type) return word.ours;
  return type;
}

// A text of the pool, copied with the padding that the cursor needs behind it.
class Padded {
 public:
  explicit Padded(std::string_view text) : text_(text), padded_(text) {
    padded_.resize(text.size() + kJsonPadding);
    pad_json(padded_.data() + text.size());
  }
  JsonCursor cursor() const { return {padded_.data(), padded_.data() + text_.size()}; }
  // Returns the pool's bytes for a view into the copy.
  std::string_view original(std::string_view view) const {
    return text_.substr(static_cast<size_t>(view.data() - padded_.data()), view.size());
  }

 private:
  std::string_view text_;
  std::string padded_;
};

// Calls take(value) for each value of an array; returns false if it is no array.
template <class F>
bool each_value(JsonCursor cursor, const F& take) {
  if (cursor.expect('[', "'['") != Scan::ok) return false;
  bool closed = cursor.take(']');
  while (!closed) {
    std::string_view value;
    if (cursor.value(value) != Scan::ok) return false;
    take(value);
    if (cursor.comma_or(']', closed) != Scan::ok) return false;
  }
  return true;
}

// Reads "[51,1024]"; empty: a scalar, or a list of tensors, which has shapes as elements.
std::vector<int64_t> numbers_of(std::string_view json) {
  std::vector<int64_t> numbers;
  bool all = true;
  const Padded padded(json);
  const bool array = each_value(padded.cursor(), [&](std::string_view value) {
    const std::optional<int64_t> number = integer_of(value);
    all = all && number;
    if (number) numbers.push_back(*number);
  });
  return array && all ? numbers : std::vector<int64_t>{};
}

}  // namespace

int64_t elements_of(const CallOperand& operand) {
  double elements = operand.shape.empty() ? 0 : 1;
  for (const int64_t length : operand.shape) elements *= static_cast<double>(std::max<int64_t>(length, 0));
  return static_cast<int64_t>(std::min(elements, 1e18));  // a file may contain any number
}

std::vector<std::vector<int64_t>> listed_shapes(const Recording& recording, const Event& op) {
  if (op.kind != EventKind::host_op || op.detail == 0 || op.detail >= recording.operands.size()) return {};
  const Padded arguments(recording.strings[recording.operands[op.detail].shapes]);
  std::vector<std::vector<int64_t>> shapes;
  bool is_first = true;
  each_value(arguments.cursor(), [&](std::string_view argument) {
    if (!std::exchange(is_first, false)) return;
    const Padded list(argument);
    each_value(list.cursor(), [&](std::string_view value) { shapes.push_back(numbers_of(value)); });
  });
  return shapes;
}

std::vector<CallOperand> operands_of(const Recording& recording, const Event& op) {
  if (op.kind != EventKind::host_op || op.detail == 0 || op.detail >= recording.operands.size()) return {};
  const OperandTexts& texts = recording.operands[op.detail];
  std::vector<CallOperand> operands;
  const Padded types(recording.strings[texts.types]);
  const bool typed = each_value(types.cursor(), [&](std::string_view value) {
    operands.push_back({our_word(types.original(inner(value))), {}, {}});
  });
  if (!typed) return {};
  const auto fill = [&](uint32_t text, std::vector<int64_t> CallOperand::*field) {
    const Padded padded(recording.strings[text]);
    size_t at = 0;
    return text == 0 || each_value(padded.cursor(), [&](std::string_view value) {
             if (at < operands.size()) operands[at].*field = numbers_of(value);
             ++at;
           });
  };
  if (!fill(texts.shapes, &CallOperand::shape) || !fill(texts.strides, &CallOperand::strides)) return {};
  return operands;
}

}  // namespace rung::trace
