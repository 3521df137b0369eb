"""The leak scan against the floor of looking for UUIDs in the same bytes.

Figures are of a folder of generated traces; `LEAK_TRACES` says how many (20,000 are about 330 MB).
"""

from __future__ import annotations

import json
import os
import random
import re
import time
import uuid
from pathlib import Path

import pytest

from modelcontext_core.leak_report.batch import Settings, scan_files
from modelcontext_core.leak_report.runners import locally
from modelcontext_core.leak_report.tasks import make_tasks, pieces_of

UUID = re.compile(rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
SENTENCE = "the order was shipped from store and waits in customs until papers arrive for customer review today"
WORDS = SENTENCE.split()
TRACES = int(os.environ.get("LEAK_TRACES", "500"))
MOST_TIMES_THE_FLOOR = 15


def write_traces(folder: Path, number: int) -> None:
    """Traces of an agent: six calls each, of a declared tool and of two that nobody declared; thirty ids in 16 KB."""
    chance = random.Random(5)

    def made_id() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    for count in range(number):
        messages: list[dict[str, object]] = [{"role": "system", "content": text(100)}]
        messages.append({"role": "user", "content": text(30)})
        for call in range(6):
            tool = ("crm_lookup", "search_knowledge", "run_report")[call % 3]
            arguments = json.dumps({"query": text(8), "customer_id": made_id()})
            function = {"name": tool, "arguments": arguments}
            made = {"id": f"c{call}", "type": "function", "function": function}
            rows = [{"order_id": made_id(), "knowledge_id": made_id(), "note": text(170)} for _ in range(2)]
            messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
            messages.append({"role": "tool", "tool_call_id": f"c{call}", "content": json.dumps({"rows": rows})})
        messages.append({"role": "assistant", "content": text(80)})
        written = json.dumps({"model": "gpt-4o", "messages": messages})
        folder.joinpath(f"t{count:05d}.json").write_text(written, encoding="utf-8")


@pytest.mark.timeout(3600)
def test_a_scan_is_a_few_times_the_floor(tmp_path: Path) -> None:
    """Reading, parsing, encoding and counting on two cores, against `UUID.finditer` over the same bytes on one."""
    write_traces(tmp_path, TRACES)
    paths = sorted(tmp_path.iterdir())
    began = time.perf_counter()
    found = sum(1 for path in paths for _ in UUID.finditer(path.read_bytes()))
    floor = time.perf_counter() - began
    tasks = list(make_tasks(piece for path in paths for piece in pieces_of(path)))
    for suggest in (False, True):
        began = time.perf_counter()
        result = scan_files(tasks, Settings(suggest=suggest), locally(2))
        seconds = time.perf_counter() - began
        megabytes = result.report.totals.bytes / 1e6
        print(f"{megabytes:.0f} MB, suggestions {suggest}: {seconds:.1f} s, {seconds / floor:.1f} x the floor")
        assert 0 < result.report.totals.leaks <= found
        if TRACES >= 5_000:  # with fewer, starting the processes is what is measured
            assert seconds < MOST_TIMES_THE_FLOOR * floor
