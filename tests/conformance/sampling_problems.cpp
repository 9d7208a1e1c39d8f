// Problems of sample. An input "settings3" holds the settings of that number here.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>

#include "problems.hpp"

namespace rung::test {
namespace {

constexpr std::array<double, 8> kSettings[] = {
    {1, 0, 1, 0, 1, 0, 0},        {0, 0, 1, 0, 1, 0, 0},      {0.7, 50, 1, 0, 1, 0, 0},
    {1, 0, 0.9, 0, 1, 0, 0},      {1.5, 0, 1, 0.05, 1, 0, 0}, {0.8, 40, 0.95, 0.02, 1.3, 0.5, 0.25},
    {1, 300, 1, 0, 1, 0, 0},                                   // more than a block of a GPU has threads
    {30, 0, 0.99, 0, 1, 0, 0},                                 // nearly all tokens stay
    {1, 0, 0, 0, 1, 0, 0},                                     // the largest stays
    {1e-30, 0, 1, 0, 1, 0, 0},                                 // a factor that is nearly infinite
    {2, 900, 0.8, 0.01, 1, 0, 0},                              // all filters
    {0, 0, 1, 0, 1.5, 1, 1},      {3e38, 0, 0.5, 0, 1, 0, 0},  // all tokens are alike
};

constexpr const char* kProblems[] = {
    "result = sample(x:T[1,1000], settings0:f32[8], draw1:i64[2])",
    "result = sample(x:T[1000], settings1:f32[8], draw2:i64[2])",
    "result = sample(far:T[1,3001], settings1:f32[8], draw3:i64[2])",
    "result = sample(x:T[1], settings0:f32[8], draw4:i64[2])",
    "result = sample(x:T[1,129], settings2:f32[8], draw5:i64[2])",
    "result = sample(x:T[1,5003], settings2:f32[8], draw6:i64[2])",
    "result = sample(x:T[5000], settings3:f32[8], draw7:i64[2])",
    "result = sample(far:T[5000], settings3:f32[8], draw8:i64[2])",
    "result = sample(x:T[1,700], settings4:f32[8], draw9:i64[2])",
    "result = sample(x:T[1,2500], settings6:f32[8], draw10:i64[2])",
    "result = sample(keep:T[1,2500], settings6:f32[8], draw11:i64[2])",
    "result = sample(x:T[1,1500], settings7:f32[8], draw12:i64[2])",
    "result = sample(keep:T[1500], settings7:f32[8], draw13:i64[2])",
    "result = sample(x:T[1,300], settings8:f32[8], draw14:i64[2])",
    "result = sample(x:T[300], settings9:f32[8], draw15:i64[2])",
    "result = sample(x:T[1,2000], settings10:f32[8], draw16:i64[2])",
    "result = sample(x:T[2000], settings12:f32[8], draw17:i64[2])",
    "result = sample(x:T[37], settings0:f32[8], draw18:i64[2], gaps:f32[37], slots=bias)",
    "result = sample(x:T[1,700], settings0:f32[8], draw19:i64[2], gaps:f32[700], slots=bias)",
    "result = sample(x:T[700], settings3:f32[8], draw20:i64[2], y:f32[700], slots=bias)",
    "result = sample(x:T[1,700], settings5:f32[8], draw21:i64[2], seen:i64[700], slots=seen)",
    "result = sample(x:T[1,700], settings11:f32[8], draw22:i64[2], seen:i32[700], slots=seen)",
    "result = sample(x:T[1,700], settings0:f32[8], draw23:i64[2], seen:i32[700], slots=seen)",
    "result = sample(x:T[1,2100], settings5:f32[8], draw24:i64[2], gaps:f32[2100], seen:i32[2100], slots=bias+seen)",
    "result = sample(x:T[1,40000], settings5:f32[8], draw25:i64[2], y:f32[40000], seen:i64[40000], slots=bias+seen)",
    "result = sample(x:T[1,40000], settings0:f32[8], draw26:i64[2])",
};

}  // namespace

std::span<const char* const> sampling_problems() { return kProblems; }

double setting_of(std::string_view input, uint64_t i) {
  const size_t number = std::strtoull(std::string(input.substr(8)).c_str(), nullptr, 10);
  return i < kSettings[number].size() ? kSettings[number][i] : 0;
}

}  // namespace rung::test
