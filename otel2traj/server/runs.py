"""The runs below one folder, for someone who asks again and again and may not leave it."""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path

from ..api.runs import is_folder_of_runs, runs_at
from ..api.show import show
from ..api.source import drive, each
from ..auditors.spectrum import ElementSink
from ..canonical import JsonObject
from ..errors import EvidenceError, Otel2TrajError, RefusedError, UsageError
from ..outcome import EndStatus
from ..renderers.base import Mode, Part, RenderOptions
from ..renderers.search import Search
from ..renderers.select import Selection, parse_ranges
from .live_page import fingerprint


class Runs:
    """The runs of `root` as `runs_at` tells them, named by their path from it; a folder that holds none is one
    run, named `.`. Reads only, one question at a time, and never what lies outside `root`."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise EvidenceError(f"there is no folder {root}", hint="give the folder that holds the runs")
        self._root = root.resolve()
        self._rows: dict[Path, tuple[str, list[JsonObject]]] = {}
        self._lock = threading.Lock()

    def listed(self, *, failed: bool = False, offset: int = 0, limit: int = 50) -> JsonObject:
        """`{"runs": [row], "more": bool}`: how each ended, why, and its figures. With `failed` only those that did not
        end as succeeded. What cannot be read is a row with `unreadable`."""
        wanted = offset + limit
        with self._lock:
            rows: list[JsonObject] = []
            for place in runs_at(self._root):
                rows += [row for row in self._rows_of(place) if not failed or row.get("ended") != EndStatus.SUCCEEDED]
                if len(rows) > wanted:
                    break
            return {"runs": rows[offset:wanted], "more": len(rows) > wanted}

    def outcome(self, run: str, conversation: str | None = None) -> str:
        """The head of `show`: how the run ended, what went wrong, what is not known, task, answer, totals."""
        return self._shown(run, RenderOptions(part=Part.HEAD), conversation)

    def steps(self, run: str, steps: str, mode: Mode, characters: int, conversation: str | None = None) -> str:
        """Steps like `3` or `3-7,9` as `show` prints them, within so many characters."""
        chosen = Selection(ranges=parse_ranges(steps))
        options = RenderOptions(mode=mode, part=Part.STEPS, selection=chosen, budget=characters)
        return self._shown(run, options, conversation)

    def search(self, words: str, run: str | None, conversation: str | None, limit: int) -> JsonObject:
        """`{"hits": [{"run", "step", "agent", "line"}], "more": n, "unreadable": […]}` in one run or in all."""
        if not words.strip():
            raise UsageError("there is nothing to search for", hint="give words")
        hits: list[JsonObject] = []
        unread: list[JsonObject] = []
        count = 0
        with self._lock:
            for place in runs_at(self._root) if run is None else [self._find(run)]:
                try:
                    for name, push in each(place):
                        if conversation is not None and name != conversation:
                            continue
                        found = Search(words, limit - len(hits))
                        push(found)
                        count += found.count
                        hits += [{**self._named(place, name), **hit.to_json()} for hit in found.hits]
                except (Otel2TrajError, OSError) as err:
                    if run is not None:
                        raise
                    unread.append({**self._named(place, None), "unreadable": str(err)})
        return {"hits": hits, "more": count - len(hits), "unreadable": unread}

    def _shown(self, run: str, options: RenderOptions, conversation: str | None) -> str:
        out = BytesIO()
        with self._lock:
            show(self._find(run), out, options=options, conversation=conversation)
        return out.getvalue().decode("utf-8")

    def _find(self, run: str) -> Path:
        """The place of a run. Raises `RefusedError` for one outside the root, `EvidenceError` where there is none."""
        try:
            place = (self._root / run).resolve()
            inside = place.is_relative_to(self._root)
        except (OSError, ValueError) as err:
            raise EvidenceError(f"there is no run {run!r}") from err
        if not inside:
            raise RefusedError(f"{run!r} is outside the folder that is served")
        if not place.exists():
            raise EvidenceError(f"there is no run {run!r}", hint="list the runs to see their names")
        if is_folder_of_runs(place):
            raise UsageError(f"{run!r} is a folder of runs", hint="list the runs to see their names")
        return place

    def _rows_of(self, place: Path) -> list[JsonObject]:
        version = fingerprint(place)
        known = self._rows.get(place)
        if known is None or known[0] != version:
            known = self._rows[place] = (version, self._read(place))
        return known[1]

    def _read(self, place: Path) -> list[JsonObject]:
        rows: list[JsonObject] = []
        try:
            for name, push in each(place):
                sink = ElementSink("")
                push(sink)
                rows.append({**self._named(place, name), **{k: v for k, v in sink.run.row().items() if k != "name"}})
            if not rows:
                drive(place)  # says what was read and that none of it is a run
        except (Otel2TrajError, OSError) as err:
            rows.append({**self._named(place, None), "unreadable": str(err)})
        return rows

    def _named(self, place: Path, conversation: str | None) -> JsonObject:
        named: JsonObject = {"run": place.relative_to(self._root).as_posix()}
        return named if conversation is None else {**named, "conversation": conversation}
