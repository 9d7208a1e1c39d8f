// Any text as CSV of AMD's profilers: alone, and as two files of one process.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

namespace {

constexpr std::string_view kNextFile = "\n----\n";  // in an input: what follows is the second file's

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string calls = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n";
  rung::write_seeds(
      *argc, *argv,
      {"0\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
       "\"Workgroup_Size_X\",\"Grid_Size_X\"\n\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k<a, "
       "b>(\"\"x\"\")\",7,30,40,64,1024\n",
       "0Index;KernelName;gpu-id;pid;tid;grd;wgr;DispatchNs;BeginNs;EndNs\r\n0;\"k.kd\";0;7;8;64;64;1,5;1.234.567,8;"
       "9e3\r\n",
       "0Kind\tDirection\tSource_Agent_Id\tDestination_Agent_Id\tCorrelation_Id\tStart_Timestamp\tEnd_Timestamp\n"
       "MEMORY_COPY\tHOST_TO_DEVICE\t0\t1\t7\t5\t8\n",
       "1" + calls + "HIP_RUNTIME_API,hipLaunchKernel,7,7,12,10,20\nMARKER_CORE_API,step,7,7,1,2,90\n" +
           std::string(kNextFile) + calls + "HSA_CORE_API,hsa_signal_store_screlease,7,7,13,12,18\n",
       "2Node_Id,Agent_Type,Name,Product_Name\n4,GPU,gfx942,\n" + std::string(kNextFile) +
           "Kernel_Name,Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp\na,GPU 0,13,30,40\n"});
  return 0;
}

// The first byte says which reader it is for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 3 == 0) {
    check_recording(trace::rocprof_reader.read(folder().write("x.csv", input)));
    return 0;
  }
  const size_t cut = input.find(kNextFile);
  folder().write("7_hip_api_trace.csv", input.substr(0, cut));
  for (const char* second : {"7_hsa_api_trace.csv", "7_kernel_trace.csv"})
    std::filesystem::remove(folder().path(second));
  if (cut != std::string_view::npos)
    folder().write(data[0] % 3 == 1 ? "7_hsa_api_trace.csv" : "7_kernel_trace.csv",
                   input.substr(cut + kNextFile.size()));
  check_recording(trace::rocprofv3_reader.read(folder().path("")));
  return 0;
}
