// What tells whose machine it is stands in nothing that --capture writes, wherever it is planted.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.hpp"
#include "doctor/diagnosis.hpp"
#include "doctor/knob.hpp"
#include "doctor/pasted/pasted.hpp"
#include "doctor/pasted/pasted_samples.hpp"
#include "support/temporary_directory.hpp"

namespace rung::doctor {
namespace {

const std::string kCleanMachine = std::string(RUNG_TEST_DATA) + "/machine";

constexpr const char* kSecrets[] = {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
                                    "MIG-41b36db5-708a-5a63-aaf3-0d6c11d7a0e2",
                                    "1560421012345-SN",
                                    "PN699-2G503-0200-H01",
                                    "fe80::5054:ff:fe12:3456",
                                    "2001:db8:85a3::8a2e:370:7334",
                                    "::1",
                                    "52:54:00:12:34:56",
                                    "0c-42-a1-7d-9e-10-ab",
                                    "10.17.4.112",
                                    "192.168.77.201:29500",
                                    "node17.example.org:8080",
                                    "localhost.localdomain",
                                    "gpu-node-0042.internal",
                                    "alice",
                                    "alice.smith",
                                    "alice@example.org",
                                    "/home/alice/models/x.bin",
                                    "~bob/cache",
                                    "C:\\Users\\carol",
                                    "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345",
                                    "sk-proj-1234567890abcdef",
                                    "ghp_16C7e42F292c6912E7710c838347",
                                    "AKIAIOSFODNN7EXAMPLE",
                                    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
                                    "hunter2",
                                    "correct horse battery staple",
                                    "p4ssw0rd!",
                                    "deadbeefdeadbeefdeadbeefdeadbeef",
                                    "5f4dcc3b5aa765d61d8327deb882cf99",
                                    "user:secret",
                                    "https://user:secret@host.example/path?token=abc",
                                    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA",
                                    "eth-alice0",
                                    "ib_secret0",
                                    "tcp://10.9.8.7:1234",
                                    "job-77-alice-run",
                                    "acme-corp-5.15",
                                    "4111111111111111",
                                    "-----BEGIN PRIVATE KEY-----",
                                    "expandable_segments:hunter2",
                                    "0:alice;1:bob"};

std::string all_of_folder(const std::string& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) all += *read_text_file(entry.path()) + "\n";
  return all;
}

std::string captured_text(const std::string& machine) {
  const TemporaryDirectory out;
  const auto captured = capture(*Snapshot::open(machine), out / "captured");
  EXPECT_TRUE(captured) << captured.error().message;
  return all_of_folder(out / "captured");
}

// Every known variable, and others of the stacks that ask for secrets.
std::string environment_with(std::string_view value) {
  std::string lines;
  for (const Knob& knob : knob_table()) lines += fmt::format("{}={}\n", knob.name, value);
  for (const char* name : {"VLLM_API_KEY", "HIP_X_PASSWD", "NCCL_X_PASSPHRASE", "VLLM_CREDENTIALS", "VLLM_AUTH",
                           "SGLANG_SOMETHING", "TORCH_NOTHING_OF_THE_KIND", "NCCL_IB_ECE_ENABLE", "CUDA_HOME"})
    lines += fmt::format("{}={}\n", name, value);
  return lines;
}

TEST(CapturedVariables, HaveNoSecretWhateverTheirNames) {
  for (const char* secret : kSecrets) {
    const TemporaryDirectory machine;
    machine.write("environment", environment_with(secret));
    EXPECT_THAT(captured_text(machine.path()), ::testing::Not(::testing::HasSubstr(secret))) << secret;
  }
}

TEST(CapturedFiles, HaveNoSecretsInAnyPlace) {
  const TemporaryDirectory folder;
  std::filesystem::copy(kCleanMachine, folder / "machine", std::filesystem::copy_options::recursive);
  const Snapshot clean = *Snapshot::open(kCleanMachine);
  for (const char* secret : kSecrets) {
    if (std::string_view(secret).find_first_not_of("0123456789") == std::string_view::npos) continue;  // a number
    for (const CapturedFile& file : captured_files())
      for (const std::string& path : clean.matches(file.pattern))
        if (file.keep != Keep::acs_control) folder.write("machine/" + path, *clean.read(path) + " " + secret + "\n");
    folder.write("machine/proc/cmdline", fmt::format("iommu={} ip={}", secret, secret));
    folder.write("machine/proc/self/mounts", fmt::format("{} /dev/shm tmpfs rw,uid={},size=1g 0 0\n", secret, secret));
    folder.write("machine/proc/cpuinfo", fmt::format("model name\t: AMD EPYC 9654 {}\n", secret));
    EXPECT_THAT(captured_text(folder / "machine"), ::testing::Not(::testing::HasSubstr(secret))) << secret;
  }
}

// Wherever a text that somebody pasted has a value.
TEST(CapturedTexts, HaveNoSecretInPlaceOfAValue) {
  for (const std::string_view sample :
       {kNvidiaQuery, kNvidiaTable, kRocmSmi, kRocmSmiAll, kRocminfo, kCollectEnv, kEnv})
    for (const char* secret : kSecrets) {
      if (std::string_view(secret).find_first_not_of("0123456789") == std::string_view::npos) continue;  // a number
      std::string text;
      for (const std::string_view line : parts(sample, '\n')) {
        const size_t value = line.find_first_of(":=");
        text += fmt::format("{0}\n{1} {2}\n", line, line.substr(0, value == line.npos ? 0 : value + 1), secret);
      }
      const auto pasted = read_pasted("paste.txt", text);
      ASSERT_TRUE(pasted);
      const TemporaryDirectory out;
      ASSERT_TRUE(capture(pasted->machine, out / "captured"));
      EXPECT_THAT(all_of_folder(out / "captured"), ::testing::Not(::testing::HasSubstr(secret))) << secret << text;
    }
}

TEST(CapturedVariables, KeepNumbersTruthsMasksAndKnownWords) {
  const TemporaryDirectory machine;
  const std::string kept =
      "CUDA_VISIBLE_DEVICES=0,1\nGPU_MAX_HW_QUEUES=2\nHSA_CU_MASK=0:0-19;1:0xff\nHSA_OVERRIDE_GFX_VERSION=9.4.2\n"
      "NCCL_DEBUG=INFO\nROC_GLOBAL_CU_MASK=0xff\nVLLM_ROCM_USE_AITER=true\n";
  machine.write("environment", kept);
  EXPECT_THAT(captured_text(machine.path()), ::testing::HasSubstr(kept));
}

TEST(CapturedVariables, GiveTheMachinesFindingsWithoutItsValues) {
  const TemporaryDirectory machine;
  machine.write("environment",
                "CUDA_VISIBLE_DEVICES=GPU-8932f937\nGPU_MAX_HW_QUEUES=two\nHSA_TOOLS_LIB=/home/alice/x.so\n"
                "PYTORCH_ALLOC_CONF=expandable_segments:True\nROC_GLOBAL_CU_MASK=0:0-19\nHIP_LUNCH_BLOCKING=1\n");
  const TemporaryDirectory out;
  ASSERT_TRUE(capture(*Snapshot::open(machine.path()), out / "captured"));
  const Findings here = diagnose(*Snapshot::open(machine.path())).findings;
  const Findings there = diagnose(*Snapshot::open(out / "captured")).findings;
  ASSERT_EQ(here.size(), there.size());
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(here[i].subject, there[i].subject);
    EXPECT_EQ(here[i].severity, there[i].severity);
  }
}

}  // namespace
}  // namespace rung::doctor
