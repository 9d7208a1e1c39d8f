// Kernels in assemblers' text: clang -S, Triton's dumps, llvm-objdump -d; and text that is none.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/assembly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "amdgpu/analysis/machine_code.hpp"
#include "support/llvm_tools.hpp"

namespace rung::amdgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What clang -S writes, shortened.
const std::string kCompiled = R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
	.text
helper:                                 ; @helper
	s_setpc_b64 s[30:31]
.Lfunc_end0:
k:                                      ; @k
; %bb.0:
	s_load_dword s2, s[0:1], 0x10
	v_lshlrev_b32_e32 v4, 4, v0
.LBB1_2:                                ; =>This Inner Loop Header: Depth=1
	global_load_dword v3, v4, s[0:1]
	s_waitcnt vmcnt(0) ; all of it
	ds_write_b128 v4, v[0:3]
	s_cbranch_scc0 .LBB1_2
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_next_free_vgpr max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.text
.Lfunc_end1:
; codeLenInByte = 172
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     4
    .args:
      - .address_space:  global
        .name:           other
        .agpr_count:     99
    .group_segment_fixed_size: 8192
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 16
    .sgpr_count:     14
    .sgpr_spill_count: 1
    .vgpr_count:     172
    .vgpr_spill_count: 3
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
...
	.end_amdgpu_metadata
)";

const std::string kDumped = R"(
loop.co:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001900 <loop>:
	global_load_dwordx4 v[4:7], v[2:3], off                    // 000000001900: DC5C8000 047F0002
	s_waitcnt vmcnt(0)                                         // 000000001908: BF8C0F70
	v_accvgpr_write_b32 a9, v4                                 // 00000000190C: D3D94009 18000104
	s_cbranch_scc1 65530                                       // 000000001914: BF85FFFA <loop>
	s_endpgm                                                   // 000000001918: BF810000
)";

std::string error_of(const std::string& text, std::optional<Isa> isa = std::nullopt) {
  const auto read = read_assembly(text, isa);
  return read ? "read" : read.error().message;
}

AssemblyKernel must_read(const std::string& text, std::optional<Isa> isa = std::nullopt) {
  auto read = read_assembly(text, isa);
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_TRUE(!read || read->size() == 1) << read->size();
  return read && !read->empty() ? std::move(read->front()) : AssemblyKernel{};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Assembly, OfACompilerHasItsMetadata) {
  const AssemblyKernel kernel = must_read(kCompiled);
  EXPECT_TRUE(kernel.described);
  EXPECT_EQ(kernel.listing.isa, Isa::gfx942);
  EXPECT_EQ(kernel.info.name, "k");
  EXPECT_EQ(kernel.info.vgprs, 172u);
  EXPECT_EQ(kernel.info.agprs, 4u);
  EXPECT_EQ(kernel.info.sgprs, 14u);
  EXPECT_EQ(kernel.info.vgpr_spills, 3u);
  EXPECT_EQ(kernel.info.sgpr_spills, 1u);
  EXPECT_EQ(kernel.info.lds_bytes, 8192u);
  EXPECT_EQ(kernel.info.scratch_bytes, 16u);
  EXPECT_EQ(kernel.info.most_threads, 128u);
  EXPECT_EQ(kernel.listing.bytes, 172u);
  EXPECT_EQ(kernel.listing.instructions.size(), 7u);
  EXPECT_EQ(kernel.listing.undecoded, 0u);
}

TEST(Assembly, WithoutMetadataHasItsDirectives) {
  const AssemblyKernel kernel = must_read(kCompiled.substr(0, kCompiled.find("\t.amdgpu_metadata")));
  EXPECT_TRUE(kernel.described);
  EXPECT_EQ(kernel.info.lds_bytes, 4096u);
  EXPECT_EQ(kernel.info.sgprs, 8u);
  EXPECT_EQ(kernel.info.vgprs, 5u);  // that the code names: the directive's expression is not computed
}

TEST(Assembly, LabelsAreGoalsOfBranches) {
  auto readings = read_machine_code(std::as_bytes(std::span(kCompiled)), {}, std::nullopt);
  ASSERT_TRUE(readings) << readings.error().message;
  const CodeReading& code = readings->front().code;
  EXPECT_EQ(code.loops, 1u);
  EXPECT_EQ(code.in_loops, 4u);
  EXPECT_EQ(code.drains_in_loops, 1u);
  EXPECT_THAT(code.global_in_loops.accesses, ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_THAT(code.lds_in_loops.accesses, ElementsAre(0, 0, 0, 0, 0, 1));
  EXPECT_EQ(readings->front().occupancy.limit, Limit::vgprs);
}

TEST(Assembly, OfADisassemblerHasAddressesAndNamedRegisters) {
  const AssemblyKernel kernel = must_read(kDumped, Isa::gfx950);
  EXPECT_FALSE(kernel.described);
  EXPECT_EQ(kernel.info.name, "loop");
  EXPECT_EQ(kernel.listing.isa, Isa::gfx950);
  EXPECT_EQ(kernel.info.vgprs, 8u + 10u);
  EXPECT_EQ(kernel.info.agprs, 10u);
  EXPECT_EQ(kernel.info.most_threads, kUnknownThreads);
  EXPECT_EQ(kernel.listing.bytes, 28u);
  EXPECT_EQ(goal_of(kernel.listing.instructions[3]), 0);
}

std::string code_facts(const KernelReading& kernel) {
  const CodeReading& code = kernel.code;
  std::string text =
      fmt::format("{} {} {}: {} {} {} {} {}", kernel.kernel.name, kernel.kernel.vgprs, kernel.kernel.agprs,
                  code.instructions, code.in_loops, code.loops, code.matrix, code.undecoded);
  for (const Widths* widths : {&code.global, &code.global_in_loops, &code.lds, &code.lds_in_loops})
    for (const uint32_t count : widths->accesses) text += fmt::format(" {}", count);
  return text + fmt::format(" {} {} {} {}", code.drains_in_loops, code.local_drains_in_loops, code.banks.derived,
                            code.banks.cycles);
}

std::vector<std::string> facts_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string file(std::istreambuf_iterator<char>(in), {});
  const auto read = read_machine_code(std::as_bytes(std::span(file)), {}, Isa::gfx950);
  EXPECT_TRUE(read) << read.error().message;
  std::vector<std::string> facts;
  if (read)
    for (const KernelReading& kernel : *read) facts.push_back(code_facts(kernel));
  return facts;
}

TEST(Assembly, SaysWhatItsMachineCodeDoes) {
  if (!test::have_llvm()) GTEST_SKIP() << "no clang++-22 and llvm-objdump-22";
  TemporaryDirectory folder;
  const std::string text = folder / "sample.s", object = folder / "sample.co", dump = folder / "sample.txt";
  test::output_of(
      "clang++-22 -x hip --offload-arch=gfx950 --offload-device-only -nogpulib -nogpuinc -std=c++20 -O2 -S "
      "--no-gpu-bundle-output -mcode-object-version=5 -o " +
      text + " " RUNG_TEST_DATA "/amd_sample.hip");
  test::output_of("clang++-22 -target amdgcn-amd-amdhsa -mcpu=gfx950 -mcode-object-version=5 -o " + object + " " +
                  text);
  test::output_of("llvm-objdump-22 -d " + object + " > " + dump);
  const auto of_object = facts_of_file(object);
  EXPECT_EQ(of_object.size(), 5u);
  EXPECT_EQ(facts_of_file(text), of_object);
  EXPECT_EQ(facts_of_file(dump), of_object);
}

TEST(Assembly, LinesThatAreNoInstructionAreCounted) {
  const AssemblyKernel kernel = must_read(with(kDumped, "s_endpgm", "v_nonsense v1, v2"), Isa::gfx942);
  EXPECT_EQ(kernel.listing.undecoded, 1u);
  EXPECT_EQ(kernel.listing.instructions.size(), 4u);
}

TEST(Assembly, WhatCannotBeReadIsOneError) {
  EXPECT_EQ(error_of(kDumped), "the text names no architecture: name it with --target");
  EXPECT_EQ(error_of("hello\nworld\n"), "the text has no AMD kernel");
  EXPECT_EQ(error_of(""), "the text has no AMD kernel");
  EXPECT_EQ(
      error_of(with(kCompiled, "gfx942", "gfx1100")),
      "line 2: got the architecture \"amdgcn-amd-amdhsa--gfx1100:sramecc+:xnack-\", wanted gfx90a, gfx942 or gfx950");
  EXPECT_EQ(error_of(with(kCompiled, "s_cbranch_scc0 .LBB1_2", "s_cbranch_scc0 .LBB9_9")), "'k': no label '.LBB9_9'");
  EXPECT_THAT(error_of(with(kCompiled, "next_free_sgpr 8", "next_free_sgpr -8")), HasSubstr("got -8, wanted a number"));
  // Cut anywhere, it is read or is one error.
  for (size_t bytes = 0; bytes < kCompiled.size(); bytes += 7) {
    const std::string error = error_of(kCompiled.substr(0, bytes));
    EXPECT_EQ(error.find('\n'), error.npos) << error;
  }
}

TEST(Assembly, HostileTextIsOneErrorOrRead) {
  for (const std::string& text :
       {std::string(100'000, '['), std::string(100'000, '\n'), std::string("k:\n") + std::string(50'000, ','),
        std::string("\x80\xff:\n s_endpgm\n"), std::string("k:\ns_branch k\n"), std::string(".amdhsa_kernel\n"),
        std::string(".amdgpu_metadata\namdhsa.kernels:\n-\n- .name:\n  - - -\n"),
        std::string("0000 <>:\ns_nop 0 // FFFFFFFFFFFFFFFF:\ns_nop 0 // 0:\n")})
    for (const auto isa : {std::optional<Isa>(), std::optional(Isa::gfx942)})
      EXPECT_EQ(error_of(text, isa).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace rung::amdgpu
