"""Text in, a whole file out: written beside its place and then moved there, so that a failure leaves what was there."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from os import PathLike
from pathlib import Path

from ordag.errors import OutputError


def write_whole(path: str | PathLike[str], content: str | bytes) -> Path:
    """Write all of `content` to `path`, or nothing."""
    target = Path(path).resolve()
    if target.is_dir():
        raise OutputError(f"{path} is a folder: give the name of a file in it.")
    if not target.parent.is_dir():
        raise OutputError(f"There is no folder {target.parent}: make it first, or write elsewhere.")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{path} is write-protected and was left as it is: choose another name.")
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex[:8]}.part")
    try:
        with open(beside, "xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        kept = " What was there before is unchanged." if target.exists() else ""
        raise OutputError(f"{path} could not be written: {error.strerror or error}.{kept}") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    return target
