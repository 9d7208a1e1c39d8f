// rocBLAS's override file: a line of column names, then a row for each product, as rocblas-gemm-tune writes them.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/table.hpp"

namespace rung::stacks {
namespace {

// rocBLAS reads cells by position, not by name: 15 cells, or 18 with strides between the products of a batch.
constexpr std::string_view kPlain =
    "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,input_type,output_type,compute_type,solution_index";
constexpr std::string_view kStrided =
    "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,stride_a,stride_b,stride_c,input_type,output_type,"
    "compute_type,solution_index";
constexpr size_t kPlainCells = 15, kStridedCells = 18;
// The columns of the key by which the library looks a product up.
constexpr std::array<std::string_view, 9> kKeys{"transA", "transB",     "M",           "N",           "batch_count",
                                                "K",      "input_type", "output_type", "compute_type"};

bool is_heading(std::string_view line) { return line.find("transA") != line.npos && line.find(',') != line.npos; }

Result<ElementType> type_at(const TableLine& line, std::string_view column) {
  constexpr std::pair<std::string_view, ElementType> kLetters[] = {{"h", ElementType::f16},
                                                                   {"s", ElementType::f32},
                                                                   {"d", ElementType::f64},
                                                                   {"c", ElementType::c32},
                                                                   {"z", ElementType::c64}};
  for (const auto& [letter, type] : kLetters)
    if (line[column] == letter) return type;
  return line.type(column, Words::hipblaslt, ElementType::f32);
}

Result<GemmShape> shape_at(const TableLine& line) {
  BlasShape blas;
  blas.trans_a = line["transA"] == "N" ? 'N' : 'T', blas.trans_b = line["transB"] == "N" ? 'N' : 'T';
  RUNG_TRY(blas.m, line.whole("M"));
  RUNG_TRY(blas.n, line.whole("N"));
  RUNG_TRY(blas.k, line.whole("K"));
  RUNG_TRY(blas.lda, line.whole("lda"));
  RUNG_TRY(blas.ldb, line.whole("ldb"));
  RUNG_TRY(blas.ldc, line.whole("ldc"));
  RUNG_CHECK(check_leading(blas));
  GemmShape shape;
  RUNG_TRY(shape.batch, line.whole("batch_count"));
  RUNG_TRY(shape.x, type_at(line, "input_type"));
  RUNG_TRY(shape.out, type_at(line, "output_type"));
  RUNG_CHECK(type_at(line, "compute_type"));
  shape.w = shape.x;
  shape = shape_of(blas, shape);
  RUNG_CHECK(check(shape));
  return shape;
}

Result<Entry> entry_at(const TableLine& line) {
  Entry entry;
  RUNG_TRY(entry.shape, shape_at(line));
  entry.key = key_of(line, kKeys);
  RUNG_TRY(const int64_t index, line.whole("solution_index"));
  entry.solution = Solution{"rocblas", "", index, {}};
  return entry;
}

Result<Entry> entry_of(const TuningFile& file, std::string_view line) {
  const size_t cells = cells_of(line).size();
  if (cells != kPlainCells && cells != kStridedCells)
    return mismatch("got {} cells, wanted {}, or {} with strides of a batch", cells, kPlainCells, kStridedCells);
  return entry_at(TableLine(file.tables[cells == kPlainCells ? 0 : 1], line));
}

Status parse(TuningFile& file) {
  RUNG_CHECK(add_table(file, columns_of(kPlain)));
  RUNG_CHECK(add_table(file, columns_of(kStrided)));
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = i == 0 ? without_mark(file.lines[i].text) : std::string_view(file.lines[i].text);
    if (trimmed(line).empty() || is_heading(line)) continue;
    const size_t entries = file.entries.size();
    RUNG_CHECK(add_entry(file, entry_of(file, line), i + 1));
    if (file.entries.size() > entries) file.entries.back().table = cells_of(line).size() == kPlainCells ? 0 : 1;
  }
  return {};
}

}  // namespace

const Format rocblas{"rocblas",
                     "rocBLAS's override file",
                     "rocBLAS: the file ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH",
                     Wins::last,
                     [](std::span<const Line> head) {
                       const Columns columns = head_columns(head);
                       return has_column(columns, "transA") && has_column(columns, "input_type") &&
                              has_column(columns, "solution_index");
                     },
                     parse,
                     nullptr,
                     nullptr};

}  // namespace rung::stacks
