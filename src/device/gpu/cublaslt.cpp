// The numbers of cuBLASLt, and its functions beyond those that libraries of its kind have in common.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/cublaslt.hpp"

#include <dlfcn.h>

#include "device/gpu/lt_gemm.hpp"

namespace rung::gpu {
namespace {

struct Cublaslt {
  struct Algorithm {
    uint64_t data[8];
  };
  struct Functions : LtFunctions<Algorithm> {
    size_t (*cublasLtGetVersion)();
    const char* (*cublasLtGetStatusString)(int);
    int (*cublasLtMatmulAlgoConfigGetAttribute)(const Algorithm*, int which, void* value, size_t bytes,
                                                size_t* written);
  };

  static constexpr const char* kName = "cuBLASLt";
  static constexpr LtNumbers kNumbers{.compute_f32 = 68,  // no TF32
                                      .transpose = 1,
                                      .transpose_a = 3,
                                      .epilogue = 7,
                                      .bias_pointer = 8,
                                      .bias_type = 26,
                                      .batch_count = 5,
                                      .batch_stride = 6,
                                      .a_scale = 17,
                                      .b_scale = 18,
                                      .a_scale_mode = 31,
                                      .b_scale_mode = 32,
                                      .row_scales = 3};
  static Functions& functions() {
    static Functions found;
    return found;
  }
  static const char* status_text(int code) { return functions().cublasLtGetStatusString(code); }
  static Result<const Runtime*> runtime() { return cuda_runtime(); }
  // No number of an algorithm means the same for other products or another time, so proposals are counted.
  static int64_t index_of(const LtProposal<Algorithm>&, size_t place) { return static_cast<int64_t>(place); }
};

Status open_library() {
  void* opened = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
    if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!opened) return no_device("no cuBLASLt: {}", dlerror());
  Cublaslt::Functions& found = Cublaslt::functions();
  RUNG_CHECK(found.find(opened, Cublaslt::kName, "cublasLt"));
  RUNG_CHECK(find_function(opened, Cublaslt::kName, "cublasLtGetVersion", found.cublasLtGetVersion));
  RUNG_CHECK(find_function(opened, Cublaslt::kName, "cublasLtGetStatusString", found.cublasLtGetStatusString));
  return find_function(opened, Cublaslt::kName, "cublasLtMatmulAlgoConfigGetAttribute",
                       found.cublasLtMatmulAlgoConfigGetAttribute);
}

constexpr size_t kFirstWithRowScales = 120900;
bool scales_rows() { return Cublaslt::functions().cublasLtGetVersion() >= kFirstWithRowScales; }

std::string version() {
  const size_t v = Cublaslt::functions().cublasLtGetVersion();
  return fmt::format("cublaslt {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

Result<std::string> parameters(const LibraryGemm& gemm) {
  RUNG_TRY(const Cublaslt::Algorithm algorithm, LtGemm<Cublaslt>::algorithm_of(gemm));
  std::string text;
  for (const CublasltParameter& parameter : kCublasltParameters) {
    uint32_t value = 0;  // little-endian: shorter values fill its first bytes
    size_t written = 0;
    const int code = Cublaslt::functions().cublasLtMatmulAlgoConfigGetAttribute(&algorithm, parameter.attribute, &value,
                                                                                parameter.bytes, &written);
    if (code != 0) return fail("cuBLASLt: parameter {}: {}", parameter.word, Cublaslt::status_text(code));
    text += fmt::format("{}{}_{}", text.empty() ? "" : "_", parameter.word, value);
  }
  return text;
}

}  // namespace

Result<const GemmLibrary*> cublaslt() {
  static const Status opened = open_library();
  RUNG_CHECK(Status(opened));
  // Algorithms are counted from 0, as for any library without numbers of its own.
  static constexpr GemmLibrary table{.name = "cublaslt",
                                     .prepare = LtGemm<Cublaslt>::make,
                                     .version = version,
                                     .algorithms = nullptr,
                                     .parameters = parameters,
                                     .scales_rows = scales_rows};
  return &table;
}

}  // namespace rung::gpu
