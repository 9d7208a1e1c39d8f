// Tunes a list of matrix products on a device and writes what other stacks load.
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
  std::optional<DeviceWord> device;  // none: the processor
  int threads = 0;                   // of the processor; 0: all that this process may use
  double budget_s = 60;
  std::string database;  // a file; empty: what is tuned is kept in none
  // The file to write; empty: none. No format: that of the file, where it is there; that which goes with a stack's own
  // recording; else "csv". Anything else in a file is kept as it stands.
  std::string out, format;
  // Who says what PyTorch wants of a file: a file of results that it wrote, or its Python. Neither: the file to write,
  // where it is there, else "python3".
  std::string validators, python;
  std::function<bool()> interrupted;  // may be empty; what was tuned by then is written
  std::function<void(const std::string& what, double fraction)> progress;
};

// The outcome of one product. Times are of products by themselves, with weights colder than the cache.
struct TunedProduct {
  GemmShape shape;
  double default_us = 0, best_us = 0;  // of the library's default, and of the fastest other; 0: not timed
  RatioEstimate ratio;                 // of the default's time to the other's, taken in turns; no pairs: not compared
  bool faster = false;                 // the other is, beyond doubt: it is what is chosen
  KernelChoice choice;                 // what is chosen; no kernel: not tuned
  std::string solution;                // what was written for it, in the file's words; empty: no row
  std::string reason;
};

struct TunedProducts {
  std::string device, source;
  std::vector<TunedProduct> products;  // in the order of the list
  std::map<std::string, int64_t, std::less<>> remarks;
  std::string out, format;  // empty: nothing was written
  size_t written = 0;       // rows
  bool interrupted = false;
  double tuning_s = 0;
  Disturbance disturbance;
  std::string unsaved;  // why the database was not saved; empty: it was
};

// Errors: those of reading the list and opening the device; one that has no clock, a format that is not for it or that
// there is not, the budget (usage); a file that cannot be read or written, that is for another GPU or other versions;
// no program to tune with where the device is a GPU (file).
Result<TunedProducts> tune_products(const ProductsTask& task);

}  // namespace rung::stacks
