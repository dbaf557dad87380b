"""What of NVIDIA is in the machine, whatever NVML says: the device on the bus and the kernel's driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.gpu.nvml import text
from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

_PCI = "/sys/bus/pci/devices"
_VENDOR = "0x10de"
_DISPLAY = "0x03"
"""PCI class of display controllers: VGA is 0x0300, a card without outputs 0x0302."""
_WINDOWS_PCI_KEY = r"HKLM\SYSTEM\CurrentControlSet\Enum\PCI"
_WSL_LIBRARIES = ("/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1")


class Hardware(NamedTuple):
    """Whether a card is there, and the kernel driver bound to it (None: no driver, or not Linux)."""

    present: Fact[bool]
    driver: Fact[str]


def read_hardware(outside: Outside) -> Hardware:
    """Looks at the PCI bus, WSL's bridge or Windows' registry. Never raises."""
    if outside.platform == "win32":
        return Hardware(attempt(lambda: _on_windows(outside)), None)
    if outside.platform != "linux":
        return Hardware(False, None)  # no NVIDIA driver for any other system that llama.cpp builds for
    if outside.exists("/dev/dxg"):
        return Hardware(_through_wsl(outside), None)
    found = attempt(lambda: _on_pci(outside))
    return Hardware(found, found) if isinstance(found, Unknown) else found


def _on_pci(outside: Outside) -> Hardware:
    """An NVIDIA device of PCI class 0x03 (display), and the driver of the first that has one."""
    present, driver = False, None
    for name in outside.list_folder(_PCI):
        vendor = attempt(lambda name=name: outside.read_text(f"{_PCI}/{name}/vendor", 64).strip())  # type: ignore[misc]
        if vendor != _VENDOR or not outside.read_text(f"{_PCI}/{name}/class", 64).startswith(_DISPLAY):
            continue
        present = True
        if driver is None and outside.exists(f"{_PCI}/{name}/driver"):
            driver = outside.real_path(f"{_PCI}/{name}/driver").rpartition("/")[2]
    return Hardware(present, driver)


def _through_wsl(outside: Outside) -> Fact[bool]:
    """WSL has /dev/dxg for cards of every maker; the driver's libraries tell whose it is."""
    if any(outside.exists(path) for path in _WSL_LIBRARIES):
        return True
    return Unknown("Windows passes on a card but no NVIDIA library: another maker's card, or a driver without WSL")


def _on_windows(outside: Outside) -> bool:
    shown = outside.run(["reg", "query", _WINDOWS_PCI_KEY], timeout=3.0)
    return "VEN_10DE" in shown.stdout.upper()


def module_version(outside: Outside) -> Fact[str]:
    """The version of the loaded kernel module; None when it is not loaded."""
    if outside.platform != "linux":
        return None
    try:
        return text(outside.read_text("/sys/module/nvidia/version", 4096))
    except OutsideError as error:
        return None if error.kind == "missing" else Unknown(str(error))
