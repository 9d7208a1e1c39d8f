// Values of every type go into a plan and come out of it unchanged, and ports say what they are.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "api/support.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"
#include "support/graphs.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;

struct TypeCase {
  DType inside;
  api::DType outside;
};
class PublicTypes : public testing::TestWithParam<TypeCase> {};

constexpr TypeCase kTypes[] = {{DType::f32, api::DType::f32},   {DType::f16, api::DType::f16},
                               {DType::bf16, api::DType::bf16}, {DType::i64, api::DType::i64},
                               {DType::i32, api::DType::i32},   {DType::i8, api::DType::i8},
                               {DType::u8, api::DType::u8},     {DType::boolean, api::DType::boolean}};

// A plan that copies its input, whatever it is, in another order.
api::Session flipping(DType dtype, const TemporaryDirectory& folder) {
  std::string t(name_of(dtype));
  Graph graph = graph_of("x: " + t + "[3] = input()\na: " + t + "[1] = slice(x, axis=0, begin=2, end=3)\nb: " + t +
                         "[2] = slice(x, axis=0, begin=0, end=2)\ny: " + t + "[3] = concat(a, b, axis=0)\nreturn y=y");
  auto built = build_plan(graph, {});
  EXPECT_TRUE(built) << built.error().message;
  EXPECT_TRUE(save_plan(built->plan, folder / "plan.rung"));
  return session_of(folder / "plan.rung");
}

TEST_P(PublicTypes, PassThroughAPlan) {
  TemporaryDirectory folder;
  api::Session session = flipping(GetParam().inside, folder);
  ASSERT_EQ(session.model().inputs().size(), 1u);
  EXPECT_EQ(session.model().inputs()[0].dtype, GetParam().outside);
  EXPECT_TRUE(session.model().inputs()[0].required);
  EXPECT_EQ(session.model().outputs().at(0).dtype, GetParam().outside);
  EXPECT_FALSE(session.model().outputs().at(0).required);
  Tensor given = convert(Tensor::of<float>({3}, {1, 0, 1}), GetParam().inside);
  api::Tensors outputs, inputs{{"x", {GetParam().outside, {3}, {given.data(), given.data() + given.bytes()}}}};
  api::Status ran = session.run(inputs, outputs);
  ASSERT_TRUE(ran) << ran.message();
  const api::Tensor& y = outputs.at("y");
  EXPECT_EQ(y.dtype, GetParam().outside);
  EXPECT_THAT(y.shape, ElementsAre(3));
  Tensor want = convert(Tensor::of<float>({3}, {1, 1, 0}), GetParam().inside);
  EXPECT_EQ(y.bytes, std::vector<std::byte>(want.data(), want.data() + want.bytes()));
}

TEST_P(PublicTypes, AreNotTakenForOneAnother) {
  TemporaryDirectory folder;
  api::Session session = flipping(GetParam().inside, folder);
  api::Tensors outputs;
  for (const TypeCase& other : kTypes) {
    if (other.outside == GetParam().outside) continue;
    std::vector<std::byte> bytes(3 * size_of(other.inside));
    EXPECT_THAT(session.run({{"x", {other.outside, {3}, bytes}}}, outputs).message(),
                testing::HasSubstr(fmt::format("input 'x': got {}[3], wanted {}[3]", other.inside, GetParam().inside)));
  }
  EXPECT_TRUE(outputs.empty());
}

TEST(PublicSession, OverwritesOldOutputsWithTheLastRunsAnswer) {
  TemporaryDirectory folder;
  api::Session session = flipping(DType::f32, folder);
  api::Tensors outputs{{"left from another model", {}}};
  for (float first : {1.0f, 2.0f}) {
    const std::vector<float> values{first, 5, 7};
    api::Status ran = session.run({{"x", api::Tensor::of<float>({3}, values)}}, outputs);
    ASSERT_TRUE(ran) << ran.message();
    EXPECT_EQ(outputs.size(), 1u);
    EXPECT_THAT(outputs.at("y").values<float>(), ElementsAre(7, first, 5));
  }
}

TEST(PublicSession, TakesAFrozenInputOnlyAtItsValue) {
  TemporaryDirectory folder;
  auto built = build_plan(graph_of("y = neg(x:f32[2])\nreturn y=y"), {});
  ASSERT_TRUE(built) << built.error().message;
  built->plan.frozen.push_back({"mask", Tensor::of<float>({2}, {1, 0})});
  ASSERT_TRUE(save_plan(built->plan, folder / "plan.rung"));
  api::Session session = session_of(folder / "plan.rung");
  const std::vector<float> x{3, 4}, own{1, 0}, other{1, 1};
  api::Tensors outputs, inputs{{"x", api::Tensor::of<float>({2}, x)}, {"mask", api::Tensor::of<float>({2}, own)}};
  EXPECT_EQ(session.model().inputs().size(), 1u);
  api::Status ran = session.run(inputs, outputs);
  ASSERT_TRUE(ran) << ran.message();
  EXPECT_THAT(outputs.at("y").values<float>(), ElementsAre(-3, -4));
  inputs["mask"] = api::Tensor::of<float>({2}, other);
  ran = session.run(inputs, outputs);
  EXPECT_EQ(ran.kind(), api::Kind::mismatch);
  EXPECT_THAT(ran.message(), testing::HasSubstr("'mask' is frozen in this plan at another value"));
}

INSTANTIATE_TEST_SUITE_P(, PublicTypes, testing::ValuesIn(kTypes),
                         [](const auto& param) { return std::string(name_of(param.param.inside)); });

}  // namespace
}  // namespace rung
