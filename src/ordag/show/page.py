"""A Fit in, HTML out: a fragment for notebooks, and a page that stands alone.

All text from data is escaped, and names are isolated: one written from right to left does not turn the arrow beside it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ordag.show.plots import drawing
from ordag.show.text import edge_cells, heading, legend, lines_without_direction, margin, notes
from ordag.words import counted, harmless, number, shown

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_ROWS = 500

ENDINGS = (".html", ".htm")

STYLE = """
.ordag { font-family: system-ui, sans-serif; color: #16283c; max-width: 60rem; }
.ordag table { border-collapse: collapse; margin: .5rem 0 1rem; }
.ordag th, .ordag td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #d8e0ea; }
.ordag th:first-child, .ordag td:first-child, .ordag .name { text-align: left; }
.ordag .warning { border-left: 4px solid #c77d0a; padding: .3rem .8rem; background: #fdf5e6; }
.ordag figure { margin: 1rem 0; overflow-x: auto; }
.ordag .note { color: #51657a; }
"""


def fragment(fit: Fit) -> str:
    """The graph, the arrows and the order, for a notebook."""
    picture = drawing(fit)
    parts = [
        f"<style>{STYLE}</style><div class='ordag'>",
        f"<p><strong>Ordag</strong> · {escape(heading(fit))}</p>",
        *(f"<p class='warning'>{escape(harmless(sentence))}</p>" for sentence in fit.warnings),
        f"<figure>{picture}</figure>",
        f"<p class='note'>{escape(harmless(f'{fit.verdict.sentence} {fit.verdict.help}'))}</p>",
        _edges(fit),
        *(f"<p class='note'>{escape(sentence)}</p>" for sentence in notes(fit)),
        _steps(fit),
        "</div>",
    ]
    return "\n".join(parts)


def page(fit: Fit) -> str:
    """A whole document."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Causal graph of {counted(len(fit.names), 'variable')}</title></head>\n<body>\n{fragment(fit)}\n</body></html>\n"
    )


def _isolated(name: str) -> str:
    return f"<bdi>{escape(shown(name))}</bdi>"


def _edges(fit: Fit) -> str:
    columns = fit.edge_columns
    written = edge_cells(fit, MOST_ROWS)
    head = "".join(f"<th>{escape(title)}</th>" for title in written)
    rows = []
    for source, target, *cells in zip(columns["source"], columns["target"], *written.values(), strict=False):
        arrow = f"{_isolated(source)} → {_isolated(target)}"
        rows.append(f"<tr><td class='name'>{arrow}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    more = len(columns["source"]) - len(rows)
    cut = f"<p class='note'>… and {counted(more, 'more arrow')}.</p>" if more else ""
    note = f"<p class='note'>{escape(legend(fit))}</p>" if legend(fit) else ""
    lines = "".join(
        f"<li>{_isolated(a)} — {_isolated(b)}{escape(f'   p edge {p_value}' if p_value else '')}</li>"
        for (a, b), p_value in lines_without_direction(fit)[:MOST_ROWS]
    )
    undirected = f"<p>Without direction:</p><ul>{lines}</ul>" if lines else ""
    return f"<table><thead><tr><th>arrow</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{note}{cut}{undirected}"


def _steps(fit: Fit) -> str:
    if fit.ordering is None:
        names = ", ".join(map(_isolated, fit.order or ()))
        return f"<p>Order, causes first: {names}</p>" if names else ""
    columns = fit.step_columns
    rows = [
        f"<tr><td class='name'>{k + 1}. {_isolated(node)}</td><td>{number(variance)}</td><td>{margin(lead)}</td></tr>"
        for k, (node, variance, lead) in enumerate(
            zip(columns["node"][:MOST_ROWS], columns["variance"], columns["margin"], strict=False)
        )
    ]
    return (
        "<table><thead><tr><th>order, causes first</th><th>variance given earlier</th><th>margin to runner-up</th></tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )
