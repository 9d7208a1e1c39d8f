// Lists tuned on this processor: results, the file that is written and completed, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/tune.hpp"

#include <gmock/gmock.h>

#include "base/atomic_file.hpp"
#include "stacks/tuned_file.hpp"
#include "support/device.hpp"
#include "support/pace.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TuneTasks : public ::testing::Test {
 protected:
  TunedProducts tuned() {
    auto result = tune_products(task);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : TunedProducts{};
  }
  Error error() {
    auto result = tune_products(task);
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }
  TemporaryDirectory folder;
  ProductsTask task{.products = folder.write("list.csv", "m,n,k,dtype\n4,64,32,f32\n4,64,32,f8e4m3fn\n8,64,32,f32\n"),
                    .device = {},
                    .threads = 1,
                    .budget_s = 30.0 * kPace,
                    .database = folder / "tuning.json",
                    .out = "",
                    .format = "",
                    .validators = "",
                    .python = ""};
};

TEST_F(TuneTasks, TellEveryProduct) {
  const TunedProducts products = tuned();
  EXPECT_EQ(products.source, "shapes");
  ASSERT_EQ(products.products.size(), 3u);
  for (size_t i : {0, 2}) {
    const TunedProduct& product = products.products[i];
    EXPECT_GT(product.default_us, 0);
    EXPECT_GT(product.best_us, 0);
    EXPECT_EQ(product.ratio.pairs, 12);
    EXPECT_NE(product.choice.kernel, "");
    EXPECT_EQ(product.faster, product.ratio.lo > 1) << product.reason;
    EXPECT_EQ(product.faster, product.choice.kernel != "linear_onednn") << product.reason;
  }
  EXPECT_EQ(products.products[1].reason, "not tuned: kernels here do not compute in f8e4m3fn");
  EXPECT_TRUE(std::filesystem::exists(task.database));
  EXPECT_EQ(products.written, 0u);
}

TEST_F(TuneTasks, WriteAListThatCanBeTunedAgain) {
  task.out = folder / "tuned.csv";
  const TunedProducts first = tuned();
  EXPECT_EQ(first.format, "csv");
  EXPECT_EQ(first.written, 2u);
  EXPECT_THAT(first.products[0].solution, StartsWith(first.products[0].choice.kernel));
  const std::string text = *read_text_file(task.out);
  EXPECT_THAT(text, StartsWith("m,n,k,batch,"));
  EXPECT_THAT(text, HasSubstr("\n4,64,32,1,f32,f32,f32,TN,"));
  EXPECT_THAT(text, HasSubstr("," + first.products[0].solution + "\n"));
  task.products = task.out, task.out = folder / "again.csv";
  const TunedProducts second = tuned();
  EXPECT_EQ(second.products.size(), 2u);
  EXPECT_EQ(second.written, 2u);
}

TEST_F(TuneTasks, CompleteAFileAndKeepWhatItHas) {
  task.out = folder / "tuned.csv";
  tuned();
  std::string text = *read_text_file(task.out);
  text = "# mine\n" + text + "1,2,oops\n";
  folder.write("tuned.csv", text);
  task.products = folder.write("list.csv", "m,n,k,dtype\n4,64,32,f32\n16,64,32,f32\n");
  EXPECT_EQ(tuned().written, 2u);
  const std::string completed = *read_text_file(task.out);
  EXPECT_THAT(completed, StartsWith("# mine\nm,n,k,batch,"));
  EXPECT_THAT(completed, HasSubstr("\n8,64,32,1,f32,"));
  EXPECT_THAT(completed, HasSubstr("\n1,2,oops\n16,64,32,1,f32,"));
  EXPECT_EQ(completed.find("\n4,64,32"), completed.rfind("\n4,64,32")) << "replaced, not added";
}

TEST_F(TuneTasks, RefuseAFileWithoutPlaceForResults) {
  task.out = folder.write("mine.csv", "m,n,k\n1,2,3\n");
  EXPECT_THAT(error().message, HasSubstr("mine.csv' has no column 'chosen' for results: name another file"));
  EXPECT_EQ(*read_text_file(task.out), "m,n,k\n1,2,3\n");
  task.out = folder.write("untuned.csv", "GemmTunableOp_BFloat16_TN,tn_1024_51_512_ld_512_512_1024\n");
  EXPECT_THAT(error().message, HasSubstr("untuned.csv' holds products that TunableOp recorded, wanted tuned products"));
  task.out = folder.write("note.txt", "hello\n");
  EXPECT_THAT(error().message, HasSubstr("got a first line 'hello'"));
}

// As programs make one to see whether they can.
TEST_F(TuneTasks, TakeAnEmptyFileForNone) {
  task.out = folder.write("tuned.csv", "");
  EXPECT_EQ(tuned().written, 2u);
  EXPECT_THAT(*read_text_file(task.out), StartsWith("m,n,k,batch,"));
  task.out = folder.write("blank.csv", "\n\n"), task.format = "csv";
  EXPECT_THAT(error().message, HasSubstr("blank.csv' has no column 'chosen' for results"));
}

TEST_F(TuneTasks, LeaveFilesAloneWithNothingToWrite) {
  task.products = folder.write("list.csv", "m,n,k,dtype\n4,64,32,f8e4m3fn\n");
  task.out = folder / "tuned.csv";
  EXPECT_EQ(tuned().written, 0u);
  EXPECT_FALSE(std::filesystem::exists(task.out));
}

TEST_F(TuneTasks, RefuseStacksThatNeedAGpu) {
  task.out = folder / "out.csv";
  for (const char* format : {"tunableop", "hipblaslt", "aiter", "gradlib"}) {
    task.format = format;
    EXPECT_THAT(error().message, StartsWith(std::string("format ") + format + ": got the device cpu, wanted a GPU"));
    EXPECT_EQ(error().kind, ErrorKind::usage);
  }
  task.format = "yaml";
  EXPECT_EQ(error().message, "format: got 'yaml', wanted one of csv, tunableop, hipblaslt, aiter, gradlib");
  task.format = "csv", task.out = "";
  EXPECT_EQ(error().message, "format: got 'csv' and no file to write");
  EXPECT_FALSE(std::filesystem::exists(folder / "out.csv"));
}

// The format goes with the recording.
TEST_F(TuneTasks, TakeTheFormatOfTheStackThatRecorded) {
  task.products = folder.write("untuned.csv", "GemmTunableOp_BFloat16_TN,tn_1024_51_512_ld_512_512_1024\n");
  task.out = folder / "out.csv";
  EXPECT_THAT(error().message, StartsWith("format tunableop: got the device cpu"));
}

TEST_F(TuneTasks, RefuseADeviceWithoutAClock) {
  task.device = device_named("emu:gfx942");
  const Error refused = error();
  if (refused.kind == ErrorKind::device) GTEST_SKIP() << refused.message;
  EXPECT_EQ(refused.message, "emu:gfx942 counts instructions, wanted a device that takes time: tuning compares times");
}

TEST_F(TuneTasks, FindAnUnwritableFolderBeforeTheWork) {
  task.out = "/proc/nothing/tuned.csv";
  bool worked = false;
  task.progress = [&](const std::string&, double) { worked = true; };
  EXPECT_EQ(error().kind, ErrorKind::file);
  EXPECT_FALSE(worked);
}

TEST_F(TuneTasks, KeepWhatWasTunedBeforeAnInterruption) {
  task.out = folder / "tuned.csv";
  int told = 0;
  task.progress = [&](const std::string&, double) { ++told; };
  task.interrupted = [&] { return told > 1; };
  const TunedProducts products = tuned();
  EXPECT_TRUE(products.interrupted);
  EXPECT_EQ(products.written, 1u);
  EXPECT_NE(products.products[2].solution, "") << "the largest first";
  EXPECT_EQ(products.products[0].reason, "not tuned: interrupted");
  EXPECT_THAT(*read_text_file(task.out), HasSubstr("\n8,64,32,1,f32,"));
}

TEST_F(TuneTasks, WantABudget) {
  task.budget_s = 0.5;
  EXPECT_THAT(error().message, HasSubstr("wanted at least 1 s"));
  EXPECT_EQ(error().kind, ErrorKind::usage);
}

TEST_F(TuneTasks, ContinueWithADatabaseThatCannotBeSaved) {
  task.database = "/proc/nothing/tuning.json";
  const TunedProducts products = tuned();
  EXPECT_NE(products.products[0].choice.kernel, "");
  EXPECT_NE(products.unsaved, "");
}

}  // namespace
}  // namespace rung::stacks
