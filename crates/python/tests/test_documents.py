"""The programs of the documents run."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ["crates/python/README.md", "docs/guide/python.md"]


def programs():
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)):
            yield pytest.param(program, id=f"{page}-{number}")


@pytest.mark.parametrize("program", list(programs()))
def test_program(program, monkeypatch):
    monkeypatch.setenv("TRIFOLD_DEVICE", "cpu")
    exec(compile(program, "a document", "exec"), {})


def test_all_pages_have_programs():
    pages = {case.id.rsplit("-", 1)[0] for case in programs()}
    assert pages == set(PAGES)
