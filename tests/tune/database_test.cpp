// The tuning database: round trips, damaged files, several writers.
// SPDX-License-Identifier: Apache-2.0
#include "tune/database.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "base/open_file.hpp"
#include "base/version.hpp"
#include "support.hpp"
#include "support/wrong_types.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

const TunedProblem kTuned{{"linear_avx2", {{"columns", 16}}}, {{{"linear_avx2", {{"columns", 16}}}, 12.5, "chosen"}}};

TEST(TuningDatabase, TakesAnAbsentFileAsEmpty) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "none/tuning.json");
  EXPECT_EQ(database.find("linear"), nullptr);
  EXPECT_TRUE(database.save());
  EXPECT_FALSE(std::filesystem::exists(directory / "none")) << "nothing was learnt, so nothing is written";
}

TEST(TuningDatabase, GivesBackWhatWasSaved) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "new/tuning.json");
  database.put("linear a", kTuned);
  ASSERT_TRUE(database.save());
  TuningDatabase again = open_database(directory / "new/tuning.json");
  const TunedProblem* tuned = again.find("linear a");
  ASSERT_NE(tuned, nullptr);
  EXPECT_EQ(tuned->choice, kTuned.choice);
  ASSERT_EQ(tuned->candidates.size(), 1u);
  EXPECT_EQ(tuned->candidates[0].us, 12.5);
  EXPECT_EQ(tuned->candidates[0].verdict, "chosen");
}

TEST(TuningDatabase, HoldsEveryChoiceWithItsParameters) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put("linear a", {{"linear_avx2", {{"columns", 16}}}, {{{"linear_onednn", {}}, 12.5, "chosen"}}});
  ASSERT_TRUE(database.save());
  auto file = read_json_file(directory / "tuning.json");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)["devices"]["test device"][library_versions()]["linear a"], nlohmann::json::parse(R"({
    "kernel": "linear_avx2", "params": {"columns": 16},
    "candidates": [{"kernel": "linear_onednn", "params": {}, "us": 12.5, "verdict": "chosen"}]})"));
}

TEST(TuningDatabase, GivesBackHowSureAnEntryIs) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TunedProblem tuned = kTuned;
  tuned.margin = Margin{1.5, {1.25, 1.75}, 0.125};
  database.put("linear a", tuned);
  ASSERT_TRUE(database.save());
  TuningDatabase again = open_database(directory / "tuning.json");
  EXPECT_FALSE(again.is_new("linear a"));
  again.mark_lost("linear a");
  EXPECT_EQ(again.unsaved(), 0u) << "nothing was tuned";
  ASSERT_TRUE(again.save());
  EXPECT_EQ(again.saved(), 0u);
  TuningDatabase last = open_database(directory / "tuning.json");
  const TunedProblem* read = last.find("linear a");
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(read->lost);
  ASSERT_TRUE(read->margin);
  EXPECT_EQ(read->margin->ratio, 1.5);
  EXPECT_EQ(read->margin->ci95.lo, 1.25);
  EXPECT_EQ(read->margin->ci95.hi, 1.75);
  EXPECT_EQ(read->margin->disturbance, 0.125);
  EXPECT_EQ(read->candidates.size(), 1u);
}

TEST(TuningDatabase, WithoutAPathTouchesNoFile) {
  TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  TuningDatabase database = open_database("");
  database.put("linear a", kTuned);
  EXPECT_TRUE(database.save());
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_NE(database.find("linear a"), nullptr);
  EXPECT_EQ(database.saved(), 0u);
  EXPECT_EQ(database.unsaved(), 1u);
}

TEST(TuningDatabase, GivesBackWhatWasTriedOnAModel) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put("linear a", kTuned);
  database.put_model(
      "bert",
      {.kept = {{"linear a", {"linear_avx2", {{"columns", 16}}}}}, .tried = {"b", "c"}, .gains = {{"fusion", 1.25}}});
  ASSERT_TRUE(database.save());
  TuningDatabase again = open_database(directory / "tuning.json");
  const RefinedModel* refined = again.find_model("bert");
  ASSERT_NE(refined, nullptr);
  EXPECT_EQ(refined->kept.at("linear a"), (KernelChoice{"linear_avx2", {{"columns", 16}}}));
  EXPECT_THAT(refined->tried, ::testing::ElementsAre("b", "c"));
  EXPECT_EQ(refined->gains, (std::map<std::string, double>{{"fusion", 1.25}}));
  EXPECT_NE(again.find("linear a"), nullptr);
  EXPECT_EQ(again.find_model("another"), nullptr);
}

TEST(TuningDatabase, RefusesADamagedModel) {
  TemporaryDirectory directory;
  directory.write("tuning.json", R"({"version": 1, "devices": {}, "models": {"device": 1}})");
  auto database = TuningDatabase::open(directory / "tuning.json", "device");
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("damaged entry"));
}

TEST(TuningDatabase, SaysWhatAFileLacks) {
  TemporaryDirectory directory;
  const auto refusal = [&](std::string_view text) {
    const auto database = TuningDatabase::open(directory.write("tuning.json", text), "device");
    return database ? "" : database.error().message;
  };
  EXPECT_THAT(refusal("{}"),
              HasSubstr("no tuning database: field 'version' is missing, wanted 1: repair or remove it"));
  EXPECT_THAT(refusal(R"({"version": 2, "devices": {}})"), HasSubstr("got version 2, wanted 1"));
  EXPECT_THAT(refusal(R"({"version": 1})"), HasSubstr("field 'devices' is missing"));
  EXPECT_THAT(refusal(R"({"version": 1, "devices": 3})"), HasSubstr("field 'devices': got 3, wanted an object"));
}

TEST(TuningDatabase, TellsWrongTypesInWords) {
  TemporaryDirectory directory;
  const std::string path = directory / "tuning.json";
  TuningDatabase database = open_database(path);
  TunedProblem tuned = kTuned;
  tuned.margin = {.ratio = 1.5, .ci95 = {1.4, 1.6}, .disturbance = 0};
  database.put("linear a", tuned);
  database.put_model("bert", {.kept = {{"linear a", tuned.choice}}, .tried = {"b"}, .gains = {{"fusion", 1.25}}});
  ASSERT_TRUE(database.save());
  const auto read = [&](const nlohmann::json& file) {
    EXPECT_TRUE(write_file_atomically(path, dump_json(file)));
    const auto again = TuningDatabase::open(path, "test device");
    return again ? std::string() : again.error().message;
  };
  nlohmann::json file = *read_json_file(path);
  EXPECT_GT(expect_words_for_wrong_types(file, read), 150u);
  file["devices"]["test device"].begin()->at("linear a")["candidates"][0]["us"] = "fast";
  EXPECT_THAT(read(file), HasSubstr("damaged entry 'linear a': got a string, wanted a number: repair or remove it"));
}

TEST(TuningDatabase, KeepsDevicesApart) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put("linear a", kTuned);
  ASSERT_TRUE(database.save());
  auto other = TuningDatabase::open(directory / "tuning.json", "another device");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->find("linear a"), nullptr);
  other->put("linear b", kTuned);
  ASSERT_TRUE(other->save());
  EXPECT_NE(open_database(directory / "tuning.json").find("linear a"), nullptr);
}

// Between two saves a climb measures for a while. One that saved again at once could keep the other from the lock,
// where a disk is slow, for longer than it waits.
TEST(TuningDatabase, LosesNothingOfTwoWriters) {
  constexpr std::chrono::milliseconds kMeasuring(30);
  TemporaryDirectory directory;
  auto write = [&](const std::string& name) {
    TuningDatabase database = open_database(directory / "tuning.json");
    for (int i = 0; i < 10; ++i) {
      database.put(name + std::to_string(i), kTuned);
      EXPECT_TRUE(database.save());
      std::this_thread::sleep_for(kMeasuring);
    }
  };
  std::thread first(write, "first "), second(write, "second ");
  first.join();
  second.join();
  TuningDatabase all = open_database(directory / "tuning.json");
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(all.find("first " + std::to_string(i)), nullptr);
    EXPECT_NE(all.find("second " + std::to_string(i)), nullptr);
  }
}

// A climb that hangs with the lock in its hands.
class HeldLock {
 public:
  explicit HeldLock(const std::string& database)
      : file_(::open((database + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    EXPECT_EQ(flock(file_.get(), LOCK_EX), 0);
  }

 private:
  Descriptor file_;
};

TEST(TuningDatabase, WaitsBrieflyForALockAndLosesNothing) {
  TemporaryDirectory directory;
  const std::string path = directory / "tuning.json";
  TuningDatabase database = open_database(path);
  database.put("linear a", kTuned);
  auto held = std::make_unique<HeldLock>(path);
  std::promise<void> tried;
  std::thread frees([&, done = tried.get_future()] {
    done.wait_for(std::chrono::seconds(5));  // a wait without an end must fail, not hang
    held.reset();
  });
  auto first = database.save(), again = database.save();
  tried.set_value();
  EXPECT_EQ(database.saved(), 0u);
  EXPECT_EQ(database.unsaved(), 1u);
  frees.join();
  ASSERT_FALSE(first || again);
  EXPECT_THAT(first.error().message, HasSubstr("another process holds '" + path + ".lock', wanted it within 1 s"));
  EXPECT_EQ(again.error().message, first.error().message);
  ASSERT_TRUE(database.save());
  EXPECT_EQ(database.saved(), 1u);
  EXPECT_EQ(database.unsaved(), 0u);
  EXPECT_NE(open_database(path).find("linear a"), nullptr);
}

// flock(2) also returns when a signal comes, without the lock.
TEST(TuningDatabase, DoesNotTakeInterruptedWaitsForALock) {
  TemporaryDirectory directory;
  const std::string path = directory / "tuning.json";
  TuningDatabase database = open_database(path);
  database.put("linear a", kTuned);
  HeldLock held(path);
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::thread disturbs([waiting = pthread_self()] {
    for (int i = 0; i < 30; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      pthread_kill(waiting, SIGUSR1);
    }
  });
  auto saved = database.save();
  disturbs.join();
  sigaction(SIGUSR1, &before, nullptr);
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("another process holds"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TuningDatabase, SaysWhatItIsThatIsNoDatabase) {
  TemporaryDirectory directory;
  auto opened = TuningDatabase::open(directory.path(), "device");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("got a directory, wanted a regular file"));
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  opened = TuningDatabase::open(directory / "fifo", "device");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("got a FIFO, wanted a regular file"));
}

TEST(TuningDatabase, SavesNamesThatAreNotUtf8) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put_model("mod\xff", {.kept = {}, .tried = {"a"}});
  ASSERT_TRUE(database.save());
  EXPECT_NE(open_database(directory / "tuning.json").find_model("mod\uFFFD"), nullptr);
}

std::string entry(const std::string& content, const std::string& versions = library_versions()) {
  return R"({"version":1,"devices":{"test device":{")" + versions + R"(":)" + content + "}}}";
}

std::string model(const std::string& content) {
  return R"({"version":1,"devices":{},"models":{"test device":{")" + library_versions() + R"(":)" + content + "}}}";
}

// A winner with this beside it.
std::string entry_with(const std::string& field) {
  return entry(R"({"p":{"kernel":"k","params":{},"candidates":[],)" + field + "}}");
}

const std::string kEntry = R"({"linear a":{"kernel":"linear_avx2","params":{},"candidates":[]}})";

TEST(TuningDatabase, KnowsWhatAPersonWrote) {
  TemporaryDirectory directory;
  directory.write("tuning.json", entry(kEntry));
  EXPECT_NE(open_database(directory / "tuning.json").find("linear a"), nullptr);
}

TEST(TuningDatabase, TakesNothingFromOtherVersionsOfTheLibraries) {
  TemporaryDirectory directory;
  const std::string others = "rung 0.0.1, oneDNN 1.0.0, OpenBLAS 0.0.0";
  std::string text = entry(kEntry, others);
  text.insert(text.size() - 1, R"(,"models":{"test device":{")" + others + R"(":{"bert":{"kept":{},"tried":["b"]}}}})");
  directory.write("tuning.json", text);
  TuningDatabase database = open_database(directory / "tuning.json");
  EXPECT_EQ(database.find("linear a"), nullptr);
  EXPECT_EQ(database.find_model("bert"), nullptr);
}

TEST(TuningDatabase, KeepsWhatOtherVersionsOfTheLibrariesWrote) {
  TemporaryDirectory directory;
  directory.write("tuning.json", entry(kEntry, "others"));
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put("linear b", kTuned);
  ASSERT_TRUE(database.save());
  const std::string text = *read_text_file(directory / "tuning.json");
  EXPECT_THAT(text, HasSubstr("\"others\""));
  EXPECT_THAT(text, HasSubstr(library_versions()));
}

TEST(TuningDatabase, KeepsGpuEntriesWhereProcessorLibrariesChange) {
  const std::string release = fmt::format("rung {}", kRungVersion);
  for (const char* gpu : {"cuda NVIDIA H200 sm_90 driver 13.0 cuBLASLt 13.1", "hip AMD gfx942", "emu:gfx942 of 2"})
    EXPECT_EQ(versions_for(gpu), release) << gpu;
  EXPECT_EQ(versions_for("cpu AMD EPYC [avx512]"), library_versions());
}

// The environment variables that say where the database lies, as they were afterwards.
class DatabasePath : public ::testing::Test {
 protected:
  static constexpr const char* kNames[] = {"RUNG_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  DatabasePath() {
    for (const char* name : kNames)
      if (const char* value = std::getenv(name)) before_[name] = value;
  }
  ~DatabasePath() override {
    for (const char* name : kNames) set(name, before_.contains(name) ? before_[name].c_str() : nullptr);
  }
  static void set(const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); }
  static std::string with(const char* ours, const char* cache, const char* home) {
    set("RUNG_CACHE_DIR", ours), set("XDG_CACHE_HOME", cache), set("HOME", home);
    return default_database_path();
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(DatabasePath, IsTheFirstThatTheEnvironmentNames) {
  EXPECT_EQ(with("/ours", "/cache", "/home/x"), "/ours/tuning.json");
  EXPECT_EQ(with(nullptr, "/cache", "/home/x"), "/cache/rung/tuning.json");
  EXPECT_EQ(with("", "", "/home/x"), "/home/x/.cache/rung/tuning.json");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "./.cache/rung/tuning.json");
}

// What the libraries of this process say of themselves, without our own words for it.
TEST(TuningDatabase, HasEveryLibrarysVersionInItsKey) {
  struct Version {
    int major, minor, patch;
  };
  const auto onednn = reinterpret_cast<const Version* (*)()>(dlsym(RTLD_DEFAULT, "dnnl_version"));
  ASSERT_TRUE(onednn);
  EXPECT_THAT(library_versions(),
              HasSubstr(fmt::format(", oneDNN {}.{}.{},", onednn()->major, onednn()->minor, onednn()->patch)));
  EXPECT_THAT(library_versions(), ::testing::StartsWith(fmt::format("rung {}, ", kRungVersion)));
  void* blas = dlopen("libopenblas.so.0", RTLD_LAZY);
  if (!blas) {
    EXPECT_THAT(library_versions(), ::testing::EndsWith("no OpenBLAS"));
    return;
  }
  const auto config = reinterpret_cast<const char* (*)()>(dlsym(blas, "openblas_get_config"));
  ASSERT_TRUE(config);
  const std::string written = config(), versions = library_versions();
  const std::string last = versions.substr(versions.rfind(", ") + 2);
  EXPECT_EQ(written.find(last + " "), 0u) << written << ": " << last;
  EXPECT_GT(std::count(last.begin(), last.end(), '.'), 1) << last;
}

class DamagedDatabase : public ::testing::TestWithParam<std::string> {};

TEST_P(DamagedDatabase, IsNamedAndLeftUntouched) {
  TemporaryDirectory directory;
  std::string path = directory.write("tuning.json", GetParam());
  auto opened = TuningDatabase::open(path, "test device");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr(path));
  EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(*read_text_file(path), GetParam());
}

TEST_P(DamagedDatabase, IsNotOverwrittenBySave) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  database.put("linear a", kTuned);
  std::string path = directory.write("tuning.json", GetParam());
  auto saved = database.save();
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr(path));
  EXPECT_EQ(*read_text_file(path), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    , DamagedDatabase,
    ::testing::Values("", "{", "[]", R"({"version":2,"devices":{}})", R"({"version":1})",
                      R"({"version":1,"devices":[]})", R"({"version":1,"devices":{"test device":7}})",
                      R"({"version":1,"devices":{},"models":7})",
                      R"({"version":1,"devices":{},"models":{"test device":7}})", model("7"),
                      model(R"({"m":{"kept":{}}})"), model(R"({"m":{"tried":[],"kept":{"p":{"kernel":3}}}})"),
                      entry("7"), entry(R"({"p":{"kernel":3}})"),
                      entry(R"({"p":{"kernel":"k","params":{},"candidates":[{}]}})"), entry_with(R"("lost":1)"),
                      entry_with(R"("evidence":3)"), entry_with(R"("evidence":{"ratio":1,"ci95":[1],"disturbance":0})"),
                      entry_with(R"("evidence":{"ratio":1,"ci95":[1,null],"disturbance":0})"),
                      entry_with(R"("evidence":{"ratio":2,"ci95":[1,1.5],"disturbance":0})"),
                      entry_with(R"("evidence":{"ratio":1,"ci95":[-1,1],"disturbance":0})"),
                      entry_with(R"("evidence":{"ratio":1,"ci95":[1,1],"disturbance":-1})")));

TEST(TuningDatabase, SaysThatItsFolderCannotBeWritten) {
  TemporaryDirectory directory;
  std::string file = directory.write("file", "");
  TuningDatabase database = open_database(file + "/tuning.json");
  database.put("linear a", kTuned);
  auto saved = database.save();
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr(file));
}

}  // namespace
}  // namespace rung
