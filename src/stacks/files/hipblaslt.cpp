// hipBLASLt's override file: "Git Version: HASH", then a line of column names and a line of values for each product, as
// hipblaslt-bench writes them if HIPBLASLT_TUNING_FILE is set.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/table.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kVersionWord = "Git Version: ", kVersionFact = "Git Version";
constexpr std::string_view kIndent = "    ";
constexpr std::string_view kBenchColumns =
    "transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc,stride_c,ldd,stride_d,a_"
    "type,"
    "b_type,c_type,d_type,compute_type,scaleA,scaleB,scaleC,scaleD,amaxD,activation_type,bias_vector,bias_type,"
    "rotating_buffer,hipblaslt-Gflops,hipblaslt-GB/s,us,solution_index,gcnArchName,CUs";
// The columns of the key by which the library looks a product up.
constexpr std::array<std::string_view, 10> kOverrideKeys{"transA", "transB", "batch_count", "m",      "n",
                                                         "k",      "a_type", "b_type",      "c_type", "compute_type"};

bool is_header(std::string_view line) { return trimmed(line).starts_with("transA,"); }

Result<char> transpose_at(const TableLine& line, std::string_view column) {
  const std::string_view word = line[column];
  if (word == "N" || word == "T") return word[0];
  return mismatch("{}: got {}, wanted N or T", column, shown(word));
}

Result<BlasShape> blas_at(const TableLine& line) {
  BlasShape blas;
  RUNG_TRY(blas.trans_a, transpose_at(line, "transA"));
  RUNG_TRY(blas.trans_b, transpose_at(line, "transB"));
  RUNG_TRY(blas.m, line.whole("m"));
  RUNG_TRY(blas.n, line.whole("n"));
  RUNG_TRY(blas.k, line.whole("k"));
  RUNG_TRY(blas.lda, line.whole("lda", 0));
  RUNG_TRY(blas.ldb, line.whole("ldb", 0));
  RUNG_TRY(blas.ldc, line.whole("ldd", 0));
  RUNG_CHECK(check_leading(blas));
  return blas;
}

Status take_bench_types(const TableLine& line, GemmShape& shape) {
  RUNG_TRY(shape.w, line.type("a_type", Words::hipblaslt, ElementType::bf16));
  RUNG_TRY(shape.x, line.type("b_type", Words::hipblaslt, shape.w));
  RUNG_TRY(const ElementType c, line.type("c_type", Words::hipblaslt, shape.w));
  RUNG_TRY(shape.out, line.type("d_type", Words::hipblaslt, c));
  if (line["compute_type"].starts_with("xf32"))
    for (ElementType* type : {&shape.w, &shape.x, &shape.out})
      if (*type == ElementType::f32) *type = ElementType::tf32;
  return {};
}

Status take_epilogue(const TableLine& line, GemmShape& shape) {
  RUNG_TRY(const int64_t has_bias, line.whole("bias_vector", 0));
  if (has_bias) {
    RUNG_TRY(const ElementType type, line.type("bias_type", Words::hipblaslt, shape.out));
    shape.bias = type;
  }
  const std::string_view activation = line["activation_type"];
  for (size_t i = 0; i < kEpilogueWords.size(); ++i)
    if (same_word(activation, kEpilogueWords[i])) shape.epilogue = static_cast<Epilogue>(i);
  if (same_word(activation, "swish")) shape.epilogue = Epilogue::silu;
  RUNG_TRY(const int64_t scale, line.whole("scaleA", 0));
  constexpr std::array kKinds{Scaling::none, Scaling::tensor, Scaling::row, Scaling::block};
  shape.scaling = scale >= 0 && scale < 4 ? kKinds[static_cast<size_t>(scale)] : Scaling::block;
  return {};
}

Result<GemmShape> bench_shape(const TableLine& line) {
  RUNG_TRY(const BlasShape blas, blas_at(line));
  GemmShape shape;
  RUNG_CHECK(take_bench_types(line, shape));
  RUNG_CHECK(take_epilogue(line, shape));
  RUNG_TRY(shape.batch, line.whole("batch_count", 1));
  shape = shape_of(blas, shape);
  RUNG_CHECK(check(shape));
  return shape;
}

Result<Entry> override_entry(const TableLine& line) {
  RUNG_CHECK(line.check_width());
  Entry entry;
  RUNG_TRY(entry.shape, bench_shape(line));
  entry.key = key_of(line, kOverrideKeys);
  RUNG_TRY(const int64_t index, line.whole("solution_index"));
  const std::string_view name = line["kernel_name"].empty() ? line["solution_name"] : line["kernel_name"];
  entry.solution = Solution{"hipblaslt", std::string(name), index, {}};
  RUNG_TRY(entry.us, line.real("us"));
  entry.architecture = line["gcnArchName"];
  RUNG_TRY(entry.compute_units, line.compute_units("CUs"));
  return entry;
}

Status parse_override_line(TuningFile& file, std::string_view text, size_t number) {
  const std::string_view line = trimmed(text);
  if (line.empty()) return {};
  if (line.starts_with(kVersionWord) || line == trimmed(kVersionWord)) {
    const std::string_view value = line.size() > kVersionWord.size() ? line.substr(kVersionWord.size()) : "";
    file.facts.push_back({std::string(kVersionFact), std::string(value), number});
    return {};
  }
  if (is_header(line)) return add_table(file, columns_of(line));
  if (line.find(',') == line.npos) return add_entry(file, mismatch("got {}, wanted values", shown(line)), number);
  if (file.tables.empty()) return add_entry(file, mismatch("got values before a line of column names"), number);
  return add_entry(file, override_entry(TableLine(file.tables.back(), line)), number);
}

Status parse_override(TuningFile& file) {
  for (size_t i = 0; i < file.lines.size(); ++i)
    RUNG_CHECK(parse_override_line(
        file, i == 0 ? without_mark(file.lines[i].text) : std::string_view(file.lines[i].text), i + 1));
  return {};
}

Result<std::vector<std::string>> override_header(const TunedMachine& machine) {
  const auto found = machine.versions.find(kVersionFact);
  if (found == machine.versions.end() || found->second.empty())
    return mismatch("hipBLASLt: got no {} of this machine's library, without which it trusts no row", kVersionFact);
  return std::vector{fmt::format("{}{}", kVersionWord, found->second)};
}

// Returns the library's word for a type; TF32 is f32, computed as xf32.
std::string_view type_word(ElementType type) {
  return name_of(type == ElementType::tf32 ? ElementType::f32 : type, Words::hipblaslt);
}

std::string compute_word(const GemmShape& shape) {
  if (shape.w == ElementType::tf32) return "xf32_r";
  if (shape.w == ElementType::f64) return "f64_r";
  return shape.w == ElementType::i8 ? "i32_r" : "f32_r";
}

int64_t rows_where(bool transposed, int64_t straight, int64_t other) { return transposed ? straight : other; }

// Returns the elements from one product of a batch to the next, for each operand.
std::array<int64_t, 3> batch_strides(const GemmShape& shape, const BlasShape& blas) {
  const auto apart = [](int64_t leading, int64_t dense, int64_t rows) {
    return rows > 1 ? leading * rows : std::max(leading, dense);  // with one row, the leading dimension may be 1
  };
  return {apart(blas.lda, shape.dense_w_stride(), rows_where(blas.trans_a == 'T', blas.m, blas.k)),
          apart(blas.ldb, shape.dense_x_stride(), rows_where(blas.trans_b == 'T', blas.k, blas.n)),
          apart(blas.ldc, shape.dense_out_stride(), shape.m)};
}

using BenchCells = std::map<std::string_view, std::string, std::less<>>;

void set_sizes(BenchCells& cells, const GemmShape& shape) {
  const BlasShape blas = blas_of(shape);
  const auto strides = batch_strides(shape, blas);
  cells["transA"] = blas.trans_a, cells["transB"] = blas.trans_b;
  const std::pair<std::string_view, int64_t> numbers[] = {{"grouped_gemm", 0},
                                                          {"batch_count", shape.batch},
                                                          {"m", blas.m},
                                                          {"n", blas.n},
                                                          {"k", blas.k},
                                                          {"alpha", 1},
                                                          {"beta", 0},
                                                          {"lda", blas.lda},
                                                          {"ldb", blas.ldb},
                                                          {"ldc", blas.ldc},
                                                          {"ldd", blas.ldc},
                                                          {"stride_a", strides[0]},
                                                          {"stride_b", strides[1]},
                                                          {"stride_c", strides[2]},
                                                          {"stride_d", strides[2]}};
  for (const auto& [name, number] : numbers) cells[name] = std::to_string(number);
}

void set_types(BenchCells& cells, const GemmShape& shape) {
  const std::string scale = std::to_string(static_cast<int>(shape.scaling));
  cells["a_type"] = type_word(shape.w), cells["b_type"] = type_word(shape.x);
  cells["c_type"] = cells["d_type"] = type_word(shape.out);
  cells["compute_type"] = compute_word(shape);
  cells["scaleA"] = cells["scaleB"] = scale;
  cells["scaleC"] = cells["scaleD"] = cells["amaxD"] = "0";
  cells["activation_type"] = shape.epilogue == Epilogue::silu ? "swish" : name_of(shape.epilogue);
  cells["bias_vector"] = shape.bias ? "1" : "0";
  cells["bias_type"] = type_word(shape.bias.value_or(ElementType::f32));
}

void set_times(BenchCells& cells, const Entry& entry) {
  cells["us"] = fmt::format("{:.6g}", *entry.us);
  cells["hipblaslt-Gflops"] = fmt::format("{:.6g}", flops_of(*entry.shape) / *entry.us * 1e-3);
  cells["hipblaslt-GB/s"] = fmt::format("{:.6g}", bytes_of(*entry.shape) / *entry.us * 1e-3);
  cells["rotating_buffer"] = "0";
}

Status check_override(const Entry& entry) {
  if (!entry.shape) return mismatch("hipBLASLt has only matrix products");
  RUNG_CHECK(check(*entry.shape));
  for (const ElementType type : {entry.shape->x, entry.shape->w, entry.shape->out})
    if (type_word(type).empty()) return mismatch("hipBLASLt has no products of {}", name_of(type));
  if (!entry.solution || !entry.solution->index || *entry.solution->index < 1)
    return mismatch("solution: got no index above 0, wanted one for hipBLASLt");
  if (entry.us ? *entry.us <= 0 : entry.line == 0) return mismatch("time: got none, wanted microseconds above 0");
  return {};
}

Result<std::vector<std::string>> override_rows(TuningFile& file, Entry& entry) {
  RUNG_CHECK(check_override(entry));
  if (entry.line == 0) {
    RUNG_CHECK(add_table(file, columns_of(kBenchColumns)));
    entry.table = static_cast<uint32_t>(file.tables.size() - 1);
  }
  BenchCells cells;
  set_sizes(cells, *entry.shape);
  set_types(cells, *entry.shape);
  if (entry.us) set_times(cells, entry);
  cells["solution_index"] = std::to_string(*entry.solution->index);
  cells["kernel_name"] = cells["solution_name"] = entry.solution->name;
  cells["gcnArchName"] = entry.architecture;
  cells["CUs"] = std::to_string(entry.compute_units);
  const Columns& columns = file.tables[entry.table];
  const auto standing = bench_shape(TableLine(columns, trimmed(standing_line(file, entry))));
  const ColumnNames kept = kept_columns(standing, *entry.shape, kOverrideKeys);
  const auto value = [&](std::string_view column) {
    const auto found = cells.find(column);
    return found == cells.end() ? std::nullopt : std::optional(found->second);
  };
  const std::string indent(kept.empty() ? kIndent : "");  // a kept first cell has its own indent
  const std::string line = indent + table_line(file, entry, kept, value);
  RUNG_CHECK(check_said(*entry.shape, bench_shape(TableLine(columns, line))));
  entry.key = key_of(TableLine(columns, line), kOverrideKeys);
  if (entry.line) return std::vector{line};
  return std::vector{fmt::format("{}{}", kIndent, kBenchColumns), line};
}

}  // namespace

const Format hipblaslt{"hipblaslt",
                       "hipBLASLt's override file",
                       "hipBLASLt: the file HIPBLASLT_TUNING_OVERRIDE_FILE",
                       Wins::first,
                       [](std::span<const Line> head) {
                         for (const Line& line : head) {
                           const std::string_view text = trimmed(without_mark(line.text));
                           if (!text.empty()) return text.starts_with(trimmed(kVersionWord)) || is_header(text);
                         }
                         return false;
                       },
                       parse_override,
                       override_header,
                       override_rows};

}  // namespace rung::stacks
