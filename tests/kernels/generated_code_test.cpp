// Generated code: its memory is never writable and executable at once, equal bodies share it, and where a process may
// not make memory executable the interpreter runs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/code.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "kernels/cpu/bind.hpp"
#include "kernels/generated/lower.hpp"
#include "kernels/generated/recorder.hpp"
#include "kernels/generated/registers.hpp"
#include "kernels/target.hpp"
#include "support/problems.hpp"

namespace rung {
namespace {

using generated::Body;
using generated::Code;
using generated::Primitive;
using generated::Recorder;
using generated::VectorSet;

std::vector<VectorSet> sets_here() {
  std::vector<VectorSet> sets;
  if (cpu::cpu_info().avx2) sets.push_back(VectorSet::avx2);
  if (cpu::cpu_info().avx512) sets.push_back(VectorSet::avx512);
  return sets;
}

Problem pointwise(const std::string& program, size_t inputs, int64_t elements = 64) {
  return {.op = Pointwise{program, DType::f32},
          .inputs = std::vector<Operand>(inputs, dense(DType::f32, {elements})),
          .output = dense(DType::f32, {elements})};
}

Body body_of(const Problem& problem, VectorSet set) {
  auto body = generated::lower(problem, set);
  EXPECT_TRUE(body) << body.error().message;
  return *body;
}

std::vector<float> run(const Code& code, std::vector<std::vector<float>> operands) {
  std::vector<float> out(operands[0].size());
  std::vector<void*> addresses;
  for (auto& operand : operands) addresses.push_back(operand.data());
  addresses.push_back(out.data());
  code.function()(addresses.data(), static_cast<int64_t>(out.size()), 1, nullptr);
  return out;
}

struct Mapping {
  uintptr_t begin, end;
  std::string rights;
};
std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    all.push_back({std::stoull(line, nullptr, 16), std::stoull(line.substr(line.find('-') + 1), nullptr, 16),
                   line.substr(line.find(' ') + 1, 3)});
  return all;
}
// Libraries that generate code, such as oneDNN, may have some.
auto writable_and_executable() {
  return std::ranges::count_if(mappings(), [](const Mapping& each) { return each.rights == "rwx"; });
}

TEST(GeneratedCode, IsNeverWritableAndExecutable) {
  for (VectorSet set : sets_here()) {
    const auto before = writable_and_executable();
    const auto code = generated::code_of(set, body_of(pointwise("r1=exp(r0)", 1), set), {false});
    ASSERT_TRUE(code);
    EXPECT_EQ(writable_and_executable(), before);
    const auto address = reinterpret_cast<uintptr_t>(code->function());
    const auto all = mappings();
    const auto of_code =
        std::ranges::find_if(all, [&](const Mapping& each) { return each.begin <= address && address < each.end; });
    ASSERT_NE(of_code, all.end());
    EXPECT_EQ(of_code->rights, "r-x");
  }
}

TEST(GeneratedCode, IsSharedByEqualBodies) {
  for (VectorSet set : sets_here()) {
    const auto code = [&](const char* program, const std::vector<bool>& same) {
      return generated::code_of(set, body_of(pointwise(program, same.size()), set), same);
    };
    const auto one = code("r2=add(r0,r1)", {false, false});
    EXPECT_EQ(one, code("r2=add(r0,r1)", {false, false}));
    EXPECT_NE(one, code("r2=sub(r0,r1)", {false, false}));
    EXPECT_NE(one, code("r2=add(r0,r1)", {false, true})) << "reads one element of the second operand";
  }
}

TEST(GeneratedCode, ReadsMoreOperandsThanThereAreAddressRegisters) {
  for (VectorSet set : sets_here())
    for (size_t inputs : {9u, 16u}) {
      std::string program = fmt::format("r{}=add(r0,r1)", inputs);
      for (size_t i = 2; i < inputs; ++i)
        program += fmt::format(";r{}=add(r{},r{})", inputs + i - 1, inputs + i - 2, i);
      const auto code =
          generated::code_of(set, body_of(pointwise(program, inputs), set), std::vector<bool>(inputs, false));
      ASSERT_TRUE(code);
      std::vector<std::vector<float>> operands;
      for (size_t i = 0; i < inputs; ++i) operands.emplace_back(64, static_cast<float>(i));
      const auto sum = static_cast<float>(inputs * (inputs - 1) / 2);
      EXPECT_EQ(run(*code, operands), std::vector<float>(64, sum));
    }
}

// Sums what 60 functions of one operand gave, of which all live at once.
TEST(GeneratedCode, KeepsMoreValuesThanThereAreRegisters) {
  constexpr int kValues = 60;
  std::string program;
  for (int i = 0; i < kValues; ++i) program += fmt::format("{}r{}=mul(r0,{})", i ? ";" : "", i + 1, i + 1);
  program += fmt::format(";r{}=add(r{},r{})", kValues + 1, kValues, kValues - 1);
  for (int i = 2; i < kValues; ++i)
    program += fmt::format(";r{}=add(r{},r{})", kValues + i, kValues + i - 1, kValues - i);
  for (VectorSet set : sets_here()) {
    const auto code = generated::code_of(set, body_of(pointwise(program, 1), set), {false});
    ASSERT_TRUE(code);
    std::vector<float> x(64), wanted;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i), wanted.push_back(1830.0f * static_cast<float>(i));
    EXPECT_EQ(run(*code, {x}), wanted);
  }
}

// The steps of 40 functions of one value do not all wait on the stack for the loop.
TEST(GeneratedCode, KeepsTheStackSmall) {
  std::string program = "r1=sigmoid(r0)";
  for (int i = 2; i <= 40; ++i) program += fmt::format(";r{}=sigmoid(r{})", i, i - 1);
  for (VectorSet set : sets_here()) {
    const Body body = body_of(pointwise(program, 1), set);
    ASSERT_GT(body.steps.size(), 500u);
    EXPECT_LT(generated::schedule(body, {true}, {.vectors = 13}).slots, 200);
    std::vector<float> x(64, 0.5f);
    const auto same = generated::code_of(set, body, {true}), each = generated::code_of(set, body, {false});
    EXPECT_EQ(run(*same, {x}), run(*each, {x}));
  }
}

// The exponent of y is computed in rare steps of fmod, and needed again by log, where no quotient is large.
TEST(GeneratedCode, ComputesAgainWhatRareStepsComputed) {
  for (VectorSet set : sets_here()) {
    const auto code = generated::code_of(
        set, body_of(pointwise("r2=fmod(r0,r1);r3=abs(r1);r4=log(r3);r5=add(r2,r4)", 2), set), {false, false});
    ASSERT_TRUE(code);
    const std::vector<float> got = run(*code, {std::vector<float>(64, 5.0f), std::vector<float>(64, 8.0f)});
    for (float value : got) EXPECT_NEAR(value, 5 + std::log(8.0), 1e-6);
  }
}

TEST(GeneratedCode, TakesLessThanAMillisecondToAssemble) {
  const std::string program =
      "r1=pow(r0,3);r2=mul(r1,0.044715);r3=add(r0,r2);r4=mul(r3,0.8);r5=tanh(r4);r6=sin(r5);"
      "r7=add(r6,1);r8=mul(r0,r7);r9=log(r8)";
  for (VectorSet set : sets_here()) {
    double least = 1;
    for (int i = 0; i < 20; ++i) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_TRUE(generated::code_of(set, body_of(pointwise(program, 1), set), {false}));
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    EXPECT_LT(least, 1e-3);
  }
}

// A sum may take the place of the variable that it goes on from, unless that is read behind it.
TEST(Schedule, KeepsAVariableForItsLastReader) {
  for (bool read_later : {false, true}) {
    Recorder recorder(VectorSet::avx2);
    const int before = recorder.record(Primitive::carried, -1);
    const int x = recorder.record(Primitive::load, -1, -1, -1, generated::loads(0, DType::f32));
    const int after = recorder.record(Primitive::add, before, x);
    recorder.record(Primitive::store, read_later ? recorder.record(Primitive::mul, before, x) : x);
    recorder.record(Primitive::carry, after);
    const Body body = recorder.take();
    const generated::RegisterFile file = generated::registers_of(VectorSet::avx2);
    const generated::Frame frame{.variables = 1, .carried = 1};
    const auto sum = std::ranges::find(body.steps, Primitive::add, &generated::Step::primitive) - body.steps.begin();
    const generated::Schedule made = generated::schedule(body, {false}, file, 1, frame);
    EXPECT_EQ(made.place(static_cast<int>(sum), 0).index == frame.register_of(file, 0, 0), !read_later);
  }
}

TEST(Recorder, RecordsEqualStepsOnce) {
  Recorder recorder(VectorSet::avx2);
  const int one = recorder.constant(1);
  EXPECT_EQ(recorder.record(Primitive::add, one, one), recorder.record(Primitive::add, one, one));
  EXPECT_NE(recorder.record(Primitive::add, one, one), recorder.record(Primitive::mul, one, one));
}

TEST(Recorder, ReadsATruthBackAsItsMask) {
  Recorder recorder(VectorSet::avx2);
  const int zero = recorder.constant(0), one = recorder.constant(0x3f800000), other = recorder.constant(7);
  const int mask = recorder.record(Primitive::compare, other, one, -1, 1);
  const auto is_true = [&](int value) { return recorder.record(Primitive::compare, value, zero, -1, 4); };
  EXPECT_EQ(is_true(recorder.record(Primitive::select, mask, one, zero)), mask);
  EXPECT_NE(is_true(recorder.record(Primitive::select, mask, zero, one)), mask);
  EXPECT_NE(is_true(recorder.record(Primitive::select, mask, other, zero)), mask);
}

TEST(Recorder, TakesOnlyStepsThatAStoreNeeds) {
  Recorder recorder(VectorSet::avx2);
  const int one = recorder.constant(1), two = recorder.constant(2);
  recorder.record(Primitive::mul, one, two);
  recorder.record(Primitive::store, recorder.record(Primitive::add, two, two));
  const Body body = recorder.take();
  ASSERT_EQ(body.steps.size(), 3u);
  EXPECT_EQ(body.steps[0].immediate, 2u);
  EXPECT_EQ(body.steps[1].operand[1], 0);
}

#ifdef PR_SET_MDWE
constexpr int kForbidExecution = PR_SET_MDWE;
#else
constexpr int kForbidExecution = 65;  // since Linux 6.3
#endif

// Returns whether the generated rows of regions refuse, and an interpreted one takes the region.
bool refuses_regions() {
  const Problem region{.op = Region{"r1=row_sum(r0);return r1:f32"},
                       .inputs = {dense(DType::f32, {4, 8})},
                       .output = dense(DType::f32, {4, 1})};
  const auto taken = [&](std::string_view name) {
    return static_cast<bool>(cpu_target().kernel_named(name)->supports(region, cpu::cpu_info()));
  };
  return !taken("region_generated_avx512") && !taken("region_generated_avx2") && taken("region_avx2");
}

// Leaves the process with 0 if it may not execute new memory, the row says so, and the interpreter gives the result.
[[noreturn]] void try_without_executable_memory() {
  if (prctl(kForbidExecution, 1, 0, 0, 0) != 0) std::exit(0);  // this kernel cannot forbid it
  const Problem problem = pointwise("r1=mul(r0,2)", 1);
  bool refused = true;
  float result = 0;
  for (const Kernel* row : cpu_target().kernels_for("pointwise")) {
    const Verdict verdict = row->supports(problem, cpu::cpu_info());
    if (row->name.find("generated") != std::string_view::npos)
      refused = refused && !verdict && verdict.reason == "this process may not make memory executable";
    if (!verdict || result != 0) continue;
    std::vector<float> x(64, 3.0f), out(64);
    cpu::Team team(1);
    std::atomic<Fault> fault{Fault::none};
    cpu::bind(*row, problem, {x.data()}, out.data()).run(team, &fault);
    result = out[63];
  }
  std::exit(refused && result == 6 && refuses_regions() ? 0 : 1);
}

TEST(GeneratedCodeDeathTest, YieldsToTheInterpreterWhereForbidden) {
  if (sets_here().empty()) GTEST_SKIP() << "this processor has neither AVX2 nor AVX-512";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process, which has not asked yet
  EXPECT_EXIT(try_without_executable_memory(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rung
