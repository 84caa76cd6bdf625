"""The cells: which random models the methods are compared on, and which half each belongs to.

The halves were fixed before anything was run. Within every kind the cells alternate between "think" and "final" in the
order in which they stand here, and the kinds take turns in which half comes first. Choices are made on the "think" half
only. The flag stands in every line, so that a cell added later moves no other to another half.

Two cells have changed sides since: 4.1 p50 n100 and 4.1 p80 n1000 were "final" and showed that among strong correlations a wrong
order can have the better score. What was changed then was chosen on such tables, so they belong to "think" now, and
4.1 p60 n300 and 4.1 p70 n2000, not looked at before, stand in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Half = Literal["think", "final"]
Range = tuple[float, float]

STRONG, USUAL, MEDIUM, WEAK = (0.5, 2.0), (0.4, 1.5), (0.3, 1.0), (0.1, 0.5)
BROKEN = "assumptions broken"


@dataclass(frozen=True)
class Cell:
    """One kind of table. The name says all of it; with the number of the table it is the seed.

    graph: a design of `ordag.simulate`, "layered", "complete", "empty", or the file of a published network.
    degree: expected number of arrows per variable, in and out together.
    weights: range of the weights' sizes, uniform, with random sign.
    spread: error variances are log-uniform between 1 and this factor.
    errors: "normal", "t5" (Student's t with 5 degrees of freedom) or "skewed" (centred exponential).
    change: "", "standardised", "random units", "hidden confounders" or "measurement noise".
    """

    name: str
    kind: str
    half: Half
    p: int
    n: int
    graph: str = "erdos-renyi"
    degree: float = 3.0
    weights: Range = USUAL
    spread: float = 1.0
    errors: str = "normal"
    change: str = ""

    @property
    def published(self) -> bool:
        """Whether the model is a published network, read from another package's files."""
        return self.kind == "published networks"


THINK: Half = "think"
FINAL: Half = "final"

CELLS: tuple[Cell, ...] = (
    Cell("4.1 p20 n100", "the paper's designs", FINAL, 20, 100, "homogeneous"),
    Cell("4.1 p20 n1000", "the paper's designs", THINK, 20, 1000, "homogeneous"),
    Cell("4.1 p50 n100", "the paper's designs", THINK, 50, 100, "homogeneous"),
    Cell("4.1 p50 n1000", "the paper's designs", THINK, 50, 1000, "homogeneous"),
    Cell("4.1 p80 n1000", "the paper's designs", THINK, 80, 1000, "homogeneous"),
    Cell("4.1 p60 n300", "the paper's designs", FINAL, 60, 300, "homogeneous"),
    Cell("4.1 p70 n2000", "the paper's designs", FINAL, 70, 2000, "homogeneous"),
    Cell("4.2 p20 n100", "the paper's designs", THINK, 20, 100, "heterogeneous"),
    Cell("4.2 p20 n1000", "the paper's designs", FINAL, 20, 1000, "heterogeneous"),
    Cell("4.2 p50 n100", "the paper's designs", THINK, 50, 100, "heterogeneous"),
    Cell("4.2 p50 n1000", "the paper's designs", FINAL, 50, 1000, "heterogeneous"),
    Cell("ER3 p20 n500", "equal variances", THINK, 20, 500),
    Cell("ER4 p50 n200", "equal variances", FINAL, 50, 200, degree=4),
    Cell("ER3 p30 n60", "equal variances", THINK, 30, 60),
    Cell("ER1 p30 n300", "equal variances", FINAL, 30, 300, degree=1),
    Cell("ER2 p5 n200", "equal variances", THINK, 5, 200, degree=2),
    Cell("ER6 p20 n500", "equal variances", FINAL, 20, 500, degree=6),
    Cell("ER10 p30 n1000", "equal variances", THINK, 30, 1000, degree=10),
    Cell("ER2 p100 n200", "equal variances", FINAL, 100, 200, degree=2),
    Cell("ER2 p40 n200 strong", "equal variances", THINK, 40, 200, degree=2, weights=STRONG),
    Cell("ER2 p200 n400", "equal variances", FINAL, 200, 400, degree=2),
    Cell("ER3 p20 n500 ×5", "unequal variances", FINAL, 20, 500, spread=5),
    Cell("ER3 p20 n500 ×20", "unequal variances", THINK, 20, 500, spread=20),
    Cell("ER3 p40 n300 ×5", "unequal variances", FINAL, 40, 300, spread=5),
    Cell("ER4 p30 n150 ×10", "unequal variances", THINK, 30, 150, degree=4, spread=10),
    Cell("ER2 p30 n200 ×100", "unequal variances", FINAL, 30, 200, degree=2, spread=100),
    Cell("ER3 p20 n500 ×2", "unequal variances", THINK, 20, 500, spread=2),
    Cell("ER6 p20 n1000 ×5", "unequal variances", FINAL, 20, 1000, degree=6, spread=5),
    Cell("ER1 p60 n200 ×20", "unequal variances", THINK, 60, 200, degree=1, spread=20),
    Cell("ER4 p15 n5000 ×100", "unequal variances", FINAL, 15, 5000, degree=4, spread=100),
    Cell("ER2 p80 n500 ×5", "unequal variances", THINK, 80, 500, degree=2, spread=5),
    Cell("ER3 p20 n500 ×3 weak", "sizes of weights", THINK, 20, 500, weights=WEAK, spread=3),
    Cell("ER3 p20 n500 medium", "sizes of weights", FINAL, 20, 500, weights=MEDIUM),
    Cell("ER4 p40 n300 ×2 medium", "sizes of weights", THINK, 40, 300, degree=4, weights=MEDIUM, spread=2),
    Cell("ER2 p30 n1000 weak", "sizes of weights", FINAL, 30, 1000, degree=2, weights=WEAK),
    Cell("ER3 p20 n500 standardised", "scales lost", FINAL, 20, 500, change="standardised"),
    Cell("ER3 p20 n500 random units", "scales lost", THINK, 20, 500, change="random units"),
    Cell("ER4 p30 n300 random units", "scales lost", FINAL, 30, 300, degree=4, change="random units"),
    Cell("ER2 p50 n1000 standardised", "scales lost", THINK, 50, 1000, degree=2, change="standardised"),
    Cell(
        "ER8 p50 n1000 strong standardised",
        "scales lost",
        FINAL,
        50,
        1000,
        degree=8,
        weights=STRONG,
        change="standardised",
    ),
    Cell(
        "ER10 p20 n400 medium standardised",
        "scales lost",
        THINK,
        20,
        400,
        degree=10,
        weights=MEDIUM,
        change="standardised",
    ),
    Cell("scale-free p30 n150", "other graphs", THINK, 30, 150, "scale-free"),
    Cell("layered p40 n100", "other graphs", FINAL, 40, 100, "layered"),
    Cell("empty p40 n100", "other graphs", THINK, 40, 100, "empty"),
    Cell("complete p12 n200", "other graphs", FINAL, 12, 200, "complete"),
    Cell("layered p30 n500 ×5", "other graphs", THINK, 30, 500, "layered", spread=5),
    Cell("scale-free p60 n500 ×5", "other graphs", FINAL, 60, 500, "scale-free", spread=5),
    Cell("complete p8 n2000 ×5", "other graphs", THINK, 8, 2000, "complete", spread=5),
    Cell("empty p20 n500 ×20", "other graphs", FINAL, 20, 500, "empty", spread=20),
    Cell("ER3 p20 n500 t5", "errors not normal", FINAL, 20, 500, errors="t5"),
    Cell("ER3 p20 n500 skewed", "errors not normal", THINK, 20, 500, errors="skewed"),
    Cell("ER2 p40 n300 ×5 skewed", "errors not normal", FINAL, 40, 300, degree=2, spread=5, errors="skewed"),
    Cell("ER3 p30 n300 ×5 t5", "errors not normal", THINK, 30, 300, spread=5, errors="t5"),
    Cell("ECOLI70 n1000", "published networks", THINK, 46, 1000, "ecoli70"),
    Cell("MAGIC-NIAB n1000", "published networks", FINAL, 44, 1000, "magic-niab"),
    Cell("MAGIC-IRRI n1000", "published networks", THINK, 64, 1000, "magic-irri"),
    Cell("ARTH150 n300", "published networks", FINAL, 107, 300, "arth150"),
    Cell("ER3 p15 n1000 hidden confounders", BROKEN, FINAL, 15, 1000, change="hidden confounders"),
    Cell("ER3 p15 n1000 measurement noise", BROKEN, THINK, 15, 1000, change="measurement noise"),
)


def cells_of(half: str) -> list[Cell]:
    """The cells of a half ("think", "final" or "all"), those with the least work first."""
    chosen = [cell for cell in CELLS if half in ("all", cell.half)]
    return sorted(chosen, key=lambda cell: (cell.p, expected_degree(cell), cell.n))


def expected_degree(cell: Cell) -> float:
    """About how many arrows a variable of the cell has, in and out."""
    full = {"homogeneous": 0.875, "heterogeneous": 0.5, "complete": 1.0, "empty": 0.0}
    return full[cell.graph] * (cell.p - 1) if cell.graph in full else cell.degree
