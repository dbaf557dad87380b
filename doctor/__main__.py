"""`python -m doctor` is the same as `doctor`."""

from doctor.cli import run

run()
