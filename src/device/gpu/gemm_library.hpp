// A vendor's GEMM library, opened at run time: one matrix product with its epilogue is prepared once and put into a
// stream any number of times. `cublaslt` on NVIDIA, `hipblaslt` and `rocblas` on AMD.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "device/gpu/runtime.hpp"
#include "ir/dtype.hpp"

namespace rung::gpu {

// A product out[m,n] = epilogue(x[m,k] w' + residual + bias), all row-major with the given row strides in elements; w
// is [n,k], or [k,n] when `w_is_kn`. There are `batch` products at the given distances.
struct LibraryGemm {
  DType x = DType::bf16, w = DType::bf16, out = DType::bf16, bias_type = DType::bf16;
  int64_t m = 0, n = 0, k = 0;
  int64_t x_stride = 0, w_stride = 0, out_stride = 0, residual_stride = 0;  // from row to row
  int64_t batch = 1, x_batch = 0, w_batch = 0, out_batch = 0;               // from product to product
  bool w_is_kn = false, bias = false, residual = false;
  bool scaled = false;  // x and w are f8e4m3fn, and products are multiplied by an f32 of their row of x and one of w's
  enum class Epilogue { none, relu, gelu_tanh } epilogue = Epilogue::none;
  int64_t algorithm = -1;  // a number from GemmLibrary::algorithms; -1: the library's preferred one
};

constexpr size_t kLibraryWorkspaceBytes = size_t{32} << 20;
constexpr int kLibraryAlgorithms = 8;    // the number of proposals asked for
constexpr size_t kTriedAlgorithms = 16;  // the most tried of those that a library offers

struct LibraryOperands {
  Address x = 0, w = 0, bias = 0, residual = 0, out = 0, workspace = 0;  // `workspace` has kLibraryWorkspaceBytes
  Address x_scales = 0, w_scales = 0;
};

// It belongs to the device whose context is current (current_context.hpp) both when it is made and when it is enqueued.
// One thread at a time may use it: enqueue() may write into the library's state in it.
class PreparedGemm {
 public:
  virtual ~PreparedGemm() = default;
  virtual Status enqueue(const LibraryOperands& operands, Stream stream) const = 0;
};

struct GemmLibrary {
  const char* name;  // "cublaslt"
  // Errors: no current context, or the library has no such product or algorithm; the text names its status.
  Result<std::shared_ptr<PreparedGemm>> (*prepare)(const LibraryGemm& gemm);
  std::string (*version)();  // "cublaslt 13.0.2"
  // Returns the numbers of the algorithms offered for a product, the preferred one first, those worth trying before all
  // others. Each number finds its algorithm again as long as the version stays. Null: the algorithms are numbered from
  // 0 in the order of the library's preference.
  Result<std::vector<int64_t>> (*algorithms)(const LibraryGemm& gemm);
  // Returns the version that other programs compare files for this library with: the library's, and the commit that it
  // was built from, such as "100001-0123abc"; empty: unknown. Null: the library has none.
  std::string (*build)() = nullptr;
  // Returns the parameters of gemm.algorithm, by which other programs find it: "id_66_tile_20_stages_36_...". Null:
  // they know it by its number.
  Result<std::string> (*parameters)(const LibraryGemm& gemm) = nullptr;
  // Returns whether this version takes LibraryGemm::scaled. Null: none does.
  bool (*scales_rows)() = nullptr;
};

}  // namespace rung::gpu
