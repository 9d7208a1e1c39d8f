// Any bytes as a chat template and, behind a NUL, a chat: an error, or a text within the limits.
// SPDX-License-Identifier: Apache-2.0
#include "seeds.hpp"
#include "text/chat_template.hpp"

namespace {

constexpr const char* kChat =
    R"([{"role": "user", "content": "Hi <b>"}, {"role": "assistant", "tool_calls": [{"n": 1.5}]}])";
constexpr const char* kTemplates[] = {
    "{%- for m in messages if m.content %}\n{{ '<|' ~ m['role'] + '|>' }}{{ m.content|trim|upper }}{% else %}-{% "
    "endfor %}",
    "{% macro f(x, y=2) %}{{ caller() if caller }}{{ x.strip().split(' ')[-1:] }}{% endmacro %}{% call f('a b') %}c{% "
    "endcall %}",
    "{% set ns = namespace(a=1, b=[]) %}{% for i in range(9) %}{% set ns.a = ns.a * 2 %}{% if i > 3 %}{% break %}{% "
    "endif %}"
    "{% endfor %}{{ ns.a }}{{ messages|tojson(indent=2) }}{{ messages|map(attribute='role')|join(', ') }}",
    "{% for k, v in {'a': (1, 2), 3: none}.items() recursive %}{{ loop.index }}{{ loop.changed(v) }}{{ loop([]) }}{% "
    "endfor %}",
    "{% set x | replace('a', 'b') %}{# c #}{% raw %}{{ a }}{% endraw %}{% endset %}{{ x is string and x|length // 2 ** "
    "3 }}",
    "{{ '%s %5.1f' % ('x', 2.5) }}{{ '{} {a}'.format(1, a=2) }}{{ [3, 1, 2]|sort(reverse=true) }}{{ "
    "'ß'.upper().center(9) }}",
    "{{ messages|groupby('role')|list }}{{ messages|selectattr('content', 'defined')|list|last }}{{ "
    "raise_exception('no') }}",
    "{% with a = 1 %}{% filter indent(2) %}{{ a }}\n{{ messages[0].items()|list }}{% endfilter %}{% endwith %}"
    "{{ strftime_now('%d %b %Y') }}{{ ['a']|batch(2, 'x')|list }}{{ 1 if not messages else -7 % 3 }}"};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> seeds;
  for (const char* text : kTemplates) {
    seeds.emplace_back(text);
    seeds.push_back(std::string(text).append(1, '\0') + kChat);
  }
  rung::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace jinja = rung::jinja;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  const auto messages =
      jinja::value_of_json(text.size() < size ? input.substr(text.size() + 1) : std::string_view(kChat), "messages");
  const auto read = jinja::Template::read(text);
  if (!read || !messages) return 0;
  constexpr jinja::Limits limits{.steps = 20'000, .bytes = size_t{4} << 20, .output = size_t{1} << 20};
  const auto rendered = read->render({{"messages", *messages}, {"tools", jinja::None{}}}, {.limits = limits});
  if (rendered) rung::require(rendered->size() <= limits.output, "a text within the limits");
  if (!rendered) rung::require(rendered.error().message.starts_with("line "), "an error with its line");
  return 0;
}
