// Strassen's seven products: sums of quarters, tiles of their products, and what each adds to quarters of the result.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/strassen.hpp"

#include <cmath>

#include "base/divide.hpp"
#include "kernels/cpu/linear/packed.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu::gemm {
namespace {

constexpr int kProducts = 7, kQuarters = 4;
constexpr int64_t kLineFloats = 16;  // of a line of the caches
// Exponents of rows that have none: there is a NaN or an infinity, or all values are zeros.
constexpr int kNoNumber = 1000, kZero = -1000;
constexpr int kLeastExponent = -126;  // below it, a factor would be infinite
constexpr int kLargeExponent = 100;   // above it, sums may be

// A quarter with its sign. Quarters are numbered by rows: 0 1 / 2 3; -1: there is none.
struct Signed {
  int quarter = -1;
  float sign = 0;
};

// One of the products: a sum of quarters of x by one of w, and what it adds to quarters of the result.
struct Product {
  Signed x[2], w[2], result[2];
};
// The first to reach a quarter of the result adds to it.
constexpr Product kOrder[kProducts] = {
    {{{0, 1}, {3, 1}}, {{0, 1}, {3, 1}}, {{0, 1}, {3, 1}}},  // (x11 + x22) (w11 + w22)
    {{{1, 1}, {3, -1}}, {{2, 1}, {3, 1}}, {{0, 1}, {}}},     // (x12 - x22) (w21 + w22)
    {{{2, 1}, {0, -1}}, {{0, 1}, {1, 1}}, {{3, 1}, {}}},     // (x21 - x11) (w11 + w12)
    {{{3, 1}, {}}, {{2, 1}, {0, -1}}, {{2, 1}, {0, 1}}},     // x22 (w21 - w11)
    {{{2, 1}, {3, 1}}, {{0, 1}, {}}, {{2, 1}, {3, -1}}},     // (x21 + x22) w11
    {{{0, 1}, {}}, {{1, 1}, {3, -1}}, {{1, 1}, {3, 1}}},     // x11 (w12 - w22)
    {{{0, 1}, {1, 1}}, {{3, 1}, {}}, {{1, 1}, {0, -1}}}};    // (x11 + x12) w22

constexpr bool begins(int product, int quarter) {
  for (int i = 0; i < product; ++i)
    for (const Signed& to : kOrder[i].result)
      if (to.quarter == quarter) return false;
  return true;
}

int64_t even_part(int64_t count, int64_t limit, int64_t grain) {
  const int64_t parts = std::max<int64_t>(1, divide_up(count, limit));
  return round_up(divide_up(count, parts), grain);
}

// A worker computes one part of the result: some pairs of rows by some pairs of panels.
class StrassenWorker {
 public:
  StrassenWorker(const PackedPlan& plan, const Call& call)
      : plan_(plan),
        call_(call),
        cut_(plan.strassen),
        micro_(*plan.micro),
        quarters_(*plan.micro->quarters),
        pairs_(share(cut_.pairs, call.part / cut_.column_parts, cut_.row_parts)),
        columns_(share(cut_.panel_pairs, call.part % cut_.column_parts, cut_.column_parts)) {
    auto* at = static_cast<float*>(call.scratch) + static_cast<size_t>(call.thread) * cut_.thread_floats(micro_.width);
    const auto take = [&](int64_t count) { return std::exchange(at, at + round_up(count, kLineFloats)); };
    x_ = take(kProducts * cut_.held * cut_.x_stride);
    w_ = take(cut_.depth * micro_.width);
    results_ = take(cut_.held_panels * kQuarters * quarter_elements());
    factors_ = take(2 * cut_.held), inverses_ = take(2 * cut_.held);
    zeros_ = take(cut_.depth);
    std::fill_n(zeros_, cut_.depth, 0.0f);
  }

  void run() {
    for (int64_t first = pairs_.begin; first < pairs_.end; first += cut_.held) {
      chunk_ = {first, std::min(pairs_.end, first + cut_.held)};
      measure_rows();
      for (k_ = 0; k_ < cut_.half_k; k_ += cut_.depth) {
        depth_ = std::min(cut_.depth, cut_.half_k - k_);
        for (int64_t i = 0; i < chunk_.count(); ++i) sum_rows(i);
        expect_rows();
        for (int64_t p = columns_.begin; p < columns_.end; ++p) multiply(p);
      }
      for (int64_t i = 0; i < chunk_.count(); ++i)
        if (is_left_out(i)) multiply_plainly(i, columns_);
    }
  }

 private:
  int64_t quarter_elements() const { return cut_.held * micro_.width; }
  const float* x_row(int64_t row) const { return static_cast<const float*>(call_.inputs[0]) + row * plan_.from_stride; }
  // Returns the row of x that is the upper or the lower one of a pair of the chunk.
  int64_t row_of(int64_t i, int half) const { return 2 * (chunk_.begin + i) + half; }

  // A pair with a NaN or an infinity is left out, since sums would carry it into rows where it does not belong.
  bool is_left_out(int64_t i) const { return factors_[i] == 0; }

  // Finds the factors of the chunk's rows. Two rows of about one size stay as they are; one of zeros gives zeros.
  void measure_rows() {
    scales_ = false;
    for (int64_t i = 0; i < chunk_.count(); ++i) {
      for (int half = 0; half < 2; ++half) fetch_row(row_of(i + kRowsAhead, half));
      const int upper = exponent_of(row_of(i, 0)), lower = exponent_of(row_of(i, 1));
      const bool is_finite = upper != kNoNumber && lower != kNoNumber;
      const bool scales = is_finite && (std::abs(upper - lower) > 1 || std::max(upper, lower) > kLargeExponent);
      set_factors(i, scales ? upper : 0), set_factors(cut_.held + i, scales ? lower : 0);
      if (!is_finite) factors_[i] = 0;
      scales_ |= scales;
    }
  }
  // Rows that another core wrote come slowly: they are asked for this many rows ahead.
  static constexpr int64_t kRowsAhead = 2;
  void fetch_row(int64_t row) const {
    for (int64_t i = 0; row < plan_.shape.m && i < plan_.shape.k; i += kLineFloats)
      __builtin_prefetch(x_row(row) + i, 0, 2);
  }
  void set_factors(int64_t at, int exponent) {
    const bool is_zero = exponent == kZero;
    factors_[at] = is_zero ? 1.0f : std::ldexp(1.0f, -exponent);
    inverses_[at] = is_zero ? 0.0f : std::ldexp(1.0f, exponent);
  }
  // Returns the exponent of a row's largest value.
  int exponent_of(int64_t row) const {
    const float largest = row < plan_.shape.m ? quarters_.largest(x_row(row), plan_.shape.k) : 0;
    if (!std::isfinite(largest)) return kNoNumber;
    return largest > 0 ? std::max(kLeastExponent, std::ilogb(largest)) : kZero;
  }

  float* x_sums(int product, int64_t i) const { return x_ + (product * cut_.held + i) * cut_.x_stride; }

  // Makes what the products take of a pair of rows.
  void sum_rows(int64_t i) {
    const float* quarters[kQuarters];
    float factors[kQuarters];
    for (int q = 0; q < kQuarters; ++q) {
      const int64_t row = row_of(i, q / 2);
      const bool is_there = row < plan_.shape.m && !is_left_out(i);
      quarters[q] = is_there ? x_row(row) + q % 2 * cut_.half_k + k_ : zeros_;
      factors[q] = factors_[q / 2 * cut_.held + i];
    }
    for (int p = 0; p < kProducts; ++p) {
      const Signed *a = &kOrder[p].x[0], *b = &kOrder[p].x[1];
      const float of_a = a->sign * factors[a->quarter];
      if (b->quarter < 0)
        quarters_.scale(x_sums(p, i), quarters[a->quarter], of_a, depth_);
      else
        quarters_.sum(
            {x_sums(p, i), quarters[a->quarter], quarters[b->quarter], of_a, b->sign * factors[b->quarter], depth_});
    }
  }

  // The quarters' parts of rows that are added up after the present block, and are fetched meanwhile: `quota` lines
  // with each tile.
  struct Coming {
    int64_t pair = 0, end = 0, k = 0, quarter = 0, line = 0, lines = 0, quota = 0;
  };

  void expect_rows() {
    const int64_t next = k_ + cut_.depth, end = std::min(pairs_.end, chunk_.end + cut_.held);
    coming_ = next < cut_.half_k ? Coming{chunk_.begin, chunk_.end, next} : Coming{chunk_.end, end, 0};
    coming_.lines = divide_up(std::min(cut_.depth, cut_.half_k - coming_.k), kLineFloats);
    const int64_t tiles = columns_.count() * kProducts * divide_up(chunk_.count(), quarters_.max_rows);
    coming_.quota = divide_up((coming_.end - coming_.pair) * kQuarters * coming_.lines, std::max<int64_t>(1, tiles));
  }
  void fetch_rows() {
    Coming& c = coming_;
    for (int64_t i = 0; i < c.quota && c.pair < c.end; ++i) {
      const int64_t row = 2 * c.pair + c.quarter / 2;
      if (row < plan_.shape.m)
        __builtin_prefetch(x_row(row) + c.quarter % 2 * cut_.half_k + c.k + c.line * kLineFloats, 0, 2);
      if (++c.line < c.lines) continue;
      c.line = 0;
      if (++c.quarter == kQuarters) c.quarter = 0, ++c.pair;
    }
  }

  const float* weights(int quarter, int64_t p, int64_t k) const {
    const int64_t panel = p + quarter % 2 * cut_.panel_pairs;
    return reinterpret_cast<const float*>(static_cast<const std::byte*>(call_.inputs[1]) + panel * plan_.panel_bytes) +
           (quarter / 2 * cut_.half_k + k) * micro_.width;
  }

  float* result(int64_t p, int quarter) const {
    return results_ + ((cut_.held_panels > 1 ? p - columns_.begin : 0) * kQuarters + quarter) * quarter_elements();
  }

  void multiply(int64_t p) {
    const bool is_last = k_ + cut_.depth >= cut_.half_k;
    const int64_t rows = chunk_.count(), tiles = divide_up(rows, quarters_.max_rows), least = rows / tiles;
    for (int i = 0; i < kProducts; ++i)
      for (int64_t t = 0, row = 0, end = 0; t < tiles; ++t, row = end) {
        end = row + least + (t < rows % tiles ? 1 : 0);
        if (is_last && i >= kProducts - kQuarters) fetch_results(p, i - (kProducts - kQuarters), {row, end});
        multiply_tile(i, p, {row, end}, {t, tiles});
      }
    if (is_last) finish(p);
  }

  struct Turn {
    int64_t index, tiles;
  };

  // Asks for the lines that the last step of some rows writes and reads, so that they come while tiles multiply.
  void fetch_results(int64_t p, int quarter, Range rows) const {
    const int64_t column = (p + quarter % 2 * cut_.panel_pairs) * micro_.width;
    const int64_t first = row_of(rows.begin, quarter / 2), end = std::min(plan_.shape.m, row_of(rows.end, 0));
    const auto each_line = [&](const void* base, int64_t stride, DType type, auto fetch) {
      const auto size = static_cast<int64_t>(size_of(type));
      const auto* at = static_cast<const std::byte*>(base) + (first * stride + column) * size;
      for (int64_t row = first; row < end; row += 2, at += 2 * stride * size)
        for (int64_t byte = 0; byte < micro_.width * size; byte += 64) fetch(at + byte);
    };
    each_line(operands_.out, plan_.finish.out_stride, plan_.finish.out_type, prefetch_end);
    if (operands_.residual)
      each_line(operands_.residual, plan_.finish.residual_stride, plan_.finish.residual_type, prefetch_end);
  }

  void multiply_tile(int i, int64_t p, Range rows, Turn turn) {
    const Product& product = kOrder[i];
    const Signed *first = &product.w[0], *second = &product.w[1];
    QuarterTile t;
    t.x = x_sums(i, rows.begin), t.x_stride = cut_.x_stride, t.depth = depth_;
    t.w = weights(first->quarter, p, k_);
    auto from = QuarterWeights::plain;
    if (second->quarter >= 0 && turn.index == 0) {
      t.w_second = weights(second->quarter, p, k_), t.w_sum = w_;
      from = second->sign < 0 ? QuarterWeights::difference : QuarterWeights::sum;
    } else if (second->quarter >= 0) {
      t.w = w_;
    }
    for (int r = 0; r < 2; ++r)
      if (const Signed& to = product.result[r]; to.quarter >= 0)
        t.results[r] = {result(p, to.quarter) + rows.begin * micro_.width, k_ == 0 && begins(i, to.quarter),
                        to.sign < 0};
    aim(t, i, p, turn);
    fetch_rows();
    quarters_.tiles[rows.count()][static_cast<int>(from)](t);
  }

  // A pair of panels, and the first value of a block of half of k.
  struct Place {
    int64_t panel, k;
  };
  // Returns what is multiplied after a pair of panels: at the end of a part, what the part after it begins with, which
  // is usually the same thread's.
  Place after(int64_t p) const {
    if (p + 1 < columns_.end) return {p + 1, k_};
    if (k_ + cut_.depth < cut_.half_k) return {columns_.begin, k_ + cut_.depth};
    const bool has_more_rows = chunk_.end < pairs_.end || cut_.row_parts > 1;
    return {has_more_rows ? columns_.begin : columns_.end, 0};
  }

  // Lets tiles of the first four products prefetch the next pair's quarters of w.
  void aim(QuarterTile& t, int product, int64_t p, Turn turn) const {
    const Place next = after(p);
    if (!plan_.prefetches || product >= kQuarters || next.panel >= cut_.panel_pairs) return;
    const int64_t lines = std::min(cut_.depth, cut_.half_k - next.k) * micro_.width / kLineFloats;
    const int64_t steps = std::max<int64_t>(1, t.depth * turn.tiles / 4);
    t.rate = std::clamp<int64_t>(divide_up(lines, steps), 1, 4);
    const int64_t offset = turn.index * (t.depth * t.rate / 4);
    t.prefetch = offset < lines ? weights(product, next.panel, next.k) + offset * kLineFloats : nullptr;
  }

  // Sums of weights carry an infinity or a NaN into other columns, or overflow themselves: then the panels are
  // multiplied again, plainly.
  void finish(int64_t p) {
    bool is_finite = true;
    for (int q = 0; q < kQuarters; ++q)
      is_finite &= std::isfinite(quarters_.largest(result(p, q), chunk_.count() * micro_.width));
    for (int q = 0; q < kQuarters && is_finite; ++q) finish(p, q);
    for (int64_t i = 0; i < chunk_.count() && !is_finite; ++i) multiply_plainly(i, {p, p + 1});
  }

  void finish(int64_t p, int quarter) {
    float* sums = result(p, quarter);
    const int half = quarter / 2;
    for (int64_t i = 0; scales_ && i < chunk_.count(); ++i) unscale(sums + i * micro_.width, half * cut_.held + i);
    const int64_t column = (p + quarter % 2 * cut_.panel_pairs) * micro_.width;
    for (int64_t i = 0; i < chunk_.count();) {
      int64_t end = i;
      while (end < chunk_.count() && row_of(end, half) < plan_.shape.m && !is_left_out(end)) ++end;
      finish_rows(sums + i * micro_.width, {row_of(i, half), row_of(end, half)}, column);
      i = end + 1;
    }
  }
  void unscale(float* row, int64_t at) {
    if (inverses_[at] != 1) quarters_.scale(row, row, inverses_[at], micro_.width);
  }
  // Finishes every second one of some rows.
  void finish_rows(const float* sums, Range rows, int64_t column) {
    if (rows.count() == 0) return;
    Finish f = plan_.finish;
    f.sums = sums;
    place(f, operands_, rows, {column, std::min(column + micro_.width, plan_.shape.n)}, plan_.shape.n);
    f.rows = rows.count() / 2, f.out_stride *= 2, f.residual_stride *= 2;
    micro_.finish(f);
  }

  // Multiplies a pair of rows by panels and their partners.
  void multiply_plainly(int64_t i, Range panels) {
    for (int half = 0; half < 2; ++half)
      for (const int64_t right : {int64_t{0}, cut_.panel_pairs})
        if (const int64_t row = row_of(i, half); row < plan_.shape.m)
          multiply_rows(plan_, call_, {row, row + 1}, {panels.begin + right, panels.end + right}, results_);
  }

  const PackedPlan& plan_;
  const Call& call_;
  const StrassenCut& cut_;
  const MicroKernels& micro_;
  const QuarterKernels& quarters_;
  FinishOperands operands_{call_};
  Range pairs_, columns_, chunk_;
  int64_t k_ = 0, depth_ = 0;
  Coming coming_;
  bool scales_ = false;  // some rows of the chunk
  float *x_, *w_, *results_, *factors_, *inverses_, *zeros_;
};

}  // namespace

size_t StrassenCut::thread_floats(int64_t width) const {
  return static_cast<size_t>(round_up(kProducts * held * x_stride, 16) + round_up(depth * width, 16) +
                             round_up(held_panels * kQuarters * held * width, 16) + 2 * round_up(2 * held, 16) +
                             round_up(depth, 16));
}

bool is_worth_strassen(const LinearShape& shape) {
  constexpr int64_t kFewestRows = 96, kFewestColumns = 512, kFewestDepth = 512;
  return shape.m >= kFewestRows && shape.n >= kFewestColumns && shape.k >= kFewestDepth;
}

namespace {

// Returns whether the problem has the form that the seven products want, whatever its size.
bool has_halves(const PackedPlan& plan) {
  return plan.micro->quarters && plan.x_type == DType::f32 && plan.parts == 1 && plan.panels % 2 == 0 &&
         plan.shape.k % 2 == 0 && plan.shape.k > 0 && plan.shape.m > 1;
}

// Returns the pairs of rows whose sums leave more than half of the second cache to weights and results.
int64_t most_pairs(const StrassenCut& cut, const Machine& machine) {
  constexpr int64_t kFewest = 24, kMost = 104;
  const auto room = static_cast<int64_t>(machine.l2_bytes * 3 / 8);
  return std::clamp(room / (kProducts * cut.x_stride * static_cast<int64_t>(sizeof(float))), kFewest, kMost);
}

// Cuts each lane's share into pieces, of rows where lanes share rows. Each makes its own sums of x.
void cut_into_pieces(StrassenCut& cut, const PackedPlan& plan, const Problem& problem) {
  constexpr int64_t kFewestPairs = 32, kFewestPanels = 12;
  const double us =
      2e-3 * static_cast<double>(plan.shape.m * plan.shape.n) * static_cast<double>(plan.shape.k) / kCoreGflops;
  int& parts = cut.row_parts > 1 ? cut.row_parts : cut.column_parts;
  const int64_t items = cut.row_parts > 1 ? cut.pairs / kFewestPairs : cut.panel_pairs / kFewestPanels;
  parts *= pieces_of_share(problem, us, items / parts);
}

}  // namespace

StrassenCut strassen_cut(const PackedPlan& plan, const Problem& problem, const Machine& machine) {
  constexpr int64_t kMostDepth = 384;
  if (!has_halves(plan) || problem.param("strassen", 0) == 0) return {};
  StrassenCut cut;
  cut.pairs = divide_up(plan.shape.m, 2), cut.panel_pairs = plan.panels / 2, cut.half_k = plan.shape.k / 2;
  cut.depth = even_part(cut.half_k, kMostDepth, 4);
  cut.x_stride = (divide_up(cut.depth, 16) | 1) * 16;
  cut.row_parts = static_cast<int>(plan.row_threads);
  cut.column_parts = std::max(1, problem.threads) / cut.row_parts;
  cut_into_pieces(cut, plan, problem);
  cut.held = even_part(divide_up(cut.pairs, cut.row_parts), most_pairs(cut, machine), 1);
  cut.held_panels = cut.depth < cut.half_k ? divide_up(cut.panel_pairs, cut.column_parts) : 1;
  return cut;
}

void run_strassen(const PackedPlan& plan, const Call& call) { StrassenWorker(plan, call).run(); }

}  // namespace rung::cpu::gemm
