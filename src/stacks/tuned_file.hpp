// The file for tuned products: selects the choices that its stack can run, and writes their rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>

#include "kernels/target.hpp"
#include "stacks/files/tuning_file.hpp"
#include "stacks/stack.hpp"
#include "stacks/tune.hpp"

namespace rung::stacks {

class TunedFile {
 public:
  // `source` is the list's. Errors: those of tune_products() for formats and files.
  static Result<TunedFile> open(const ProductsTask& task, std::string_view source, const Target& target);
  const Stack& stack() const { return *stack_; }
  // Adds or replaces a tuned product's row; records in the product the row's words, or the reason why it has no row.
  void put(TunedProduct& product, const Problem& problem);
  size_t rows() const { return rows_; }  // rows that were put
  Status write() const;

 private:
  Result<Entry> entry_of(const TunedProduct& product, const Problem& problem) const;
  const Stack* stack_ = nullptr;
  const Target* target_ = nullptr;
  bool takes_cublaslt_ = false;
  TunedMachine machine_;
  TuningFile file_;
  size_t rows_ = 0;
};

// Returns the GPU that tuning files are compared with, and the builds of its libraries that are open here.
TunedMachine machine_of(const Target& target);

}  // namespace rung::stacks
