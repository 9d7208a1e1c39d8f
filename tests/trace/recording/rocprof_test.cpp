// CSV of rocprof, rocprofv2 and rocprofv3: columns of all versions in any order, files that belong together, and files
// that are damaged.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/gzip.hpp"
#include "support/trace_formats.hpp"

namespace rung::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Result<Recording> read_csv(const std::string& text, const std::string& name = "kernels.csv") {
  const TemporaryDirectory folder;
  return read_recording(folder.write(name, text));
}

constexpr const char* kRocprofCalls =
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n";

TEST(Rocprofv3, TakesColumnsInAnyOrderCaseAndLanguage) {
  const auto r = read_csv(
      "END_TIMESTAMP;Grid Size X;Workgroup_Size_X;Kernel-Name;agent_id;Stream_Id;VGPR_Count;Accum_VGPR_Count;"
      "Start_Timestamp;LDS_Block_Size;Grid_Size_Y;Workgroup_Size_Y;Grid_Size_Z;Workgroup_Size_Z\r\n"
      "8.819.330.200.067.570,0;1000;256;\"k<a; b>\";Agent 3;5;\"40\";8;8.819.330.200.067.564,4;1024;1;1;2;1\r\n");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 1u);
  const Event& kernel = r->events[0];
  EXPECT_EQ(r->name_of(kernel), "k<a; b>");
  EXPECT_EQ(kernel.start_ns, 8819330200067564);
  EXPECT_EQ(kernel.duration_ns, 6);
  EXPECT_EQ(r->lanes[kernel.lane].device, 3);
  EXPECT_EQ(r->lanes[kernel.lane].thread, 5);
  EXPECT_EQ(r->launches[kernel.detail], (LaunchShape{{4, 1, 2}, {256, 1, 1}, 48, 1024}));
}

TEST(Rocprofv3, NamesTheColumnThatIsMissing) {
  const auto end = read_csv("Kind,Kernel_Name,Start_Timestamp\nK,k,5\n");
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message,
              HasSubstr("kernels.csv': got a list of kernels without the column 'End_Timestamp' (rocprof: 'EndNs')"));
  const auto both = read_csv("Index,KernelName,gpu-id\n0,k,0\n", "results.csv");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message,
              HasSubstr("without the column 'Start_Timestamp' (rocprof: 'BeginNs') and 'End_Timestamp'"));
  EXPECT_EQ(both.error().kind, ErrorKind::file);
}

TEST(Rocprofv3, CountsWhatItDoesNotKeep) {
  const auto r = read_csv(
      "Kernel_Name,Agent_Id,Start_Timestamp,End_Timestamp\n"
      "k,1,5,8\nk,1,-5,8\nk,1,8,5\nk,1,,8\nk,1,5,soon\nk,1,0,0\nk,here,5,8\nk,1,5\nk,1,5,8,9,9\n"
      "k,1,1e3,8\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
  EXPECT_THAT(r->skipped, UnorderedElementsAre(Pair("negative time", 1), Pair("negative duration", 1),
                                               Pair("a time that is missing or no number", 3),
                                               Pair("work whose times the profiler did not get", 1),
                                               Pair("work on an agent that is missing or no number", 1),
                                               Pair("rows with more or fewer fields than the header", 2)));
}

TEST(Rocprofv3, KeepsOneClock) {
  const auto r = read_csv(
      "Kernel_Name,Agent_Id,Start_Timestamp,End_Timestamp\n"
      "k,1,5,8\nk,1,9,12\nk,1,9000000000000,9000000000001\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 2u);
  EXPECT_THAT(r->skipped, ElementsAre(Pair("more than an hour apart from the rest: another clock", 1)));
}

TEST(Rocprofv3, TellsDomainsOfCallsApart) {
  const auto r =
      read_csv(std::string(kRocprofCalls) +
               "HIP_RUNTIME_API_EXT,hipMalloc,7,8,1,5,6\nHIP_COMPILER_API,__hipPushCallConfiguration,7,8,2,6,7\n"
               "HSA_CORE_API,hsa_queue_create,7,8,3,5,6\nMARKER_CORE_RANGE_API,step,7,8,4,5,9\n"
               "MARKER_CORE_API,mark,7,8,5,5,5\nMARKER_CONTROL_API,roctxProfilerPause,7,8,6,5,6\n"
               "RCCL_API,ncclAllReduce,7,8,7,5,6\nROCDECODE_API,rocDecCreate,7,8,8,5,6\n");
  ASSERT_TRUE(r) << r.error().message;
  std::map<std::string, EventKind> kinds;
  for (const Event& e : r->events) kinds[std::string(r->name_of(e))] = e.kind;
  EXPECT_THAT(kinds, UnorderedElementsAre(Pair("hipMalloc", EventKind::runtime_call), Pair("step", EventKind::range),
                                          Pair("ncclAllReduce", EventKind::host_op)));
  EXPECT_THAT(r->skipped,
              UnorderedElementsAre(Pair("calls around a launch, which the compiler writes", 1),
                                   Pair("calls of HSA: HIP's, above them, are kept", 1), Pair("instants", 1),
                                   Pair("the profiler's own work", 1), Pair("calls of domains that are not known", 1)));
}

class Rocprofv3Folder : public ::testing::Test {
 protected:
  void write_process(const std::string& prefix, int thread) {
    folder_.write(
        prefix + "hip_api_trace.csv",
        std::string(kRocprofCalls) + fmt::format("HIP_RUNTIME_API,hipLaunchKernel,{0},{0},12,10,20\n", thread));
    folder_.write(prefix + "kernel_trace.csv", "Kernel_Name,Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n" +
                                                   fmt::format("of_{},1,12,30,40\n", thread));
  }
  const TemporaryDirectory folder_;
};

TEST_F(Rocprofv3Folder, HasProcessesWhoseCorrelationsAreTheirOwn) {
  write_process("7_", 7);
  write_process("8_", 8);
  const auto r = read_recording(folder_.path());
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 4u);
  for (const Event& kernel : r->events)
    for (const Event& call : r->events) {
      if (kernel.kind != EventKind::kernel || call.kind != EventKind::runtime_call) continue;
      EXPECT_EQ(kernel.link == call.link, r->name_of(kernel) == fmt::format("of_{}", r->lanes[call.lane].thread));
    }
}

TEST_F(Rocprofv3Folder, IsReadThroughAnyFileOfAProcess) {
  write_process("7_", 7);
  write_process("17_", 17);
  folder_.write("7_kernel_stats.csv",
                "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\"\n"
                "of_7,1,10,10,100,10\n");
  for (const auto* file : {"7_kernel_trace.csv", "7_hip_api_trace.csv", "7_kernel_stats.csv"}) {
    const auto r = read_recording(folder_ / file);
    ASSERT_TRUE(r) << r.error().message;
    ASSERT_EQ(r->events.size(), 2u) << file;
    EXPECT_EQ(r->name_of(r->events[1]), "of_7");
    EXPECT_EQ(r->events[0].link, r->events[1].link);
    EXPECT_THAT(r->skipped, ElementsAre(Pair("totals, which have no times", 1)));
  }
}

TEST_F(Rocprofv3Folder, MayHaveNoPrefixAndPackedFiles) {
  write_process("", 7);
  folder_.write("kernel_trace.csv.gz", gzip(content_of(folder_ / "kernel_trace.csv")));
  std::filesystem::remove(folder_ / "kernel_trace.csv");
  for (const auto* file : {"", "/hip_api_trace.csv", "/kernel_trace.csv.gz"}) {
    const auto r = read_recording(folder_.path() + file);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->events.size(), 2u);
  }
}

// Kernels then have the correlation of HSA's call, which lies within HIP's.
TEST_F(Rocprofv3Folder, LinksWorkThroughCallsOfHsa) {
  folder_.write("7_hip_api_trace.csv", std::string(kRocprofCalls) +
                                           "HIP_RUNTIME_API,hipLaunchKernel,7,7,12,10,20\n"
                                           "HIP_RUNTIME_API,hipLaunchKernel,7,7,14,21,29\n"
                                           "HIP_RUNTIME_API,hipLaunchKernel,7,9,16,10,29\n");
  folder_.write("7_hsa_api_trace.csv", std::string(kRocprofCalls) +
                                           "HSA_CORE_API,hsa_signal_store_screlease,7,7,13,12,18\n"
                                           "HSA_CORE_API,hsa_signal_store_screlease,7,7,15,22,28\n"
                                           "HSA_CORE_API,hsa_signal_store_screlease,7,7,17,40,41\n"
                                           "HSA_CORE_API,hsa_signal_store_screlease,7,7,19,19,22\n");
  folder_.write("7_kernel_trace.csv",
                "Kernel_Name,Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
                "a,1,13,30,40\nb,1,15,40,50\nc,1,16,50,60\nd,1,17,60,70\ne,1,19,70,80\n");
  const auto r = read_recording(folder_.path());
  ASSERT_TRUE(r) << r.error().message;
  std::map<std::string, int64_t> launched;
  for (const Event& kernel : r->events)
    for (const Event& call : r->events)
      if (kernel.kind == EventKind::kernel && call.kind == EventKind::runtime_call && kernel.link == call.link)
        launched[std::string(r->name_of(kernel))] = call.end_ns();
  EXPECT_THAT(launched, UnorderedElementsAre(Pair("a", 20), Pair("b", 29), Pair("c", 29)));
  EXPECT_THAT(r->skipped, ElementsAre(Pair("calls of HSA: HIP's, above them, are kept", 4)));
}

TEST_F(Rocprofv3Folder, WantsAListWithTimes) {
  folder_.write("7_counter_collection.csv", "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,2\n");
  const auto r = read_recording(folder_.path());
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("got only totals, counters or agents, wanted kernels, copies or calls with "
                                           "their times"));
}

TEST_F(Rocprofv3Folder, WithoutItsFilesIsNone) {
  folder_.write("notes.csv", "a,b\n1,2\n");
  const auto r = read_recording(folder_.path());
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("got a folder without a profiler's files, wanted one of:"));
}

TEST_F(Rocprofv3Folder, IsRefusedWhereOneFileIsDamaged) {
  write_process("7_", 7);
  folder_.write("7_memory_copy_trace.csv", std::string("\x1f\x8b") + "not packed");
  const auto r = read_recording(folder_.path());
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, AllOf(HasSubstr("7_memory_copy_trace.csv"), HasSubstr("gzip")));
}

TEST(Rocprofv3, NumbersGpusAsItsAgentsAreNamed) {
  const TemporaryDirectory folder;
  folder.write("7_agent_info.csv",
               "Node_Id,Agent_Type,Name,Product_Name\n0,CPU,cpu,CPU\n4,GPU,gfx942,\n5,GPU,gfx942,B\n");
  for (const auto& [agent, names] : {std::pair("Agent 5", std::vector<std::string>{"", "", "", "", "gfx942", "B"}),
                                     std::pair("GPU 1", std::vector<std::string>{"gfx942", "B"})}) {
    folder.write("7_kernel_trace.csv",
                 fmt::format("Kernel_Name,Agent_Id,Start_Timestamp,End_Timestamp\nk,{},5,8\n", agent));
    const auto r = read_recording(folder.path());
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->device_names, names);
    EXPECT_EQ(r->device_names.at(static_cast<size_t>(r->lanes[r->events.at(0).lane].device)), "B");
  }
}

TEST(Rocprofv3, LeavesOutCopiesFromHostToHost) {
  const auto r = read_csv(
      "Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
      "C,HOST_TO_DEVICE,0,1,2,5,8\nC,MEMORY_COPY_DEVICE_TO_HOST,2,0,3,8,9\n"
      "C,MEMORY_COPY_DEVICE_TO_DEVICE,1,2,4,9,10\nC,MEMORY_COPY_HOST_TO_HOST,0,0,5,9,10\n");
  ASSERT_TRUE(r) << r.error().message;
  std::vector<int> devices;
  for (const Event& e : r->events) devices.push_back(r->lanes[e.lane].device);
  EXPECT_THAT(devices, ElementsAre(1, 2, 2));
  EXPECT_THAT(r->skipped, ElementsAre(Pair("copies from host to host", 1)));
}

// ---- rocprof and rocprofv2

TEST(Rocprof, TakesColumnsOfItsFirstVersions) {
  const auto r = read_csv(
      "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,"
      "SQ_WAVES,DispatchNs,BeginNs,EndNs,CompleteNs\n"
      "0,\"k(float*, int) [clone .kd]\",1,2,0,7,8,1024,256,512,0,16,32,0,0x0,0x7f00,4,1,5,8,9\n",
      "results.csv");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_EQ(r->name_of(r->events[0]), "dispatch");
  EXPECT_EQ(r->lanes[r->events[0].lane].thread, 8);
  EXPECT_EQ(r->events[0].link, r->events[1].link);
  EXPECT_EQ(r->name_of(r->events[1]), "k(float*, int)");
  EXPECT_EQ(r->lanes[r->events[1].lane].device, 1);
  EXPECT_EQ(r->launches[r->events[1].detail], (LaunchShape{{4, 1, 1}, {256, 1, 1}, 16, 512}));
}

TEST(Rocprof, TakesColumnsOfRocprofv2) {
  const auto r = read_csv(
      "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
      "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,"
      "End_Timestamp,Correlation_ID\n\n"
      "1,64700,1,7,8,1024,256,0,0,16,4,32,64,\"k(float*) (.kd)\",5,8,3\n"
      "2,64701,1,7,8,1024,256,0,0,16,4,32,64,\"k(float*) (.kd)\",6,8,4\n");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_EQ(r->name_of(r->events[0]), "k(float*)");
  EXPECT_EQ(r->lanes[r->events[0].lane].device, 0);
  EXPECT_EQ(r->lanes[r->events[1].lane].device, 1);
  EXPECT_EQ(r->launches[r->events[0].detail].registers, 20u);
}

TEST(Rocprof, HasNoTimesInTotals) {
  const auto r = read_csv("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k\",1,2,2,100\n",
                          "results.hip_stats.csv");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, AllOf(HasSubstr("got totals, which have no times of single kernels, wanted the list"),
                                       HasSubstr("results.csv': rocprof --timestamp on -o results.csv")));
}

TEST(Rocprof, TakesNamesOfAnyKind) {
  const auto r = read_csv(
      "KernelName,gpu-id,BeginNs,EndNs\n"
      "\"\x1b[31m<script>\",0,5,8\n\xff\xfe,0,6,8\n,0,7,8\n\"a\nb\",0,8,9\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 4u);
  EXPECT_THAT(r->skipped, IsEmpty());
  EXPECT_EQ(r->name_of(r->events[1]), "\xef\xbf\xbd\xef\xbf\xbd");
}

// Cut anywhere, the list is refused or gives the rows that are whole.
TEST(Rocprof, MayBeCutShortAnywhere) {
  const std::string whole = content_of(told_program("rocprof/results.csv"));
  const size_t events = read_told_program("rocprof/results.csv")->events.size();
  const TemporaryDirectory folder;
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    const auto r = read_recording(folder.write("x.csv", whole.substr(0, bytes)));
    if (r) {
      EXPECT_LE(r->events.size(), events);
    }
  }
}

}  // namespace
}  // namespace rung::trace
