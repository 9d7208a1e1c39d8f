// Forms that the products of a plan may compute in.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/forms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/cpu_info.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/build.hpp"
#include "support/graphs.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Forms {
  std::vector<std::string> names, notes;
};
Forms forms_of(const std::string& text, const Target& target = cpu_target()) {
  auto built =
      build_plan(graph_of(text), {.threads = &target == &cpu_target() ? 1 : 0}, {.target = &target, .contents = false});
  EXPECT_TRUE(built) << built.error().message;
  Forms found;
  if (!built) return found;
  for (const PrecisionForm& form : precision_forms(built->plan, found.notes)) found.names.push_back(form.name);
  return found;
}

TEST(PrecisionForms, BeginWithWhatTheModelStores) {
  EXPECT_EQ(forms_of("x: f32[9,64] = input()\nw: f32[32,64] = constant()\ny = linear(x, w)\nreturn y").names[0], "f32");
  const Forms narrow =
      forms_of("x: bf16[9,64] = input()\nw: bf16[32,64] = constant()\ny = linear(x, w, out=bf16)\nreturn y");
  EXPECT_EQ(narrow.names[0], "as stored");
  EXPECT_THAT(narrow.names, Not(Contains("bf16")));
  EXPECT_THAT(narrow.notes, Contains(HasSubstr("bf16: the model's weights have 16 bits")));
}

TEST(PrecisionForms, DependOnMostOfTheWeights) {
  const std::string large = "x: bf16[9,64] = input()\nw: bf16[320,64] = constant()\ny = linear(x, w, out=bf16)\n";
  EXPECT_EQ(forms_of(large + "v: f32[2,64] = constant()\nz = linear(x, v)\nreturn y, z").names[0], "as stored");
  EXPECT_EQ(forms_of(large + "v: f32[100,64] = constant()\nz = linear(x, v)\nreturn y, z").names[0], "f32");
}

TEST(PrecisionForms, HaveIntegersOnProcessors) {
  EXPECT_THAT(forms_of("x: f32[9,64] = input()\nw: f32[32,64] = constant()\ny = linear(x, w)\nreturn y").names,
              Contains("i8"));
}

TEST(PrecisionForms, HaveGroupsWhereProductsHaveFewRows) {
  const std::string forms[] = {"i8 weights in groups of 32", "i4 weights in groups of 32"};
  const auto product = [](int rows) {
    return fmt::format("x: f32[{},64] = input()\nw: f32[32,64] = constant()\ny = linear(x, w)\nreturn y", rows);
  };
  for (const std::string& form : forms) {
    if (cpu::cpu_info().avx2) EXPECT_THAT(forms_of(product(1)).names, Contains(form));
    const Forms many = forms_of(product(9));
    EXPECT_THAT(many.names, Not(Contains(form)));
    EXPECT_THAT(many.notes, Contains(form + ": no product has so few rows that it would save time"));
  }
}

// A cache is read by attention: its type is a form of that, where the plan has one.
TEST(PrecisionForms, HaveCachesOf8Bits) {
  const auto attention = [](const std::string& state) {
    return "q: f32[1,1,4,8] = input()\nrow: f32[1,2,8] = input()\nat: i64[1] = input()\nn: i64[1] = input()\n"
           "k: f32[9,2,8] = input()\nv: f32[9,2,8] = input()\nk_next = scatter(k, at, row)\n"
           "v_next = scatter(v, at, row)\ny = attention(q, n, reshape(k_next, shape=[1,9,2,8]), "
           "reshape(v_next, shape=[1,9,2,8]), slots=length)\n" +
           state + "return y=y, k_next=k_next, v_next=v_next";
  };
  const std::string states = "state k, next=k_next\nstate v, next=v_next\n";
  const Target hopper{.kind = "cuda", .machine = testing::hopper(), .kernels = gpu::all_kernels()};
  if (cpu::cpu_info().avx2) EXPECT_THAT(forms_of(attention(states)).names, Contains("f8e4m3fn cache"));
  EXPECT_THAT(forms_of(attention(states), hopper).names, Contains("f8e4m3fn cache"));
  const Forms without = forms_of(attention(""));
  EXPECT_THAT(without.names, Not(Contains("f8e4m3fn cache")));
  EXPECT_THAT(without.notes, Not(Contains(HasSubstr("cache"))));
}

// Products of a model that is stored in bf16 read bf16 in these forms, too.
TEST(PrecisionForms, HaveGroupsOnHopper) {
  const Target hopper{.kind = "cuda", .machine = testing::hopper(), .kernels = gpu::all_kernels()};
  const Target cdna{.kind = "hip", .machine = testing::cdna(), .kernels = gpu::all_kernels()};
  const std::string product =
      "x: bf16[1,64] = input()\nw: bf16[32,64] = constant()\ny = linear(x, w, out=bf16)\nreturn y";
  for (const std::string form : {"i8 weights in groups of 32", "i4 weights in groups of 32"}) {
    EXPECT_THAT(forms_of(product, hopper).names, Contains(form));
    EXPECT_THAT(forms_of(product, cdna).names, Not(Contains(form)));
    EXPECT_THAT(forms_of(product, cdna).notes, Contains(HasSubstr(form + ": ")));
  }
}

}  // namespace
}  // namespace rung
