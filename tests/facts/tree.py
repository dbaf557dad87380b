"""A made-up machine: the real Outside, looking at a folder of real files as if it were `/`."""

import os
from pathlib import Path

import pytest

from doctor.outside import Completed, Outside, OutsideError

GIB = 1 << 30


class Link(str):
    """Where a link of the tree leads; an absolute path means one inside the tree."""


class Tree(Outside):
    """`files`: absolute path -> text, bytes, `Link` or None (a folder). `answers`: command line -> what it prints."""

    def __init__(self, root, files, *, environ=None, answers=None, release="6.8.0-45-generic", machine="x86_64"):
        if os.name != "posix":
            pytest.skip("a made-up Linux machine needs POSIX paths and links")
        super().__init__({"PATH": "/usr/local/bin:/usr/bin:/bin", **(environ or {})}, "linux")
        self.root = str(root)
        self.answers = answers or {}
        self.names = ("Linux", release, machine)
        self.memlock = 8 << 20
        for path, content in files.items():
            place = Path(self.root + path)
            if content is None:
                place.mkdir(parents=True, exist_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Link):
                target = self.root + content if content.startswith("/") else str(content)
                place.symlink_to(target)
            elif isinstance(content, bytes):
                place.write_bytes(content)
            else:
                place.write_text(content, encoding="utf-8")

    def _inside(self, path):
        return self.root + path if path.startswith("/") else path

    def open(self, path):
        return super().open(self._inside(path))

    def stat(self, path):
        return super().stat(self._inside(path))

    def list_folder(self, path, limit=10_000):
        return super().list_folder(self._inside(path), limit)

    def real_path(self, path):
        real = os.path.realpath(self._inside(path))
        return real.removeprefix(os.path.realpath(self.root)) or "/"

    def disk_usage(self, path):
        return 1000 * GIB, 400 * GIB

    def which(self, program):
        for folder in self.environ["PATH"].split(":"):
            if self.exists(f"{folder}/{program}"):
                return f"{folder}/{program}"
        return None

    def run(self, argv, *, timeout, limit=1 << 20, environ=None):
        answer = self.answers.get(" ".join(argv))
        if answer is None:
            raise OutsideError("missing", f"{argv[0]}: no such program")
        if isinstance(answer, OutsideError):
            raise answer
        return Completed(0, answer[:limit], "", len(answer) > limit)

    def uname(self):
        return self.names

    def memlock_limit(self):
        return self.memlock

    def load_average(self):
        return 0.5


def cpuinfo(name, threads, flags, package=0):
    """/proc/cpuinfo of a processor; `threads` gives the core of each logical processor."""
    blocks = [
        f"processor\t: {number}\nvendor_id\t: GenuineIntel\nmodel name\t: {name}\nphysical id\t: {package}\n"
        f"core id\t\t: {core}\nflags\t\t: fpu vme sse sse2 {flags}\npower management:\n"
        for number, core in enumerate(threads)
    ]
    return "\n".join(blocks) + "\n"


def meminfo(total, available, swap=0, swap_free=0):
    """/proc/meminfo; sizes in GiB."""
    rows = {
        "MemTotal": total,
        "MemFree": available / 2,
        "MemAvailable": available,
        "SwapTotal": swap,
        "SwapFree": swap_free,
    }
    return "".join(f"{name + ':':16}{int(value * (1 << 20)):8d} kB\n" for name, value in rows.items())


def os_release(name):
    return f'NAME="Linux"\nPRETTY_NAME="{name}"\nID=linux\n'


def disk(device, name, *, rotational, partition=None):
    """The files of /sys for one disk, and for its partition if the mount is one."""
    folder = f"/sys/devices/pci0000:00/0000:00:17.0/block/{name}"
    place = f"{folder}/{partition}" if partition else folder
    return {
        f"{folder}/queue/rotational": f"{int(rotational)}\n",
        f"{place}/dev": f"{device}\n",
        f"/sys/dev/block/{device}": Link(place),
        f"/sys/class/block/{partition or name}": Link(place),
    }


def gpu_on_bus(address, *, driver="nvidia", device="0x2204", vendor="0x10de", kind="0x030000"):
    """The files of /sys for a display device; the sound function beside it belongs to it as on real cards."""
    folder = f"/sys/bus/pci/devices/0000:{address}.0"
    files = {
        f"{folder}/vendor": f"{vendor}\n",
        f"{folder}/class": f"{kind}\n",
        f"{folder}/device": f"{device}\n",
        f"/sys/bus/pci/devices/0000:{address}.1/vendor": f"{vendor}\n",
        f"/sys/bus/pci/devices/0000:{address}.1/class": "0x040300\n",
    }
    if driver:
        files[f"/sys/bus/pci/drivers/{driver}"] = None
        files[f"{folder}/driver"] = Link(f"/sys/bus/pci/drivers/{driver}")
    return files


def host_config(gcc, clang, msvc):
    """The lines of a toolkit's include/crt/host_config.h that refuse compilers: gcc above, clang and _MSC_VER from there on."""
    return (
        "#if defined(__GNUC__)\n"
        f"#if __GNUC__ > {gcc}\n#error -- unsupported GNU version! gcc versions later than {gcc} are not supported!\n#endif\n"
        f"#if (__clang_major__ >= {clang}) || (__clang_major__ < 3)\n#error -- unsupported clang version!\n#endif\n#endif\n"
        f"#if _MSC_VER < 1910 || _MSC_VER >= {msvc}\n#error -- unsupported Microsoft Visual Studio version!\n#endif\n"
    )
