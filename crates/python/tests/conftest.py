"""The devices that are tested: the processor, and what TRIFOLD_PYTHON_DEVICES names, by parts of their lines."""

import os

import pytest

import trifold_gpu

NAMES = ["cpu", *filter(None, os.environ.get("TRIFOLD_PYTHON_DEVICES", "").split(","))]


@pytest.fixture(scope="session", params=NAMES)
def device(request):
    return trifold_gpu.Device(request.param)
