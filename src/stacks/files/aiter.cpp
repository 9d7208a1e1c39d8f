// aiter's tuned products and its lists of products to tune: a line of column names, then a line for each product.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/table.hpp"

namespace rung::stacks {
namespace {

// Columns of bf16 and f16 products; other families have fewer.
constexpr std::string_view kAiterColumns =
    "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw";
constexpr std::string_view kAiterListColumns = "M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle";
// The columns of the key by which aiter looks a product up, as far as a file has them; the GPU's come first.
constexpr std::array<std::string_view, 12> kAiterKeys{
    "gfx", "cu_num", "B", "M", "N", "K", "bias", "dtype", "outdtype", "scaleAB", "bpreshuffle", "q_dtype_w"};
constexpr size_t kAiterGpuKeys = 2;

// Families of products whose columns do not name the types: words in names of files and kernels give them.
struct Family {
  std::string_view word;
  ElementType type;
  Scaling scaling;
};
constexpr Family kFamilies[] = {{"a4w4", ElementType::f4e2m1, Scaling::block},
                                {"f4gemm", ElementType::f4e2m1, Scaling::block},
                                {"blockscale", ElementType::f8e4m3fn, Scaling::block},
                                {"mxscale", ElementType::f8e4m3fn, Scaling::block},
                                {"a8w8", ElementType::i8, Scaling::row}};

const Family* family_of(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kFamilies, [&](const Family& family) { return name.find(family.word) != name.npos; });
  return found == std::end(kFamilies) ? nullptr : found;
}

// gfx942 multiplies f8 types without infinities and with a single zero.
ElementType for_architecture(ElementType type, std::string_view architecture) {
  return type == ElementType::f8e4m3fn && architecture == "gfx942" ? ElementType::f8e4m3fnuz : type;
}

Status take_aiter_types(const TableLine& line, const std::string& path, GemmShape& shape) {
  const Family* family = family_of(line["kernelName"]);
  if (!family) family = family_of(path.substr(path.rfind('/') + 1));
  if (family) {
    shape.x = shape.w = for_architecture(family->type, line["gfx"]);
    shape.scaling = family->scaling;
  }
  RUNG_TRY(shape.w, line.type("q_dtype_w", Words::torch, shape.w));
  if (!line["q_dtype_w"].empty()) shape.x = shape.w, shape.scaling = Scaling::row;
  RUNG_TRY(shape.x, line.type("dtype", Words::torch, shape.x));
  if (!line["dtype"].empty()) shape.w = shape.x, shape.scaling = Scaling::none;
  RUNG_TRY(const bool scaled, line.truth("scaleAB", false));
  if (scaled) shape.scaling = Scaling::tensor;
  RUNG_TRY(shape.out, line.type("outdtype", Words::torch, ElementType::bf16));
  RUNG_TRY(const bool bias, line.truth("bias", false));
  if (bias) shape.bias = shape.out;
  return {};
}

Result<GemmShape> aiter_shape(const TableLine& line, const std::string& path) {
  GemmShape shape;
  RUNG_TRY(shape.m, line.whole("M"));
  RUNG_TRY(shape.n, line.whole("N"));
  RUNG_TRY(shape.k, line.whole("K"));
  RUNG_TRY(shape.batch, line.whole("B", 1));
  RUNG_CHECK(take_aiter_types(line, path, shape));
  RUNG_CHECK(check(shape));
  return shape;
}

Status take_aiter_solution(const TableLine& line, Entry& entry) {
  Solution solution;
  solution.library = line["libtype"];
  solution.name = line["kernelName"];
  const std::string_view index = line.has("solidx") ? "solidx" : "kernelId";
  if (!line[index].empty()) {
    RUNG_TRY(solution.index, line.whole(index));
  }
  if (!line["splitK"].empty()) {
    RUNG_TRY(solution.split_k, line.whole("splitK"));
  }
  entry.solution = std::move(solution);
  RUNG_TRY(entry.us, line.real("us"));
  entry.architecture = line["gfx"];
  RUNG_TRY(entry.compute_units, line.compute_units("cu_num"));
  return {};
}

Status parse_aiter(TuningFile& file, bool tuned) {
  return parse_table(file, [&](const TableLine& line, const Columns&) -> Result<Entry> {
    Entry entry;
    RUNG_TRY(entry.shape, aiter_shape(line, file.path));
    if (tuned) RUNG_CHECK(take_aiter_solution(line, entry));
    entry.key = key_of(line, kAiterKeys);
    return entry;
  });
}

// Writes a rounded float as Python does: "7.0", "5.4049".
std::string rounded(double value, int digits) {
  std::string text = fmt::format("{:.{}f}", value, digits);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

std::string truth_text(bool value) { return value ? "True" : "False"; }

std::optional<std::string> aiter_shape_cell(const GemmShape& shape, std::string_view column) {
  if (same_word(column, "B")) return std::to_string(shape.batch);
  if (same_word(column, "M")) return std::to_string(shape.m);
  if (same_word(column, "N")) return std::to_string(shape.n);
  if (same_word(column, "K")) return std::to_string(shape.k);
  if (column == "bias") return truth_text(shape.bias.has_value());
  if (column == "dtype") return std::string(name_of(shape.x, Words::torch));
  if (column == "outdtype") return std::string(name_of(shape.out, Words::torch));
  if (column == "q_dtype_w") return std::string(name_of(shape.w, Words::torch));
  if (column == "scaleAB") return truth_text(shape.scaling == Scaling::tensor);
  return std::nullopt;
}

std::optional<std::string> aiter_result_cell(const Entry& entry, std::string_view column) {
  const Solution& solution = *entry.solution;
  if (column == "gfx") return entry.architecture;
  if (column == "cu_num") return std::to_string(entry.compute_units);
  if (column == "libtype") return solution.library;
  if (column == "solidx" || column == "kernelId") return std::to_string(solution.index.value_or(0));
  if (column == "splitK") return std::to_string(solution.split_k.value_or(0));
  if (column == "us") return rounded(*entry.us, 4);
  if (column == "kernelName") return solution.name;
  if (column == "tflops") return rounded(flops_of(*entry.shape) / *entry.us * 1e-6, 2);
  if (column == "bw") return rounded(bytes_of(*entry.shape) / *entry.us * 1e-3, 2);
  return std::nullopt;
}

Status check_aiter(const TuningFile& file, const Entry& entry, bool tuned) {
  if (!entry.shape) return mismatch("aiter's files have only matrix products");
  RUNG_CHECK(check(*entry.shape));
  const Columns& columns = file.tables.at(0);
  const GemmShape& shape = *entry.shape;
  if (shape.layout != GemmLayout::tn || shape.x_stride || shape.w_stride || shape.out_stride)
    return mismatch("{}: aiter has only products of dense rows with weights stored as [n, k]", text_of(shape));
  if (shape.epilogue != Epilogue::none) return mismatch("aiter's files have no products with an activation");
  if (!tuned) return {};
  if (!entry.us || *entry.us <= 0) return mismatch("time: got none, wanted microseconds above 0");
  if (!entry.solution) return mismatch("got no solution");
  if (entry.compute_units <= 0) return mismatch("got no count of compute units");
  if (entry.architecture.empty() && has_column(columns, "gfx")) return mismatch("got no architecture");
  for (const std::string_view error : {"errRatio", "err_ratio"})
    if (has_column(columns, error) && !entry.line && !entry.others.contains(error))
      return mismatch("got no {}, the share of results that are wrong", error);
  return {};
}

Result<std::vector<std::string>> aiter_rows(TuningFile& file, Entry& entry, bool tuned) {
  if (file.tables.empty()) return mismatch("this file has no line of column names");
  RUNG_CHECK(check_aiter(file, entry, tuned));
  const auto value = [&](std::string_view column) -> std::optional<std::string> {
    if (auto cell = aiter_shape_cell(*entry.shape, column)) return cell;
    if (auto cell = tuned ? aiter_result_cell(entry, column) : std::nullopt) return cell;
    if (column == "bpreshuffle" && !entry.line) return "False";
    return std::nullopt;
  };
  const auto standing = aiter_shape(TableLine(file.tables[0], standing_line(file, entry)), file.path);
  const ColumnNames product = ColumnNames(kAiterKeys).subspan(kAiterGpuKeys);
  const std::string line = table_line(file, entry, kept_columns(standing, *entry.shape, product), value);
  const TableLine made(file.tables[0], line);
  RUNG_CHECK(check_said(*entry.shape, aiter_shape(made, file.path)));
  entry.key = key_of(made, kAiterKeys);
  return std::vector{line};
}

bool names_products(const Columns& columns) {
  return has_column(columns, "M") && has_column(columns, "N") && has_column(columns, "K");
}

bool looks_tuned(std::span<const Line> head) {
  const Columns columns = head_columns(head);
  return names_products(columns) && has_column(columns, "us") && has_column(columns, "kernelName");
}

// aiter's column names are in upper case, unlike those of our own lists.
bool looks_listed(std::span<const Line> head) {
  const Columns columns = head_columns(head);
  const auto has = [&](std::string_view name) { return std::ranges::find(columns, name) != columns.end(); };
  if (!has("M") || !has("N") || !has("K") || has("libtype") || has("soltimes")) return false;
  return columns.size() == 3 || has("B") || has("q_dtype_w") || has("outdtype") || has("scaleAB") || has("bpreshuffle");
}

Result<std::vector<std::string>> columns_line(std::string_view columns) { return std::vector{std::string(columns)}; }

}  // namespace

const Format aiter{
    "aiter",
    "aiter's tuned products",
    "aiter: the files of AITER_CONFIG_GEMM_BF16, AITER_CONFIG_GEMM_A8W8 and the other AITER_CONFIG_ variables",
    Wins::none,
    looks_tuned,
    [](TuningFile& file) { return parse_aiter(file, true); },
    [](const TunedMachine&) { return columns_line(kAiterColumns); },
    [](TuningFile& file, Entry& entry) { return aiter_rows(file, entry, true); }};

const Format aiter_untuned{"aiter_untuned",
                           "aiter's products to tune",
                           "aiter's tuners: --input_file; written where AITER_TUNE_GEMM=1",
                           Wins::every,
                           looks_listed,
                           [](TuningFile& file) { return parse_aiter(file, false); },
                           [](const TunedMachine&) { return columns_line(kAiterListColumns); },
                           [](TuningFile& file, Entry& entry) { return aiter_rows(file, entry, false); }};

}  // namespace rung::stacks
