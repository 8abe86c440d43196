"""Where two runs parted, as text within columns and as a page; both from the JSON of the comparison."""

from __future__ import annotations

from html import escape

from ..canonical import JsonObject
from .safe import inline


def lines(found: JsonObject, width: int = 60, limit: int = 12) -> list[str]:
    """For people, within `width` columns; at most `limit` lines of each field."""
    out = [
        f"A  {found['a']['name']}",
        f"   {found['a']['ended']}",
        f"B  {found['b']['name']}",
        f"   {found['b']['ended']}",
        "",
    ]
    if found["equal"]:
        out.append(f"equal: {found['equal_steps']} steps did the same and ended the same")
    elif found["changes"]:
        out += [f"{found['equal_steps']} equal steps; first divergence:", *_change_lines(found["changes"][0], limit)]
        if len(found["changes"]) > 1:
            out += ["", f"then {len(found['changes']) - 1} more:"]
            for one in found["changes"][1:]:
                out += _change_lines(one, max(3, limit // 3))
    for one in found["run"]:
        out += ["", f"{one['what']} differs", f"  - {_figure(one['a'])}", f"  + {_figure(one['b'])}"]
    out.append("")
    out += [
        f"{one['name']:14} {_figure(one['a']):>14} {_figure(one['b']):>14}{'' if one['a'] == one['b'] else '  ≠'}"
        for one in found["totals"]
        if one["a"] is not None or one["b"] is not None
    ]
    return [_cut(line, width) for line in out]


def _change_lines(change: JsonObject, limit: int) -> list[str]:
    out = [_heading(change)]
    for one in change["changes"]:
        out.append(f"  {one['field']}")
        out += [f"    {line}" for line in one["lines"][:limit]]
        if len(one["lines"]) > limit:
            out.append(f"    … {len(one['lines']) - limit} more lines")
    return out


def _heading(change: JsonObject) -> str:
    steps = f"A {_figure(change['a_step'])} · B {_figure(change['b_step'])}"
    agents = (
        change["a_agent"] if change["a_agent"] == change["b_agent"] else f"{change['a_agent']} / {change['b_agent']}"
    )
    return f"== {steps} · {change['verdict']} · {agents or 'agent unknown'}"


def _figure(value: float | str | None) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _cut(line: str, width: int) -> str:
    text = inline(line)
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:80rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%;table-layout:fixed}
td,th{vertical-align:top;text-align:left;padding:.3rem .6rem;
border-bottom:1px solid #ddd;overflow-wrap:anywhere}pre{white-space:pre-wrap;margin:0;font-size:.85em}
.a{background:#fdecea}.b{background:#e9f6ec}.dim{color:#666}h2{font-size:1.1rem;margin-top:2rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}.a{background:#3a1f1d}
.b{background:#1d3323}.dim{color:#999}}
"""


def page(found: JsonObject) -> str:
    """One self-contained page, both runs side by side. Every recorded word is escaped, nothing is fetched or run."""
    rows = []
    for number, change in enumerate(found["changes"]):
        title = "First divergence" if number == 0 else f"Difference {number + 1}"
        rows.append(f'<h2 id="d{number + 1}">{title}: {escape(_heading(change)[3:])}</h2><table>')
        rows.append("<thead><tr><th>A</th><th>B</th></tr></thead><tbody>")
        for one in change["changes"]:
            left = "\n".join(line[1:] for line in one["lines"] if line.startswith("-"))
            right = "\n".join(line[1:] for line in one["lines"] if line.startswith("+"))
            rows.append(
                f'<tr><th colspan="2" class="dim">{escape(one["field"])}</th></tr>'
                f'<tr><td class="a"><pre>{escape(left)}</pre></td><td class="b"><pre>{escape(right)}</pre></td></tr>'
            )
        rows.append("</tbody></table>")
    figures = "".join(
        f"<tr><th>{escape(one['name'])}</th><td>{escape(_figure(one['a']))}</td><td>{escape(_figure(one['b']))}</td></tr>"
        for one in found["totals"]
    )
    others = "".join(
        f"<tr><th>{escape(one['what'])}</th>"
        f'<td class="a">{escape(_figure(one["a"]))}</td><td class="b">{escape(_figure(one["b"]))}</td></tr>'
        for one in found["run"]
    )
    said = (
        f"equal: {found['equal_steps']} steps did the same" if found["equal"] else f"{found['equal_steps']} equal steps"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>diff of two runs</title><style>{_STYLE}</style></head><body><h1>Two runs</h1>"
        f"<p>{escape(said)}; {len(found['changes'])} steps differ.</p><table><thead><tr><th></th>"
        f"<th>A {escape(found['a']['name'])}</th><th>B {escape(found['b']['name'])}</th></tr></thead><tbody>"
        f"<tr><th>ended</th><td>{escape(found['a']['ended'])}</td><td>{escape(found['b']['ended'])}</td></tr>"
        f"{others}{figures}</tbody></table>{''.join(rows)}</body></html>"
    )
