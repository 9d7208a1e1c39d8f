// What launched a piece of work, what stands around it, and which operands an operation had.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "support/scripted_recording.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string_view> names_of(const Recording& recording, const std::vector<uint32_t>& events) {
  std::vector<std::string_view> names;
  for (const uint32_t event : events) names.push_back(recording.name_of(recording.events[event]));
  return names;
}

TEST(Links, LeadFromWorkToItsInnermostOperation) {
  ScriptedRecording script;
  script.op("aten::linear", [&] {
    script.op("aten::t", [] {});
    script.op("aten::addmm", [&] { script.range("tuned", [&] { script.kernel("a_gemm", 5); }); });
    script.kernel("b_gelu", 5);
  });
  script.kernel("c_norm_", 5);
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  ASSERT_EQ(analysis.work.size(), 3u);
  EXPECT_EQ(recording.name_of(recording.events[analysis.work[0].op]), "aten::addmm");
  EXPECT_EQ(recording.name_of(recording.events[analysis.work[1].op]), "aten::linear");
  EXPECT_EQ(analysis.work[2].op, kNone);
  for (const auto& around : {enclosing(analysis, analysis.work[0].call), enclosing(recording, analysis.work[0].call)})
    EXPECT_THAT(names_of(recording, around), ElementsAre("tuned", "aten::addmm", "aten::linear"));
  EXPECT_THAT(enclosing(analysis, analysis.work[2].call), IsEmpty());
  EXPECT_THAT(enclosing(analysis, analysis.work[0].event), IsEmpty()) << "work is on no host thread";
  EXPECT_THAT(enclosing(analysis, kNone), IsEmpty());
  EXPECT_THAT(enclosing(recording, kNone), IsEmpty());
}

TEST(Links, AreOfTheirThread) {
  ScriptedRecording script;
  script.op("aten::mm", [&] { script.kernel("a_gemm", 5); });
  Recording recording = script.finish();
  recording.lanes.push_back({false, -1, 1, 2, "other"});
  for (Event& event : recording.events)
    if (event.kind == EventKind::host_op) event.lane = 2;
  EXPECT_EQ(analyse(recording).work[0].op, kNone);
}

TEST(Links, OfOneNumberMeanTheLastCallBefore) {
  ScriptedRecording script;
  script.runtime_call("first", 1).host(50).kernel("a_gemm", 5).host(50).runtime_call("last", 1);
  Recording recording = script.finish();
  for (Event& event : recording.events) event.link = 9;
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(recording.name_of(recording.events[analysis.work[0].call]), "cudaLaunchKernel");
}

TEST(BusiestDevice, IsTheOneThatIsAnalysed) {
  ScriptedRecording script;
  script.kernel("a_gemm", 5).kernel("b_gemm", 50).kernel("c_gemm", 5);
  Recording recording = script.finish();
  recording.lanes.push_back({true, 3, 1, 7, "stream 7"});
  for (Event& event : recording.events)
    if (recording.name_of(event) == "b_gemm") event.lane = 2;
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.accounting.device, 3);
  ASSERT_EQ(analysis.work.size(), 1u);
  EXPECT_EQ(analysis.name(analysis.work[0]), "b_gemm");
  EXPECT_EQ(analysis.accounting.busy_ns, 50'000);
}

TEST(BusiestDevice, IsNotTheOneWhoseStreamsOverlap) {
  Recording recording;
  recording.lanes = {{true, 0, 0, 1, ""}, {true, 0, 0, 2, ""}, {true, 1, 0, 1, ""}};
  const uint32_t name = recording.strings.number_of("a_gemm");
  for (const auto& [lane, us] : {std::pair{0, 50}, {1, 50}, {2, 60}})
    recording.events.push_back({0, us * 1000, name, 0, 0, static_cast<uint16_t>(lane), EventKind::kernel});
  EXPECT_EQ(analyse(recording).accounting.device, 1);
}

TEST(Links, OfRungsOwnProfilesAreToRung) {
  ScriptedRecording script;
  script.kernel("softmax_gpu", 5).kernel("linear_cublaslt", 5);
  Recording recording = script.finish();
  EXPECT_EQ(analyse(recording).work[0].kind.library, "");
  recording.format = "rung profile";
  EXPECT_EQ(analyse(recording).work[0].kind.library, "rung");
  EXPECT_EQ(analyse(recording).work[1].kind.library, "cuBLAS");
}

// Each event as long as a reader lets it be: their sum has more nanoseconds than an integer holds.
TEST(Analysis, OfARecordingThatLiesIsMade) {
  Recording recording;
  recording.lanes = {{true, 0, 0, 1, ""}, {false, -1, 0, 1, ""}};
  const uint32_t name = recording.strings.number_of("a_gemm"), other = recording.strings.number_of("b_gemm");
  for (int64_t i = 0; i < 200'000; ++i) {  // in the order of Thue and Morse, in which nothing repeats for long
    const uint32_t which = std::popcount(static_cast<uint64_t>(i)) % 2 == 0 ? name : other;
    recording.events.push_back({i, 24 * 3600 * 1'000'000'000LL, which, 7, 99, 0, EventKind::kernel});
  }
  recording.events.push_back({200'000, 1, name, 7, 99, 77, EventKind::copy});          // lanes and details that are not
  recording.events.push_back({200'000, 1, name, 7, 99, 77, EventKind::runtime_call});  // there
  recording.events.push_back({200'000, 1, name, 7, 99, 1, EventKind::host_op});
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.accounting.by_category_ns[static_cast<size_t>(KernelCategory::gemm)], INT64_MAX);
  EXPECT_EQ(analysis.accounting.busy_ns, analysis.accounting.time_ns);
  EXPECT_THAT(operands_of(recording, recording.events.back()), IsEmpty());
}

// 100,000 operations, each within the one before.
TEST(Analysis, OfDeepNestingIsMade) {
  Recording recording;
  recording.lanes = {{false, -1, 0, 1, ""}};
  for (int64_t i = 0; i < 100'000; ++i)
    recording.events.push_back({i, 1'000'000 - 2 * i, 0, 0, 0, 0, EventKind::host_op});
  EXPECT_EQ(enclosing(analyse(recording), 99'999).size(), 99'999u);
}

std::vector<CallOperand> operands(std::string_view shapes, std::string_view types, std::string_view strides = "") {
  ScriptedRecording script;
  const OperandTexts texts = script.operands(shapes, types, strides);
  script.op(
      "aten::mm", [] {}, texts);
  static Recording recording;  // the types are views into its strings
  recording = script.finish();
  return operands_of(recording, recording.events[0]);
}

TEST(Operands, AreShapesStridesAndTypes) {
  const auto found =
      operands("[[51, 1024],[1024,8],[]]", R"(["c10::BFloat16","float","Scalar"])", "[[1024,1],[1,1024],[]]");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].type, "bf16");
  EXPECT_THAT(found[0].shape, ElementsAre(51, 1024));
  EXPECT_THAT(found[0].strides, ElementsAre(1024, 1));
  EXPECT_EQ(found[1].type, "f32");
  EXPECT_THAT(found[1].strides, ElementsAre(1, 1024));
  EXPECT_EQ(found[2].type, "Scalar");
  EXPECT_THAT(found[2].shape, IsEmpty());
}

TEST(Operands, HaveTheTypesThatRungNames) {
  const auto found =
      operands("[]", R"(["double","c10::Half","long int","long","int","short","unsigned char","signed char",
                                       "bool","c10::Float8_e4m3fn","c10::complex<float>",""])");
  std::vector<std::string_view> types;
  for (const CallOperand& operand : found) types.push_back(operand.type);
  EXPECT_THAT(types, ElementsAre("f64", "f16", "i64", "i64", "i32", "i16", "u8", "i8", "bool", "f8e4m3fn",
                                 "c10::complex<float>", ""));
}

TEST(Operands, ThatAreListsHaveNoShape) {
  const auto found = operands("[[[2,3],[4,5]],[7]]", R"(["TensorList","float"])");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].type, "TensorList");
  EXPECT_THAT(found[0].shape, IsEmpty());
  EXPECT_THAT(found[1].shape, ElementsAre(7));
}

TEST(Operands, ThatAreNotUnderstoodAreNone) {
  for (const std::string_view types : {"", "[", "{}", "7", "\"", "[\"float\"", "[\"float\" 3]", "[,]", "\\", "[\"\\"})
    EXPECT_THAT(operands("[[1]]", types), IsEmpty()) << types;
  for (const std::string_view shapes : {"[[1", "{}", "[[1]", "x", "[[1],", "\"[[1]]\"", "[[1]}"})
    EXPECT_THAT(operands(shapes, R"(["float"])"), IsEmpty()) << shapes;
}

TEST(Operands, WithNumbersThatAreNoneHaveNoShape) {
  for (const std::string_view shapes :
       {"[[1,null]]", "[[1.5]]", "[[99999999999999999999999]]", "[{}]", "[null]", "[[1,[2]]]"}) {
    const auto found = operands(shapes, R"(["float"])");
    ASSERT_EQ(found.size(), 1u) << shapes;
    EXPECT_THAT(found[0].shape, IsEmpty()) << shapes;
  }
}

TEST(Operands, BeyondTheTypesAreLeftOut) {
  EXPECT_EQ(operands("[[1],[2],[3]]", R"(["float"])").size(), 1u);
  EXPECT_EQ(operands("", R"(["float","float"])").size(), 2u);
}

TEST(Operands, OfOtherEventsAreNone) {
  ScriptedRecording script;
  script.kernel("a_gemm", 5, {.grid = {1, 1, 1}, .block = {1, 1, 1}});
  const Recording recording = script.finish();
  for (const Event& event : recording.events) EXPECT_THAT(operands_of(recording, event), IsEmpty());
}

}  // namespace
}  // namespace rung::trace
