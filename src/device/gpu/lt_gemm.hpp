// Makes one product by a library of cuBLASLt's form. hipBLASLt is another: they share their functions
// (lt_functions.inc), but not numbers nor their form of an algorithm. Row-major products are the column-major ones that
// they compute: out' = w x', so the library's A is w, its B is x.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/gpu/gemm_library.hpp"
#include "device/gpu/library_handles.hpp"
#include "device/shared_library.hpp"

namespace rung::gpu {

using LtObject = void*;  // the library's handles, descriptors, layouts, preferences

// The enumerations of one library, with the numbers of its reference.
struct LtNumbers {
  int compute_f32;  // for true f32 products of f32 operands
  int transpose;
  int transpose_a, epilogue, bias_pointer, bias_type;  // attributes of a descriptor
  int batch_count, batch_stride;                       // attributes of a layout
  // Attributes of a descriptor, and the mode of a scale for each row; 0: the library has none.
  int a_scale = 0, b_scale = 0, a_scale_mode = 0, b_scale_mode = 0, row_scales = 0;
};

// Numbers that both libraries share: types, attributes of a preference, bits of an epilogue.
constexpr int kLtF32 = 0, kLtF16 = 2, kLtBf16 = 14, kLtF8e4m3fn = 28;
constexpr int kLtMaxWorkspace = 1;
enum LtEpilogue : uint32_t { kLtDefault = 1, kLtRelu = 2, kLtBias = 4, kLtGelu = 32 };

// A proposal of the heuristic.
template <class Algorithm>
struct LtProposal {
  Algorithm algorithm;
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

template <class Algorithm>
struct LtFunctions {
  using Proposal = LtProposal<Algorithm>;
#define RUNG_LT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "device/gpu/lt_functions.inc"
#undef RUNG_LT_FUNCTION

  // Errors: the library lacks a function.
  Status find(void* library, const char* what, const std::string& prefix) {
#define RUNG_LT_FUNCTION(name, ...) RUNG_CHECK(find_function(library, what, (prefix + #name).c_str(), name));
#include "device/gpu/lt_functions.inc"
#undef RUNG_LT_FUNCTION
    return {};
  }
};

// `Lt` is a library: its type Algorithm, kName for people, kNumbers, functions(), status_text(code), runtime(), and
// index_of(proposal, its place), the number that LibraryGemm::algorithm holds.
template <class Lt>
class LtGemm : public PreparedGemm {
 public:
  using Proposal = LtProposal<typename Lt::Algorithm>;

  static Result<std::shared_ptr<PreparedGemm>> make(const LibraryGemm& gemm) {
    std::shared_ptr<LtGemm> made(new LtGemm());
    RUNG_CHECK(made->describe(gemm));
    RUNG_CHECK(made->lay_out(gemm));
    RUNG_TRY(auto proposals, made->propose());
    RUNG_TRY(const Proposal* chosen, made->choose(proposals, gemm.algorithm));
    made->algorithm_ = chosen->algorithm;
    made->workspace_bytes_ = chosen->workspace_bytes;
    return made;
  }

  // Returns the library's own form of gemm.algorithm.
  static Result<typename Lt::Algorithm> algorithm_of(const LibraryGemm& gemm) {
    RUNG_TRY(auto made, make(gemm));
    return static_cast<const LtGemm&>(*made).algorithm_;
  }

  // Returns the numbers of the library's proposals, the preferred one first.
  static Result<std::vector<int64_t>> algorithms(const LibraryGemm& gemm) {
    LtGemm asked;
    RUNG_CHECK(asked.describe(gemm));
    RUNG_CHECK(asked.lay_out(gemm));
    RUNG_TRY(auto proposals, asked.propose());
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < proposals.size(); ++i) numbers.push_back(Lt::index_of(proposals[i], i));
    return numbers;
  }

  ~LtGemm() override {
    if (descriptor_) calls().MatmulDescDestroy(descriptor_);
    for (LtObject layout : {a_, b_, c_, d_})
      if (layout) calls().MatrixLayoutDestroy(layout);
  }
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  Status enqueue(const LibraryOperands& operands, Stream stream) const override {
    if (bias_) RUNG_CHECK(set(kNumbers.bias_pointer, uint64_t{operands.bias}));
    if (scaled_) RUNG_CHECK(set_scales(operands.w_scales, operands.x_scales));
    const float one = 1, beta = residual_ ? 1.0f : 0.0f;
    const Address c = residual_ ? operands.residual : operands.out;
    return check(calls().Matmul(handle_, descriptor_, &one, device_pointer(operands.w), a_, device_pointer(operands.x),
                                b_, &beta, device_pointer(c), c_, device_pointer(operands.out), d_, &algorithm_,
                                device_pointer(operands.workspace), workspace_bytes_, stream),
                 "matmul");
  }

 private:
  static constexpr const LtNumbers& kNumbers = Lt::kNumbers;
  static const auto& calls() { return Lt::functions(); }

  LtGemm() = default;

  static Status check(int code, const char* what) {
    if (code == 0) return {};
    return fail("{}: {}: {}", Lt::kName, what, Lt::status_text(code));
  }

  // Returns the context's handle, which all threads share, as the library allows.
  static Result<LtObject> handle_here() {
    RUNG_TRY(const Runtime* runtime, Lt::runtime());
    static auto& handles = *new LibraryHandles<LtObject>;  // never freed, as the contexts of targets are
    return handles.here(*runtime, Lt::kName, []() -> Result<LtObject> {
      LtObject handle = nullptr;
      if (int code = calls().Create(&handle)) return fail("{} cannot start: {}", Lt::kName, Lt::status_text(code));
      return handle;
    });
  }

  static int type_code(DType dtype) {
    if (dtype == DType::f8e4m3fn) return kLtF8e4m3fn;
    return dtype == DType::bf16 ? kLtBf16 : dtype == DType::f16 ? kLtF16 : kLtF32;
  }

  static uint32_t epilogue_bits(const LibraryGemm& gemm) {
    uint32_t bits = gemm.bias ? uint32_t{kLtBias} : 0;
    if (gemm.epilogue == LibraryGemm::Epilogue::relu) bits |= kLtRelu;
    if (gemm.epilogue == LibraryGemm::Epilogue::gelu_tanh) bits |= kLtGelu;
    return bits == 0 ? uint32_t{kLtDefault} : bits;
  }

  template <class T>
  Status set(int which, T value) const {
    return check(calls().MatmulDescSetAttribute(descriptor_, which, &value, sizeof value), "descriptor");
  }

  Status set_scales(Address of_w, Address of_x) const {
    RUNG_CHECK(set(kNumbers.a_scale, uint64_t{of_w}));
    return set(kNumbers.b_scale, uint64_t{of_x});
  }
  Status describe_scales() const {
    RUNG_CHECK(set(kNumbers.a_scale_mode, int32_t{kNumbers.row_scales}));
    RUNG_CHECK(set(kNumbers.b_scale_mode, int32_t{kNumbers.row_scales}));
    return set_scales(256, 256);  // any aligned addresses, as for a bias
  }

  Status describe(const LibraryGemm& gemm) {
    RUNG_TRY(handle_, handle_here());
    bias_ = gemm.bias, residual_ = gemm.residual, scaled_ = gemm.scaled;
    RUNG_CHECK(check(calls().MatmulDescCreate(&descriptor_, kNumbers.compute_f32, kLtF32), "descriptor"));
    if (!gemm.w_is_kn) RUNG_CHECK(set(kNumbers.transpose_a, int32_t{kNumbers.transpose}));
    RUNG_CHECK(set(kNumbers.epilogue, epilogue_bits(gemm)));
    if (scaled_) RUNG_CHECK(describe_scales());
    if (!gemm.bias) return {};
    RUNG_CHECK(set(kNumbers.bias_type, int32_t{type_code(gemm.bias_type)}));
    return set(kNumbers.bias_pointer, uint64_t{256});  // any aligned address: the heuristic only checks for one
  }

  struct Matrix {
    DType dtype;
    int64_t rows, columns, stride, batch_stride;
  };
  static Status layout(LtObject& made, const Matrix& matrix, int64_t batch) {
    auto rows = static_cast<uint64_t>(matrix.rows), columns = static_cast<uint64_t>(matrix.columns);
    RUNG_CHECK(
        check(calls().MatrixLayoutCreate(&made, type_code(matrix.dtype), rows, columns, matrix.stride), "layout"));
    if (batch == 1) return {};
    auto count = static_cast<int32_t>(batch);
    RUNG_CHECK(check(calls().MatrixLayoutSetAttribute(made, kNumbers.batch_count, &count, sizeof count), "layout"));
    return check(
        calls().MatrixLayoutSetAttribute(made, kNumbers.batch_stride, &matrix.batch_stride, sizeof matrix.batch_stride),
        "layout");
  }

  Status lay_out(const LibraryGemm& gemm) {
    Matrix w{gemm.w, gemm.k, gemm.n, gemm.w_stride, gemm.w_batch};
    if (gemm.w_is_kn) std::swap(w.rows, w.columns);
    RUNG_CHECK(layout(a_, w, gemm.batch));
    RUNG_CHECK(layout(b_, {gemm.x, gemm.k, gemm.m, gemm.x_stride, gemm.x_batch}, gemm.batch));
    int64_t c_stride = gemm.residual ? gemm.residual_stride : gemm.out_stride;
    RUNG_CHECK(layout(c_, {gemm.out, gemm.n, gemm.m, c_stride, gemm.out_batch}, gemm.batch));
    return layout(d_, {gemm.out, gemm.n, gemm.m, gemm.out_stride, gemm.out_batch}, gemm.batch);
  }

  Result<std::vector<Proposal>> propose() const {
    LtObject preference = nullptr;
    RUNG_CHECK(check(calls().MatmulPreferenceCreate(&preference), "preference"));
    const uint64_t workspace = kLibraryWorkspaceBytes;
    calls().MatmulPreferenceSetAttribute(preference, kLtMaxWorkspace, &workspace, sizeof workspace);
    std::vector<Proposal> proposals(kLibraryAlgorithms);
    int found = 0;
    int code = calls().MatmulAlgoGetHeuristic(handle_, descriptor_, a_, b_, c_, d_, preference, kLibraryAlgorithms,
                                              proposals.data(), &found);
    calls().MatmulPreferenceDestroy(preference);
    RUNG_CHECK(check(code, "asking for algorithms"));
    proposals.resize(static_cast<size_t>(std::clamp(found, 0, kLibraryAlgorithms)));
    return proposals;
  }

  static Result<const Proposal*> choose(const std::vector<Proposal>& proposals, int64_t wanted) {
    for (size_t i = 0; i < proposals.size(); ++i)
      if (wanted < 0 || Lt::index_of(proposals[i], i) == wanted) return &proposals[i];
    if (wanted < 0) return fail("{} offers no algorithm for it", Lt::kName);
    return fail("{} offers {} algorithms for it, none of them number {}", Lt::kName, proposals.size(), wanted);
  }

  LtObject handle_ = nullptr, descriptor_ = nullptr;
  LtObject a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
  typename Lt::Algorithm algorithm_{};
  size_t workspace_bytes_ = 0;
  bool bias_ = false, residual_ = false, scaled_ = false;
};

}  // namespace rung::gpu
