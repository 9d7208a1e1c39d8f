// The page's script: sorts by a column, shows tips at the pointer, copies commands, unfolds all sections for printing.
// SPDX-License-Identifier: Apache-2.0
#include "report/page/sections.hpp"

namespace rung::report {

// Without the script the page has the same content; the script loads nothing.
std::string_view script() {
  return R"js(
'use strict';
for (const button of document.querySelectorAll('.sort')) {
  button.addEventListener('click', () => {
    const th = button.closest('th'), body = th.closest('table').tBodies[0], column = th.cellIndex;
    const down = th.getAttribute('aria-sort') !== 'descending';
    for (const other of th.parentNode.cells) other.removeAttribute('aria-sort');
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = row => { const c = row.cells[column]; return c.dataset.v === undefined ? c.textContent : Number(c.dataset.v); };
    const order = (a, b) => { const x = key(a), y = key(b); return typeof x === 'number' ? x - y : y.localeCompare(x); };
    const rows = [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b));
    body.append(...rows);
  });
}
const tip = document.getElementById('tip');
for (const mark of document.querySelectorAll('[data-tip]')) {
  mark.querySelector('title')?.remove();
  mark.addEventListener('pointerenter', () => { tip.textContent = mark.dataset.tip; tip.hidden = false; });
  mark.addEventListener('pointermove', event => {
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(8, left) + 'px';
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10
                                                                         : event.clientY + 18) + 'px';
  });
  mark.addEventListener('pointerleave', () => { tip.hidden = true; });
}
for (const pre of document.querySelectorAll('pre.command')) {
  const button = document.createElement('button'), code = pre.querySelector('code');
  const say = word => { button.textContent = word; setTimeout(() => { button.textContent = 'copy'; }, 1500); };
  const select = () => { getSelection().selectAllChildren(code); return document.execCommand('copy'); };
  button.type = 'button';
  button.textContent = 'copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try { await navigator.clipboard.writeText(code.textContent); say('copied'); }
    catch { say(select() ? 'copied' : 'selected'); }
  });
  pre.append(button);
}
addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details')) d.open = true; });
)js";
}

}  // namespace rung::report
