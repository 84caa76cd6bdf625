"""The rows of Section 2 in, shares of random models and sentences on what the paper says and what is found here out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

SECTIONS = {"homogeneous": "4.1", "heterogeneous": "4.2"}

QUESTIONS = {
    "algorithm": "algorithm right",
    "drawn_order": "condition in the order drawn",
    "every_order": "condition in every order",
}
"""What is asked of a random model, and how it is called."""


def shares(rows: Any) -> Any:
    """How many models of each design and size there are, and how many fail at what."""
    models = rows[rows["part"] == "random models"]
    table = models.groupby(["design", "p"], sort=False).agg(
        models=("model", "size"),
        algorithm=("algorithm", _failing),
        drawn_order=("drawn_order", _failing),
        every_order=("every_order", _failing),
        margin=("margin", "min"),
    )
    names = {key: f"{key.replace('_', ' ')} fails" for key in QUESTIONS} | {"margin": "smallest margin"}
    return table.rename(columns=names).loc[list(SECTIONS)].round(3).reset_index()


def _failing(column: Any) -> int:
    return int((column == 0).sum())


def interval(failing: int, models: int) -> tuple[float, float]:
    """The share with its exact 95% limits (Clopper & Pearson)."""
    low = float(betaincinv(failing, models - failing + 1, 0.025)) if failing else 0.0
    high = float(betaincinv(failing + 1, models - failing, 0.975)) if failing < models else 1.0
    return low, high


def claims(rows: Any) -> list[str]:
    return [*_bivariate(rows), *_regions(rows), _counterexample(rows), *_random(rows)]


def _bivariate(rows: Any) -> list[str]:
    part = rows[rows["part"] == "figure 1"]
    sentences = [
        f"{row.model} ({row.arrow}{f', weight {row.weight:g}' if row.weight else ''}; error variances "
        f"{row.error_variance_1:g}, {row.error_variance_2:g}) has Var(X₁) = {row.variance_1:.2f} and Var(X₂) = "
        f"{row.variance_2:.2f}: the order found is {row.order}, {'right' if row.algorithm else 'wrong'}"
        for row in part.itertuples()
    ]
    return [
        "Figure 1: the paper says that the variances tell G₁, G₂ and G₃ apart if the ratio of error variances, effect to "
        f"cause, exceeds 1 − β²; here {'; '.join(sentences)}."
    ]


def _regions(rows: Any) -> list[str]:
    part = rows[rows["part"] == "regions"]
    models, wrong = int(part["models"].sum()), int(part["right_against_printed"].sum())
    half = part[np.isclose(part["r"], 0.5)].iloc[0]
    return [
        "Corollary 2.4: the paper says that X₁ → X₂ is identifiable if β² ≥ 1 − r², with r the ratio of variances; here, "
        f"on {models:,} models, the algorithm is right exactly if β² > 1 − r ({int(part['right_against_bound'].sum())} "
        f"exceptions), and in {wrong:,} of them the printed bound says otherwise. At r = ½ the bound is "
        f"{half['park_kim']:.2f}, printed {half['park_kim_printed']:.2f}.",
        "Lemma 2.3: the paper says that Loh & Bühlmann need more than Corollary 2.4; here too, as printed and with r for "
        f"r²: at r = ½ they need β² ≥ {half['loh_buhlmann']:.2f} (printed: {half['loh_buhlmann_printed']:.2f}).",
    ]


def _counterexample(rows: Any) -> str:
    part = rows[rows["part"] == "counterexample"]
    first, twin = part.iloc[0], part.iloc[-1]
    return (
        "Theorem 2.2: the paper says that a model is identifiable if its condition holds in a true order; here "
        f"{first['model']} satisfies it in the order {first['order']} (smallest margin {first['margin']:.2f}), but the "
        f"algorithm takes {first['taken']}, and {twin['model']} satisfies it as well with the same distribution "
        f"(largest difference between the covariances: {first['covariance_gap']:.1g})."
    )


def _random(rows: Any) -> list[str]:
    table = shares(rows)
    sentences = []
    for design, section in SECTIONS.items():
        part = table[table["design"] == design]
        counts = ", ".join(
            f"{row['algorithm fails']} of {row['models']:,} at p = {row['p']}" for _, row in part.iterrows()
        )
        paper = (
            "the condition holds because all error variances are equal"
            if design == "homogeneous"
            else "the condition is satisfied with any values of error variances"
        )
        least = part["smallest margin"].min()
        sentences.append(
            f"Section {section}: the paper says that {paper}; here the algorithm is wrong on the true distribution for "
            f"{counts} (smallest margin {least:.3f})."
        )
    return sentences
