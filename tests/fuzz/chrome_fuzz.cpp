// Any text as a trace of PyTorch's profiler or of rung: refused, or a recording that holds together.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(
      *argc, *argv,
      {R"--({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"H200"}],"traceEvents":[
 {"ph":"X","cat":"kernel","name":"a\\b\"c","pid":0,"tid":7,"ts":12.345,"dur":2e0,"args":{"correlation":5,"stream":7,
  "device":0,"grid":[1,2,3],"block":[4,5,6],"registers per thread":168,"shared memory":49152}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":20,"dur":1,"args":{"bytes":64}},
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":"main","ts":1,"dur":9,"args":{"Input Dims":[[1,2],[2,3]],
  "Input type":["float","float"],"Input Strides":[[2,1],[3,1]],"Concrete Inputs":["",""]}},
 {"ph":"B","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2},
 {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}},{"ph":"s","cat":"ac2g"},{"ph":"C"}
],"traceName":"x.json"})--",
       R"([{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"args":{"kernel":"linear_fma","problem":"m=1"}}])",
       "\xef\xbb\xbf[]",
       R"({"a":[[[[{"b":null}]]]],"traceEvents":[{"ph":"X","cat":"user_annotation","name":"\ud83d\ude00"}]})",
       "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x8b\x8e\x05\x00\x29\x4c\xde\x0e\x02\x00\x00\x00"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rung::check_reader(rung::trace::chrome_reader, "trace.json", {reinterpret_cast<const char*>(data), size});
  return 0;
}
