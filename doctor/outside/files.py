"""Reading and writing files: regular ones alone, bounded, whole or not at all."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, NamedTuple

from doctor.outside.world import OutsideError, World

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_LIMIT = 16 << 20


class FileInfo(NamedTuple):
    """A file or folder: size in bytes, seconds since the epoch of its last change."""

    size: int
    modified: float
    is_file: bool
    is_dir: bool


class Files(World):
    """Files and folders."""

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """A regular file's content. Raises OutsideError: missing, denied, too-large, invalid."""
        with self.open(path) as stream:
            data = _guard_read(stream, limit + 1, path)
        if len(data) > limit:
            raise OutsideError("too-large", f"{path}: larger than {limit} bytes")
        return data

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """A file as text; UTF-8 with or without BOM, UTF-16 with BOM; bytes that fit neither become U+FFFD."""
        data = self.read_bytes(path, limit)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16", "replace")
        return data.decode("utf-8-sig", "replace")

    def open(self, path: str) -> IO[bytes]:
        """Open a regular file for reading. Raises OutsideError; never blocks on a pipe or device."""
        import stat

        handle = -1
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            if stat.S_ISREG(os.fstat(handle).st_mode):
                stream = open(handle, "rb")  # noqa: SIM115
                handle = -1
                return stream
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None
        finally:
            if handle >= 0:
                os.close(handle)
        raise OutsideError("invalid", f"{path}: not a regular file")

    def stat(self, path: str) -> FileInfo:
        """Size and kind of a file or folder. Raises OutsideError: missing, denied, invalid."""
        import stat

        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None
        return FileInfo(found.st_size, found.st_mtime, stat.S_ISREG(found.st_mode), stat.S_ISDIR(found.st_mode))

    def owner(self, path: str) -> int | None:
        """Number of the user a file belongs to; None on Windows, where users have none. Raises OutsideError."""
        try:
            return os.stat(path).st_uid if hasattr(os, "getuid") else None
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder that can be seen."""
        try:
            self.stat(path)
        except OutsideError:
            return False
        return True

    def list_folder(self, path: str, limit: int = 10_000) -> list[str]:
        """Names in a folder, sorted, at most `limit`. Raises OutsideError: missing, denied, invalid."""
        names = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    names.append(entry.name)
                    if len(names) >= limit:
                        break
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None
        return sorted(names)

    def real_path(self, path: str) -> str:
        """The path with `~` and links resolved."""
        if path == "~" or path.startswith(("~/", "~\\")):
            path = self.home() + path[1:]
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):  # a ring of links, a zero byte in the name
            return path

    def disk_usage(self, path: str) -> tuple[int, int]:
        """Total and free bytes of the file system that holds `path`. Raises OutsideError."""
        import shutil

        try:
            usage = shutil.disk_usage(path)
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None
        return usage.total, usage.free

    def write_text(self, path: str, text: str, *, private: bool = True) -> None:
        """Write a whole file or nothing: a new file beside it takes its place.

        A link is followed and an existing file keeps its mode; a new file is for this user alone unless `private` is
        False. A folder, a device or a pipe is left alone. Raises OutsideError.
        """
        import stat
        import tempfile

        name = ""
        try:
            target = os.path.realpath(path)
            there = os.stat(target).st_mode if os.path.exists(target) else None
            if there is not None and not stat.S_ISREG(there):  # a device or a pipe would be replaced by a file
                what = "is a folder" if stat.S_ISDIR(there) else "not a regular file"
                raise OutsideError("invalid", f"{path}: {what}")
            mode = stat.S_IMODE(there) if there is not None else 0o600 if private else 0o644
            handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".doctor-")
            with open(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            os.chmod(name, mode)
            os.replace(name, target)
        except (OSError, ValueError) as error:
            if name and os.path.exists(name):
                os.unlink(name)
            raise _file_error(path, error) from None

    def replace_file(self, path: str, data: bytes, before: bytes | None) -> None:
        """Give a file another content, whole or not at all, and for good (fsync); `before` None makes a new file.

        A link is followed; mode, owner and attributes stay. Raises OutsideError: changed (the content is no longer
        `before`, or there is a file already), denied (another user's, read-only, or known by several names), invalid.
        """
        import shutil
        import tempfile

        target, name = os.path.realpath(path), ""
        try:
            old = self._own_file(path, target) if before is not None else None
            handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".doctor-")
            with open(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                if old is not None:
                    shutil.copystat(target, name)
                    os.utime(name)
                    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.getuid(), os.stat(name).st_gid):
                        os.chown(name, old.st_uid, old.st_gid)
                os.fsync(stream.fileno())
            if (self.read_bytes(target) if os.path.lexists(target) else None) != before:
                raise OutsideError("changed", f"{path}: another program has changed it in the meantime")
            os.replace(name, target)
            name = ""
            self._flush_folder(os.path.dirname(target))
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None
        finally:
            if name and os.path.exists(name):
                os.unlink(name)

    def remove_file(self, path: str, before: bytes) -> None:
        """Remove a file of this user's whose content is `before`. Raises OutsideError as `replace_file` does."""
        target = os.path.realpath(path)
        try:
            self._own_file(path, target)
            if self.read_bytes(target) != before:
                raise OutsideError("changed", f"{path}: another program has changed it in the meantime")
            os.unlink(target)
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None

    def _own_file(self, path: str, target: str) -> os.stat_result:
        """The state of a file that this user may replace."""
        import stat

        found = os.stat(target)
        if not stat.S_ISREG(found.st_mode):
            raise OutsideError("invalid", f"{path}: not a regular file")
        if self.user_ids() and found.st_uid not in self.user_ids():
            raise OutsideError("denied", f"{path}: belongs to another user")
        if not found.st_mode & stat.S_IWUSR:
            raise OutsideError("denied", f"{path}: is read-only")
        if found.st_nlink > 1:
            raise OutsideError("denied", f"{path}: the same file has {found.st_nlink} names (hard links)")
        return found

    def _flush_folder(self, path: str) -> None:
        if os.name == "posix":
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def make_folder(self, path: str) -> None:
        """Make a folder, and those above it, for this user alone. Raises OutsideError."""
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            raise _file_error(path, error) from None

    def chunks(self, stream: IO[bytes], size: int = 1 << 18) -> Iterator[bytes]:
        """The rest of a stream in pieces. A pipe gives what is there at once. Raises OutsideError."""
        while True:
            try:
                # read1 returns as soon as a pipe has something; a plain file fills the whole piece.
                data = stream.read1(size) if hasattr(stream, "read1") else stream.read(size)
            except (OSError, ValueError) as error:
                raise _file_error("input", error) from None
            if not data:
                return
            yield data


def _guard_read(stream: IO[bytes], size: int, path: str) -> bytes:
    try:
        return stream.read(size) or b""  # None: /proc/kmsg and the like have nothing to read right now
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from None


def _file_error(path: str, error: Exception) -> OutsideError:
    path = path or "''"
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return OutsideError("missing", f"{path}: no such file")
    if isinstance(error, PermissionError):
        return OutsideError("denied", f"{path}: no permission")
    if isinstance(error, IsADirectoryError):
        return OutsideError("invalid", f"{path}: is a folder")
    if isinstance(error, OSError) and error.strerror:
        return OutsideError("failed", f"{path}: {error.strerror}")
    return OutsideError("invalid", f"{path}: not usable as a path ({error})")
