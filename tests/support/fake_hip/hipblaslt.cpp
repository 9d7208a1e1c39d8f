// A libhipblaslt.so.1 without a GPU, over the libamdhip64.so.7 beside it: its products are computed by the host, in
// their turn in the stream. It offers three solutions for any product, numbered from RUNG_FAKE_SOLUTIONS on, 7001 if
// that is not set, and takes no other.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/fake_hip/product.hpp"

// As the library names it: its mangled name is part of what is looked for.
struct _hipblasLtMatmulAlgo_t {
  uint8_t data[16];
  size_t most_workspace_bytes;
};

namespace {

enum Status { kSuccess = 0, kInvalidValue = 3, kNotSupported = 7 };
enum Type { kF32 = 0, kF16 = 2, kBf16 = 14 };
enum Epilogue { kRelu = 2, kBias = 4, kGelu = 32 };
constexpr int kComputeF32 = 2, kTranspose = 112, kSolutions = 3;

using rung::fake::Columns;
using rung::fake::Element;
using rung::fake::Product;

struct Descriptor {
  int transpose[2] = {111, 111};
  uint32_t epilogue = 1;
  const void* bias = nullptr;
  int bias_type = kF32;
};
struct Proposal {
  _hipblasLtMatmulAlgo_t algorithm;
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

bool is_element(int type) { return type == kF32 || type == kF16 || type == kBf16; }
Element element_of(int type) { return type == kF32 ? Element::f32 : type == kF16 ? Element::f16 : Element::bf16; }

int first_solution() {
  const char* first = std::getenv("RUNG_FAKE_SOLUTIONS");
  return first ? std::atoi(first) : 7001;
}
int solution_of(const _hipblasLtMatmulAlgo_t& algorithm) {
  int solution = 0;
  std::memcpy(&solution, algorithm.data, sizeof solution);
  return solution;
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
  if (!is_element(type)) return kNotSupported;
  return *made = new Columns{element_of(type), rows, columns, stride, 1, 0}, kSuccess;
}
int hipblasLtMatrixLayoutDestroy(void* layout) { return delete static_cast<Columns*>(layout), kSuccess; }
int hipblasLtMatrixLayoutSetAttribute(void* layout, int which, const void* value, size_t bytes) {
  Columns& to = *static_cast<Columns*>(layout);
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
  const auto layout = [](void* of) { return *static_cast<Columns*>(of); };
  const Descriptor& how = *static_cast<Descriptor*>(descriptor);
  const bool put = rung::fake::put({.a_transposed = how.transpose[0] == kTranspose,
                                    .relu = (how.epilogue & kRelu) != 0,
                                    .gelu = (how.epilogue & kGelu) != 0,
                                    .bias = how.epilogue & kBias ? how.bias : nullptr,
                                    .bias_type = element_of(how.bias_type),
                                    .a = layout(a_layout),
                                    .b = layout(b_layout),
                                    .c = layout(c_layout),
                                    .d = layout(d_layout),
                                    .from_a = a,
                                    .from_b = b,
                                    .from_c = c,
                                    .beta = *static_cast<const float*>(beta)},
                                   solution_of(*algorithm), d, stream);
  return put ? kSuccess : kInvalidValue;
}
}
