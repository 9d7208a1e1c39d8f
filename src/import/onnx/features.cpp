// Features of tables and texts in ONNX graphs: chosen columns, numbers beside a threshold, counts of n-grams.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// The n-grams of one length, and the columns of the result that count them.
struct Grams {
  int64_t length;
  std::vector<int64_t> numbers;  // one n-gram after another
  std::vector<int64_t> columns;
};

// N-grams stand by length, from 1 on; those of lengths that are not asked for have columns, too.
std::vector<Grams> grams_of(const Call& call) {
  const std::vector<int64_t> begins = call.integers("ngram_counts"), columns = call.integers("ngram_indexes"),
                             pool = call.integers("pool_int64s");
  if (pool.empty()) refuse("n-grams of strings, wanted pool_int64s");
  std::vector<Grams> all;
  size_t next = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t length = static_cast<int64_t>(i) + 1, begin = begins[i],
                  end = i + 1 < begins.size() ? begins[i + 1] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) || (end - begin) % length != 0)
      refuse("ngram_counts: got {} to {} of {} numbers for n-grams of {}", begin, end, pool.size(), length);
    const auto count = static_cast<size_t>((end - begin) / length);
    if (next + count > columns.size()) refuse("ngram_indexes: got {}, wanted one for each n-gram", columns.size());
    const auto of_pool = pool.begin() + begin;
    const auto of_columns = columns.begin() + static_cast<std::ptrdiff_t>(next);
    all.push_back(
        {length, {of_pool, of_pool + (end - begin)}, {of_columns, of_columns + static_cast<std::ptrdiff_t>(count)}});
    next += count;
  }
  return all;
}

// How often each n-gram stands in rows of x [N,C], `apart` places from number to number: f32 [N,P].
NodeId counts_of(const Call& call, NodeId x, const Grams& grams, int64_t apart) {
  const auto count = static_cast<int64_t>(grams.columns.size());
  const int64_t starts = call.shape(x)[1] - (grams.length - 1) * apart;
  if (starts < 1) return call.broadcast(call.scalar(0, DType::f32), Shape{call.shape(x)[0], count});
  const NodeId numbers = call.literal(Tensor::of<int64_t>({count, grams.length}, grams.numbers));
  std::optional<NodeId> all;
  for (int64_t i = 0; i < grams.length; ++i) {
    const NodeId seen = call.unsqueeze(call.slice(x, 1, i * apart, i * apart + starts), 2);
    const NodeId same = call.binary(BinaryKind::eq, seen, call.select_index(numbers, 1, i));
    all = all ? call.binary(BinaryKind::logical_and, *all, same) : same;
  }
  return call.reduce(ReduceKind::sum, call.cast(*all, DType::f32), {1}, false);
}

}  // namespace

// Columns of the last axis; of a vector, in one row.
Outputs array_feature_extractor(const Call& call) {
  const NodeId x = call[0], places = call.reshape(call[1], Shape{call.type(call[1]).elements()});
  if (call.rank(x) == 0) refuse("columns of {}", call.type(x));
  const NodeId columns = call.gather(x, places, call.rank(x) - 1);
  return {call.rank(x) == 1 ? call.unsqueeze(columns, 0) : columns};
}

Outputs binarizer(const Call& call) {
  const NodeId x = call[0], threshold = call.scalar(call.number("threshold", 0), call.dtype(x));
  return {call.cast(call.binary(BinaryKind::gt, x, threshold), call.dtype(x))};
}

// Counts of n-grams of integers whose numbers stand side by side, or some places apart; single numbers count once.
Outputs tfidf_vectorizer(const Call& call) {
  const std::string mode = call.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") refuse("mode: got '{}', wanted TF, IDF or TFIDF", mode);
  const bool is_row = call.rank(call[0]) == 1;
  NodeId x = call.cast(call[0], DType::i64);
  if (call.rank(x) > 2 || call.rank(x) == 0) refuse("n-grams in {}, wanted one or two axes", call.type(x));
  if (is_row) x = call.unsqueeze(x, 0);
  const int64_t least = call.integer("min_gram_length"), most = call.integer("max_gram_length"),
                skips = call.integer("max_skip_count");
  if (skips < 0 || skips > exported::kMostMade) refuse("max_skip_count: got {}", skips);
  std::vector<NodeId> counts;
  std::vector<int64_t> columns;
  int64_t size = 0;
  for (const Grams& grams : grams_of(call)) {
    for (const int64_t column : grams.columns) size = std::max(size, column + 1);
    if (grams.length < least || grams.length > most || grams.columns.empty()) continue;
    const int64_t furthest = grams.length == 1 ? 1 : std::min(skips + 1, call.shape(x)[1]);
    NodeId sum = counts_of(call, x, grams, 1);
    for (int64_t apart = 2; apart <= furthest; ++apart)
      sum = call.binary(BinaryKind::add, sum, counts_of(call, x, grams, apart));
    counts.push_back(sum);
    columns.insert(columns.end(), grams.columns.begin(), grams.columns.end());
  }
  const auto grams = static_cast<int64_t>(columns.size());
  if (grams == 0 || size > exported::kMostMade / grams) refuse("{} n-grams in {} columns", grams, size);
  Tensor places({DType::f32, {size, grams}});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0) refuse("ngram_indexes: got {}", columns[i]);
    places.as<float>()[static_cast<size_t>(columns[i] * grams) + i] = 1;
  }
  NodeId y = call.linear(call.concat(counts, 1), call.literal(places), std::nullopt);
  const std::vector<float> weights = call.numbers("weights");
  if (!weights.empty() && static_cast<int64_t>(weights.size()) < size)
    refuse("weights: got {}, wanted {} or none", weights.size(), size);
  if (mode == "IDF") y = call.cast(call.binary(BinaryKind::gt, y, call.scalar(0, DType::f32)), DType::f32);
  if (mode != "TF" && !weights.empty())
    y = call.binary(
        BinaryKind::mul, y,
        call.slice(call.literal(Tensor::of<float>({static_cast<int64_t>(weights.size())}, weights)), 0, 0, size));
  return {is_row ? call.squeeze(y, {0}) : y};
}

}  // namespace rung::onnx::operators
