// Puts rocBLAS behind the interface of a GEMM library. Row-major products are the column-major ones that it computes:
// out' = w x', so its A is w, its B is x; a residual is its C, which it adds.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/rocblas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <string>

#include "device/gpu/library_handles.hpp"
#include "device/shared_library.hpp"

namespace rung::gpu {
namespace {

using namespace rocblas_number;

constexpr const char* kName = "rocBLAS";

RocblasLibrary& calls() {
  static RocblasLibrary found;
  return found;
}

Status check(int code, const char* what) {
  if (code == 0) return {};
  return fail("{}: {}: {}", kName, what, calls().status_to_string(code));
}

Status open_library() {
  void* opened = nullptr;
  for (const char* name : {"librocblas.so.5", "librocblas.so.4"})  // in ROCm 7 and 6
    if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!opened) return no_device("no rocBLAS: {}", dlerror());
#define RUNG_ROCBLAS_FUNCTION(name, ...) RUNG_CHECK(find_function(opened, kName, "rocblas_" #name, calls().name));
#include "device/gpu/rocblas_functions.inc"
#undef RUNG_ROCBLAS_FUNCTION
  return {};
}

// A device's handle. Its stream and its workspace are set before each call, so one thread at a time may use it.
struct Handle {
  RocblasHandle rocblas = nullptr;
  Address workspace = 0;  // has kLibraryWorkspaceBytes
  std::mutex mutex;

  Status use(Address its_workspace) {
    return check(calls().set_workspace(rocblas, device_pointer(its_workspace), kLibraryWorkspaceBytes), "workspace");
  }
};

// The handle gets a workspace from the start: when first given one, the library would release its own, which a stream
// that is being recorded refuses; and it offers only solutions that find room in its present workspace. Atomics are
// off: they would add sums of parts of K in the order in which blocks end.
Status start(Handle& handle, const Runtime& runtime) {
  if (int code = calls().create_handle(&handle.rocblas))
    return fail("{} cannot start: {}", kName, calls().status_to_string(code));
  if (int code = runtime.allocate(&handle.workspace, kLibraryWorkspaceBytes))
    return fail("{}: a workspace: {}", kName, runtime.error_text(code));
  RUNG_CHECK(handle.use(handle.workspace));
  return check(calls().set_atomics_mode(handle.rocblas, kNoAtomics), "atomics");
}

Result<Handle*> make_handle(const Runtime& runtime) {
  auto made = std::make_unique<Handle>();
  Status started = start(*made, runtime);
  if (started) return made.release();
  if (made->rocblas) calls().destroy_handle(made->rocblas);
  if (made->workspace) runtime.release(made->workspace);
  return tl::unexpected(started.error());
}

Result<Handle*> handle_here() {
  RUNG_TRY(const Runtime* runtime, hip_runtime());
  static auto& handles = *new LibraryHandles<Handle*>;  // never freed, as the contexts of targets are
  return handles.here(*runtime, kName, [&] { return make_handle(*runtime); });
}

int type_code(DType dtype) { return dtype == DType::bf16 ? kBf16 : dtype == DType::f16 ? kF16 : kF32; }

// rocBLAS counts in 32 bits, except for the distances between the products of a batch.
Status takes(const LibraryGemm& gemm) {
  if (gemm.bias) return fail("rocBLAS adds no bias");
  if (gemm.epilogue != LibraryGemm::Epilogue::none) return fail("rocBLAS has no activations");
  for (const int64_t count : {gemm.m, gemm.n, gemm.k, gemm.batch, gemm.x_stride, gemm.w_stride, gemm.out_stride,
                              gemm.residual_stride, gemm.algorithm})
    if (count > std::numeric_limits<int>::max()) return fail("{} is too large for rocBLAS", count);
  return {};
}

// Returns the distance between products; of a single one, as if another followed it.
int64_t batch_distance(const LibraryGemm& gemm, int64_t distance, int64_t lines, int64_t stride) {
  return gemm.batch > 1 ? distance : lines * stride;
}

// A product in the form of the library's functions, which also take further arguments.
struct Call {
  const LibraryGemm& gemm;
  LibraryOperands operands;

  // Calls `function` with the description, then `more`.
  template <class Function, class... More>
  int operator()(Function function, const Handle& handle, Algorithm algorithm, More... more) const {
    const auto whole = [](int64_t count) { return static_cast<int>(count); };
    const float one = 1, beta = gemm.residual ? 1.0f : 0.0f;
    const int out_type = type_code(gemm.out);
    const Address c = gemm.residual ? operands.residual : operands.out;
    const int64_t c_stride = gemm.residual ? gemm.residual_stride : gemm.out_stride;
    const int64_t w_lines = gemm.w_is_kn ? gemm.k : gemm.n;
    return function(handle.rocblas, gemm.w_is_kn ? kAsItIs : kTransposed, kAsItIs, whole(gemm.n), whole(gemm.m),
                    whole(gemm.k), &one, device_pointer(operands.w), type_code(gemm.w), whole(gemm.w_stride),
                    batch_distance(gemm, gemm.w_batch, w_lines, gemm.w_stride), device_pointer(operands.x),
                    type_code(gemm.x), whole(gemm.x_stride), batch_distance(gemm, gemm.x_batch, gemm.m, gemm.x_stride),
                    &beta, device_pointer(c), out_type, whole(c_stride),
                    batch_distance(gemm, gemm.out_batch, gemm.m, c_stride), device_pointer(operands.out), out_type,
                    whole(gemm.out_stride), batch_distance(gemm, gemm.out_batch, gemm.m, gemm.out_stride),
                    whole(gemm.batch), int{kF32}, int{algorithm}, more...);
  }
};

// Returns the call for asking about a product: addresses are compared, and never read.
Call question(const LibraryGemm& gemm) {
  constexpr Address kAny = 256;
  return {gemm, {.x = kAny, .w = kAny, .residual = kAny, .out = 2 * kAny}};
}

class RocblasGemm : public PreparedGemm {
 public:
  static Result<std::shared_ptr<PreparedGemm>> make(const LibraryGemm& gemm) {
    RUNG_CHECK(takes(gemm));
    RUNG_TRY(Handle * handle, handle_here());
    std::shared_ptr<RocblasGemm> made(new RocblasGemm(gemm, *handle));
    if (made->algorithm() == kItsOwnChoice) return made;
    std::lock_guard lock(handle->mutex);
    if (int code = question(gemm)(calls().gemm_strided_batched_ex, *handle, kSolution, made->solution(),
                                  uint32_t{kCheckSolution}))
      return fail("{} offers no solution {} for it: {}", kName, gemm.algorithm, calls().status_to_string(code));
    return made;
  }

  Status enqueue(const LibraryOperands& operands, Stream stream) const override {
    std::lock_guard lock(handle_.mutex);
    RUNG_CHECK(check(calls().set_stream(handle_.rocblas, stream), "stream"));
    RUNG_CHECK(handle_.use(operands.workspace));
    return check(
        Call{gemm_, operands}(calls().gemm_strided_batched_ex, handle_, algorithm(), solution(), uint32_t{kNoFlag}),
        "matmul");
  }

 private:
  RocblasGemm(const LibraryGemm& gemm, Handle& handle) : gemm_(gemm), handle_(handle) {}
  Algorithm algorithm() const { return gemm_.algorithm > 0 ? kSolution : kItsOwnChoice; }
  int solution() const { return static_cast<int>(std::max<int64_t>(gemm_.algorithm, 0)); }

  const LibraryGemm gemm_;
  Handle& handle_;
};

// The library lists its solutions in no order. Neighbours in its catalogue are much alike, so the solutions to try are
// spread as far apart as possible.
std::vector<int64_t> in_order(std::vector<int> solutions) {
  std::sort(solutions.begin(), solutions.end());
  constexpr size_t kTried = kTriedAlgorithms - 1;
  const size_t step = (solutions.size() + kTried - 1) / kTried;
  std::vector<int64_t> order{0}, others;  // 0: the library's own choice
  for (size_t i = 0; i < solutions.size(); ++i) (i % step == 0 ? order : others).push_back(solutions[i]);
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

Result<std::vector<int64_t>> algorithms(const LibraryGemm& gemm) {
  RUNG_CHECK(takes(gemm));
  RUNG_TRY(Handle * handle, handle_here());
  std::lock_guard lock(handle->mutex);
  int count = 0;
  const auto ask = [&](int* to) {
    return check(question(gemm)(calls().gemm_strided_batched_ex_get_solutions, *handle, kSolution, uint32_t{kNoFlag},
                                to, &count),
                 "asking for solutions");
  };
  RUNG_CHECK(ask(nullptr));
  std::vector<int> solutions(static_cast<size_t>(std::max(count, 0)));
  if (!solutions.empty()) RUNG_CHECK(ask(solutions.data()));
  std::erase_if(solutions, [](int solution) { return solution <= 0; });  // places that the library has not filled
  return in_order(std::move(solutions));
}

// Returns version and commit as the library writes them: another build's solutions have other numbers. Empty: unknown.
std::string build() {
  size_t bytes = 0;
  std::string text;
  if (calls().get_version_string_size(&bytes) == 0) text.resize(bytes);
  if (text.empty() || calls().get_version_string(text.data(), text.size()) != 0) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::string version() {
  const std::string text = build();
  return fmt::format("rocblas {}", text.empty() ? "of an unknown version" : text);
}

}  // namespace

Result<const GemmLibrary*> rocblas() {
  static const Status opened = open_library();
  RUNG_CHECK(Status(opened));
  static constexpr GemmLibrary table{
      .name = "rocblas", .prepare = RocblasGemm::make, .version = version, .algorithms = algorithms, .build = build};
  return &table;
}

}  // namespace rung::gpu
