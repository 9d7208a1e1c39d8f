// Tunes a list of matrix products on a device and writes a file that another stack loads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kernels/choice.hpp"
#include "kernels/device_word.hpp"
#include "measure/disturbance.hpp"
#include "measure/statistics.hpp"
#include "stacks/gemm_list.hpp"

namespace rung::stacks {

struct ProductsTask {
  std::string products;              // a file: read_gemm_list()
  std::optional<DeviceWord> device;  // none: the CPU
  int threads = 0;                   // of the CPU; 0: all that this process may use
  double budget_s = 60;
  std::string database;  // a file; empty: results are not kept
  // The file to write; empty: none. An empty format: that of an existing file; else the one that matches a stack's own
  // recording; else "csv". Other content of a file is kept unchanged.
  std::string out, format;
  // The source of PyTorch's requirements on a file: a file of results that it wrote, or its Python. Neither: the
  // existing file to write, else "python3".
  std::string validators, python;
  std::function<bool()> interrupted;  // may be empty; products tuned by then are written
  std::function<void(const std::string& what, double fraction)> progress;
};

// The outcome of one product. Times are of single products, with weights colder than the cache.
struct TunedProduct {
  GemmShape shape;
  double default_us = 0, best_us = 0;  // of the library's default, and of the fastest other kernel; 0: not timed
  RatioEstimate ratio;                 // default's time / other's, taken in turns; no pairs: not compared
  bool faster = false;                 // the other is faster beyond doubt, and chosen
  KernelChoice choice;                 // the chosen kernel; none: not tuned
  std::string solution;                // written for it, in the file's words; empty: no row
  std::string reason;
};

struct TunedProducts {
  std::string device, source;
  std::vector<TunedProduct> products;  // in the order of the list
  std::map<std::string, int64_t, std::less<>> remarks;
  std::string out, format;  // empty: no file was written
  size_t written = 0;       // rows
  bool interrupted = false;
  double tuning_s = 0;
  Disturbance disturbance;
  std::string unsaved;  // the reason why the database was not saved; empty: it was
};

// Errors: those of reading the list and opening the device; a device without a clock, a format that does not exist or
// is not for it, the budget (usage); a file that cannot be read or written, or is for another GPU or other versions; no
// program to tune with if the device is a GPU (file).
Result<TunedProducts> tune_products(const ProductsTask& task);

}  // namespace rung::stacks
