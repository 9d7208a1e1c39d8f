// The file that tuned products go to: what of a choice the stack that loads it can run, and its row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "advise/tuned/tuning_file.hpp"
#include "kernels/target.hpp"
#include "tasks/pytorch.hpp"
#include "tune/candidates.hpp"

namespace rung::tasks {

// A format that choices are written in.
struct Stack {
  std::string_view word;       // of --format
  std::string_view format;     // in advise/tuned
  std::string_view recording;  // the format in which the stack lists what is to be tuned; empty: none
  Rows rows = Rows::library;   // that it can run
  std::string_view kept = "";  // the solution that says a default is kept; empty: there is no row for it
};
std::span<const Stack> stacks();

// The file and what it needs. As the fields of ProductsTask.
struct TunedFileOptions {
  std::string path, format, validators, python;
  std::string_view source;  // of the list: a format in advise/tuned, or a profiler's
};

// What was found for a product.
struct Winner {
  const Problem& problem;
  KernelChoice choice;
  bool is_default = true;
  double us = 0;
};

class TunedFile {
 public:
  // Errors: as tune_products() says of formats and files.
  static Result<TunedFile> open(const TunedFileOptions& options, const Target& target);
  const Stack& stack() const { return *stack_; }
  // Adds or replaces the product's row. What it says; empty: there is none, and one that was there stays. Errors: the
  // stack cannot run it or the format cannot say it.
  Result<std::string> put(const advise::tuned::GemmShape& shape, const Winner& winner);
  size_t rows() const { return rows_; }  // that were put
  Status write() const;

 private:
  Result<std::optional<advise::tuned::Solution>> solution_of(const Winner& winner) const;
  const Stack* stack_ = nullptr;
  const Target* target_ = nullptr;
  bool takes_cublaslt_ = false;
  advise::tuned::Machine machine_;
  advise::tuned::TuningFile file_;
  size_t rows_ = 0;
};

// The GPU that tuning files are held against, and the builds of its libraries that are open here.
advise::tuned::Machine machine_of(const Target& target);

}  // namespace rung::tasks
