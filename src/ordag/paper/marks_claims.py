"""The rows of the marks in, sentences on what the paper says and what is found here out."""

from __future__ import annotations

from typing import Any


def differences(rows: Any) -> Any:
    """A row an edge on which the paper's figure and the graph found here differ, with the reason."""
    edges = rows[(rows["quantity"] == "edge") & (rows["agrees"] == 0)]
    columns = ["figure", "method", "first", "second", "paper", "here", "why"]
    return edges[columns].sort_values(["figure", "method"], kind="stable").reset_index(drop=True)


def claims(rows: Any) -> list[str]:
    return [_correlations(rows), _normality(rows), _undirected(rows), _ours(rows), _pc(rows), _ges(rows), _gds(rows)]


def _correlations(rows: Any) -> str:
    plain, partial = _of(rows, "correlation"), _of(rows, "partial correlation")
    small = partial[partial["p_value"] >= 0.05]
    listed = ", ".join(f"{row.first} and {row.second} {row.value:.3f}".replace("-", "−") for row in small.itertuples())
    return (
        "Figure 5: the paper says that all correlations are positive and that three partial correlations are very close "
        f"to 0; here correlations lie between {plain['value'].min():.2f} and {plain['value'].max():.2f}, and "
        f"{len(small)} partial ones are not significant at 5%: {listed}."
    )


def _normality(rows: Any) -> str:
    test, simulated = _of(rows, "kurtosis test").iloc[0], _of(rows, "kurtosis test, simulated").iloc[0]
    return (
        "Normality: the paper has a kurtosis test with p = 0.798; here that of Kankainen, Taskinen and Oja gives "
        f"W = {test['value']:.3f} and p = {test['p_value']:.4f} by its limiting distribution, "
        f"{simulated['p_value']:.2f} against {simulated['of']:,.0f} Gaussian tables of the same size."
    )


def _undirected(rows: Any) -> str:
    fit = _of(rows, "deviance").iloc[0]
    return (
        f"Figure 6, left: {_agreement(rows, 'undirected')}. The pairs left out cost a deviance of {fit['value']:.2f} on "
        f"{fit['of']:.0f} degrees of freedom (p = {fit['p_value']:.2f})."
    )


def _ours(rows: Any) -> str:
    spread = _of(rows, "conditional variance")
    least = spread[spread["first"] == "mechanics"]["value"].min()
    most = spread[spread["first"] == "vectors"]["value"].max()
    resamples = _of(rows, "bootstrap")
    pair = resamples[(resamples["first"] == "vectors") & (resamples["second"] == "mechanics")]
    return (
        f"Figure 6, right: {_agreement(rows, 'cvs')}. The paper has mechanics → vectors and calls it reversed; here it is "
        f"vectors → mechanics. Over all sets of other subjects the least variance of mechanics is {least:.1f} and the "
        f"largest of vectors {most:.1f}, so no order by least variance can have mechanics first. In "
        f"{pair['value'].sum():,.0f} of {pair['of'].sum():,.0f} bootstrap samples vectors comes first."
    )


def _pc(rows: Any) -> str:
    orders = _of(rows, "column order")
    graphs = {rule: len(orders[orders["figure"] == rule]) for rule in ("first", "largest")}
    return (
        f"Figure 7, left: {_agreement(rows, 'pc')} if colliders follow the first separating set; the edge between analysis "
        f"and statistics is not missed but undirected. Over the 120 orders of the columns this rule gives "
        f"{graphs['first']} different graphs; taking the set with the largest p-value gives {graphs['largest']}, without "
        "arrows."
    )


def _ges(rows: Any) -> str:
    return (
        f"Figure 7, middle: {_agreement(rows, 'ges')}. The paper says that GES recovers no directed edges and draws none; "
        "here it joins the same six pairs as Figure 6, all of them undirected."
    )


def _gds(rows: Any) -> str:
    score = _of(rows, "score").set_index("here")["value"]
    edges = _of(rows, "edge")
    ours, theirs = (
        {(row.first, row.second, row.here) for row in edges[edges["method"] == method].itertuples()}
        for method in ("cvs", "gds")
    )
    same = "the same graph as" if ours == theirs else "another graph than"
    return (
        f"Figure 7, right: {_agreement(rows, 'gds')}; the figure is the transpose. GDS's score is "
        f"{score['as GDS returns it']:.3f} for the graph it returns and {score['as Figure 7 draws it']:.3f} for the one "
        f"drawn (lower is better). What it returns is {same} Algorithm 1 finds."
    )


def _agreement(rows: Any, method: str) -> str:
    edges = _of(rows, "edge")
    part = edges[edges["method"] == method]
    return f"{int(part['agrees'].sum())} of {len(part)} edges are as in the paper"


def _of(rows: Any, quantity: str) -> Any:
    return rows[rows["quantity"] == quantity]
