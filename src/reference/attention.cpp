// Attention by its formula: scores, mask, softmax, weighted sum; one key head at a time.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/dot.hpp"
#include "reference/operations.hpp"
#include "reference/softmax.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

using Rows = std::span<const double>;

// The keys and values of one key head of one batch entry, all segments one after another.
struct Head {
  std::vector<double> keys;    // [K, D]
  std::vector<double> values;  // [D, K]
};

// Reads a head; `pairs` is k, v, k, v, ..., each [B, Ki, G, D].
Head read_head(std::span<const Tensor> pairs, int64_t batch, int64_t head) {
  Head out;
  std::vector<double> rows;  // values as [K, D]
  size_t width = size(pairs[0].shape()[3]);
  std::vector<double> row(width);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Shape& shape = pairs[i].shape();
    for (int64_t key = 0; key < shape[1]; ++key) {
      int64_t at = ((batch * shape[1] + key) * shape[2] + head) * shape[3];
      read(pairs[i], at, row);
      out.keys.insert(out.keys.end(), row.begin(), row.end());
      read(pairs[i + 1], at, row);
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  size_t count = width ? rows.size() / width : 0;
  out.values.resize(rows.size());
  for (size_t key = 0; key < count; ++key)
    for (size_t d = 0; d < width; ++d) out.values[d * count + key] = rows[key * width + d];
  return out;
}

struct Query {
  int64_t place;
  Rows values, mask;  // an empty mask adds nothing
};

// The places of a cache's keys; without a length they are the keys' own numbers.
struct Places {
  std::optional<int64_t> length;
  int64_t keys = 0;

  // Returns key j's place; nullopt: it holds nothing.
  std::optional<int64_t> of(int64_t key) const {
    if (!length) return key;
    if (key >= *length) return std::nullopt;
    return key + (*length - 1 - key) / keys * keys;
  }
};

// Computes out = softmax(cap(scale * q k') + mask) v for one query, over the keys in its span. If all scores are -inf
// no key remains, and the sum over no keys is zero.
void attend(const Attention& op, const Head& head, const Places& places, const Query& q, std::span<double> out) {
  const Rows query = q.values, mask = q.mask;
  size_t width = query.size(), count = width ? head.keys.size() / width : 0;
  std::vector<double> scores(count);
  for (size_t key = 0; key < count; ++key) {
    scores[key] = double{op.scale} * dot(query, Rows(head.keys).subspan(key * width, width));
    if (op.softcap != 0) scores[key] = op.softcap * std::tanh(scores[key] / op.softcap);
    if (!mask.empty()) scores[key] += mask[key];
    const auto place = places.of(static_cast<int64_t>(key));
    if (!place || !op.span.sees(q.place, *place)) scores[key] = -INFINITY;
  }
  if (std::all_of(scores.begin(), scores.end(), [](double score) { return score == -INFINITY; }))
    return std::fill(out.begin(), out.end(), 0.0);
  softmax(scores);
  for (size_t d = 0; d < width; ++d) out[d] = dot(scores, Rows(head.values).subspan(d * count, count));
}

}  // namespace

Result<Tensor> compute(const Attention& op, const Arguments& arguments) {
  const Shape& q = arguments[0].shape();  // [B, S, H, D]
  auto pairs = arguments.operands.subspan(op.first_key());
  int64_t keys = 0, key_heads = pairs[0].shape()[2];
  for (size_t i = 0; i < pairs.size(); i += 2) keys += pairs[i].shape()[1];
  std::vector<double> mask;  // [B, H, S, K]
  if (const Tensor* values = op.slots.find(arguments.operands, AttentionSlot::mask))
    mask = read(broadcast_to(*values, Shape{q[0], q[2], q[1], keys}));
  Places places{std::nullopt, keys};
  if (const Tensor* length = op.slots.find(arguments.operands, AttentionSlot::length)) {
    places.length = length->as<int64_t>()[0];
    if (*places.length < q[1]) return fail("got a length of {}, wanted {} queries at least", *places.length, q[1]);
  }
  const int64_t first_place = places.length ? *places.length - q[1] : 0;
  auto queries = read(arguments[0]);
  std::vector<double> out(queries.size());
  for (int64_t b = 0; b < q[0]; ++b)
    for (int64_t h = 0, group = q[2] / key_heads; h < q[2]; ++h) {
      Head head = read_head(pairs, b, h / group);
      for (int64_t s = 0; s < q[1]; ++s) {
        size_t at = size(((b * q[1] + s) * q[2] + h) * q[3]);
        Rows mask_row =
            op.has_mask() ? Rows(mask).subspan(size(((b * q[2] + h) * q[1] + s) * keys), size(keys)) : Rows{};
        attend(op, head, places, {first_place + s, Rows(queries).subspan(at, size(q[3])), mask_row},
               std::span(out).subspan(at, size(q[3])));
      }
    }
  for (double& value : out) value *= op.factor;
  return write_rounded(arguments.result, out);
}

}  // namespace rung::reference
