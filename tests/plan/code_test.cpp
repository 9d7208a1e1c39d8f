// Code of generated kernels in plan files: what is written, whose images run, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "plan/code.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.hpp"
#include "base/cores.hpp"
#include "base/limits.hpp"
#include "base/zlib_data.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "plan/file.hpp"
#include "plan/set_json.hpp"
#include "support.hpp"
#include "support/device.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Nothing compiles for emulated devices as long as it lives.
struct NoCompiler : Variable {
  NoCompiler() : Variable("RUNG_CLANG", "/no/clang") {}
};

// Two launches of one kernel, one of another, and one whose code is part of the build.
Graph regions() {
  return graph_of(
      "x: f32[4,9] = input()\n"
      "a: f32[4,9] = region(x, program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);return r3:f32\")\n"
      "b: f32[4,9] = region(a, program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);return r3:f32\")\n"
      "c: f32[4,9] = region(b, program=\"r1=row_sum(r0);r2=div(r0,r1);return r2:f32\")\n"
      "return y=cumsum(c, axis=1)");
}

class PlanCode : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  const Variable cache{"RUNG_CACHE_DIR", folder / "cache"};
  const std::string path = folder / "plan.rung";
  const Target* target = nullptr;

  void SetUp() override {
    auto opened = open_target("emu:gfx942");
    if (!opened) GTEST_SKIP() << opened.error().message;
    target = *opened;
    if (const auto compiler = gpu::compiler_for(target->machine.gpu); !compiler)
      GTEST_SKIP() << compiler.error().message;
  }

  Plan built() const {
    auto plan = build_plan(regions(), {.tuned_kernels = true, .threads = 0}, {.target = target});
    EXPECT_TRUE(plan) << plan.error().message;
    return plan ? std::move(plan->plan) : Plan{};
  }
  static CodeSection section_of(const Plan& plan) {
    auto section = code_of(PlanSet(std::make_shared<const Plan>(plan)));
    EXPECT_TRUE(section) << section.error().message;
    return section ? std::move(*section) : CodeSection{};
  }
  // The section with each of its codes changed.
  template <class Change>
  static CodeSection changed(CodeSection section, const Change& change) {
    for (gpu::CodePointer& code : section.code) {
      gpu::GeneratedCode other = *code;
      change(other);
      code = std::make_shared<const gpu::GeneratedCode>(std::move(other));
    }
    return section;
  }
  // As another machine's file has it: nothing in this process or its cache is of that compiler.
  static CodeSection strange(const CodeSection& section) {
    return changed(section, [](gpu::GeneratedCode& code) {
      code.compiler = "clang of another machine";
      code.name = gpu::code_name(code.source, code.target, code.compiler);
    });
  }
  static std::string error_of(const CodeSection& section, CodeUse use, Plan& plan) {
    const Status taken = take_code(section, section.named[0], use, plan);
    return taken ? "" : taken.error().message;
  }
  static size_t launches_with_code(const Plan& plan) {
    return static_cast<size_t>(
        std::ranges::count_if(plan.steps, [](const Step& step) { return step.code != nullptr; }));
  }
  static Outputs answers(Plan plan) {
    auto session = Session::create(std::make_shared<const Plan>(std::move(plan)), nullptr);
    EXPECT_TRUE(session) << session.error().message;
    return session ? outputs_of(*session, random_inputs(regions())) : Outputs{};
  }
};

TEST_F(PlanCode, IsWrittenOnceForEachKernel) {
  ASSERT_TRUE(save_plan(built(), path));
  const auto loaded = load_plan(path, *target);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->steps.size(), 4u);
  ASSERT_EQ(loaded->code.size(), 2u);
  for (const auto& code : loaded->code) {
    EXPECT_EQ(code->target, "gfx942");
    EXPECT_THAT(code->compiler, HasSubstr("clang version"));
    EXPECT_THAT(code->source, HasSubstr("RUNG_KERNEL"));
    EXPECT_EQ(code->name, gpu::code_name(code->source, code->target, code->compiler));
  }
  EXPECT_EQ(section_of(*loaded).named, section_of(built()).named);
}

TEST_F(PlanCode, OfSeveralKernelsLiesInOneImage) {
  constexpr int kKernels = 40;
  std::string text = "r0: f32[4,9] = input()\n";
  for (int i = 1; i <= kKernels; ++i)
    text += fmt::format(
        "r{}: f32[4,9] = region(r{}, program=\"r1=row_max(r0);r2=sub(r0,r1);r3=mul(r2,0.{});return r3:f32\")\n", i,
        i - 1, 90 + i);
  const Graph graph = graph_of(text + fmt::format("return y=r{}", kKernels));
  auto plan = build_plan(graph, {.tuned_kernels = true, .threads = 0}, {.target = target});
  ASSERT_TRUE(plan) << plan.error().message;
  std::set<std::string> images;
  for (const gpu::CodePointer& code : section_of(plan->plan).code) images.insert(code->image->hash);
  EXPECT_GE(images.size(), 2u) << "an image for all would leave other cores without work";
  EXPECT_LE(images.size(), static_cast<size_t>(std::max(2, usable_cores())));
  auto session = Session::create(std::make_shared<const Plan>(std::move(plan->plan)), nullptr);
  ASSERT_TRUE(session) << session.error().message;
  const NamedTensors inputs = random_inputs(graph);
  const Outputs got = outputs_of(*session, inputs);
  const auto want = evaluate(graph, inputs);
  ASSERT_TRUE(want && got.size() == 1);
  EXPECT_LT(relative_l2(got[0].second, (*want)[0]), 1e-5);
}

TEST_F(PlanCode, OpensWithoutCompiling) {
  ASSERT_TRUE(save_plan(built(), path));
  const size_t before = gpu::compilations();
  auto loaded = load_plan(path, *target);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(launches_with_code(*loaded), 3u);
  const Outputs got = answers(std::move(*loaded));
  EXPECT_EQ(gpu::compilations(), before);
  const auto want = evaluate(regions(), random_inputs(regions()));
  ASSERT_TRUE(want && got.size() == 1);
  EXPECT_LT(relative_l2(got[0].second, (*want)[0]), 1e-6);
}

TEST_F(PlanCode, OfAStrangerIsRefusedWithoutTrust) {
  Plan plan = built();
  const CodeSection section = strange(section_of(plan));
  const NoCompiler none;
  const Status taken = take_code(section, section.named[0], CodeUse::checked, plan);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::device);
  EXPECT_EQ(taken.error().message,
            fmt::format("step 0 ({}): nothing here compiles its kernel (no /no/clang), and the plan's code runs if you "
                        "trust who made the plan: --trust-code (trust_code in Python and C)",
                        plan.steps[0].label));
}

TEST_F(PlanCode, OfAStrangerRunsWithTrust) {
  Plan plan = built();
  const CodeSection section = strange(section_of(plan));
  const Outputs want = answers(plan);
  const size_t before = gpu::compilations();
  const NoCompiler none;
  ASSERT_EQ(error_of(section, CodeUse::trusted, plan), "");
  EXPECT_EQ(launches_with_code(plan), 3u);
  EXPECT_EQ(plan.steps[0].code, section.code[0]);
  const Outputs got = answers(plan);
  ASSERT_EQ(got.size(), want.size());
  EXPECT_EQ(std::memcmp(got[0].second.data(), want[0].second.data(), want[0].second.bytes()), 0);
  EXPECT_EQ(gpu::compilations(), before);
  EXPECT_EQ(section_of(plan).code, section.code) << "a plan saved again keeps what it runs";
}

// A plan that trusts its code must not make others run it.
TEST_F(PlanCode, IsTrustedForItsPlanAlone) {
  Plan trusting = built(), other = built();
  const CodeSection section = strange(section_of(trusting));
  const NoCompiler none;
  ASSERT_EQ(error_of(section, CodeUse::trusted, trusting), "");
  answers(trusting);
  EXPECT_THAT(error_of(section, CodeUse::checked, other), HasSubstr("--trust-code"));
}

TEST_F(PlanCode, OfThisMachineRunsWithoutTrust) {
  Plan plan = built();
  const CodeSection section = section_of(plan);
  const NoCompiler none;
  ASSERT_EQ(error_of(section, CodeUse::checked, plan), "");
  EXPECT_EQ(launches_with_code(plan), 3u);
}

// The file may promise what this machine compiled and hold another image: its own never runs without trust.
TEST_F(PlanCode, RunsTheImageOfThisMachine) {
  Plan plan = built();
  const CodeSection own = section_of(plan);
  const CodeSection section =
      changed(own, [](gpu::GeneratedCode& code) { code.image = gpu::image_of(code.image->bytes + '\0'); });
  for (const CodeUse use : {CodeUse::checked, CodeUse::trusted}) {
    ASSERT_EQ(error_of(section, use, plan), "");
    EXPECT_EQ(plan.steps[0].code, own.code[0]);
  }
}

TEST_F(PlanCode, WithAnotherSourceIsNotUsed) {
  Plan plan = built();
  CodeSection section = changed(strange(section_of(plan)), [](gpu::GeneratedCode& code) {
    code.source += ' ';
    code.name = gpu::code_name(code.source, code.target, code.compiler);
  });
  for (std::string& named : section.named[0])
    if (!named.empty())
      named = source_name(named == section.named[0][2] ? section.code[1]->source : section.code[0]->source);
  ASSERT_EQ(error_of(section, CodeUse::trusted, plan), "");
  EXPECT_EQ(launches_with_code(plan), 0u) << "it is compiled here";
  const NoCompiler none;
  EXPECT_THAT(error_of(section, CodeUse::trusted, plan),
              HasSubstr("the plan's code has another source than this rung writes for it"));
}

TEST_F(PlanCode, ForAnotherArchitectureIsNotUsed) {
  Plan plan = built();
  const CodeSection section = changed(section_of(plan), [](gpu::GeneratedCode& code) {
    code.target = "gfx90a";
    code.name = gpu::code_name(code.source, code.target, code.compiler);
  });
  ASSERT_EQ(error_of(section, CodeUse::trusted, plan), "");
  EXPECT_EQ(launches_with_code(plan), 0u) << "it is compiled here";
  EXPECT_EQ(plan.code.size(), 2u) << "inspect shows it";
  const NoCompiler none;
  EXPECT_THAT(error_of(section, CodeUse::trusted, plan),
              HasSubstr("the plan's code is for gfx90a, and this is gfx942"));
}

TEST_F(PlanCode, ForSeveralArchitecturesGivesTheRightOne) {
  Plan plan = built();
  CodeSection section = strange(section_of(plan));
  for (const gpu::CodePointer& code : changed(section, [](gpu::GeneratedCode& each) {
                                        each.target = "gfx90a";
                                        each.name = gpu::code_name(each.source, each.target, each.compiler);
                                      }).code)
    section.code.insert(section.code.begin(), code);
  const NoCompiler none;
  ASSERT_EQ(error_of(section, CodeUse::trusted, plan), "");
  for (const Step& step : plan.steps) EXPECT_TRUE(!step.code || step.code->target == "gfx942");
  EXPECT_EQ(launches_with_code(plan), 3u);
}

TEST_F(PlanCode, WithOtherHeadersIsNotUsed) {
  Plan plan = built();
  const CodeSection section = changed(strange(section_of(plan)), [](gpu::GeneratedCode& code) {
    code.name.back() = code.name.back() == '0' ? '1' : '0';
  });
  const NoCompiler none;
  EXPECT_THAT(error_of(section, CodeUse::trusted, plan), HasSubstr("compiled with the headers of another release"));
}

TEST_F(PlanCode, IsMissingWhereAFileHasNone) {
  Plan plan = built();
  const CodeSection none_held{{}, {std::vector<std::string>(plan.steps.size())}};
  ASSERT_EQ(error_of(none_held, CodeUse::checked, plan), "");
  const NoCompiler none;
  EXPECT_THAT(error_of(none_held, CodeUse::trusted, plan), HasSubstr("and the plan holds no code for it"));
  EXPECT_EQ(error_of(none_held, CodeUse::shown, plan), "") << "nothing of it runs";
}

TEST_F(PlanCode, IsRefusedOnALaunchOfTheBuild) {
  Plan plan = built();
  CodeSection section = section_of(plan);
  ASSERT_EQ(section.named[0].back(), "");
  section.named[0].back() = section.named[0].front();
  EXPECT_THAT(error_of(section, CodeUse::trusted, plan), HasSubstr("runs no code of a plan"));
}

// ---- the section of a file

gpu::CodePointer made_code(const std::string& source, const gpu::ImagePointer& image) {
  return std::make_shared<const gpu::GeneratedCode>(
      gpu::GeneratedCode{"generated_" + source_name(source), "gfx942", "clang 22", source, "generated", image});
}

nlohmann::json launches(size_t count) {
  return {{"plans", {{{"steps", std::vector<nlohmann::json>(count, nlohmann::json::object())}}}}};
}

// Two kernels in one image, and one in another.
nlohmann::json made_section() {
  const auto both = gpu::image_of(std::string(100, 'i')), own = gpu::image_of(std::string(5000, 'j'));
  nlohmann::json set = launches(3);
  add_code({{made_code("first", both), made_code("second", both), made_code("third", own)},
            {{source_name("first"), source_name("second"), source_name("third")}}},
           set);
  return set;
}

TEST(PlanCodeJson, IsReadAsItIsWritten) {
  const nlohmann::json set = made_section();
  EXPECT_EQ(set["code"]["images"].size(), 2u);
  const auto section = code_from_json(set);
  ASSERT_TRUE(section) << section.error().message;
  ASSERT_EQ(section->code.size(), 3u);
  EXPECT_EQ(section->code[0]->image, section->code[1]->image);
  EXPECT_EQ(section->code[2]->source, "third");
  EXPECT_EQ(section->code[2]->image->bytes, std::string(5000, 'j'));
  nlohmann::json again = launches(3);
  add_code(*section, again);
  EXPECT_EQ(again, set);
}

TEST(PlanCodeJson, AddsNothingToPlansWithoutCode) {
  nlohmann::json set = launches(1);
  add_code({{}, {{""}}}, set);
  EXPECT_EQ(set, launches(1));
  EXPECT_TRUE(code_from_json(set));
}

// Returns the error of the section with the value at `pointer` replaced.
std::string error_with(const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json set = made_section();
  set[nlohmann::json::json_pointer(pointer)] = value;
  const auto section = code_from_json(set);
  return section ? "" : section.error().message;
}

std::string packed(const std::string& text) { return encode_base64(deflated(text)); }

TEST(PlanCodeJson, RefusesAlteredContents) {
  const std::string image = "/code/images/0/data", source = "/code/kernels/0/source";
  EXPECT_THAT(error_with(image, packed(std::string(99, 'i') + 'x')), HasSubstr("image 0 of its code: got the hash"));
  EXPECT_THAT(error_with("/code/images/0/hash", "0123456789abcdef"), HasSubstr("wanted 0123456789abcdef"));
  EXPECT_THAT(error_with(source, packed("fourth")), HasSubstr("does not unpack to 5 bytes"));
  EXPECT_THAT(error_with(source, packed("fifth")), HasSubstr("no launch runs the code"));
  EXPECT_THAT(error_with(source, "????"), HasSubstr("kernel 0 of its code: 'its bytes': byte 0 is not Base64"));
  EXPECT_THAT(error_with(source, encode_base64("no zlib data")), HasSubstr("damaged"));
  const std::string whole = deflated(std::string(100, 'i'));
  EXPECT_THAT(error_with(image, encode_base64(whole.substr(0, whole.size() - 1))), HasSubstr("damaged"));
}

TEST(PlanCodeJson, RefusesSizesBeyondItsLimits) {
  const std::string image = "/code/images/0/bytes", source = "/code/kernels/0/bytes";
  EXPECT_THAT(error_with(image, 101), HasSubstr("does not unpack to 101 bytes"));
  EXPECT_THAT(error_with(image, 99), HasSubstr("does not unpack to 99 bytes"));
  EXPECT_THAT(error_with(source, kMaxCodeSourceBytes + 1), HasSubstr("got 1048577 bytes, wanted at most 1048576"));
  EXPECT_THAT(error_with(image, kMaxCodeImageBytes + 1), HasSubstr("got 16777217 bytes, wanted at most 16777216"));
  EXPECT_THAT(error_with(image, uint64_t{1} << 63), HasSubstr("got 9223372036854775808 bytes"));
  EXPECT_THAT(error_with(image, -1), HasSubstr("wanted a whole number"));
}

// Packed, 16 MB of zeros are 16 kB: few entries could take all memory.
TEST(PlanCodeJson, RefusesMoreThanItsLimitTogether) {
  const auto zeros = gpu::image_of(std::string(kMaxCodeImageBytes, '\0'));
  nlohmann::json set = launches(1);
  add_code({{made_code("s", zeros)}, {{source_name("s")}}}, set);
  const nlohmann::json one = set["code"]["images"][0];
  for (size_t total = 2 * kMaxCodeImageBytes; total <= kMaxPlanCodeBytes; total += kMaxCodeImageBytes)
    set["code"]["images"].push_back(one);
  const size_t most = kMaxPlanCodeBytes / kMaxCodeImageBytes;
  const auto at_most = code_from_json(set);
  EXPECT_THAT(at_most.error().message, HasSubstr("kernel 0 of its code: got 1 bytes, wanted at most 0"));
  set["code"]["images"].push_back(one);
  EXPECT_THAT(code_from_json(set).error().message,
              HasSubstr(fmt::format("image {} of its code: got 16777216 bytes, wanted at most 0", most)));
}

TEST(PlanCodeJson, RefusesImagesThatReachBeyondTheirEnd) {
  const auto with_image = [](const std::string& image) {
    nlohmann::json set = launches(1);
    add_code({{made_code("s", gpu::image_of(image))}, {{source_name("s")}}}, set);
    const auto section = code_from_json(set);
    return section ? "" : section.error().message;
  };
  std::string elf(64, '\0');
  elf.replace(0, 4,
              "\x7f"
              "ELF");
  EXPECT_EQ(with_image(elf), "");
  elf[40] = 65;  // e_shoff
  EXPECT_THAT(with_image(elf), HasSubstr("image of 64 bytes, wanted 65 and 0 more"));
  elf[40] = 64, elf[58] = 64, elf[60] = 1;  // e_shentsize, e_shnum
  EXPECT_THAT(with_image(elf), HasSubstr("image of 64 bytes, wanted 64 and 64 more"));
  EXPECT_THAT(with_image(std::string(63, '\0')), HasSubstr("image of 63 bytes, wanted at least 64"));
}

TEST(PlanCodeJson, RefusesCodeThatIsMissingOrTooMuch) {
  EXPECT_THAT(error_with("/plans/0/steps/1/code", source_name("fourth")), HasSubstr("no launch runs the code"));
  EXPECT_THAT(error_with("/plans/0/steps/1", nlohmann::json::object()), HasSubstr("no launch runs the code"));
  EXPECT_THAT(error_with("/code/kernels/2/image", 0), HasSubstr("no kernel lies in image 1"));
  EXPECT_THAT(error_with("/code/kernels/2/image", 2), HasSubstr("image 2 of 2"));
  nlohmann::json set = made_section();
  set["code"]["kernels"].erase(1);
  EXPECT_THAT(code_from_json(set).error().message, HasSubstr("there is no code of the source"));
  set = made_section();
  set["code"]["kernels"].push_back(set["code"]["kernels"][0]);
  EXPECT_THAT(code_from_json(set).error().message, HasSubstr("two codes for gfx942 have the source of"));
  set["code"]["images"].push_back(set["code"]["images"][0]);
  set["code"]["images"].back()["target"] = "sm_90";
  set["code"]["kernels"].back()["image"] = 2;
  EXPECT_TRUE(code_from_json(set)) << "one for each architecture";
}

TEST(PlanCodeJson, RefusesFieldsOfOtherTypes) {
  const nlohmann::json whole = made_section();
  for (const char* list : {"images", "kernels"}) {
    for (const auto& [field, value] : whole["code"][list][0].items()) {
      EXPECT_NE(error_with(fmt::format("/code/{}/0/{}", list, field), nullptr), "") << field;
      nlohmann::json set = whole;
      set["code"][list][0].erase(field);
      const auto section = code_from_json(set);
      ASSERT_FALSE(section) << field;
      EXPECT_THAT(section.error().message, HasSubstr(field));
    }
    EXPECT_THAT(error_with(fmt::format("/code/{}", list), 3), HasSubstr("got 3, wanted a list of "));
  }
  EXPECT_NE(error_with("/code", 3), "");
  EXPECT_NE(error_with("/plans/0/steps/0/code", 3), "");
}

TEST(PlanCodeJson, RefusesWordsThatCannotBeShown) {
  for (const char* field : {"images/0/target", "images/0/compiler", "kernels/0/name", "kernels/0/entry"})
    for (const std::string& word : {std::string(), std::string("a\nb"), std::string("\x1b[2J"), std::string(201, 'a')})
      EXPECT_THAT(error_with(fmt::format("/code/{}", field), word), HasSubstr("wanted 1 to 200 printable ones"));
  EXPECT_THAT(error_with("/code/kernels/0/source", packed("a\x1b[2J")), HasSubstr("characters that cannot be printed"));
  EXPECT_THAT(error_with("/code/kernels/0/source", packed("a\n\n\nb")), HasSubstr("no launch runs the code"));
}

}  // namespace
}  // namespace rung
