"""The one door to the world: commands, files, HTTP, NVML, processes, environment, clock.

Nothing else in the package runs a program, opens a file, reads a variable or makes a request (a test proves it), so
replacing one object replaces the world. Every call is bounded in time and size and fails with `OutsideError` alone.
Heavy modules are imported inside the method that needs them: start-up pays for none of them.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

T = TypeVar("T")

READ_LIMIT = 16 << 20
OUTPUT_LIMIT = 1 << 20
BODY_LIMIT = 4 << 20
MEASURED_BYTES = 96 << 20
"""Bytes of each of the two buffers by which the speed of memory is measured: more than most caches hold."""
MOST_PIECES = 20_000
"""Pieces of a stream that are kept: a body that comes byte by byte must not fill the memory."""


class OutsideError(Exception):
    """Something outside could not be had.

    `kind`: missing, denied, timeout, too-large, refused, unreachable, tls, redirect, not-http, invalid, changed, failed.
    The message is one line for a user.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Completed(NamedTuple):
    """A command that ended: exit status (negative: the signal) and what it printed, cut at the output limit."""

    status: int
    stdout: str
    stderr: str
    truncated: bool


class FileInfo(NamedTuple):
    """A file or folder: size in bytes, seconds since the epoch of its last change."""

    size: int
    modified: float
    is_file: bool
    is_dir: bool


class HttpReply(NamedTuple):
    """An answer: status, headers with lower-case names, body cut at the limit, milliseconds until it was read."""

    status: int
    headers: dict[str, str]
    body: bytes
    truncated: bool
    milliseconds: float


class StreamReply(NamedTuple):
    """An answer read as it came: `pieces` are (milliseconds since the request, bytes), cut at the limit.

    `ended`: whole, cut (the connection broke off), timeout (no end in time) or limit (more than was wanted).
    """

    status: int
    headers: dict[str, str]
    pieces: tuple[tuple[float, bytes], ...]
    ended: str

    def body(self) -> bytes:
        """All that came."""
        return b"".join(piece for _, piece in self.pieces)


class Outside:
    """The real world. Tests give functions a subclass or a look-alike with the same methods."""

    def __init__(self, environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> None:
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.platform = platform

    # --- clock and identity -------------------------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))

    def home(self) -> str:
        """The user's home folder. On Windows HOME is a shell's affair: programs there go by USERPROFILE."""
        if self.platform == "win32" and self.environ.get("USERPROFILE"):
            return self.environ["USERPROFILE"]
        return self.environ.get("HOME") or self.environ.get("USERPROFILE") or os.path.expanduser("~")

    def folder(self) -> str:
        """The current folder."""
        try:
            return os.getcwd()
        except OSError:
            return "."

    def identity(self) -> tuple[str, ...]:
        """Names that identify this user and machine and must never be printed: user and host name."""
        names = {self.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME", "COMPUTERNAME")}
        names.add(os.uname().nodename if hasattr(os, "uname") else "")  # elsewhere (Windows) COMPUTERNAME says it
        names |= {name.partition(".")[0] for name in names}  # a host is also called by the first part of its name
        above, _, user = self.home().replace("\\", "/").rstrip("/").rpartition("/")
        if above.rpartition("/")[2].lower() in ("home", "users"):
            names.add(user)
        return tuple(sorted(name for name in names if name))

    def user_ids(self) -> tuple[int, ...]:
        """Numbers of the users whose processes are ours: who we run as, and under sudo who called. () on Windows."""
        if not hasattr(os, "getuid"):
            return ()
        caller = self.environ.get("SUDO_UID", "")
        return (os.getuid(), int(caller)) if os.getuid() == 0 and caller.isdecimal() else (os.getuid(),)

    # --- commands -----------------------------------------------------------------------------------------------

    def which(self, program: str) -> str | None:
        """The full path of a program on PATH."""
        import shutil

        return shutil.which(program, path=self.environ.get("PATH"))

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        limit: int = OUTPUT_LIMIT,
        environ: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a program (an argument list, never a shell) with no standard input and return what it printed.

        Raises OutsideError: missing, denied, timeout (the program and its children are ended), invalid.
        """
        import signal
        import subprocess
        import tempfile

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=dict(self.environ if environ is None else environ),
                    start_new_session=os.name == "posix",
                )
            except FileNotFoundError:
                raise OutsideError("missing", f"{argv[0]}: no such program") from None
            except PermissionError:
                raise OutsideError("denied", f"{argv[0]}: not allowed to run it") from None
            except (OSError, ValueError) as error:
                raise OutsideError("invalid", f"{argv[0]}: cannot be run ({error})") from None
            deadline = time.monotonic() + timeout
            try:
                while process.poll() is None:
                    written = os.fstat(out.fileno()).st_size + os.fstat(err.fileno()).st_size
                    if time.monotonic() > deadline:
                        raise OutsideError("timeout", f"{argv[0]}: no end after {timeout:g} s")
                    if written > 16 * limit:
                        raise OutsideError("too-large", f"{argv[0]}: prints without end")
                    try:
                        process.wait(0.02)
                    except subprocess.TimeoutExpired:
                        continue
            finally:
                if process.poll() is None:
                    if os.name == "posix":
                        os.killpg(process.pid, signal.SIGKILL)
                    else:
                        process.kill()
                    process.wait()
            texts = []
            truncated = False
            for stream in (out, err):
                stream.seek(0)
                data = stream.read(limit + 1)
                truncated = truncated or len(data) > limit
                texts.append(data[:limit].decode("utf-8", "replace"))
        return Completed(process.returncode, texts[0], texts[1], truncated)

    # --- files --------------------------------------------------------------------------------------------------

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

    def is_asking(self) -> bool:
        """Whether there is somebody to ask: standard input and output are a terminal."""
        return bool(sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty())

    def ask(self, question: str) -> str:
        """The line a user types after a question, "" at the end of input."""
        if sys.stdin is None or sys.stdout is None:
            return ""
        sys.stdout.write(question)
        sys.stdout.flush()
        return sys.stdin.readline(1000).strip()

    def stdin(self) -> IO[bytes]:
        """Standard input as bytes. Raises OutsideError when it is closed."""
        if sys.stdin is None:
            raise OutsideError("missing", "standard input is closed")
        return sys.stdin.buffer

    # --- network ------------------------------------------------------------------------------------------------

    def http(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 3.0,
        limit: int = BODY_LIMIT,
        proxy: str | None = None,
    ) -> HttpReply:
        """One request, straight to the address unless a `proxy` is named: no redirect, at most `limit` bytes of body.

        `timeout` is for the whole exchange. Raises OutsideError: refused, unreachable, timeout, tls, not-http, invalid,
        failed.
        """
        import httpx  # noqa: F401 - here, so that the time it takes does not count as the server's

        late = OutsideError("timeout", f"{url}: no whole answer within {timeout:g} s")
        return _within(timeout, late, lambda: self._exchange(method, url, headers or {}, body, timeout, limit, proxy))

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        limit: int,
        proxy: str | None = None,
    ) -> HttpReply:
        started = time.monotonic()
        try:
            with self._request(method, url, headers, body, timeout, proxy) as reply:
                data = bytearray()
                # Raw bytes: a compressed body that was not asked for is not unpacked, so it cannot grow.
                for chunk in reply.iter_raw(65536):
                    data += chunk[: limit + 1 - len(data)]
                    if len(data) > limit:
                        break
                    if time.monotonic() - started > timeout:
                        raise OutsideError("timeout", f"{url}: the answer did not end within {timeout:g} s")
                took = (time.monotonic() - started) * 1000
                names = {name.lower(): value for name, value in reply.headers.items()}
                return HttpReply(reply.status_code, names, bytes(data[:limit]), len(data) > limit, took)
        except OutsideError:
            raise
        except Exception as error:
            raise _http_error(url, error, timeout) from None

    def http_stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 3.0,
        limit: int = BODY_LIMIT,
    ) -> StreamReply:
        """The same as `http`, but what had come before a time-out, a break or the limit is not lost.

        Raises OutsideError as `http` does when there was not even a status line.
        """
        import httpx  # noqa: F401 - here, so that the time it takes does not count as the server's

        started = time.monotonic()
        heads: list[tuple[int, dict[str, str]]] = []
        pieces: list[tuple[float, bytes]] = []

        def read() -> str:
            with self._request(method, url, headers or {}, body, timeout) as reply:
                heads.append((reply.status_code, {name.lower(): value for name, value in reply.headers.items()}))
                size = 0
                for chunk in reply.iter_raw():
                    pieces.append(((time.monotonic() - started) * 1000, chunk[: limit - size]))
                    size += len(chunk)
                    if size > limit or len(pieces) >= MOST_PIECES:
                        return "limit"
                    if time.monotonic() - started > timeout:
                        return "timeout"
            return "whole"

        late = OutsideError("timeout", f"{url}: no answer within {timeout:g} s")
        try:
            ended = _within(timeout, late, read)
        except Exception as error:
            found = error if isinstance(error, OutsideError) else _http_error(url, error, timeout)
            if not heads:
                raise found from None
            ended = "timeout" if found.kind == "timeout" else "cut"
        status, names = heads[0]
        return StreamReply(status, names, tuple(pieces), ended)

    @contextmanager
    def _request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        proxy: str | None = None,
    ) -> Iterator[Any]:
        import httpx

        if (httpx.URL(url).port or 0) > 65535:  # the system would take it modulo 65536
            raise OutsideError("invalid", f"{url}: no such port")
        with (
            # Building a TLS context costs 0.1 s of CPU: only https pays for it.
            httpx.Client(
                trust_env=False, follow_redirects=False, timeout=timeout, verify=url.startswith("https:"), proxy=proxy
            ) as client,
            client.stream(method, url, headers={"Accept-Encoding": "identity", **headers}, content=body) as reply,
        ):
            yield reply

    def port_open(self, host: str, port: int, timeout: float = 1.0) -> bool:
        """Whether something accepts a TCP connection there."""
        import socket

        def connect() -> bool:
            if not 0 < port < 65536:  # the system would take it modulo 65536
                return False
            try:
                with socket.create_connection((host, port), timeout):
                    return True
            except (OSError, ValueError, OverflowError):
                return False

        try:
            return _within(timeout, OutsideError("timeout", f"{host}: no connection within {timeout:g} s"), connect)
        except OutsideError:
            return False

    def resolve(self, host: str, timeout: float = 2.0) -> tuple[str, ...]:
        """The addresses of a host name, in the order the system would try them; empty when it has none."""
        import socket

        try:
            late = OutsideError("timeout", f"{host}: no address within {timeout:g} s")
            found = _within(timeout, late, lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError, OutsideError):
            return ()
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    # --- modules that look at the machine -----------------------------------------------------------------------

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


def _within(seconds: float, late: OutsideError, function: Callable[[], T]) -> T:
    """What `function` returns or raises, or `late` when that takes longer.

    Name look-ups and headers that drip in byte by byte know no limit of their own; the thread that waits for them is
    left behind.
    """
    import threading

    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds + 0.1)
    if errors:
        raise errors[0]
    if not results:
        raise late
    return results[0]


def _http_error(url: str, error: Exception, timeout: float) -> OutsideError:
    import ssl

    import httpx

    causes: list[Any] = [error]
    while causes[-1] is not None and len(causes) < 8:
        causes.append(causes[-1].__cause__ or causes[-1].__context__)
    words = " ".join(str(cause) for cause in causes if cause is not None)
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "SSL" in words:
        return OutsideError("tls", f"{url}: {error}")
    if isinstance(error, httpx.TimeoutException):
        return OutsideError("timeout", f"{url}: no answer within {timeout:g} s")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes) or "refused" in words:
        return OutsideError("refused", f"{url}: connection refused")
    if isinstance(error, httpx.ConnectError):
        return OutsideError("unreachable", f"{url}: {error}")
    if isinstance(error, (httpx.ReadError, httpx.WriteError)):
        return OutsideError("not-http", f"{url}: the connection was cut before there was an HTTP answer ({error})")
    if isinstance(error, (httpx.RemoteProtocolError, httpx.DecodingError)):
        return OutsideError("not-http", f"{url}: the answer is not valid HTTP ({error})")
    unusable = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError, TypeError)
    if isinstance(error, unusable):
        return OutsideError("invalid", f"{url}: {error}")
    return OutsideError("failed", f"{url}: {error or type(error).__name__}")
