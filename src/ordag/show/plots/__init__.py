"""Pictures of a fit, on matplotlib's axes or in a file: the kinds of picture, and what paints them."""

from __future__ import annotations

import inspect
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from ordag.common.checks import check_choice, short
from ordag.common.words import did_you_mean
from ordag.errors import OutputError, SettingError
from ordag.picture.scene import PAPER, Curve, Scene
from ordag.picture.svg import svg
from ordag.show.plots.axes import PIXELS_PER_INCH, PLAIN, order, support
from ordag.show.plots.decisions import robustness
from ordag.show.plots.diagnostics import diagnostics
from ordag.show.plots.graph import graph, neighbourhood
from ordag.show.plots.in_time import MOST_VARIABLES, summary, unrolled
from ordag.show.plots.matrix import matrix
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ordag.fit import Fit

SCENES: dict[str, Callable[..., Scene]] = {
    "graph": graph,
    "matrix": matrix,
    "neighbourhood": neighbourhood,
    "unrolled": unrolled,
    "summary": summary,
}
"""Kinds made of boxes and arrows, painted alike on axes and as SVG."""

CHARTS: dict[str, Callable[..., Any]] = {
    "order": order,
    "support": support,
    "diagnostics": diagnostics,
    "robustness": robustness,
}
"""Kinds with numbers along an axis."""

UNROLLED = 16
"""Variables of a series up to which its graph is drawn unrolled in time unless another kind is asked for."""

KINDS = (*SCENES, *CHARTS)

ENDINGS = (".svg", ".pdf", ".png")

LOOK: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "ordag",  # the same file for the same numbers
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # letters that can be searched and copied
    "text.usetex": False,
}


def plot(fit: Fit, kind: str | None = None, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a picture on these axes, or on new ones of a suitable size; see `ordag.Fit.plot`."""
    view = View(fit)
    chosen = _checked(view, kind, options)
    with _looks():
        if chosen in SCENES:
            return _paint(SCENES[chosen](view, **options), ax)
        return CHARTS[chosen](view, _new_axes if ax is None else lambda *_: ax, **options)  # type: ignore[no-any-return]


def drawing(fit: Fit, kind: str | None = None, **options: Any) -> str | None:
    """Return the SVG of a picture, or None for kinds that are charts."""
    view = View(fit)
    chosen = _checked(view, kind, options)
    return svg(SCENES[chosen](view, **options)) if chosen in SCENES else None


def picture(fit: Fit, path: str | PathLike[str], kind: str | None = None, **options: Any) -> bytes:
    """Return the content of a picture file: SVG, PDF or PNG by its ending. The same fit gives the same bytes."""
    check_picture(path)
    drawn = drawing(fit, kind, **options) if str(path).lower().endswith(".svg") else None
    return f"{drawn}\n".encode() if drawn is not None else chart_file(lambda: plot(fit, kind, **options), path)


def chart(draw: Callable[[Callable[..., Any]], Axes], ax: Axes | None = None) -> Axes:
    """Draw on these axes, or on new ones; `draw` takes a function that makes axes of a size."""
    with _looks():
        return draw(_new_axes if ax is None else lambda *_: ax)


def chart_file(draw: Callable[[], Axes], path: str | PathLike[str]) -> bytes:
    """Return the content of a picture file with what is drawn."""
    check_picture(path)
    ending = str(path).lower()[-4:]
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    content = io.BytesIO()
    with _looks():
        axes = draw()
        figure = axes.get_figure(root=True) if "root" in inspect.signature(axes.get_figure).parameters else axes.figure
        figure.savefig(content, format=ending[1:], dpi=192, metadata=metadata[ending])  # type: ignore[union-attr]
    return content.getvalue()


def check_picture(path: str | PathLike[str]) -> None:
    """Refuse a file name without the ending of a picture."""
    if not str(path).lower().endswith(ENDINGS):
        raise OutputError(f"{path} has none of the endings of a picture: {', '.join(ENDINGS)}.")


def check_kind(kind: str | None, options: dict[str, Any]) -> None:
    """Refuse an unknown kind, or options that the kind (without one: any kind) does not have."""
    if kind is not None:
        check_choice("kind", kind, KINDS)
    known = sorted({name for one in ([kind] if kind else KINDS) for name in _options(one)})
    for option in options:
        if option not in known:
            raise SettingError(
                f"{option}={short(options[option])}: {f'kind={kind!r}' if kind else 'a plot'} has the options {', '.join(known)}."
                f"{did_you_mean(option, known)}",
                [option],
            )


def _checked(view: View, kind: str | None, options: dict[str, Any]) -> str:
    check_kind(kind, options)
    series = view.fit.series
    if kind is None and not options and series is not None and series.lags and series.p <= MOST_VARIABLES:
        kind = "unrolled" if series.p <= UNROLLED else "summary"
    if kind is None:
        kind = next((name for name in KINDS if options and set(options) <= set(_options(name))), view.first_look)
    check_kind(kind, options)
    return kind


def _options(kind: str) -> list[str]:
    """Return the options of a kind: the keywords of its function."""
    parameters = inspect.signature((SCENES | CHARTS)[kind]).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


@contextmanager
def _looks() -> Iterator[None]:
    """Apply our matplotlib settings; do not warn of letters that its font lacks, which are drawn as boxes."""
    from matplotlib import rc_context

    _pyplot()  # before our settings, which do not last
    with rc_context(LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=re.escape("Glyph "))
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def _pyplot() -> Any:
    """Return pyplot where it is in use already or Python is interactive, so that figures are shown; else None."""
    shell = sys.modules.get("IPython")
    interactive = hasattr(sys, "ps1") or (shell is not None and shell.get_ipython() is not None)
    if interactive or "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        pyplot.draw_if_interactive()  # type: ignore[no-untyped-call]  # loads the backend, which turns on settings that are to last
        return pyplot
    return None


def _new_axes(width: float, height: float, *, whole: bool = False) -> Axes:
    """Return axes of a new figure, in inches; `whole` axes fill it. Without pyplot only the caller keeps the figure."""
    from matplotlib.figure import Figure

    pyplot = _pyplot()
    figure: Figure = (pyplot.figure if pyplot else Figure)(
        figsize=(width, height), layout=None if whole else "constrained"
    )
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if whole else figure.add_subplot()


def _paint(scene: Scene, ax: Axes | None = None) -> Axes:
    """Paint a scene to fill these axes, or on new axes of its own size."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import FancyBboxPatch, Polygon

    if ax is None:
        ax = _new_axes(scene.width / PIXELS_PER_INCH, scene.height / PIXELS_PER_INCH, whole=True)
    ax.set_xlim(0.0, scene.width)
    ax.set_ylim(scene.height, 0.0)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.figure.set_facecolor(PAPER)
    room, dpi = ax.get_window_extent(), ax.figure.dpi
    scale = min(room.width / scene.width, room.height / scene.height) * 72.0 / dpi  # points for a pixel of the scene
    for area in scene.areas:
        ax.add_patch(Polygon(list(area.points), facecolor=area.fill, edgecolor="none", zorder=1))
    for curve in scene.curves:
        _paint_curve(curve, ax, scale)
    cells = [box for box in scene.boxes if not box.radius]
    if cells:
        corners = [
            [(b.x, b.y), (b.x + b.width, b.y), (b.x + b.width, b.y + b.height), (b.x, b.y + b.height)] for b in cells
        ]
        look: dict[str, Any] = {
            "facecolors": [box.fill for box in cells],
            "edgecolors": [box.rim if box.thickness else box.fill for box in cells],
            "linewidths": [scale * box.thickness for box in cells],
        }
        ax.add_collection(PolyCollection(corners, zorder=3, antialiased=False, **look), autolim=False)
    for box in scene.boxes:
        if box.radius:
            style = f"round,pad=0,rounding_size={box.radius}"
            ax.add_patch(FancyBboxPatch((box.x, box.y), box.width, box.height, boxstyle=style, facecolor=box.fill, edgecolor=box.rim,
                                        linewidth=scale * box.thickness, alpha=box.opacity, zorder=3,
                                        linestyle=(0.0, (4.0, 2.4)) if box.dashed else "solid"))  # fmt: skip
    for word in scene.words:
        ax.text(
            word.x, word.y, word.text, fontsize=scale * word.size, color=word.colour, zorder=4, rotation=90.0 if word.turned else 0.0,
            rotation_mode="anchor", ha={"start": "left", "middle": "center", "end": "right"}[word.anchor], va="center_baseline",
            fontweight="bold" if word.bold else "normal", **PLAIN,
        )  # fmt: skip
    return ax


def _paint_curve(curve: Curve, ax: Axes, scale: float) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    if curve.thickness:
        path = Path(list(curve.points), [Path.MOVETO] + [Path.CURVE4] * (len(curve.points) - 1))
        thick = curve.thickness
        dashes: Any = (0.0, tuple(length / thick for length in curve.dashes)) if curve.dashes else "solid"
        line: dict[str, Any] = {"edgecolor": curve.colour, "linestyle": dashes, "capstyle": "butt"}
        ax.add_patch(PathPatch(path, facecolor="none", linewidth=scale * thick, alpha=curve.opacity, zorder=2, **line))
    if curve.head:
        inside = PAPER if curve.hollow else curve.colour
        ax.add_patch(Polygon(list(curve.head), facecolor=inside, edgecolor=curve.colour, linewidth=scale * 1.2, joinstyle="round",
                             alpha=curve.opacity, zorder=2.1))  # fmt: skip
