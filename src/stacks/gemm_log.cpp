// Reads log lines: a program's options ("-m 8 --lda 8"), a list in braces ("{ M: 8, lda: 8 }") or aiter's sentence
// ("M:8, N:16"); all become names and values.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_log.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "stacks/files/fields.hpp"
#include "trace/recording/byte_source.hpp"

namespace rung::stacks {
namespace {

using Values = std::map<std::string, std::string_view, std::less<>>;

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr size_t kChunk = size_t{1} << 16;

struct LogForm {
  std::string_view mark;    // in every line
  std::string_view source;  // the program that wrote it
  Values (*values)(std::string_view line);
};

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  while (!text.empty() && (text.front() == '"' || text.front() == '\'')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '"' || text.back() == '\'')) text.remove_suffix(1);
  return text;
}

template <class F>
void split(std::string_view text, std::string_view separators, const F& take) {
  while (!text.empty()) {
    const size_t end = text.find_first_of(separators);
    if (const std::string_view part = trimmed(text.substr(0, end)); !part.empty()) take(part);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

// Returns one name for options that two programs call differently.
std::string common_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"transposeA", "transA"},
                                                                      {"transposeB", "transB"},
                                                                      {"M", "m"},
                                                                      {"N", "n"},
                                                                      {"K", "k"},
                                                                      {"rocblas_function", "function"},
                                                                      {"f", "function"},
                                                                      {"r", "a_type"},
                                                                      {"B", "batch_count"},
                                                                      {"call_count", "count"},
                                                                      {"batch", "batch_count"}};
  const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
  return std::string(found == std::end(kNames) ? name : found->second);
}

// Reads "-m 8 --bias_vector --lda 8": an option without a value is true.
Values values_of_options(std::string_view line) {
  Values values;
  std::string open;
  const auto close = [&](std::string_view value) {
    if (!open.empty()) values.try_emplace(std::exchange(open, {}), value);
  };
  split(line, " \t", [&](std::string_view word) {
    if (!is_option(word)) return close(word);
    close("1");
    open = common_name(word.substr(word.find_first_not_of('-')));
  });
  close("1");
  return values;
}

// Reads "{ M: 8, transA: 'T' }".
Values values_in_braces(std::string_view line) {
  Values values;
  line.remove_prefix(std::min(line.find('{'), line.size()));
  split(line, "{},", [&](std::string_view pair) {
    const size_t colon = pair.find(':');
    if (colon != pair.npos)
      values.try_emplace(common_name(trimmed(pair.substr(0, colon))), unquoted(pair.substr(colon + 1)));
  });
  return values;
}

// Reads "shape is M:8, N:16, K:16 dtype='torch.bfloat16' bias=False, q_dtype_w:torch.int8, not found tuned config in".
Values values_of_sentence(std::string_view line) {
  Values values;
  const size_t begin = line.find("shape is "), end = line.find("not found tuned config");
  if (begin == line.npos || begin > end) return values;
  split(line.substr(begin, end - begin), ", ", [&](std::string_view word) {
    const size_t at = word.find_first_of(":=");
    if (at != word.npos) values.try_emplace(common_name(word.substr(0, at)), unquoted(word.substr(at + 1)));
  });
  values["file"] = trimmed(line.substr(end));
  return values;
}

constexpr LogForm kForms[] = {
    {"hipblaslt-bench ", "hipBLASLt's log", values_of_options},
    {"rocblas-bench ", "rocBLAS's log", values_of_options},
    {"rocblas_function:", "rocBLAS's log", values_in_braces},
    {"function: matmul", "hipBLASLt's log", values_in_braces},
    {"not found tuned config", "aiter's log", values_of_sentence},
};

const LogForm* form_of(std::string_view line) {
  const auto* form = std::ranges::find_if(kForms, [&](const LogForm& f) { return line.find(f.mark) != line.npos; });
  return form == std::end(kForms) ? nullptr : form;
}

std::string_view value_at(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string_view() : found->second;
}

Result<int64_t> size_at(const Values& values, std::string_view name, std::optional<int64_t> fallback = {}) {
  const std::string_view text = value_at(values, name);
  if (text.empty() && fallback) return *fallback;
  if (const auto number = whole_number(text)) return *number;
  return mismatch("{}: got {}, wanted a whole number", name, text.empty() ? "none" : shown(text));
}

// Reads "bf16_r", rocBLAS's letters or "torch.bfloat16".
std::optional<ElementType> type_of(std::string_view word) {
  constexpr std::pair<std::string_view, ElementType> kLetters[] = {
      {"h", ElementType::f16}, {"s", ElementType::f32}, {"d", ElementType::f64}, {"i8", ElementType::i8}};
  for (const auto& [letter, type] : kLetters)
    if (word == letter) return type;
  for (const Words words : {Words::hipblaslt, Words::torch, Words::rung})
    if (const auto type = element_type_named(word, words)) return type;
  return std::nullopt;
}

Result<ElementType> type_at(const Values& values, std::string_view name, std::optional<ElementType> fallback = {}) {
  const std::string_view word = value_at(values, name);
  if (word.empty() && fallback) return *fallback;
  if (const auto type = type_of(word)) return *type;
  return mismatch("{}: got {}, wanted a type such as bf16_r", name, word.empty() ? "none" : shown(word));
}

Result<char> transpose_at(const Values& values, std::string_view name) {
  const std::string_view word = value_at(values, name);
  if (word == "N" || word == "T") return word.front();
  return mismatch("{}: got {}, wanted N or T", name, word.empty() ? "none" : shown(word));
}

// Takes "gemm_ex" from "rocblas_gemm_ex" and "rocblas_sgemm_ex"; the letter is the type. Errors: no matrix product.
Status take_function(std::string_view function, Values& values) {
  constexpr std::string_view kPrefix = "rocblas_";
  if (function.starts_with(kPrefix)) function.remove_prefix(kPrefix.size());
  for (const std::string_view letter : {"h", "s", "d"})
    if (function.starts_with(letter) && function.substr(1).starts_with("gemm")) {
      values.try_emplace("a_type", letter);
      function.remove_prefix(1);
    }
  const bool is_product = function.empty() || function == "matmul" ||
                          (function.starts_with("gemm") && function.find("gemmt") == function.npos);
  return is_product ? Status() : fail("{}: no matrix product", shown(function));
}

Result<BlasShape> blas_of(const Values& values) {
  BlasShape blas;
  RUNG_TRY(blas.trans_a, transpose_at(values, "transA"));
  RUNG_TRY(blas.trans_b, transpose_at(values, "transB"));
  RUNG_TRY(blas.m, size_at(values, "m"));
  RUNG_TRY(blas.n, size_at(values, "n"));
  RUNG_TRY(blas.k, size_at(values, "k"));
  RUNG_TRY(blas.lda, size_at(values, "lda", blas.trans_a == 'T' ? blas.k : blas.m));
  RUNG_TRY(blas.ldb, size_at(values, "ldb", blas.trans_b == 'T' ? blas.n : blas.k));
  RUNG_TRY(const int64_t ldc, size_at(values, "ldc", blas.m));
  RUNG_TRY(blas.ldc, size_at(values, "ldd", ldc));
  return blas;
}

Status take_types(const Values& values, GemmShape& shape) {
  RUNG_TRY(shape.w, type_at(values, "a_type"));
  RUNG_TRY(shape.x, type_at(values, "b_type", shape.w));
  RUNG_TRY(const ElementType c, type_at(values, "c_type", shape.w));
  RUNG_TRY(shape.out, type_at(values, "d_type", c));
  if (value_at(values, "compute_type").find("xf32") != std::string_view::npos)
    for (ElementType* type : {&shape.w, &shape.x, &shape.out})
      if (*type == ElementType::f32) *type = ElementType::tf32;
  return {};
}

Status take_epilogue(const Values& values, GemmShape& shape) {
  RUNG_TRY(const int64_t bias, size_at(values, "bias_vector", 0));
  if (bias) {
    RUNG_TRY(shape.bias, type_at(values, "bias_type", shape.out));
  }
  constexpr std::pair<std::string_view, Epilogue> kWords[] = {{"", Epilogue::none},     {"none", Epilogue::none},
                                                              {"relu", Epilogue::relu}, {"gelu", Epilogue::gelu},
                                                              {"silu", Epilogue::silu}, {"swish", Epilogue::silu}};
  const std::string_view word = value_at(values, "activation_type");
  const auto* known = std::ranges::find(kWords, word, &std::pair<std::string_view, Epilogue>::first);
  if (known == std::end(kWords))
    return mismatch("activation_type: got {}, wanted none, relu, gelu or silu", shown(word));
  shape.epilogue = known->second;
  RUNG_TRY(const int64_t scale, size_at(values, "scaleA", 0));
  constexpr std::array kKinds{Scaling::none, Scaling::tensor, Scaling::row};
  shape.scaling = scale >= 0 && scale < 3 ? kKinds[static_cast<size_t>(scale)] : Scaling::block;
  return {};
}

Result<GemmShape> blas_shape(Values values) {
  RUNG_CHECK(take_function(value_at(values, "function"), values));
  if (size_at(values, "grouped_gemm", 0).value_or(1) != 0) return fail("grouped products are not timed");
  RUNG_TRY(const BlasShape blas, blas_of(values));
  GemmShape shape;
  RUNG_CHECK(take_types(values, shape));
  RUNG_CHECK(take_epilogue(values, shape));
  RUNG_TRY(shape.batch, size_at(values, "batch_count", 1));
  RUNG_TRY(shape.count, size_at(values, "count", 1));
  return shape_of(blas, shape);
}

// The name of the file that lacks a row gives the other types: "a8w8_blockscale_tuned_gemm.csv".
Status take_aiter_types(const Values& values, GemmShape& shape) {
  const std::string_view file = value_at(values, "file"), quantised = value_at(values, "q_dtype_w");
  const auto has = [&](std::string_view part) { return file.find(part) != file.npos; };
  const bool narrow = has("a8w8") || has("a4w4");
  if (narrow) shape.x = shape.w = has("a4w4") ? ElementType::f4e2m1 : ElementType::f8e4m3fn;
  if (narrow) shape.scaling = has("blockscale") || has("a4w4") ? Scaling::block : Scaling::row;
  if (!quantised.empty()) {
    RUNG_TRY(shape.w, type_at(values, "q_dtype_w"));
    shape.x = shape.w;
  }
  if (narrow || !quantised.empty()) return {};
  RUNG_TRY(shape.x, type_at(values, "dtype", ElementType::bf16));
  shape.w = shape.x;
  RUNG_TRY(shape.out, type_at(values, "otype", shape.x));
  if (value_at(values, "bias") == "True") shape.bias = shape.x;
  return {};
}

Result<GemmShape> aiter_shape(const Values& values) {
  GemmShape shape;
  RUNG_TRY(shape.m, size_at(values, "m"));
  RUNG_TRY(shape.n, size_at(values, "n"));
  RUNG_TRY(shape.k, size_at(values, "k"));
  RUNG_TRY(shape.batch, size_at(values, "batch_count", 1));
  RUNG_CHECK(take_aiter_types(values, shape));
  return shape;
}

// Returns 16320 for "  16320 ./rocblas-bench -f gemm_ex".
int64_t count_before(std::string_view line) {
  const std::string_view first = trimmed(line);
  return std::max<int64_t>(whole_number(first.substr(0, first.find(' '))).value_or(1), 1);
}

class LogReader {
 public:
  void take(std::string_view line) {
    const LogForm* form = form_of(line);
    if (!form) return;
    if (list_.source.find(form->source) == std::string::npos)
      list_.source.append(list_.source.empty() ? "" : ", ").append(form->source);
    const Values values = form->values(line.substr(form->values == values_of_options ? line.find(form->mark) : 0));
    auto shape = form->values == values_of_sentence ? aiter_shape(values) : blas_shape(values);
    if (shape) {
      if (form->values == values_of_options) shape->count = count_before(line);
      if (Status sound = check(*shape); !sound) shape = tl::unexpected(sound.error());
    }
    if (!shape) return list_.remark(std::string(form->source) + ": " + shape.error().message);
    list_.add(*shape);
  }
  void skip_long() { list_.remark("lines of more than 1 MB"); }
  GemmList finish() { return std::move(list_); }

 private:
  GemmList list_;
};

// Calls take(line) for each line, and skip() for a line that is too long.
template <class F, class G>
Status each_line(trace::ByteSource source, const F& take, const G& skip) {
  std::string text, chunk(kChunk, '\0');
  bool too_long = false;
  for (;;) {
    RUNG_TRY(const size_t got, source.read(chunk.data(), chunk.size()));
    if (got == 0) break;
    text.append(chunk, 0, got);
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin)) {
      if (!too_long) take(std::string_view(text).substr(begin, end - begin));
      too_long = false;
    }
    text.erase(0, begin);
    if (text.size() <= kLongestLine) continue;
    if (!too_long) skip();
    too_long = true;
    text.clear();
  }
  if (!too_long) take(text);
  return {};
}

}  // namespace

bool looks_like_gemm_log(std::string_view head) { return form_of(head) != nullptr; }

Result<GemmList> read_gemm_log(const std::string& path) {
  RUNG_TRY(auto source, trace::ByteSource::open(path));
  LogReader reader;
  RUNG_CHECK(each_line(
      std::move(source), [&](std::string_view line) { reader.take(line); }, [&] { reader.skip_long(); }));
  return reader.finish();
}

}  // namespace rung::stacks
