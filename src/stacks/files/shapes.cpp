// Our own list of products: a line of column names that include m, n and k, then a line for each product.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/table.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kAllColumns = "m,n,k,batch,dtype,w_dtype,out_dtype,layout,bias,epilogue,scaling,count";

template <size_t kCount>
Result<size_t> word_at(const TableLine& line, std::string_view column,
                       const std::array<std::string_view, kCount>& words) {
  const std::string_view text = line[column];
  if (text.empty()) return size_t{0};
  for (size_t i = 0; i < kCount; ++i)
    if (same_word(text, words[i])) return i;
  return mismatch("{}: got {}, wanted one of {}", column, shown(text), fmt::join(words, ", "));
}

// Reads a bias: 0, 1 or its type.
Result<std::optional<ElementType>> bias_at(const TableLine& line, ElementType out) {
  const std::string_view text = line["bias"];
  if (text.empty() || same_word(text, "none")) return std::nullopt;
  if (const auto truth = truth_of(text)) return *truth ? std::optional(out) : std::nullopt;
  if (const auto type = element_type_named(text)) return type;
  return mismatch("bias: got {}, wanted 0, 1 or a type such as bf16", shown(text));
}

Result<GemmShape> listed_shape(const TableLine& line) {
  GemmShape shape;
  RUNG_TRY(shape.m, line.whole("m"));
  RUNG_TRY(shape.n, line.whole("n"));
  RUNG_TRY(shape.k, line.whole("k"));
  RUNG_TRY(shape.batch, line.whole("batch", 1));
  RUNG_TRY(shape.x, line.type("dtype", Words::rung, ElementType::bf16));
  RUNG_TRY(shape.w, line.type("w_dtype", Words::rung, shape.x));
  RUNG_TRY(shape.out, line.type("out_dtype", Words::rung, bits_of(shape.x) < 16 ? ElementType::bf16 : shape.x));
  RUNG_TRY(const size_t layout, word_at(line, "layout", kLayoutWords));
  shape.layout = static_cast<GemmLayout>(layout);
  RUNG_TRY(shape.bias, bias_at(line, shape.out));
  RUNG_TRY(const size_t epilogue, word_at(line, "epilogue", kEpilogueWords));
  shape.epilogue = static_cast<Epilogue>(epilogue);
  RUNG_TRY(const size_t scaling, word_at(line, "scaling", kScalingWords));
  shape.scaling = static_cast<Scaling>(scaling);
  RUNG_TRY(shape.x_stride, line.whole("x_stride", 0));
  RUNG_TRY(shape.w_stride, line.whole("w_stride", 0));
  RUNG_TRY(shape.out_stride, line.whole("out_stride", 0));
  RUNG_TRY(shape.count, line.whole("count", 1));
  RUNG_CHECK(check(shape));
  return shape;
}

std::string listed_key(GemmShape shape) {
  shape.count = 1;
  return text_of(shape);
}

Result<Entry> listed(const TableLine& line, const Columns&) {
  Entry entry;
  RUNG_TRY(entry.shape, listed_shape(line));
  entry.key = listed_key(*entry.shape);
  return entry;
}

std::optional<std::string> cell_of_shape(const GemmShape& shape, std::string_view column) {
  const std::pair<std::string_view, int64_t> numbers[] = {{"m", shape.m},
                                                          {"n", shape.n},
                                                          {"k", shape.k},
                                                          {"batch", shape.batch},
                                                          {"x_stride", shape.x_stride},
                                                          {"w_stride", shape.w_stride},
                                                          {"out_stride", shape.out_stride},
                                                          {"count", shape.count}};
  for (const auto& [name, number] : numbers)
    if (same_word(column, name)) return std::to_string(number);
  const std::pair<std::string_view, std::string_view> words[] = {{"dtype", name_of(shape.x)},
                                                                 {"w_dtype", name_of(shape.w)},
                                                                 {"out_dtype", name_of(shape.out)},
                                                                 {"layout", name_of(shape.layout)},
                                                                 {"epilogue", name_of(shape.epilogue)},
                                                                 {"scaling", name_of(shape.scaling)},
                                                                 {"bias", shape.bias ? name_of(*shape.bias) : "0"}};
  for (const auto& [name, word] : words)
    if (same_word(column, name)) return std::string(word);
  return std::nullopt;
}

Result<std::vector<std::string>> listed_rows(TuningFile& file, Entry& entry) {
  if (!entry.shape) return mismatch("a list of products has only matrix products");
  if (file.tables.empty()) return mismatch("this file has no line of column names");
  RUNG_CHECK(check(*entry.shape));
  entry.key = listed_key(*entry.shape);
  const std::string line =
      table_line(file, entry, {}, [&](std::string_view column) { return cell_of_shape(*entry.shape, column); });
  const auto said = listed_shape(TableLine(file.tables[0], line));
  RUNG_CHECK(check_said(*entry.shape, said));
  if (said->count != entry.shape->count) return mismatch("this file has no column count");
  return std::vector{line};
}

}  // namespace

const Format shapes{
    "shapes",
    "a list of products with columns m, n and k",
    "rung tune",
    Wins::every,
    [](std::span<const Line> head) {
      const Columns columns = head_columns(head);
      return has_column(columns, "m") && has_column(columns, "n") && has_column(columns, "k");
    },
    [](TuningFile& file) { return parse_table(file, listed); },
    [](const TunedMachine&) -> Result<std::vector<std::string>> { return std::vector{std::string(kAllColumns)}; },
    listed_rows};

}  // namespace rung::stacks
