"""A fit in, a picture of one kind out: on a matplotlib Axes, or as a file. One file per kind; the registry is here."""

from __future__ import annotations

import inspect
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from ordag.checks import check_choice, short
from ordag.errors import OutputError, SettingError
from ordag.picture.scene import Scene
from ordag.picture.svg import svg
from ordag.show.plots import diagnostics, graph, matrix, neighbourhood, order, support
from ordag.show.plots.painter import new_axes, paint, pyplot
from ordag.show.view import View
from ordag.words import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ordag.fit import Fit

SCENES: dict[str, Callable[..., Scene]] = {
    "graph": graph.scene,
    "matrix": matrix.scene,
    "neighbourhood": neighbourhood.scene,
}
"""Kinds that are boxes and arrows: painted alike on axes and in a page."""

CHARTS: dict[str, Callable[..., Any]] = {
    "order": order.chart,
    "support": support.chart,
    "diagnostics": diagnostics.chart,
}
"""Kinds that are numbers along an axis."""

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
    """A picture of this kind on these axes, or on new ones of a fitting size; see `ordag.Fit.plot`."""
    view = View(fit)
    chosen = _checked(view, kind, options)
    with _looks():
        if chosen in SCENES:
            return paint(SCENES[chosen](view, **options), ax)
        return CHARTS[chosen](view, new_axes if ax is None else lambda *_: ax, **options)  # type: ignore[no-any-return]


def drawing(fit: Fit, kind: str | None = None, **options: Any) -> str | None:
    """SVG for a page, None for kinds that are charts."""
    view = View(fit)
    chosen = _checked(view, kind, options)
    return svg(SCENES[chosen](view, **options)) if chosen in SCENES else None


def picture(fit: Fit, path: str | PathLike[str], kind: str | None = None, **options: Any) -> bytes:
    """The file of this name: SVG, PDF or PNG by its ending. The same fit gives the same bytes."""
    check_picture(path)
    ending = str(path).lower()[-4:]
    drawn = drawing(fit, kind, **options) if ending == ".svg" else None
    if drawn is not None:
        return f"{drawn}\n".encode()
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    content = io.BytesIO()
    with _looks():
        axes = plot(fit, kind, **options)
        figure = axes.get_figure(root=True) if "root" in inspect.signature(axes.get_figure).parameters else axes.figure
        figure.savefig(content, format=ending[1:], dpi=192, metadata=metadata[ending])  # type: ignore[union-attr]
    return content.getvalue()


def check_picture(path: str | PathLike[str]) -> None:
    """Refuse a name by which `picture` would not know what to draw."""
    if not str(path).lower().endswith(ENDINGS):
        raise OutputError(f"{path} has none of the endings of a picture: {', '.join(ENDINGS)}.")


def check_kind(kind: str | None, options: dict[str, Any]) -> None:
    """Refuse an unknown kind, or options that it does not have; without a kind, options that no kind has."""
    if kind is not None:
        check_choice("kind", kind, KINDS)
    known = {name: _options(name) for name in ([kind] if kind else KINDS)}
    for option in options:
        if not any(option in names for names in known.values()):
            own = sorted({name for names in known.values() for name in names})
            of = f"kind={kind!r}" if kind else "a plot"
            raise SettingError(
                f"{option}={short(options[option])}: {of} has the options {', '.join(own)}.{did_you_mean(option, own)}",
                [option],
            )


def _checked(view: View, kind: str | None, options: dict[str, Any]) -> str:
    check_kind(kind, options)
    if kind is None:
        kind = next((name for name in KINDS if options and set(options) <= set(_options(name))), view.first_look)
    check_kind(kind, options)
    return kind


def _options(kind: str) -> list[str]:
    """The options of a kind are the keywords of its function."""
    parameters = inspect.signature((SCENES | CHARTS)[kind]).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


@contextmanager
def _looks() -> Iterator[None]:
    """Our settings of matplotlib; letters that its font lacks are drawn as boxes, and no cause for alarm."""
    from matplotlib import rc_context

    pyplot()  # before our settings, which do not last
    with rc_context(LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=re.escape("Glyph "))
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield
