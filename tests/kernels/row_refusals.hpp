// Problems that differ in one thing, of which a kernel row takes the one and refuses the other, saying why.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>

#include "ir/text.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/machines.hpp"
#include "support/problem_in.hpp"

namespace rung::test {

// The form's text with `taken`, or with `refused`, wherever it says @. Inputs whose names begin with w are constants.
struct Refusal {
  std::string_view row;
  std::string form, taken, refused, reason;
};

inline const Kernel& row_named(std::string_view name) {
  for (const auto& rows : {cpu::all_kernels(), gpu::all_kernels()})
    for (const Kernel* row : rows)
      if (row->name == name) return *row;
  throw std::logic_error("no row " + std::string(name));
}

inline Problem problem_of(std::string form, const std::string& at) {
  for (size_t i = 0; (i = form.find('@', i)) != std::string::npos; i += at.size()) form.replace(i, 1, at);
  auto graph = parse_graph(form);
  if (!graph) throw std::logic_error(form + ": " + graph.error().message);
  return problem_in(*graph, graph->outputs()[0].node);
}

// A machine that has all that rows of its kind ask for: all instructions, and CDNA or a Hopper with a library.
inline Machine machine_for(std::string_view row) {
  cpu::CpuInfo processor;
  processor.avx2 = processor.avx512 = processor.avx512_vnni = processor.avx512_bf16 = true;
  processor.amx_bf16 = processor.amx_int8 = true;
  gpu::GpuInfo card = row.ends_with("_cdna") ? testing::cdna_card(0x942) : testing::hopper_card();
  card.gemm_libraries = {&testing::any_gemm_library()};
  return Machine(processor, card);
}

// "" where the row takes it.
inline std::string refusal_of(std::string_view row, const Problem& problem, const Machine& machine) {
  const Verdict verdict = row_named(row).supports(problem, machine);
  return verdict ? "" : verdict.reason;
}

inline void expect_refusals(std::span<const Refusal> refusals) {
  for (const auto& [row, form, taken, refused, reason] : refusals) {
    EXPECT_EQ(refusal_of(row, problem_of(form, taken), machine_for(row)), "") << row << ": " << form << ": " << taken;
    EXPECT_EQ(refusal_of(row, problem_of(form, refused), machine_for(row)), reason)
        << row << ": " << form << ": " << refused;
  }
}

// The operands and the field of an attention in f32 with that many segments of keys, after its q.
inline std::string segments(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format(", k{}:f32[1,4,2,8], v{}:f32[1,4,2,8]", i, i);
  return text + fmt::format(", segments={}", count);
}

// The operands and the program of a pointwise op: `count` operands, of which the program reads the first.
inline std::string operands(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("x{}:f32[8], ", i);
  return text + fmt::format("program=\"r{}=neg(r0)\"", count);
}

// A program of one operand, each of whose steps reads the one before it in place of @.
inline std::string program(int steps, std::string_view step) {
  std::string text;
  for (int i = 0; i < steps; ++i) {
    std::string call(step);
    call.replace(call.find('@'), 1, fmt::format("r{}", i));
    text += fmt::format("{}r{}={}", i ? ";" : "", i + 1, call);
  }
  return text;
}

}  // namespace rung::test
