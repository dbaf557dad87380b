"""The faults: what is broken, for which clients, which cause is the right one, and which commands can see it.

A module a subject; each registers its faults in the order of the page.
"""

from tests.real.matrix.faults import address, elsewhere, key, model, limits, between, server, settings, harmless  # noqa: F401, I001
from tests.real.matrix.faults.registry import CHECK, DEEP, FAULTS, HARMLESS, LOG, ORIGIN, VERIFY, Fault

__all__ = ["CHECK", "DEEP", "FAULTS", "HARMLESS", "LOG", "ORIGIN", "VERIFY", "Fault"]
