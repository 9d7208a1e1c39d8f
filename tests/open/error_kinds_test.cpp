// Of which kind the mistakes are that people make with files, inputs, devices and memory.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "base/atomic_file.hpp"
#include "import/npz.hpp"
#include "open/open_model.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "support/bert_tiny.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"
#include "support/temporary_directory.hpp"
#include "tune/database.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// A model, a plan and a recipe on the disk, to be spoilt.
class Bench {
 public:
  Bench() {
    auto built = build_plan(graph_of("y = neg(x:f32[4])\nreturn y=y"), {.threads = 1});
    EXPECT_TRUE(built) << built.error().message;
    EXPECT_TRUE(save_plan(built->plan, plan()));
    built->plan.device = "cpu of another kind";
    EXPECT_TRUE(save_plan(built->plan, foreign_plan()));
    EXPECT_TRUE(write_npz(arrays(), {{"x", Tensor({DType::f32, {4}})}}));
  }
  std::string plan() const { return folder_ / "plan.rung"; }
  std::string foreign_plan() const { return folder_ / "foreign.rung"; }
  std::string arrays() const { return folder_ / "arrays.npz"; }
  std::string write(std::string_view name, std::string_view content) const { return folder_.write(name, content); }
  // A copy of a file whose text `from` reads `to`.
  std::string edited(const std::string& file, std::string_view from, std::string_view to) const {
    std::string bytes = *read_text_file(file);
    bytes.replace(bytes.find(from), from.size(), to);
    return write("edited" + file.substr(file.rfind('.')), bytes);
  }
  std::string cut(const std::string& file) const {
    std::string bytes = *read_text_file(file);
    return write("cut" + file.substr(file.rfind('.')), bytes.substr(0, bytes.size() / 2));
  }

 private:
  TemporaryDirectory folder_;
};

template <class T>
Status status_of(Result<T> result) {
  if (result) return {};
  return tl::unexpected(result.error());
}
Status opening(OpenOptions options) { return status_of(open_model(options)); }
Status inferring(const Bench& bench, const NamedTensors& inputs) {
  RUNG_TRY(Opened opened, open_model({.path = bench.plan()}));
  RUNG_TRY(Session session, open_session(opened.plan));
  return status_of(session.infer(inputs));
}
Tensor filled(float value) {
  Tensor tensor({DType::f32, {4}});
  for (float& x : tensor.as<float>()) x = value;
  return tensor;
}

struct Mistake {
  const char* name;
  ErrorKind kind;
  const char* message;  // a part of it
  std::function<Status(const Bench&)> make;
};
class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, HaveTheKindThatSaysWhoCanRepair) {
  const Bench bench;
  const Status done = GetParam().make(bench);
  ASSERT_FALSE(done);
  EXPECT_EQ(name_of(done.error().kind), name_of(GetParam().kind)) << done.error().message;
  EXPECT_THAT(done.error().message, HasSubstr(GetParam().message));
}

std::string name_of_mistake(const ::testing::TestParamInfo<Mistake>& info) { return info.param.name; }

const Mistake kFileMistakes[] = {
    {"NoModel", ErrorKind::file, "is not a model: got nothing that can be read",
     [](const Bench&) { return opening({.path = "/nowhere"}); }},
    {"NoPlan", ErrorKind::file, "no such file", [](const Bench&) { return opening({.path = "/nowhere.rung"}); }},
    {"ADirectoryWithoutConfig", ErrorKind::file, "config.json",
     [](const Bench&) { return opening({.path = "/proc/self"}); }},
    {"ACutPlan", ErrorKind::file, "cut.rung", [](const Bench& b) { return opening({.path = b.cut(b.plan())}); }},
    {"APlanOfAnotherVersion", ErrorKind::file, "got format 'rung plan 4'",
     [](const Bench& b) { return opening({.path = b.edited(b.plan(), "rung plan 5", "rung plan 4")}); }},
    {"ADamagedPlan", ErrorKind::file, "damaged: its checksum",
     [](const Bench& b) { return opening({.path = b.edited(b.plan(), "unary", "unarx")}); }},
    {"NoPlanAtAll", ErrorKind::file, "got 3 bytes",
     [](const Bench& b) { return opening({.path = b.write("no.rung", "no.")}); }},
    {"AnUnwritablePlan", ErrorKind::file, "cannot write",
     [](const Bench& b) { return save_plan(*open_model({.path = b.plan()})->plan, "/nowhere/plan.rung"); }},
    {"NoArrays", ErrorKind::file, "no such file", [](const Bench&) { return status_of(read_npz("/nowhere.npz")); }},
    {"CutArrays", ErrorKind::file, "cut.npz", [](const Bench& b) { return status_of(read_npz(b.cut(b.arrays()))); }},
    {"ARecipeThatIsNoJson", ErrorKind::file, "not valid JSON",
     [](const Bench& b) { return status_of(load_recipe(b.write("recipe.json", "{"))); }},
    {"ARecipeWithAnUnknownField", ErrorKind::file, "unknown field 'speed'",
     [](const Bench& b) { return status_of(load_recipe(b.write("recipe.json", R"({"version":1,"speed":9})"))); }},
    {"ADamagedDatabase", ErrorKind::file, "repair or remove it",
     [](const Bench& b) { return status_of(TuningDatabase::open(b.write("tuning.json", "[]"), "cpu")); }},
    {"AnUnknownArchitecture", ErrorKind::file, "is not supported yet",
     [](const Bench&) { return status_of(import_config_text(R"({"model_type":"mamba"})")); }},
};
INSTANTIATE_TEST_SUITE_P(File, Mistakes, ::testing::ValuesIn(kFileMistakes), name_of_mistake);

const Mistake kMismatches[] = {
    {"AnotherDtype", ErrorKind::mismatch, "input 'x': got i64[4], wanted f32[4]",
     [](const Bench& b) {
       return inferring(b, {{"x", Tensor({DType::i64, {4}})}});
     }},
    {"AnotherShape", ErrorKind::mismatch, "input 'x': got f32[5], wanted f32[4]",
     [](const Bench& b) {
       return inferring(b, {{"x", Tensor({DType::f32, {5}})}});
     }},
    {"AnUnknownName", ErrorKind::mismatch, "there is no input 'y'",
     [](const Bench& b) {
       return inferring(b, {{"x", filled(1)}, {"y", filled(1)}});
     }},
    {"AMissingInput", ErrorKind::mismatch, "is missing", [](const Bench& b) { return inferring(b, {}); }},
    {"ANan", ErrorKind::mismatch, "got 4 NaN",
     [](const Bench& b) {
       return inferring(b, {{"x", filled(NAN)}});
     }},
    {"AMinusInfinity", ErrorKind::mismatch, "4 of them -inf",
     [](const Bench& b) {
       return inferring(b, {{"x", filled(-INFINITY)}});
     }},
    {"APlansOtherDevice", ErrorKind::mismatch, "built for 'cpu of another kind'",
     [](const Bench& b) { return opening({.path = b.foreign_plan()}); }},
    {"AnotherDeviceThanAPlans", ErrorKind::mismatch, "got the device 'cuda'",
     [](const Bench& b) { return opening({.path = b.plan(), .device = device_named("cuda")}); }},
    {"OtherThreadsThanAPlans", ErrorKind::mismatch, "was built for 1 threads, got 2",
     [](const Bench& b) { return opening({.path = b.plan(), .threads = 2}); }},
    {"AnotherShapeThanAPlans", ErrorKind::usage, "no plan is for x=5; there is one for: x=4",
     [](const Bench& b) {
       return opening({.path = b.plan(), .shapes = {{"x", {5}}}});
     }},
    {"AShapeOfNoInputOfAPlan", ErrorKind::usage, "has no input of that name; it serves: x=4",
     [](const Bench& b) {
       return opening({.path = b.plan(), .shapes = {{"y", {4}}}});
     }},
    {"ASeedForAPlan", ErrorKind::usage, "is a plan: freeze, observe",
     [](const Bench& b) { return opening({.path = b.plan(), .random_weights = 1}); }},
    {"AShapeOfNoInput", ErrorKind::mismatch, "a shape for input 'ids'",
     [](const Bench&) {
       return opening({.path = kBert, .shapes = {{"ids", {1, 9}}}});
     }},
    {"AShapeThatTheModelCannotHave", ErrorKind::mismatch, "input_ids",
     [](const Bench&) {
       return opening({.path = kBert, .shapes = {{"input_ids", {1, 5000}}}});
     }},
    {"ATokenOutOfRange", ErrorKind::mismatch, "input 'input_ids': got 64",
     [](const Bench&) {
       Model model = *import_model(kBert, {.shapes = {{"input_ids", {1, 1}}}});
       return check_input(model, "input_ids", Tensor::of<int64_t>({1, 1}, std::vector<int64_t>{64}));
     }},
    {"ARecipeForAnotherModel", ErrorKind::mismatch, "no launch of this model has this problem",
     [](const Bench&) {
       Recipe recipe{.tuned_kernels = true};
       recipe.choices["linear m=1 n=1 k=1"] = {};
       auto built = build_plan(graph_of("y = neg(x:f32[4])\nreturn y=y"), {.threads = 1});
       return check_choices(recipe, built->plan);
     }},
    {"APrecisionOfNoPart", ErrorKind::mismatch, "no launch of this model has a label",
     [](const Bench&) {
       const Recipe recipe{.precision = {{.labels = "encoder", .values = DType::bf16}}};
       const Graph model = graph_of("y = neg(x:f32[4])\nreturn y=y");
       return check_precision(recipe, model, *build_plan(model, {.threads = 1}));
     }},
};
INSTANTIATE_TEST_SUITE_P(Mismatch, Mistakes, ::testing::ValuesIn(kMismatches), name_of_mistake);

// More than its device holds: the fake one has a GiB.
Status allocating(size_t bytes) { return status_of(testing::fake_gpu()->allocate(bytes)); }

const Mistake kOtherMistakes[] = {
    {"AWordThatIsNoDevice", ErrorKind::usage, "got 'tpu'", [](const Bench&) { return status_of(asked_device("tpu")); }},
    {"NegativeThreads", ErrorKind::usage, "got -1",
     [](const Bench&) { return opening({.path = kBert, .threads = -1}); }},
    // Without a driver, without kernels in the build, and with a driver that knows fewer devices.
    {"ADeviceThatIsNotThere", ErrorKind::device, "",
     [](const Bench&) { return opening({.path = kBert, .device = device_named("cuda:999")}); }},
    {"AnotherIndexThanTheDevices", ErrorKind::device, "there is no fake device 1; this machine has 1",
     [](const Bench&) { return status_of(gpu::Gpu::open(testing::fake_runtime(), 1)); }},
    {"ADeviceThatFaults", ErrorKind::device_fault, "a fault",
     [](const Bench&) { return testing::fake_gpu()->check(testing::fake::kFault, "launch"); }},
    {"ACallThatADeviceRefuses", ErrorKind::failed, "the context is not current",
     [](const Bench&) { return testing::fake_gpu()->check(testing::fake::kNoContext, "launch"); }},
    {"MoreMemoryThanADeviceHas", ErrorKind::memory, "not enough memory",
     [](const Bench&) { return allocating(size_t{2} << 30); }},
};
INSTANTIATE_TEST_SUITE_P(Other, Mistakes, ::testing::ValuesIn(kOtherMistakes), name_of_mistake);

}  // namespace
}  // namespace rung
