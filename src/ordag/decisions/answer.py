"""`Answer`: what the answers to questions about a graph have in common."""

from __future__ import annotations

from ordag.common.plain import Document


class Answer(Document):
    """An answer whose text is what the command line prints."""

    def __str__(self) -> str:
        from ordag.show.decisions import text

        return text(self)

    def __repr__(self) -> str:
        return str(self)
