// Row-major products as the column-major ones that cuBLASLt computes: out' = w x', so the library's A is w, its B is x.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/cublaslt.hpp"

#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>

#include "device/shared_library.hpp"

namespace rung::gpu {
namespace {

using Handle = void*;
using Descriptor = void*;
using Layout = void*;
using Preference = void*;
struct Algorithm {
  uint64_t data[8];
};
struct Proposal {
  Algorithm algorithm;
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

constexpr int kF32 = 0, kF16 = 2, kBf16 = 14;  // cudaDataType
constexpr int kCompute32F = 68;                // true f32 products for f32 operands, no TF32
constexpr int kTranspose = 1;                  // CUBLAS_OP_T
enum DescriptorAttribute { kTransposeA = 3, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26 };
enum LayoutAttribute { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute { kMaxWorkspace = 1 };
enum EpilogueBits { kDefault = 1, kRelu = 2, kBias = 4, kGelu = 32 };

struct Library {
  int (*cublasLtCreate)(Handle*);
  size_t (*cublasLtGetVersion)();
  const char* (*cublasLtGetStatusString)(int);
  int (*cublasLtMatmulDescCreate)(Descriptor*, int compute, int scale);
  int (*cublasLtMatmulDescDestroy)(Descriptor);
  int (*cublasLtMatmulDescSetAttribute)(Descriptor, int, const void*, size_t);
  int (*cublasLtMatrixLayoutCreate)(Layout*, int type, uint64_t rows, uint64_t columns, int64_t stride);
  int (*cublasLtMatrixLayoutDestroy)(Layout);
  int (*cublasLtMatrixLayoutSetAttribute)(Layout, int, const void*, size_t);
  int (*cublasLtMatmulPreferenceCreate)(Preference*);
  int (*cublasLtMatmulPreferenceDestroy)(Preference);
  int (*cublasLtMatmulPreferenceSetAttribute)(Preference, int, const void*, size_t);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle, Descriptor, Layout, Layout, Layout, Layout, Preference, int, Proposal*,
                                        int*);
  int (*cublasLtMatmul)(Handle, Descriptor, const void* alpha, const void* a, Layout, const void* b, Layout,
                        const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                        size_t, Stream);
};
Library library;

Status open_library() {
  void* opened = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
    if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!opened) return no_device("no cuBLASLt: {}", dlerror());
#define RUNG_FIND(name) RUNG_CHECK(find_function(opened, "cuBLASLt", #name, library.name))
  RUNG_FIND(cublasLtCreate);
  RUNG_FIND(cublasLtGetVersion);
  RUNG_FIND(cublasLtGetStatusString);
  RUNG_FIND(cublasLtMatmulDescCreate);
  RUNG_FIND(cublasLtMatmulDescDestroy);
  RUNG_FIND(cublasLtMatmulDescSetAttribute);
  RUNG_FIND(cublasLtMatrixLayoutCreate);
  RUNG_FIND(cublasLtMatrixLayoutDestroy);
  RUNG_FIND(cublasLtMatrixLayoutSetAttribute);
  RUNG_FIND(cublasLtMatmulPreferenceCreate);
  RUNG_FIND(cublasLtMatmulPreferenceDestroy);
  RUNG_FIND(cublasLtMatmulPreferenceSetAttribute);
  RUNG_FIND(cublasLtMatmulAlgoGetHeuristic);
  RUNG_FIND(cublasLtMatmul);
#undef RUNG_FIND
  return {};
}

const Status& opened() {
  static const Status status = open_library();
  return status;
}

// That of the context which is current on this thread: one for each, shared by all threads, as the library allows.
Result<Handle> handle_here() {
  RUNG_CHECK(Status(opened()));
  RUNG_TRY(const Runtime* runtime, cuda_runtime());
  Context context = nullptr;
  if (int code = runtime->context_current(&context)) return fail("cuBLASLt: {}", runtime->error_text(code));
  if (!context) return fail("cuBLASLt cannot start: this thread has no device");
  static std::mutex mutex;
  static auto* handles = new std::map<Context, Handle>;  // kept, as the contexts of targets are
  std::lock_guard lock(mutex);
  if (auto it = handles->find(context); it != handles->end()) return it->second;
  Handle handle = nullptr;
  if (int code = library.cublasLtCreate(&handle))
    return fail("cuBLASLt cannot start: {}", library.cublasLtGetStatusString(code));
  return (*handles)[context] = handle;
}

Status check(int code, const char* what) {
  if (code == 0) return {};
  return fail("cuBLASLt: {}: {}", what, library.cublasLtGetStatusString(code));
}

int type_code(DType dtype) { return dtype == DType::bf16 ? kBf16 : dtype == DType::f16 ? kF16 : kF32; }

uint32_t epilogue_bits(const LibraryGemm& gemm) {
  uint32_t bits = gemm.bias ? kBias : 0;
  if (gemm.epilogue == LibraryGemm::Epilogue::relu) bits |= kRelu;
  if (gemm.epilogue == LibraryGemm::Epilogue::gelu_tanh) bits |= kGelu;
  return bits == 0 ? uint32_t{kDefault} : bits;
}

class CublasltGemm : public PreparedGemm {
 public:
  static Result<std::shared_ptr<PreparedGemm>> make(const LibraryGemm& gemm);
  Status enqueue(const LibraryOperands& operands, Stream stream) const override;

 private:
  CublasltGemm() = default;
  struct Objects;
  std::shared_ptr<Objects> objects_;
};

struct CublasltGemm::Objects {
  Handle handle = nullptr;
  Descriptor descriptor = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  Algorithm algorithm = {};
  size_t workspace_bytes = 0;
  bool bias = false, residual = false;

  ~Objects() {
    if (descriptor) library.cublasLtMatmulDescDestroy(descriptor);
    for (Layout layout : {a, b, c, d})
      if (layout) library.cublasLtMatrixLayoutDestroy(layout);
  }

  template <class T>
  Status set(DescriptorAttribute which, T value) {
    return check(library.cublasLtMatmulDescSetAttribute(descriptor, which, &value, sizeof value), "descriptor");
  }

  Status describe(const LibraryGemm& gemm) {
    RUNG_CHECK(check(library.cublasLtMatmulDescCreate(&descriptor, kCompute32F, kF32), "descriptor"));
    if (!gemm.w_is_kn) RUNG_CHECK(set(kTransposeA, int32_t{kTranspose}));
    RUNG_CHECK(set(kEpilogue, epilogue_bits(gemm)));
    if (!gemm.bias) return {};
    RUNG_CHECK(set(kBiasType, int32_t{type_code(gemm.bias_type)}));
    return set(kBiasPointer, uint64_t{256});  // any aligned address: the heuristic asks whether there is one
  }

  struct Matrix {
    DType dtype;
    int64_t rows, columns, stride, batch_stride;
  };
  static Status layout(Layout& made, const Matrix& matrix, int64_t batch) {
    auto rows = static_cast<uint64_t>(matrix.rows), columns = static_cast<uint64_t>(matrix.columns);
    RUNG_CHECK(check(library.cublasLtMatrixLayoutCreate(&made, type_code(matrix.dtype), rows, columns, matrix.stride),
                     "layout"));
    if (batch == 1) return {};
    auto count = static_cast<int32_t>(batch);
    RUNG_CHECK(check(library.cublasLtMatrixLayoutSetAttribute(made, kBatchCount, &count, sizeof count), "layout"));
    return check(
        library.cublasLtMatrixLayoutSetAttribute(made, kBatchStride, &matrix.batch_stride, sizeof matrix.batch_stride),
        "layout");
  }

  Status lay_out(const LibraryGemm& gemm) {
    Matrix w{gemm.w, gemm.k, gemm.n, gemm.w_stride, gemm.w_batch};
    if (gemm.w_is_kn) std::swap(w.rows, w.columns);
    RUNG_CHECK(layout(a, w, gemm.batch));
    RUNG_CHECK(layout(b, {gemm.x, gemm.k, gemm.m, gemm.x_stride, gemm.x_batch}, gemm.batch));
    int64_t c_stride = gemm.residual ? gemm.residual_stride : gemm.out_stride;
    RUNG_CHECK(layout(c, {gemm.out, gemm.n, gemm.m, c_stride, gemm.out_batch}, gemm.batch));
    return layout(d, {gemm.out, gemm.n, gemm.m, gemm.out_stride, gemm.out_batch}, gemm.batch);
  }

  Status choose(int which) {
    Preference preference = nullptr;
    RUNG_CHECK(check(library.cublasLtMatmulPreferenceCreate(&preference), "preference"));
    size_t workspace = kLibraryWorkspaceBytes;
    library.cublasLtMatmulPreferenceSetAttribute(preference, kMaxWorkspace, &workspace, sizeof workspace);
    std::array<Proposal, kLibraryAlgorithms> proposals{};
    int found = 0;
    int code = library.cublasLtMatmulAlgoGetHeuristic(handle, descriptor, a, b, c, d, preference, kLibraryAlgorithms,
                                                      proposals.data(), &found);
    library.cublasLtMatmulPreferenceDestroy(preference);
    RUNG_CHECK(check(code, "asking for algorithms"));
    if (which >= found) return fail("cuBLASLt offers {} algorithms for it, wanted number {}", found, which);
    algorithm = proposals[static_cast<size_t>(which)].algorithm;
    workspace_bytes = proposals[static_cast<size_t>(which)].workspace_bytes;
    return {};
  }
};

Result<std::shared_ptr<PreparedGemm>> CublasltGemm::make(const LibraryGemm& gemm) {
  RUNG_TRY(Handle handle, handle_here());
  std::shared_ptr<CublasltGemm> prepared(new CublasltGemm());
  prepared->objects_ = std::make_shared<Objects>();
  Objects& objects = *prepared->objects_;
  objects.handle = handle;
  objects.bias = gemm.bias;
  objects.residual = gemm.residual;
  RUNG_CHECK(objects.describe(gemm));
  RUNG_CHECK(objects.lay_out(gemm));
  RUNG_CHECK(objects.choose(gemm.algorithm));
  return prepared;
}

Status CublasltGemm::enqueue(const LibraryOperands& operands, Stream stream) const {
  Objects& objects = *objects_;
  if (objects.bias) RUNG_CHECK(objects.set(kBiasPointer, uint64_t{operands.bias}));
  const float one = 1, beta = objects.residual ? 1.0f : 0.0f;
  Address c = objects.residual ? operands.residual : operands.out;
  return check(library.cublasLtMatmul(objects.handle, objects.descriptor, &one, device_pointer(operands.w), objects.a,
                                      device_pointer(operands.x), objects.b, &beta, device_pointer(c), objects.c,
                                      device_pointer(operands.out), objects.d, &objects.algorithm,
                                      device_pointer(operands.workspace), objects.workspace_bytes, stream),
               "matmul");
}

std::string version() {
  const size_t v = library.cublasLtGetVersion();
  return fmt::format("cublaslt {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace

Result<const GemmLibrary*> cublaslt() {
  RUNG_CHECK(Status(opened()));
  static constexpr GemmLibrary table{"cublaslt", CublasltGemm::make, version};
  return &table;
}

}  // namespace rung::gpu
