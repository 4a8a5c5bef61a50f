"""The programs of the documents run."""

import doctest
import os
import pathlib
import re
import runpy
import subprocess
import sys

import numpy as np
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


def test_stubs_say_what_the_module_has(tmp_path):
    """By mypy, which compares each name, parameter, default and class."""
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    # In the wheel the module is in a package of its name.
    own = ["__all__", "_forms", "_program", "_run", "trifold_gpu"]
    allowed.write_text("".join(f"trifold_gpu.{name}\n" for name in own))
    command = [sys.executable, "-m", "mypy.stubtest", "trifold_gpu", "--allowlist", str(allowed), "--ignore-unused-allowlist"]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "crates/python"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_doctests():
    """Everything that is public has examples, and they run."""
    names = {name: getattr(gpu, name) for name in dir(gpu) if not name.startswith("_") and name != "trifold_gpu"}
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner()
    given = {**names, "numpy": np, "trifold_gpu": gpu}
    for name, of in {**names, "trifold_gpu": gpu}.items():
        # Of a module, its own text.
        tests = finder.find(of, name, module=False, globs=dict(given)) if of is not gpu else [of_text(gpu.__doc__, given)]
        assert sum(len(test.examples) for test in tests) > 0, f"{name} has no example"
        for test in tests:
            assert runner.run(test).failed == 0, name


def of_text(text, names):
    return doctest.DocTestParser().get_doctest(text, dict(names), "trifold_gpu", None, None)
