// Kernels compiled from source by clang-22 while a test runs, loaded into the emulator's memory and executed there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/code/code_object.hpp"
#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/execute.hpp"
#include "amdgpu/run/image.hpp"
#include "amdgpu/run/memory.hpp"
#include "amdgpu/run/program.hpp"
#include "base/program.hpp"
#include "support/temporary_directory.hpp"

namespace rung::amdgpu::testing {

inline constexpr const char* kClang = "/usr/bin/clang++-22";
inline bool has_clang() { return access(kClang, X_OK) == 0; }
#define RUNG_NEEDS_CLANG() \
  if (!::rung::amdgpu::testing::has_clang()) GTEST_SKIP() << "no " << ::rung::amdgpu::testing::kClang

// Stands before each source.
inline constexpr const char* kPrelude = R"(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long u64;
#define DEVICE __attribute__((device)) inline
#define SHARED __attribute__((shared))
#define KERNEL(threads) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, threads))) void
DEVICE u32 thread() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
)";

// What a launch may need besides its arguments.
struct Grid {
  Extents groups, threads;
  uint32_t dynamic_lds_bytes = 0;
  Checks checks;
  int cores = 1;
};

class AmdKernel {
 public:
  // HIP with the prelude above, or with RUNG's own headers if `more` names their options; "asm:..." is assembly.
  AmdKernel(const std::string& source, const std::string& name, Isa isa, std::vector<std::string> more = {}) {
    const bool assembly = source.starts_with("asm:");
    const std::string path = folder_.path() + (assembly ? "/kernel.s" : "/kernel.hip"),
                      object = folder_.path() + "/kernel.co";
    std::ofstream(path) << (assembly ? source.substr(4) : more.empty() ? kPrelude + source : source);
    std::vector<std::string> arguments{"-O3", "-mcode-object-version=5", "-o", object};
    const std::string arch(info_of(isa).name);
    if (assembly)
      for (const std::string& word : {std::string("-target"), std::string("amdgcn-amd-amdhsa"), "-mcpu=" + arch})
        arguments.push_back(word);
    else
      for (const char* word :
           {"-x", "hip", "--offload-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output", "-std=c++20",
            "-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false"})
        arguments.push_back(word);
    if (!assembly) arguments.push_back("--offload-arch=" + arch);
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(path);
    load(arguments, object, name);
  }

  Memory& memory() { return memory_; }
  // The instruction that stands `offset` bytes behind the kernel's entry.
  std::string text_at(uint64_t offset) const {
    const DecodedCode& code = program_->code();
    const uint32_t index = code.index_at(program_->kernel().entry + offset);
    return index == DecodedCode::kNone ? "" : to_text(code.instructions()[index], code.isa());
  }

  // All of its instructions, in their order.
  std::vector<std::string> text() const {
    std::vector<std::string> all;
    for (uint64_t offset = 0; offset < program_->kernel().code_bytes; offset += 4)
      if (std::string each = text_at(offset); !each.empty()) all.push_back(std::move(each));
    return all;
  }

  template <class T>
  T* make(const std::vector<T>& values) {
    T* data = make<T>(values.size());
    std::memcpy(data, values.data(), values.size() * sizeof(T));
    memory_.mark_written(reinterpret_cast<uint64_t>(data), values.size() * sizeof(T));
    return data;
  }
  template <class T>
  T* make(size_t count) {  // not written yet
    auto address = memory_.allocate(count * sizeof(T));
    EXPECT_TRUE(address) << address.error().message;
    return reinterpret_cast<T*>(*address);
  }

  template <class... Arguments>
  Result<Execution> try_run(const Grid& run, Arguments... arguments) {
    if (program_ == nullptr) return fail("there is no program");
    std::vector<std::byte> bytes;
    (append(bytes, arguments), ...);
    return execute({&*program_, run.groups, run.threads, run.dynamic_lds_bytes, bytes}, memory_, run.checks, run.cores);
  }
  // Nothing may be wrong.
  template <class... Arguments>
  Counts run(const Grid& how, Arguments... arguments) {
    auto made = try_run(how, arguments...);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    for (const Defect& defect : made->defects) ADD_FAILURE() << defect.text();
    return made->counts;
  }
  // One defect is there; it comes first.
  template <class... Arguments>
  Defect find(const Grid& how, Arguments... arguments) {
    auto made = try_run(how, arguments...);
    EXPECT_TRUE(made) << made.error().message;
    if (!made || made->defects.empty()) {
      ADD_FAILURE() << "nothing was found";
      return {};
    }
    return made->defects.front();
  }

 private:
  template <class T>
  static void append(std::vector<std::byte>& bytes, const T& value) {
    bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }

  void load(const std::vector<std::string>& arguments, const std::string& object, const std::string& name) {
    auto ended = run_program(kClang, arguments, 500);
    ASSERT_TRUE(ended) << ended.error().message;
    ASSERT_EQ(ended->exit_code, 0) << ended->errors;
    std::ifstream file(object, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(file), {});
    auto read = read_code_object(std::as_bytes(std::span(file_)));
    ASSERT_TRUE(read) << read.error().message;
    object_ = std::move(*read);
    auto image = Image::load(object_, memory_);
    ASSERT_TRUE(image) << image.error().message;
    image_ = std::move(*image);
    const KernelInfo* kernel = object_.find(name);
    ASSERT_NE(kernel, nullptr);
    auto code = DecodedCode::make(object_, image_->base());
    ASSERT_TRUE(code) << code.error().message;
    auto program = Program::make(*code, *kernel);
    ASSERT_TRUE(program) << program.error().message;
    program_ = std::make_unique<Program>(std::move(*program));
  }

  TemporaryDirectory folder_;
  Memory memory_;
  std::vector<char> file_;
  CodeObject object_;
  std::unique_ptr<Image> image_;
  std::unique_ptr<Program> program_;
};

}  // namespace rung::amdgpu::testing
