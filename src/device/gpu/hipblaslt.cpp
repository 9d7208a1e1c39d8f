// The numbers of hipBLASLt, and its functions beyond those that libraries of its kind have in common.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/hipblaslt.hpp"

#include <dlfcn.h>

namespace rung::gpu {
namespace {

struct Hipblaslt : HipblasltTypes {
  struct Functions : LtFunctions<Algorithm> {
    int (*hipblasLtGetVersion)(LtObject handle, int* version);
    int (*hipblasLtGetGitRevision)(LtObject handle, char* revision);
    int (*getIndexFromAlgo)(const Algorithm* algorithm);  // in the namespace hipblaslt_ext; takes a reference
  };

  static constexpr const char* kName = "hipBLASLt";
  static Functions& functions() {
    static Functions found;
    return found;
  }
  static const char* status_text(int code) {
    constexpr const char* kTexts[] = {"success",        "not initialized",    "allocation failed",
                                      "invalid value",  "mapping error",      "execution failed",
                                      "internal error", "not supported",      "another architecture",
                                      "no handle",      "invalid enumerator", "unknown"};
    return code >= 0 && code < static_cast<int>(std::size(kTexts)) ? kTexts[code] : "unknown";
  }
  static Result<const Runtime*> runtime() { return hip_runtime(); }
  // Returns the index of the solution in the library's catalogue, which stays the same as long as the library does.
  static int64_t index_of(const Proposal& proposal, size_t) {
    return functions().getIndexFromAlgo(&proposal.algorithm);
  }
};

Status open_library() {
  void* opened = nullptr;
  for (const char* name : {"libhipblaslt.so.1", "libhipblaslt.so.0"})
    if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!opened) return no_device("no hipBLASLt: {}", dlerror());
  Hipblaslt::Functions& found = Hipblaslt::functions();
  RUNG_CHECK(found.find(opened, Hipblaslt::kName, "hipblasLt"));
  RUNG_CHECK(find_function(opened, Hipblaslt::kName, "hipblasLtGetVersion", found.hipblasLtGetVersion));
  RUNG_CHECK(find_function(opened, Hipblaslt::kName, "hipblasLtGetGitRevision", found.hipblasLtGetGitRevision));
  // The mangled name, on Linux, of hipblaslt_ext::getIndexFromAlgo(hipblasLtMatmulAlgo_t&).
  return find_function(opened, Hipblaslt::kName, "_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t",
                       found.getIndexFromAlgo);
}

// The library's version includes the commit it was built from: in builds of other commits solutions have other numbers.
struct Build {
  int version = 0;  // 0: unknown
  std::string revision;
};
Build read_build() {
  const Hipblaslt::Functions& found = Hipblaslt::functions();
  LtObject handle = nullptr;
  int version = 0;
  std::array<char, 256> revision{};
  if (found.Create(&handle) != 0 || found.hipblasLtGetVersion(handle, &version) != 0 ||
      found.hipblasLtGetGitRevision(handle, revision.data()) != 0)
    return {};
  return {version, revision.data()};
}
const Build& build_here() {
  static const Build build = read_build();  // its handle is kept, and made only once
  return build;
}

std::string version() {
  const auto& [version, revision] = build_here();
  if (version == 0) return "hipblaslt of an unknown version";
  return fmt::format("hipblaslt {}.{}.{} {}", version / 100000, version / 100 % 1000, version % 100, revision);
}

std::string build() {
  const auto& [version, revision] = build_here();
  return version == 0 ? "" : fmt::format("{}-{}", version, revision);
}

}  // namespace

Result<const GemmLibrary*> hipblaslt() {
  static const Status opened = open_library();
  RUNG_CHECK(Status(opened));
  static constexpr GemmLibrary table{.name = "hipblaslt",
                                     .prepare = LtGemm<Hipblaslt>::make,
                                     .version = version,
                                     .algorithms = LtGemm<Hipblaslt>::algorithms,
                                     .build = build};
  return &table;
}

}  // namespace rung::gpu
