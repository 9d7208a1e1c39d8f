// BERT's cleaning of a text: controls, ideographs, accents and case, in this order.
// SPDX-License-Identifier: Apache-2.0
#include "text/normalizers/normalizers.hpp"

namespace rung::text {
namespace {

struct BertCleaning {
  bool clean_text = true;  // drop control characters, make every white space a blank
  bool split_cjk = true;   // each CJK ideograph is a word
  bool strip_accents = true;
  bool lower_case = true;
};

void clean_and_split(Piece& piece, const BertCleaning& cleaning) {
  std::string out;
  for (size_t at = 0; at < piece.text.size();) {
    const size_t here = at;
    const CodePoint c = next_character(piece.text, at);
    if (cleaning.clean_text && is_dropped(c)) {
      if (here == 0) piece.begins = false;
      continue;
    }
    if (cleaning.clean_text && is_space(c)) {
      out += ' ';
    } else if (cleaning.split_cjk && is_ideograph(c)) {
      (out += ' ').append(piece.text, here, at - here) += ' ';
    } else {
      out.append(piece.text, here, at - here);
    }
  }
  piece.text = std::move(out);
}

void strip_and_lower(Piece& piece, const BertCleaning& cleaning) {
  if (cleaning.strip_accents) piece.text = normal_form(piece.text, NormalForm::nfd);
  std::string out;
  for (size_t at = 0; at < piece.text.size();) {
    const CodePoint c = next_character(piece.text, at);
    if (cleaning.strip_accents && is_nonspacing_mark(c)) continue;
    if (cleaning.lower_case)
      append_lower(out, c);
    else
      append(out, c);
  }
  piece.text = std::move(out);
}

}  // namespace

// Accents go with lower case, unless strip_accents says otherwise.
Result<Normalizer> read_bert_normalizer(const Config& part) {
  BertCleaning cleaning;
  RUNG_TRY(cleaning.clean_text, part.get_bool_or("clean_text", true));
  RUNG_TRY(cleaning.split_cjk, part.get_bool_or("handle_chinese_chars", true));
  RUNG_TRY(cleaning.lower_case, part.get_bool_or("lowercase", true));
  RUNG_TRY(cleaning.strip_accents, part.get_bool_or("strip_accents", cleaning.lower_case));
  return [cleaning](Piece& piece) -> Status {
    if (cleaning.clean_text || cleaning.split_cjk) clean_and_split(piece, cleaning);
    if (cleaning.strip_accents || cleaning.lower_case) strip_and_lower(piece, cleaning);
    return {};
  };
}

}  // namespace rung::text
