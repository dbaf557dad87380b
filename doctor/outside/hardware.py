"""The machine itself: NVML and psutil, the operating system, memory and processors."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from doctor.outside.world import OutsideError, World

if TYPE_CHECKING:
    from types import ModuleType

MEASURED_BYTES = 96 << 20
"""Bytes of each of the two buffers by which the speed of memory is measured: more than most caches hold."""


class Hardware(World):
    """Modules that look at the machine, and what the system says of itself."""

    def nvml(self) -> ModuleType:
        """The NVML binding (`pynvml`), not initialised. Raises OutsideError when it cannot be imported."""
        try:
            import pynvml
        except ImportError as error:
            raise OutsideError("missing", f"the package nvidia-ml-py is not usable ({error})") from None
        return pynvml  # type: ignore[no-any-return]

    def psutil(self) -> ModuleType:
        """psutil. Raises OutsideError when it cannot be imported."""
        try:
            import psutil
        except ImportError as error:
            raise OutsideError("missing", f"the package psutil is not usable ({error})") from None
        return psutil

    def uname(self) -> tuple[str, str, str]:
        """System name, kernel release and machine architecture."""
        import platform

        found = platform.uname()
        return found.system, found.release, found.machine

    def os_version(self) -> str:
        """The operating system's name and version in words, "" when it does not tell."""
        import platform

        if self.platform == "darwin":
            return f"macOS {platform.mac_ver()[0]}"
        if self.platform == "win32":
            return f"Windows {platform.release()} {platform.version()}"
        return ""

    def memlock_limit(self) -> int | None:
        """The limit on locked memory in bytes, None when there is none. Raises OutsideError where the OS knows none."""
        try:
            import resource
        except ImportError:
            raise OutsideError("missing", "this system has no limit on locked memory") from None
        soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
        return None if soft == resource.RLIM_INFINITY else soft

    def processor_feature(self, number: int) -> bool:
        """Windows' answer to IsProcessorFeaturePresent(number). Raises OutsideError on other systems."""
        import ctypes

        windll: Any = vars(ctypes).get("windll")
        if windll is None:
            raise OutsideError("missing", "only Windows answers this")
        return bool(windll.kernel32.IsProcessorFeaturePresent(number))

    def memory_rate(self, seconds: float = 0.25) -> float:
        """Bytes a second that this machine reads from memory, with all processors at once. Raises OutsideError.

        Compares two equal buffers that no cache holds, which is reading alone and lets go of Python's lock.
        """
        import ctypes
        import threading

        try:
            library = ctypes.CDLL("msvcrt" if self.platform == "win32" else None)
            compare = library.memcmp
            compare.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
            buffers = [bytearray(b"\x01") * MEASURED_BYTES for _ in range(2)]
        except (OSError, AttributeError, MemoryError) as error:
            raise OutsideError("missing", f"the speed of memory cannot be measured ({error})") from None
        first, second = (ctypes.addressof(ctypes.c_char.from_buffer(buffer)) for buffer in buffers)
        workers = min(os.cpu_count() or 1, 16)
        size = MEASURED_BYTES // workers
        done = [0] * workers
        end = time.monotonic() + seconds

        def work(at: int) -> None:
            while time.monotonic() < end:
                compare(first + at * size, second + at * size, size)
                done[at] += 2 * size

        threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(workers)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(done) / (time.monotonic() - started)

    def load_average(self) -> float:
        """Runnable tasks, averaged over a minute. Raises OutsideError where the OS does not say."""
        try:
            return os.getloadavg()[0]
        except (OSError, AttributeError):
            raise OutsideError("missing", "this system has no load average") from None
