"""The programs of the documents run."""

import ast
import inspect
import pathlib
import re
import runpy

import pytest

import trifold_gpu as gpu

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ["README.md", "crates/python/README.md", "docs/guide/python.md"]


def programs():
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)):
            yield pytest.param(program, id=f"{page}-{number}")


@pytest.mark.parametrize("program", list(programs()))
def test_program(program, monkeypatch):
    if "torch" in program:
        pytest.importorskip("torch")
    monkeypatch.setenv("TRIFOLD_DEVICE", "cpu")
    exec(compile(program, "a document", "exec"), {})


@pytest.mark.parametrize("example", sorted((ROOT / "crates/python/examples").glob("*.py")), ids=lambda path: path.name)
def test_example(example, monkeypatch):
    monkeypatch.setenv("TRIFOLD_DEVICE", "cpu")
    assert "__main__" in example.read_text(encoding="utf-8")
    runpy.run_path(str(example), run_name="__main__")


def test_all_pages_have_programs():
    pages = {case.id.rsplit("-", 1)[0] for case in programs()}
    assert pages == set(PAGES)


def test_stubs_say_what_the_module_has():
    tree = ast.parse((ROOT / "crates/python/trifold_gpu.pyi").read_text(encoding="utf-8"))
    said = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = [*node.args.args, *node.args.kwonlyargs]
            said.setdefault(node.name, []).append([name.arg for name in names])
        elif isinstance(node, ast.ClassDef):
            said[node.name] = None
    own = {name for name in dir(gpu) if not name.startswith("_") and name != "trifold_gpu"}
    assert set(said) == own
    for name, overloads in said.items():
        own = list(inspect.signature(getattr(gpu, name)).parameters) if overloads else []
        assert all(names == own for names in overloads or []), name
