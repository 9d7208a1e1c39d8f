// A librocblas.so.5 without a GPU, over the libamdhip64.so.7 beside it: its products are computed by the host, in their
// turn in the stream. It offers twenty solutions for any product, numbered from RUNG_FAKE_ROCBLAS_SOLUTIONS on, 301 if
// that is not set, and takes no other; the last one only with a workspace of 16 MiB. What the library does with memory
// by itself, this does: a handle has some until it is given a workspace.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "support/fake_hip/product.hpp"

extern "C" {
int hipMalloc(void** pointer, size_t bytes);
int hipFree(void* pointer);
}

namespace {

enum Status {
  kSuccess = 0,
  kInvalidHandle = 1,
  kNotImplemented = 2,
  kInvalidPointer = 3,
  kInvalidSize = 4,
  kMemoryError = 5,
  kInvalidValue = 11
};
enum Type { kF16 = 150, kF32 = 151, kBf16 = 168 };
constexpr int kAsItIs = 111, kTransposed = 112, kBySolution = 1, kSolutions = 20;
constexpr uint32_t kCheckSolution = 8;
constexpr size_t kOwnBytes = 4096, kRoomForTheLast = size_t{16} << 20;

using rung::fake::Element;

struct Handle {
  void* stream = nullptr;
  void* own = nullptr;  // null: the workspace is the caller's
  size_t workspace_bytes = kOwnBytes;
  bool atomics = true;
};

int first_solution() {
  const char* first = std::getenv("RUNG_FAKE_ROCBLAS_SOLUTIONS");
  return first ? std::atoi(first) : 301;
}
// In the order of a container that has none.
std::vector<int> solutions_of(const Handle& handle) {
  std::vector<int> all;
  for (int i = 0; i < kSolutions; ++i)
    if (const int at = i * 7 % kSolutions; at < kSolutions - 1 || handle.workspace_bytes >= kRoomForTheLast)
      all.push_back(first_solution() + at);
  return all;
}
bool is_offered(const Handle& handle, int solution) {
  for (const int each : solutions_of(handle))
    if (each == solution) return true;
  return false;
}

bool is_element(int type) { return type == kF32 || type == kF16 || type == kBf16; }
Element element_of(int type) { return type == kF32 ? Element::f32 : type == kF16 ? Element::f16 : Element::bf16; }

// A matrix as the functions take it; `lines` columns of `length` elements.
struct Matrix {
  const void* from;
  int type, stride;
  int64_t batch_stride;
  int length, lines;

  bool is_sound(int batch) const { return stride >= length && (batch == 1 || batch_stride >= 0); }
  rung::fake::Columns columns(int batch) const {
    return {element_of(type), static_cast<uint64_t>(length), static_cast<uint64_t>(lines), stride, batch, batch_stride};
  }
};

// What the library looks at before it looks for a solution.
int refusal(const Handle* handle, const Matrix (&matrices)[4], int batch, int compute_type) {
  if (!handle) return kInvalidHandle;
  const auto& [a, b, c, d] = matrices;
  for (const Matrix& each : matrices) {
    if (!each.from) return kInvalidPointer;
    if (!each.is_sound(batch)) return kInvalidSize;
    if (!is_element(each.type)) return kInvalidValue;
  }
  if (c.from == d.from && (c.stride != d.stride || c.batch_stride != d.batch_stride)) return kInvalidSize;
  const bool types = a.type == b.type && c.type == d.type && (d.type == a.type || d.type == kF32);
  if (!types || compute_type != kF32 || handle->atomics) return kNotImplemented;
  return kSuccess;
}

}  // namespace

extern "C" {
int rocblas_create_handle(void** handle) {
  auto made = std::make_unique<Handle>();
  if (hipMalloc(&made->own, kOwnBytes) != 0) return kMemoryError;
  return *handle = made.release(), kSuccess;
}
int rocblas_destroy_handle(void* handle) {
  const std::unique_ptr<Handle> gone(static_cast<Handle*>(handle));
  return gone && gone->own && hipFree(gone->own) != 0 ? kMemoryError : kSuccess;
}
int rocblas_set_stream(void* handle, void* stream) { return static_cast<Handle*>(handle)->stream = stream, kSuccess; }
int rocblas_set_workspace(void* handle, void* workspace, size_t bytes) {
  auto& to = *static_cast<Handle*>(handle);
  if (!workspace || bytes == 0) return kInvalidValue;
  if (to.own && hipFree(to.own) != 0) return kMemoryError;
  to.own = nullptr;
  return to.workspace_bytes = bytes, kSuccess;
}
int rocblas_set_atomics_mode(void* handle, int mode) {
  return static_cast<Handle*>(handle)->atomics = mode != 0, kSuccess;
}
const char* rocblas_status_to_string(int status) {
  constexpr const char* kTexts[] = {"rocblas_status_success",         "rocblas_status_invalid_handle",
                                    "rocblas_status_not_implemented", "rocblas_status_invalid_pointer",
                                    "rocblas_status_invalid_size",    "rocblas_status_memory_error"};
  if (status == kInvalidValue) return "rocblas_status_invalid_value";
  return status >= 0 && status < 6 ? kTexts[status] : "<undefined rocblas_status value>";
}
int rocblas_get_version_string_size(size_t* bytes) { return *bytes = sizeof "5.0.2.4567def", kSuccess; }
int rocblas_get_version_string(char* text, size_t bytes) {
  if (bytes < sizeof "5.0.2.4567def") return kInvalidSize;
  return std::strcpy(text, "5.0.2.4567def"), kSuccess;
}
int rocblas_gemm_strided_batched_ex_get_solutions(void* handle, int a_form, int, int m, int n, int k, const void*,
                                                  const void* a, int a_type, int a_stride, int64_t a_batch,
                                                  const void* b, int b_type, int b_stride, int64_t b_batch, const void*,
                                                  const void* c, int c_type, int c_stride, int64_t c_batch, void* d,
                                                  int d_type, int d_stride, int64_t d_batch, int batch,
                                                  int compute_type, int, uint32_t, int* list, int* count) {
  const bool transposed = a_form == kTransposed;
  const Matrix matrices[] = {{a, a_type, a_stride, a_batch, transposed ? k : m, transposed ? m : k},
                             {b, b_type, b_stride, b_batch, k, n},
                             {c, c_type, c_stride, c_batch, m, n},
                             {d, d_type, d_stride, d_batch, m, n}};
  const auto* of = static_cast<Handle*>(handle);
  if (const int code = refusal(of, matrices, batch, compute_type)) return code;
  const std::vector<int> all = solutions_of(*of);
  if (!list) return *count = static_cast<int>(all.size()), kSuccess;
  for (int i = 0; i < *count && i < static_cast<int>(all.size()); ++i) list[i] = all[static_cast<size_t>(i)];
  return kSuccess;
}
int rocblas_gemm_strided_batched_ex(void* handle, int a_form, int b_form, int m, int n, int k, const void* alpha,
                                    const void* a, int a_type, int a_stride, int64_t a_batch, const void* b, int b_type,
                                    int b_stride, int64_t b_batch, const void* beta, const void* c, int c_type,
                                    int c_stride, int64_t c_batch, void* d, int d_type, int d_stride, int64_t d_batch,
                                    int batch, int compute_type, int algorithm, int solution, uint32_t flags) {
  const bool transposed = a_form == kTransposed;
  const Matrix matrices[] = {{a, a_type, a_stride, a_batch, transposed ? k : m, transposed ? m : k},
                             {b, b_type, b_stride, b_batch, k, n},
                             {c, c_type, c_stride, c_batch, m, n},
                             {d, d_type, d_stride, d_batch, m, n}};
  const auto* of = static_cast<Handle*>(handle);
  if (const int code = refusal(of, matrices, batch, compute_type)) return code;
  if (b_form != kAsItIs || *static_cast<const float*>(alpha) != 1) return kNotImplemented;
  if (algorithm == kBySolution && solution > 0 && !is_offered(*of, solution)) return kInvalidValue;
  if (flags & kCheckSolution) return kSuccess;
  const bool put = rung::fake::put({.a_transposed = transposed,
                                    .a = matrices[0].columns(batch),
                                    .b = matrices[1].columns(batch),
                                    .c = matrices[2].columns(batch),
                                    .d = matrices[3].columns(batch),
                                    .from_a = a,
                                    .from_b = b,
                                    .from_c = c,
                                    .beta = *static_cast<const float*>(beta)},
                                   algorithm == kBySolution ? solution : 0, d, of->stream);
  return put ? kSuccess : kMemoryError;
}
}
