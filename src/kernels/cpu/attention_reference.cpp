// Reference row of attention: scores, softmax and weighted sum of one query at a time.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

int64_t key_count(const Problem& p) {
  int64_t keys = 0;
  for (size_t i = p.as<Attention>().has_mask ? 2 : 1; i < p.inputs.size(); i += 2) keys += p.inputs[i].shape[1];
  return keys;
}

// One row of scores and one of sums for each thread.
size_t floats_per_thread(const Problem& p) { return static_cast<size_t>(key_count(p) + p.output.shape[3]); }
size_t scratch_bytes(const Problem& p) { return sizeof(float) * floats_per_thread(p) * static_cast<size_t>(p.threads); }

struct Query {
  const Call& call;
  int64_t batch, position, head;
  // Row `key` of operand i: a k or v.
  Line row(size_t i, int64_t key) const {
    const Operand& x = call.problem.inputs[i];
    int64_t group = head / (call.problem.output.shape[2] / x.shape[2]);
    return {call.inputs[i], x.dtype, batch * x.strides[0] + key * x.strides[1] + group * x.strides[2], x.strides[3]};
  }
  Line q() const {
    const Operand& x = call.problem.inputs[0];
    return {call.inputs[0], x.dtype, batch * x.strides[0] + position * x.strides[1] + head * x.strides[2],
            x.strides[3]};
  }
};

void score(const Query& query, float* scores) {
  const Problem& p = query.call.problem;
  const auto& op = p.as<Attention>();
  Shape full{p.output.shape[0], p.output.shape[2], p.output.shape[1], key_count(p)};
  Strides mask = op.has_mask ? broadcast_strides(p.inputs[1], full) : Strides::filled(4, 0);
  const int64_t width = p.output.shape[3];
  const Line q = query.q();
  int64_t key = 0;
  for (size_t i = op.has_mask ? 2 : 1; i < p.inputs.size(); i += 2)
    for (int64_t j = 0; j < p.inputs[i].shape[1]; ++j, ++key) {
      const Line k = query.row(i, j);
      float dot = 0;
      for (int64_t d = 0; d < width; ++d) dot += q[d] * k[d];
      scores[key] = op.scale * dot;
      if (op.has_mask)
        scores[key] += query.call.in<float>(
            1)[query.batch * mask[0] + query.head * mask[1] + query.position * mask[2] + key * mask[3]];
    }
}

void softmax_in_place(float* scores, int64_t count) {
  float largest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, scores[i]);
  for (int64_t i = 0; i < count; ++i) sum += scores[i] = std::exp(scores[i] - largest);
  for (int64_t i = 0; i < count; ++i) scores[i] /= sum;
}

void weigh(const Query& query, const float* scores, float* sums) {
  const Problem& p = query.call.problem;
  const int64_t width = p.output.shape[3];
  std::fill_n(sums, width, 0.0f);
  int64_t key = 0;
  for (size_t i = p.as<Attention>().has_mask ? 2 : 1; i < p.inputs.size(); i += 2)
    for (int64_t j = 0; j < p.inputs[i].shape[1]; ++j, ++key) {
      const Line v = query.row(i + 1, j);
      for (int64_t d = 0; d < width; ++d) sums[d] += scores[key] * v[d];
    }
}

void run(const Call& call) {
  const Problem& p = call.problem;
  int64_t queries = p.output.shape[1], heads = p.output.shape[2], d = p.output.shape[3], keys = key_count(p);
  float* scores = static_cast<float*>(call.scratch) + floats_per_thread(p) * static_cast<size_t>(call.thread);
  float* sums = scores + keys;
  Range mine = share(p.output.shape[0] * queries * heads, call.thread, p.threads);
  for (int64_t i = mine.begin; i < mine.end; ++i) {
    Query query{call, i / (queries * heads), i / heads % queries, i % heads};
    score(query, scores);
    softmax_in_place(scores, keys);
    weigh(query, scores, sums);
    for (int64_t j = 0; j < d; ++j) store_f32(call.output, p.output.dtype, i * d + j, sums[j]);
  }
}

}  // namespace

extern const Kernel attention_reference{.name = "attention_reference",
                                        .op = "attention",
                                        .supports = supports,
                                        .run = run,
                                        .scratch_bytes = scratch_bytes,
                                        .role = Role::fallback};

}  // namespace rung::cpu
