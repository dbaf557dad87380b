"""The disk a path lies on: what file system, what kind of disk, how much is free."""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doctor.facts.attempt import attempt
from doctor.facts.machine.mounts import mount_of, read_mounts
from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.machine.mounts import Mount
    from doctor.outside import Outside

_COMMAND_SECONDS = 2.0

_KINDS = {
    "network": (
        "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "fuse.davfs2", "fuse.sshfs",
        "fuse.rclone", "fuse.s3fs", "fuse.goofys", "fuse.gcsfuse", "fuse.glusterfs", "glusterfs", "ceph", "fuse.ceph",
        "lustre", "beegfs", "gpfs", "afs", "fuse.juicefs", "fuse.mount-s3",
    ),
    "memory": ("tmpfs", "ramfs", "rootfs", "hugetlbfs", "devtmpfs"),
    "host-share": (
        "9p", "virtiofs", "vboxsf", "prl_fs", "vmhgfs", "fuse.vmhgfs-fuse", "fuse.grpcfuse", "fuse.osxfs", "fakeowner",
    ),
}  # fmt: skip
"""File systems whose name alone says where the bytes are (names of Linux 6.12 and of FUSE programs)."""

_VIRTUAL_DISK = re.compile(r"(?:vd|xvd)[a-z]+")


@dataclass(frozen=True)
class Volume:
    """The disk a path lies on. `path` may not exist yet: then the nearest folder that does speaks for it.

    `kind`: ssd, hdd, network, memory, host-share (a folder of the host, seen from a virtual machine or container),
    windows-mount (a Windows drive seen from WSL).
    """

    path: str
    filesystem: Fact[str]
    kind: Fact[str]
    total_bytes: Fact[int]
    free_bytes: Fact[int]


def read_volume(outside: Outside, path: str, *, wsl: bool) -> Volume:
    """The disk of `path`. Never raises."""
    place = attempt(lambda: _existing(outside, path))
    if isinstance(place, Unknown):
        return Volume(path, place, place, place, place)
    look = {"linux": _linux, "darwin": _macos, "win32": _windows}.get(outside.platform)
    what: Any = Unknown(f"not known how to ask {outside.platform}")
    if look:
        what = attempt(lambda: look(outside, place, wsl))
    filesystem, kind = (what, what) if isinstance(what, Unknown) else what
    sizes = attempt(lambda: outside.disk_usage(place))
    total, free = (sizes, sizes) if isinstance(sizes, Unknown) else sizes
    return Volume(path, filesystem, kind, total, free)


def _existing(outside: Outside, path: str) -> str:
    """The path without links, or the nearest folder above it that exists."""
    dirname = ntpath.dirname if outside.platform == "win32" else posixpath.dirname
    place = outside.real_path(path)
    for _ in range(64):
        if outside.exists(place):
            return place
        above = dirname(place)
        if above == place:
            break
        place = above
    raise OutsideError("missing", f"{path}: neither it nor a folder above it exists")


def _kind_by_name(filesystem: str) -> str | None:
    return next((kind for kind, names in _KINDS.items() if filesystem in names), None)


# --- Linux ------------------------------------------------------------------------------------------------------


def _linux(outside: Outside, place: str, wsl: bool) -> tuple[Fact[str], Fact[str]]:
    mount = mount_of(read_mounts(outside), place)
    if mount is None:
        unknown = Unknown(f"{place}: not in the table of mounts")
        return unknown, unknown
    if wsl and _is_windows_drive(mount):
        return mount.filesystem, "windows-mount"
    kind = _kind_by_name(mount.filesystem)
    return mount.filesystem, kind or attempt(lambda: _disk_kind(outside, mount, wsl))


def _is_windows_drive(mount: Mount) -> bool:
    """WSL 1 mounts drives as drvfs; WSL 2 as 9p or virtiofs that name drvfs (`aname=drvfs`, source `drvfsa…`)."""
    return mount.filesystem == "drvfs" or "drvfs" in mount.options or mount.source.startswith("drvfs")


def _disk_kind(outside: Outside, mount: Mount, wsl: bool) -> Fact[str]:
    """ssd or hdd, from `queue/rotational` of the disk below the mount."""
    if mount.filesystem in ("overlay", "aufs", "zfs"):
        return Unknown(f"{mount.filesystem}: the disk below it does not show")
    # btrfs has a device number of its own: the name of the source leads to the disk.
    links = [f"/sys/dev/block/{mount.device}"]
    if mount.source.startswith("/dev/"):
        links.append(f"/sys/class/block/{posixpath.basename(outside.real_path(mount.source))}")
    for link in links:
        folder = outside.real_path(link)
        for disk in (folder, posixpath.dirname(folder)):  # a partition's folder lies in that of its disk
            if outside.exists(f"{disk}/queue/rotational"):
                turns = outside.read_text(f"{disk}/queue/rotational", 64).strip() == "1"
                name = posixpath.basename(disk)
                if name.startswith("zram"):
                    return "memory"
                if turns and (wsl or _VIRTUAL_DISK.fullmatch(name)):
                    return Unknown(f"{name} is a virtual disk: what lies below it does not show")
                return "hdd" if turns else "ssd"
    return Unknown(f"{mount.source}: no disk of that name in /sys")


# --- macOS and Windows ------------------------------------------------------------------------------------------


def _partition(outside: Outside, place: str) -> Any:
    """psutil's partition with the deepest mount point above `place`; None when there is none."""
    inside = place.casefold().replace("\\", "/").rstrip("/") + "/"
    found = [
        entry
        for entry in outside.psutil().disk_partitions(all=True)
        if inside.startswith(entry.mountpoint.casefold().replace("\\", "/").rstrip("/") + "/")
    ]
    return max(found, key=lambda entry: len(entry.mountpoint), default=None)


def _macos(outside: Outside, place: str, wsl: bool) -> tuple[Fact[str], Fact[str]]:
    entry = _partition(outside, place)
    if entry is None:
        return None, Unknown(f"{place}: not in the table of mounts")
    kind = _kind_by_name(entry.fstype)
    return entry.fstype, kind or attempt(lambda: _solid_state(outside, entry.device))


def _solid_state(outside: Outside, device: str) -> Fact[str]:
    shown = outside.run(["diskutil", "info", device], timeout=_COMMAND_SECONDS).stdout
    match = re.search(r"Solid State:\s+(Yes|No)", shown)
    return {"Yes": "ssd", "No": "hdd"}[match.group(1)] if match else Unknown(f"diskutil does not tell about {device}")


def _windows(outside: Outside, place: str, wsl: bool) -> tuple[Fact[str], Fact[str]]:
    if place.startswith("\\\\") and not place.startswith("\\\\?\\"):
        return None, "network"
    entry = _partition(outside, place)
    if entry is None:
        return None, Unknown(f"{place}: on no drive that Windows lists")
    kinds = {"remote": "network", "ramdisk": "memory"}
    named = next((kinds[option] for option in entry.opts.split(",") if option in kinds), None)
    return entry.fstype or None, named or Unknown("Windows is not asked what kind of disk it is")
