// gradlib's lists of products and its results, as vLLM's ROCm branch and early aiter read them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/table.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kGradlibColumns = "M,N,K,bias,dtype,outdtype,libtype,solidx,soltimes";
constexpr std::string_view kGradlibListColumns = "M,N,K,bias,dtype";
constexpr std::array<std::string_view, 7> kGradlibKeys{"M", "N", "K", "bias", "dtype", "outdtype", "scaleAB"};

// vLLM writes BLAS's sizes: M counts the weights' rows, N the tokens. aiter, whose files have scaleAB, swaps the two.
bool has_rows_first(const Columns& columns) { return has_column(columns, "scaleAB"); }

Result<GemmShape> gradlib_shape(const TableLine& line, const Columns& columns) {
  GemmShape shape;
  RUNG_TRY(shape.m, line.whole(has_rows_first(columns) ? "M" : "N"));
  RUNG_TRY(shape.n, line.whole(has_rows_first(columns) ? "N" : "M"));
  RUNG_TRY(shape.k, line.whole("K"));
  RUNG_TRY(shape.x, line.type("dtype", Words::torch, ElementType::bf16));
  shape.w = shape.x;
  RUNG_TRY(shape.out, line.type("outdtype", Words::torch, shape.x));
  RUNG_TRY(const bool bias, line.truth("bias", false));
  if (bias) shape.bias = shape.out;
  RUNG_TRY(const bool scaled, line.truth("scaleAB", false));
  if (scaled) shape.scaling = Scaling::tensor;
  RUNG_CHECK(check(shape));
  return shape;
}

// vLLM looks up M, N, K, bias and dtype only; aiter looks up all key columns.
std::string gradlib_key(const TableLine& line, const Columns& columns) {
  const ColumnNames all(kGradlibKeys);
  return key_of(line, has_rows_first(columns) ? all : all.first(5));
}

Result<Entry> listed_at(const TableLine& line, const Columns& columns) {
  Entry entry;
  RUNG_TRY(entry.shape, gradlib_shape(line, columns));
  entry.key = gradlib_key(line, columns);
  return entry;
}

Result<Entry> tuned_at(const TableLine& line, const Columns& columns) {
  RUNG_TRY(Entry entry, listed_at(line, columns));
  Solution solution{std::string(line["libtype"]), std::string(line["kernelName"]), {}, {}};
  RUNG_TRY(solution.index, line.whole("solidx"));
  entry.solution = std::move(solution);
  RUNG_TRY(const std::optional<double> ms, line.real("soltimes"));
  if (ms) entry.us = *ms * 1000;
  RUNG_TRY(entry.compute_units, line.compute_units("cu_num"));
  return entry;
}

std::optional<std::string> product_cell(const GemmShape& shape, const Columns& columns, std::string_view column) {
  if (column == "M") return std::to_string(has_rows_first(columns) ? shape.m : shape.n);
  if (column == "N") return std::to_string(has_rows_first(columns) ? shape.n : shape.m);
  if (column == "K") return std::to_string(shape.k);
  if (column == "bias") return shape.bias ? "True" : "False";
  if (column == "dtype") return std::string(name_of(shape.x, Words::torch));
  if (column == "outdtype") return std::string(name_of(shape.out, Words::torch));
  if (column == "scaleAB") return shape.scaling == Scaling::tensor ? "True" : "False";
  return std::nullopt;
}

std::optional<std::string> solution_cell(const Entry& entry, std::string_view column) {
  if (column == "libtype") return entry.solution->library;
  if (column == "solidx") return std::to_string(*entry.solution->index);
  if (column == "soltimes") return entry.us ? fmt::format("{:.15g}", *entry.us / 1000) : "";
  if (column == "kernelName") return entry.solution->name;
  if (column == "cu_num") return std::to_string(entry.compute_units);
  return std::nullopt;
}

Status check_gradlib(const Entry& entry, bool tuned) {
  if (!entry.shape) return mismatch("gradlib's files have only matrix products");
  RUNG_CHECK(check(*entry.shape));
  const GemmShape& shape = *entry.shape;
  if (shape.layout != GemmLayout::tn || shape.x_stride || shape.w_stride || shape.out_stride || shape.batch > 1 ||
      shape.epilogue != Epilogue::none || shape.x != shape.w)
    return mismatch("{}: gradlib has only single products of dense rows with weights of the same type", text_of(shape));
  if (!tuned) return {};
  const Solution* solution = entry.solution ? &*entry.solution : nullptr;
  if (!solution || !solution->index || (solution->library != "hipblaslt" && solution->library != "rocblas"))
    return mismatch("solution: got {}, wanted an index of hipblaslt's or rocblas's",
                    shown(solution ? solution->library : ""));
  return {};
}

Result<std::vector<std::string>> gradlib_rows(TuningFile& file, Entry& entry, bool tuned) {
  if (file.tables.empty()) return mismatch("this file has no line of column names");
  RUNG_CHECK(check_gradlib(entry, tuned));
  const Columns& columns = file.tables[0];
  const auto standing = gradlib_shape(TableLine(columns, standing_line(file, entry)), columns);
  const auto kept = kept_columns(standing, *entry.shape, kGradlibKeys);
  const std::string line = table_line(file, entry, kept, [&](std::string_view column) {
    auto cell = product_cell(*entry.shape, columns, column);
    return cell || !tuned ? cell : solution_cell(entry, column);
  });
  const TableLine made(columns, line);
  RUNG_CHECK(check_said(*entry.shape, gradlib_shape(made, columns)));
  entry.key = gradlib_key(made, columns);
  return std::vector{line};
}

bool has_all(const Columns& columns, std::initializer_list<std::string_view> names) {
  return std::ranges::all_of(names,
                             [&](std::string_view name) { return std::ranges::find(columns, name) != columns.end(); });
}

Result<std::vector<std::string>> header_of(std::string_view columns) { return std::vector{std::string(columns)}; }

}  // namespace

const Format gradlib{"gradlib",
                     "gradlib's results",
                     "vLLM's ROCm branch until 2025: the file VLLM_TUNE_FILE; vLLM itself reads no such file",
                     Wins::last,
                     [](std::span<const Line> head) {
                       return has_all(head_columns(head), {"M", "N", "K", "libtype", "solidx"});
                     },
                     [](TuningFile& file) { return parse_table(file, tuned_at); },
                     [](const TunedMachine&) { return header_of(kGradlibColumns); },
                     [](TuningFile& file, Entry& entry) { return gradlib_rows(file, entry, true); }};

const Format gradlib_untuned{"gradlib_untuned",
                             "gradlib's products to tune",
                             "gradlib's gemm_tuner.py; written where VLLM_TUNE_GEMM=1, as VLLM_UNTUNE_FILE says",
                             Wins::every,
                             [](std::span<const Line> head) {
                               return has_all(head_columns(head), {"M", "N", "K", "bias", "dtype"});
                             },
                             [](TuningFile& file) { return parse_table(file, listed_at); },
                             [](const TunedMachine&) { return header_of(kGradlibListColumns); },
                             [](TuningFile& file, Entry& entry) { return gradlib_rows(file, entry, false); }};

}  // namespace rung::stacks
