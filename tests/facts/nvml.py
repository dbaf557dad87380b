"""Runs a collector over the real NVML binding and a stub of the driver's library (nvml_stub.c)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("nvml_stub.c")
LIBRARY = "libnvidia-ml.so.1"


def build_stub(folder, *flags):
    """Compile the stub into `folder`; skips the test where that is not possible."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not sys.platform.startswith("linux") or not compiler:
        pytest.skip("the NVML stub needs Linux and a C compiler (cc)")
    target = Path(folder) / LIBRARY
    subprocess.run(
        [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, "-o", str(target), str(SOURCE)],
        check=True,
        timeout=60,
    )
    return str(folder)


def run_python(arguments, stub, variables):
    """What a fresh interpreter prints as JSON when the loader finds the stub first: NVML is loaded once a process."""
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LD_LIBRARY_PATH": stub, **variables}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)
