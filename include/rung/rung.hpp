// The C++ interface of rung: classes over rung.h, in headers alone, so that one shared library serves every compiler
// and standard library. What rung.h says of errors, threads and memory holds here.
// SPDX-License-Identifier: Apache-2.0
//
// Errors are values, and nothing is thrown out of the library. What these classes hold themselves (names, shapes,
// copies of tensors) takes memory as std::vector does, which may throw std::bad_alloc.
#pragma once
#include <rung/build.hpp>
#include <rung/climb.hpp>
#include <rung/language_model.hpp>
#include <rung/model.hpp>
#include <rung/status.hpp>
#include <rung/tasks.hpp>
#include <rung/tensor.hpp>
