"""`Scene`: boxes, curves and words with positions, colours and widths, for SVG and matplotlib alike; and the scene of a graph.

Colours are those of Okabe and Ito, which all kinds of colour vision tell apart. In grey, an arrow with a negative weight has an open head.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ordag.common.arrays import Mask
from ordag.common.words import counted, shortened_apart, shown
from ordag.picture.layout import MARGIN, Layout, Point, layered

BLUE, VERMILION, INK, GREY, PAPER = "#0072B2", "#D55E00", "#1b2733", "#5b6773", "#ffffff"
FILL, RIM = "#f3f6fa", "#33475b"

NAME, SMALL = 13.0, 12.0
"""Font sizes in pixels; nothing is smaller than the second."""

MAX_NAME_LETTERS = 18
"""Letters of a name in a box."""

UNSURE = 0.5
"""The strength of an edge below which the legend explains pale edges."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A rectangle; `title` is its tooltip, and the rim of a `dashed` one is."""

    x: float
    y: float
    width: float
    height: float
    fill: str = FILL
    rim: str = RIM
    radius: float = 0.0
    thickness: float = 1.0
    opacity: float = 1.0
    title: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Area:
    """A polygon without a rim."""

    points: Sequence[Point]
    fill: str


@dataclass(frozen=True)
class Curve:
    """Cubic Bézier pieces: a start, then three points per piece. `head` is a triangle, tip first, filled with paper where `hollow`."""

    points: Sequence[Point]
    colour: str = INK
    thickness: float = 1.0
    opacity: float = 1.0
    dashed: bool = False
    head: Sequence[Point] = ()
    hollow: bool = False
    title: str = ""
    dotted: bool = False

    @property
    def dashes(self) -> tuple[float, float] | None:
        """The lengths of dash and gap; None for a full line."""
        if self.dotted:
            return self.thickness, 0.8 * self.thickness + 1.5
        return (6.0 + self.thickness, 3.0 + self.thickness) if self.dashed else None


@dataclass(frozen=True)
class Word:
    """A line of text, centred at the height y; `turned` text reads upwards."""

    x: float
    y: float
    text: str
    size: float = NAME
    colour: str = INK
    anchor: Anchor = "middle"
    turned: bool = False
    bold: bool = False
    title: str = ""


@dataclass(frozen=True)
class Scene:
    """A picture, painted in this order: areas, curves, boxes, words. Lengths are CSS pixels, y points down."""

    width: float
    height: float
    about: str
    areas: Sequence[Area] = ()
    curves: Sequence[Curve] = ()
    boxes: Sequence[Box] = ()
    words: Sequence[Word] = ()


@dataclass(frozen=True)
class Stroke:
    """An edge to draw, by column numbers. effect: the standardised weight, nan if unknown. strength: how sure it is, from 0 to 1.

    tied: whether its direction rests on a near-tie. directed: False for a line. faded: drawn as background. hidden: whether a hidden
    common cause could explain it.
    """

    source: int
    target: int
    directed: bool = True
    effect: float = math.nan
    strength: float = 1.0
    tied: bool = False
    faded: bool = False
    title: str = ""
    hidden: bool = False


def text_width(text: str, size: float = NAME) -> float:
    """Return the approximate width of a line in a wide sans-serif font."""
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in "ijlI.,:;'|![]()ft ":
        return 0.37
    if letter in "mwMW@%—…→":
        return 0.98
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0.0
    return 0.71 if letter.isupper() else 0.63


def labels(names: Iterable[str]) -> dict[str, str]:
    """Map each name to its label in a box; labels of different names differ."""
    written = {name: shown(name) for name in names}
    short = shortened_apart(written.values(), MAX_NAME_LETTERS)
    return {name: short[text] for name, text in written.items()}


def box_width(label: str) -> float:
    """Return the width of the box for a label."""
    return max(44.0, math.ceil(text_width(label) + 22.0))


def place(names: Sequence[str], adjacency: Mask, order: Sequence[int] | None = None) -> Layout:
    """Lay out boxes for these names."""
    short = labels(names)
    return layered(adjacency, order, [box_width(short[name]) for name in names])


def graph_scene(
    names: Sequence[str],
    layout: Layout,
    strokes: Sequence[Stroke],
    legend: bool = True,
    numbers: Sequence[str] = (),
    categories: Collection[int] = (),
) -> Scene:
    """Draw a box per name, and an arrow or line per stroke with its number, if any. The boxes of categories are round and dashed."""
    curves = [stroke_curve(stroke, layout.curves[stroke.source, stroke.target]) for stroke in strokes]
    boxes, words, short = [], [], labels(names)
    for k, (name, (x, y), (width, height)) in enumerate(zip(names, layout.centres, layout.sizes, strict=True)):
        box, word = name_box(name, short[name], x, y, width, height, category=k in categories)
        boxes.append(box)
        words.append(word)
    edges = "1 edge" if len(strokes) == 1 else f"{len(strokes)} edges"
    beside = f" and {counted(len(categories), 'category', 'categories')}" if categories else ""
    about = f"Causal graph of {counted(len(names) - len(categories), 'variable')}{beside} with {edges}, causes above effects"
    for box, word in written_on(curves, numbers, boxes):
        boxes.append(box)
        words.append(word)
    scene = Scene(layout.width, layout.height, about, (), curves, boxes, words)
    return with_legend(scene, [*stroke_samples(strokes), *([CATEGORY] if categories else [])]) if legend else scene


def written_on(curves: Sequence[Curve], texts: Sequence[str], boxes: Sequence[Box]) -> list[tuple[Box, Word]]:
    """Place texts on curves, as near to the middle as they overlap no box and no other text."""
    found: list[tuple[Box, Word]] = []
    for curve, text in zip(curves, texts, strict=False):
        if not text:
            continue
        wide, high = text_width(text, SMALL) + 4.0, SMALL + 3.0
        spots = []
        for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
            x, y = _point(curve.points, share)
            spots.append(Box(x - wide / 2, y - high / 2, wide, high, PAPER, thickness=0.0))
        others = [*boxes, *(box for box, _ in found)]
        free = [spot for spot in spots if not any(_overlap(spot, other) for other in others)]
        spot = (free or spots)[0]
        found.append((spot, Word(spot.x + wide / 2, spot.y + high / 2, text, SMALL, curve.colour)))
    return found


def _point(points: Sequence[Point], share: float) -> Point:
    """Return the point after this share of a curve's pieces."""
    pieces = (len(points) - 1) // 3
    k = min(int(share * pieces), pieces - 1)
    t = share * pieces - k
    weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3)
    four = points[3 * k : 3 * k + 4]
    return tuple(sum(w * one[i] for w, one in zip(weights, four, strict=True)) for i in (0, 1))  # type: ignore[return-value]


def _overlap(a: Box, b: Box) -> bool:
    apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
    return not apart


def name_box(
    name: str, label: str, x: float, y: float, width: float, height: float, faded: bool = False, category: bool = False
) -> tuple[Box, Word]:
    """Return the rounded box of a variable around (x, y), or the round and dashed one of a category, and its label."""
    full = shown(name)
    rim, ink = ("#a9b4c0", GREY) if faded else (RIM, INK)
    box = Box(x - width / 2, y - height / 2, width, height, PAPER if faded else FILL, rim, 8.0, 1.2, title=full)
    if category:
        box = replace(box, radius=min(width, height) / 2, dashed=True, thickness=1.5)
    return box, Word(x, y, label, colour=ink, title=full)


def stroke_curve(stroke: Stroke, points: Sequence[Point]) -> Curve:
    """Return an edge: width by size, colour and head by sign, opacity by strength, dashed where the direction is near a tie, and dotted
    where a hidden common cause could explain it."""
    size = 0.0 if math.isnan(stroke.effect) else abs(stroke.effect)
    thickness = 1.6 if math.isnan(stroke.effect) else 1.3 + 3.2 * min(1.0, size)
    colour = INK if math.isnan(stroke.effect) else VERMILION if stroke.effect < 0 else BLUE
    opacity = 0.3 + 0.7 * min(max(stroke.strength, 0.0), 1.0)
    if stroke.faded:
        thickness, colour, opacity = 1.0, GREY, 0.4
    head: list[Point] = []
    path = list(points)
    if stroke.directed:
        x, y = path[-1]
        up = math.copysign(1.0, y - path[-2][1]) if y != path[-2][1] else 1.0
        long, broad = 7.5 + 1.6 * thickness, 3.1 + 0.95 * thickness
        head = [(x, y), (x - broad, y - up * long), (x + broad, y - up * long)]
        path[-1] = (x, y - up * (long - 0.6))
    return Curve(
        path,
        colour,
        thickness,
        opacity,
        stroke.tied and stroke.directed,
        head,
        stroke.effect < 0,
        stroke.title,
        stroke.hidden,
    )


Sample = tuple[Callable[[float, float], Curve], str]
"""A function that draws a sample from its left end and height, and the words beside it."""

SAMPLE = 34.0


def stroke_samples(strokes: Sequence[Stroke]) -> list[Sample]:
    """Return legend entries for the kinds of edges that occur."""
    solid = [stroke for stroke in strokes if not stroke.faded]
    kinds: list[tuple[bool, Stroke, str]] = [
        (any(one.effect > 0 for one in solid), Stroke(0, 1, effect=0.4), "raises its effect"),
        (any(one.effect < 0 for one in solid), Stroke(0, 1, effect=-0.4), "lowers its effect (open head)"),
        (
            any(one.tied and one.directed and not one.hidden for one in solid),
            Stroke(0, 1, tied=True),
            "direction near a tie",
        ),
        (any(one.hidden for one in solid), Stroke(0, 1, hidden=True), "a hidden common cause could explain it"),
        (any(one.strength < UNSURE for one in solid), Stroke(0, 1, strength=0.1), "paler: weaker evidence"),
        (any(not one.directed for one in solid), Stroke(0, 1, directed=False), "no direction found"),
        (any(one.faded for one in strokes), Stroke(0, 1, faded=True), "an edge further away"),
    ]
    samples: list[Sample] = [(_sample(stroke), words) for there, stroke, words in kinds if there]
    sizes = {round(min(1.0, abs(one.effect)), 1) for one in solid if not math.isnan(one.effect)}
    if len(sizes) > 1:
        samples.append((_wedge, "wider: larger in standard deviations"))
    return samples


def _sample(stroke: Stroke) -> Callable[[float, float], Curve]:
    def at(x: float, y: float) -> Curve:
        upright = stroke_curve(stroke, [(0.0, 0.0), (0.0, 1.0), (0.0, SAMPLE - 1.0), (0.0, SAMPLE)])
        # horizontal: along becomes x, across becomes y
        turn = [(x + along, y + across) for across, along in upright.points]
        return replace(upright, points=turn, head=[(x + along, y + across) for across, along in upright.head])

    return at


def _wedge(x: float, y: float) -> Curve:
    return Curve([(x, y)], GREY, 0.0, head=[(x, y), (x + SAMPLE, y - 3.0), (x + SAMPLE, y + 3.0)])


def _round_box(x: float, y: float) -> Curve:
    """Return the dashed outline of a small category."""
    high, long = 6.0, SAMPLE - 8.0
    left, right, top, bottom = x + 4.0, x + 4.0 + long, y - high, y + high
    points = [(left + high, top), (left + long / 2, top), (left + long / 2, top), (right - high, top)]
    points += [(right + 2.0, top), (right + 2.0, bottom), (right - high, bottom)]
    points += [(left + long / 2, bottom), (left + long / 2, bottom), (left + high, bottom)]
    points += [(left - 2.0, bottom), (left - 2.0, top), (left + high, top)]
    return Curve(points, RIM, 1.2, dashed=True)


CATEGORY: Sample = (_round_box, "a category: it may be a cause, and has none")
"""The legend entry of categories."""


def with_legend(scene: Scene, samples: Sequence[Sample]) -> Scene:
    """Return the scene with a legend below, in as many lines as needed."""
    if not samples:
        return scene
    widths = [SAMPLE + 8.0 + text_width(words, SMALL) for _, words in samples]
    width = max(scene.width, 420.0, *(2 * MARGIN + wide for wide in widths))
    x, y = MARGIN, scene.height + 8.0
    curves: list[Curve] = []
    words: list[Word] = []
    for (draw, text), wide in zip(samples, widths, strict=True):
        if x > MARGIN and x + wide > width - MARGIN:
            x, y = MARGIN, y + 20.0
        curves.append(draw(x, y))
        words.append(Word(x + SAMPLE + 8.0, y, text, SMALL, GREY, "start"))
        x += wide + 22.0
    right = max(word.x + text_width(word.text, SMALL) for word in words) + MARGIN
    wide = max(scene.width, right)
    middle = moved(scene, (wide - scene.width) / 2, 0.0)
    curves, words = [*middle.curves, *curves], [*middle.words, *words]
    return replace(middle, width=wide, height=y + 20.0, curves=curves, words=words)


def moved(scene: Scene, across: float, down: float) -> Scene:
    """Return the scene shifted right and down, on a picture that is larger by as much."""

    def there(points: Sequence[Point]) -> list[Point]:
        return [(x + across, y + down) for x, y in points]

    return replace(
        scene,
        width=scene.width + across,
        height=scene.height + down,
        areas=[replace(area, points=there(area.points)) for area in scene.areas],
        curves=[replace(one, points=there(one.points), head=there(one.head)) for one in scene.curves],
        boxes=[replace(box, x=box.x + across, y=box.y + down) for box in scene.boxes],
        words=[replace(word, x=word.x + across, y=word.y + down) for word in scene.words],
    )
