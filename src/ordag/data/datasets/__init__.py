"""The built-in data sets: small real tables, with their files and origins."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ordag.common.words import did_you_mean
from ordag.errors import SettingError

__all__ = ["DATASETS", "Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """A built-in table: what it holds, who published it, and on what terms it may be used. `labels` are columns that say what rows are."""

    name: str
    rows: int
    columns: tuple[str, ...]
    title: str
    source: str
    terms: str
    labels: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The CSV file with the table."""
        return _file(f"{self.name}.csv")

    @property
    def consensus(self) -> tuple[tuple[str, str], ...]:
        """The arrows (cause, effect) that the field agrees on, where such a list comes with the table."""
        path = _file(f"{self.name}_consensus.csv")
        if not path.is_file():
            return ()
        with path.open(encoding="utf-8", newline="") as lines:
            return tuple((row["source"], row["target"]) for row in csv.DictReader(lines))


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="marks",
            rows=88,
            columns=("mechanics", "vectors", "algebra", "analysis", "statistics"),
            title="Marks of 88 students in five mathematics examinations, from 0 to 100",
            source="K. V. Mardia, J. T. Kent and J. M. Bibby (1979), Multivariate Analysis, Table 1.2.1",
            terms="Published data, reprinted in many textbooks and packages",
        ),
        Dataset(
            name="sachs",
            rows=853,
            columns=("raf", "mek", "plcg", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk"),
            title="Amounts of 11 proteins and lipids in 853 single T cells, no intervention, raw units",
            source="K. Sachs et al. (2005), Science 308, 523–529; taken from the Python package cdt",
            terms="Published data; the package it was taken from is under the MIT licence",
        ),
        Dataset(
            name="sachs_experiments",
            rows=5846,
            columns=("raf", "mek", "plcg", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk"),
            title="Logarithms of 11 proteins and lipids in 5,846 single T cells, without and with five experiments",
            source="K. Sachs et al. (2005), Science 308, 523–529; conditions as in the code of P. Brouillard et al. (2020)",
            terms="Published data; the code it was taken from is under the MIT licence",
            labels=("experiment",),
        ),
        Dataset(
            name="birthweights",
            rows=189,
            columns=("age", "lwt", "smoke", "ptl", "ht", "ui", "ftv", "bwt"),
            title="Weights of 189 newborns (bwt, in grams) with age, weight in pounds, habits and illnesses of their mothers",
            source="D. W. Hosmer and S. Lemeshow (1989), Applied Logistic Regression, Appendix 1; taken from statsmodels",
            terms="Published data; the package it was taken from is under the 3-clause BSD licence",
            labels=("race",),
        ),
        Dataset(
            name="autompg",
            rows=392,
            columns=("mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration"),
            title="Miles per gallon of 392 models of cars from 1970 to 1982, with their engines, weight in pounds, year and origin",
            source="J. R. Quinlan (1993), Combining instance-based and model-based learning; taken from the Python package ISLP",
            terms="Published data (UCI Machine Learning Repository, CC BY 4.0); the package it was taken from is under a BSD licence",
            labels=("year", "origin"),
        ),
    )
}


def load(name: str) -> Dataset:
    """Return the built-in data set of this name."""
    if name not in DATASETS:
        known = f"the data sets are {', '.join(DATASETS)}.{did_you_mean(name.lower(), DATASETS)}"
        raise SettingError(f"There is no data set {name!r}: {known}")
    return DATASETS[name]


def _file(name: str) -> Path:
    return Path(str(files(__name__).joinpath(name)))
