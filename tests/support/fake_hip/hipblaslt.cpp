// A libhipblaslt.so.1 without a GPU, over the libamdhip64.so.7 beside it: its products are computed by the host, in
// their turn in the stream. It offers three solutions for any product, numbered from RUNG_FAKE_SOLUTIONS on, 7001 if
// that is not set, and takes no other.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/numeric.hpp"

extern "C" {
int hipLaunchHostFunc(void* stream, void (*function)(void*), void* data);
int hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, void* stream);
}

// As the library names it: its mangled name is part of what is looked for.
struct _hipblasLtMatmulAlgo_t {
  uint8_t data[16];
  size_t most_workspace_bytes;
};

namespace {

enum Status { kSuccess = 0, kInvalidValue = 3, kNotSupported = 7 };
enum Type { kF32 = 0, kF16 = 2, kBf16 = 14 };
enum Epilogue { kRelu = 2, kBias = 4, kGelu = 32 };
constexpr uint64_t kMostTerms = uint64_t{1} << 30;  // of a larger one, which measures a peak, nothing is computed
constexpr int kComputeF32 = 2, kTranspose = 112, kSolutions = 3;

struct Descriptor {
  int transpose[2] = {111, 111};
  uint32_t epilogue = 1;
  const void* bias = nullptr;
  int bias_type = kF32;
};
struct Layout {
  int type = kF32;
  uint64_t rows = 0, columns = 0;
  int64_t stride = 0;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};
struct Proposal {
  _hipblasLtMatmulAlgo_t algorithm;
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

size_t size_of(int type) { return type == kF32 ? 4 : 2; }
float read(const void* from, int type, int64_t at) {
  if (type == kF32) return static_cast<const float*>(from)[at];
  return type == kF16 ? static_cast<float>(static_cast<const rung::f16*>(from)[at])
                      : static_cast<float>(static_cast<const rung::bf16*>(from)[at]);
}
void write(void* to, int type, size_t at, float value) {
  if (type == kF32)
    static_cast<float*>(to)[at] = value;
  else if (type == kF16)
    static_cast<rung::f16*>(to)[at] = rung::f16(value);
  else
    static_cast<rung::bf16*>(to)[at] = rung::bf16(value);
}

int first_solution() {
  const char* first = std::getenv("RUNG_FAKE_SOLUTIONS");
  return first ? std::atoi(first) : 7001;
}
int solution_of(const _hipblasLtMatmulAlgo_t& algorithm) {
  int solution = 0;
  std::memcpy(&solution, algorithm.data, sizeof solution);
  return solution;
}

// One product, with all that it needs: what described it may be gone when a graph runs.
struct Product {
  Descriptor how;
  Layout a, b, c, d;
  const void *from_a, *from_b, *from_c;
  float beta = 0;
  std::vector<uint8_t> result;  // columns without gaps

  float element(int32_t batch, uint64_t row, uint64_t column) const {
    const int64_t r = static_cast<int64_t>(row), col = static_cast<int64_t>(column);
    double sum = 0;
    for (int64_t k = 0; k < static_cast<int64_t>(b.rows); ++k) {
      const int64_t at_a = how.transpose[0] == kTranspose ? k + r * a.stride : r + k * a.stride;
      sum += static_cast<double>(read(from_a, a.type, batch * a.batch_stride + at_a)) *
             static_cast<double>(read(from_b, b.type, batch * b.batch_stride + k + col * b.stride));
    }
    float value = static_cast<float>(sum);
    if (beta != 0) value += beta * read(from_c, c.type, batch * c.batch_stride + r + col * c.stride);
    if (how.epilogue & kBias) value += read(how.bias, how.bias_type, r);
    if (how.epilogue & kRelu) value = std::max(value, 0.0f);
    if (how.epilogue & kGelu) {
      constexpr float kSqrt2OverPi = 0.7978845608f;
      value *= 0.5f * (1 + std::tanh(kSqrt2OverPi * (value + 0.044715f * value * value * value)));
    }
    return value;
  }
  void compute() {
    size_t at = 0;
    for (int32_t batch = 0; batch < d.batch; ++batch)
      for (uint64_t column = 0; column < d.columns; ++column)
        for (uint64_t row = 0; row < d.rows; ++row) write(result.data(), d.type, at++, element(batch, row, column));
  }
};

// Kept until the process ends: nobody tells when a graph is gone.
Product& keep(Product product) {
  static std::mutex mutex;
  static auto* all = new std::deque<Product>;
  std::lock_guard lock(mutex);
  return all->emplace_back(std::move(product));
}

template <class T>
int get(T& to, const void* from, size_t bytes) {
  if (bytes != sizeof to) return kInvalidValue;
  return std::memcpy(&to, from, bytes), kSuccess;
}

}  // namespace

namespace hipblaslt_ext {
int getIndexFromAlgo(_hipblasLtMatmulAlgo_t& algorithm);
int getIndexFromAlgo(_hipblasLtMatmulAlgo_t& algorithm) { return solution_of(algorithm); }
}  // namespace hipblaslt_ext

extern "C" {
int hipblasLtCreate(void** handle) { return *handle = std::make_unique<int>().release(), kSuccess; }
int hipblasLtGetVersion(void* handle, int* version) { return *version = 100001, handle ? kSuccess : kInvalidValue; }
int hipblasLtGetGitRevision(void* handle, char* text) {
  return std::strcpy(text, "0123abc"), handle ? kSuccess : kInvalidValue;
}
int hipblasLtMatmulDescCreate(void** made, int compute, int scale) {
  if (compute != kComputeF32 || scale != kF32) return kNotSupported;
  return *made = new Descriptor, kSuccess;
}
int hipblasLtMatmulDescDestroy(void* descriptor) { return delete static_cast<Descriptor*>(descriptor), kSuccess; }
int hipblasLtMatmulDescSetAttribute(void* descriptor, int which, const void* value, size_t bytes) {
  Descriptor& to = *static_cast<Descriptor*>(descriptor);
  switch (which) {
    case 0:
    case 1:
      return get(to.transpose[which], value, bytes);
    case 2:
      return get(to.epilogue, value, bytes);
    case 3:
      return get(to.bias, value, bytes);
    case 4:
      return get(to.bias_type, value, bytes);
    default:
      return kInvalidValue;
  }
}
int hipblasLtMatrixLayoutCreate(void** made, int type, uint64_t rows, uint64_t columns, int64_t stride) {
  if (type != kF32 && type != kF16 && type != kBf16) return kNotSupported;
  return *made = new Layout{type, rows, columns, stride, 1, 0}, kSuccess;
}
int hipblasLtMatrixLayoutDestroy(void* layout) { return delete static_cast<Layout*>(layout), kSuccess; }
int hipblasLtMatrixLayoutSetAttribute(void* layout, int which, const void* value, size_t bytes) {
  Layout& to = *static_cast<Layout*>(layout);
  return which == 0   ? get(to.batch, value, bytes)
         : which == 1 ? get(to.batch_stride, value, bytes)
                      : static_cast<int>(kInvalidValue);
}
int hipblasLtMatmulPreferenceCreate(void** made) { return *made = new uint64_t{0}, kSuccess; }
int hipblasLtMatmulPreferenceDestroy(void* preference) { return delete static_cast<uint64_t*>(preference), kSuccess; }
int hipblasLtMatmulPreferenceSetAttribute(void* preference, int which, const void* value, size_t bytes) {
  return which == 1 ? get(*static_cast<uint64_t*>(preference), value, bytes) : static_cast<int>(kInvalidValue);
}
int hipblasLtMatmulAlgoGetHeuristic(void* handle, void*, void*, void*, void*, void*, void* preference, int wanted,
                                    Proposal* proposals, int* found) {
  if (!handle || *static_cast<uint64_t*>(preference) == 0 || wanted <= 0) return kInvalidValue;
  for (*found = 0; *found < wanted && *found < kSolutions; ++*found) {
    const int solution = first_solution() + *found;
    proposals[*found] = {};
    std::memcpy(proposals[*found].algorithm.data, &solution, sizeof solution);
    proposals[*found].workspace_bytes = 4096;
  }
  return kSuccess;
}
int hipblasLtMatmul(void* handle, void* descriptor, const void* alpha, const void* a, void* a_layout, const void* b,
                    void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                    const _hipblasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes, void* stream) {
  const int place = solution_of(*algorithm) - first_solution();
  if (!handle || !workspace || workspace_bytes != 4096 || place < 0 || place >= kSolutions) return kInvalidValue;
  if (*static_cast<const float*>(alpha) != 1) return kNotSupported;
  const auto layout = [](void* of) { return *static_cast<Layout*>(of); };
  Product& product = keep({*static_cast<Descriptor*>(descriptor),
                           layout(a_layout),
                           layout(b_layout),
                           layout(c_layout),
                           layout(d_layout),
                           a,
                           b,
                           c,
                           *static_cast<const float*>(beta),
                           {}});
  const Layout& to = product.d;
  const size_t column_bytes = to.rows * size_of(to.type);
  product.result.resize(column_bytes * to.columns * static_cast<size_t>(to.batch));
  const auto compute = [](void* of) { static_cast<Product*>(of)->compute(); };
  if (to.rows * to.columns * product.b.rows * static_cast<size_t>(to.batch) > kMostTerms) return kSuccess;
  if (hipLaunchHostFunc(stream, compute, &product) != 0) return kInvalidValue;
  for (size_t i = 0; i < to.columns * static_cast<size_t>(to.batch); ++i) {
    const size_t element =
        i / to.columns * static_cast<size_t>(to.batch_stride) + i % to.columns * static_cast<size_t>(to.stride);
    if (hipMemcpyHtoDAsync(static_cast<uint8_t*>(d) + element * size_of(to.type),
                           product.result.data() + i * column_bytes, column_bytes, stream) != 0)
      return kInvalidValue;
  }
  return kSuccess;
}
}
