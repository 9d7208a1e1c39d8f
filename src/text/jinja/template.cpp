// Reads and renders templates.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/template.hpp"

#include "text/jinja/evaluator.hpp"
#include "text/unicode.hpp"

namespace rung::jinja {

Result<Template> Template::read(std::string_view text) {
  if (text::as_utf8(text) != text) return bad_file("got bytes that are not UTF-8, wanted a template's text");
  RUNG_TRY(Body body, parse(text));
  return Template(std::make_shared<const Body>(std::move(body)));
}

Result<std::string> Template::render(std::vector<std::pair<std::string, Value>> variables,
                                     const RenderOptions& options) const {
  Run run(options.limits, options.now);
  auto globals = std::make_shared<Run::Variables>();
  globals->of = std::move(variables);
  return Evaluator(run, std::move(globals)).render(*body_);
}

}  // namespace rung::jinja
