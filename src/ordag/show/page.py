"""A Fit in, a fragment of HTML for notebooks out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordag.markup import MOST_ROWS, arrow, card, figure, isolated, sentence, table
from ordag.show.plots import drawing
from ordag.show.text import edge_cells, heading, legend, lines_without_direction, margin, notes
from ordag.show.view import View
from ordag.words import number

if TYPE_CHECKING:
    from ordag.fit import Fit


def fragment(fit: Fit, most: int = MOST_ROWS) -> str:
    """Warnings, the graph, the verdict, the arrows and the order, for a notebook."""
    look = View(fit).first_look
    one = "one variable with its neighbours: fit.plot('neighbourhood', variable=…) draws another"
    return card(
        f"Ordag · {heading(fit)}",
        *(sentence(warning, "warning") for warning in fit.warnings),
        figure(drawing(fit)),
        sentence(one, "note") if look == "neighbourhood" else "",
        sentence(f"{fit.verdict.sentence} {fit.verdict.help}"),
        _edges(fit, most),
        *(sentence(note, "note") for note in notes(fit)),
        _steps(fit, most),
    )


def _edges(fit: Fit, most: int) -> str:
    columns, written = fit.edge_columns, edge_cells(fit, most)
    arrows = (arrow(*ends) for ends in zip(columns["source"][:most], columns["target"], strict=False))
    rows = [list(row) for row in zip(arrows, *written.values(), strict=False)]
    directed = table(["arrow", *written], rows, most=most, total=len(columns["source"]), where=": see .edges")
    lines = lines_without_direction(fit)
    tests = [] if fit.pair_p_values is None else ["p edge"]
    undirected = ([arrow(*pair, joint="—"), *([p_value] if tests else [])] for pair, p_value in lines)
    return directed + sentence(legend(fit), "note") + table(["without direction", *tests], undirected, most=most)


def _steps(fit: Fit, most: int) -> str:
    if fit.ordering is None:
        return table(
            ["order, causes first"],
            ([f"{k + 1}. {isolated(node)}"] for k, node in enumerate(fit.order or ())),
            most=most,
        )
    columns = fit.step_columns
    rows = (
        [f"{k + 1}. {isolated(node)}", number(variance), margin(lead)]
        for k, (node, variance, lead) in enumerate(
            zip(columns["node"], columns["variance"], columns["margin"], strict=True)
        )
    )
    heads = ["order, causes first", "variance given earlier", "margin to runner-up"]
    return table(heads, rows, most=most, where=": see .steps")
