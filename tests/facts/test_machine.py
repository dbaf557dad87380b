import json

import pytest

from doctor.facts.machine.record import collect
from doctor.facts.machine.volume import Volume
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside, OutsideError
from tests.facts.tree import GIB, Link, Tree, cpuinfo, disk, meminfo, os_release

ROOT_ON_NVME = "29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
CGROUP2 = "35 29 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
PLAIN = {
    "/etc/os-release": os_release("Ubuntu 24.04.1 LTS"),
    "/proc/cpuinfo": cpuinfo(
        "AMD Ryzen 9 5950X 16-Core Processor", [0, 1, 2, 3] * 2, "ssse3 avx avx2 fma f16c bmi2 xsave"
    ),
    "/proc/meminfo": meminfo(64, 40, 8, 6),
    "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
    "/proc/self/mountinfo": ROOT_ON_NVME + CGROUP2,
    "/sys/fs/cgroup/user.slice/user-1000.slice/memory.max": "max\n",
    "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/cpu.max": "max 100000\n",
    "/home/ann/models/a.gguf": "GGUF",
    **disk("259:2", "nvme0n1", rotational=False, partition="nvme0n1p2"),
}


def changed(**files):
    """The plain machine with other files."""
    return {**PLAIN, **files}


def test_plain_linux(tmp_path):
    machine = collect(Tree(tmp_path, PLAIN), "/home/ann/models/a.gguf")
    assert to_json(machine) == {
        "os": "linux",
        "os_version": "Ubuntu 24.04.1 LTS",
        "kernel": "6.8.0-45-generic",
        "architecture": "x86_64",
        "container": None,
        "wsl": None,
        "cpu_name": "AMD Ryzen 9 5950X 16-Core Processor",
        "cores_physical": 4,
        "cores_logical": 8,
        "cores_performance": None,
        "cores_efficiency": None,
        "cpu_features": ["ssse3", "avx", "avx2", "fma", "f16c", "bmi2"],
        "ram_total_bytes": 64 * GIB,
        "ram_available_bytes": 40 * GIB,
        "swap_total_bytes": 8 * GIB,
        "swap_used_bytes": 2 * GIB,
        "cgroup_memory_limit_bytes": None,
        "cgroup_memory_used_bytes": None,
        "cgroup_cpus": None,
        "memlock_limit_bytes": 8 << 20,
        "load_1m": 0.5,
        "model_volume": {
            "path": "/home/ann/models/a.gguf",
            "filesystem": "ext4",
            "kind": "ssd",
            "total_bytes": 1000 * GIB,
            "free_bytes": 400 * GIB,
        },
    }


def test_docker_with_cgroup_v2_limits(tmp_path):
    """A container sees its own group as the root of the hierarchy."""
    mounts = "900 800 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A\n"
    mounts += "901 900 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    files = changed(
        **{
            "/.dockerenv": "",
            "/proc/self/cgroup": "0::/\n",
            "/proc/self/mountinfo": mounts,
            "/sys/fs/cgroup/memory.max": f"{16 * GIB}\n",
            "/sys/fs/cgroup/memory.current": f"{10 * GIB}\n",
            "/sys/fs/cgroup/memory.stat": f"anon {3 * GIB}\ninactive_file {6 * GIB}\nactive_file {GIB}\n",
            "/sys/fs/cgroup/cpu.max": "250000 100000\n",
        }
    )
    machine = collect(Tree(tmp_path, files), "/home/ann/models/a.gguf")
    assert machine.container == "docker"
    assert machine.cgroup_memory_limit_bytes == 16 * GIB
    assert machine.cgroup_memory_used_bytes == 4 * GIB  # without the file cache that can go
    assert machine.cgroup_cpus == 2.5
    assert machine.model_volume.filesystem == "overlay"
    assert machine.model_volume.kind == Unknown("overlay: the disk below it does not show")


def test_the_tightest_group_on_the_way_up_counts(tmp_path):
    slice_ = "/sys/fs/cgroup/user.slice/user-1000.slice"
    files = changed(
        **{
            f"{slice_}/memory.max": f"{8 * GIB}\n",
            f"{slice_}/memory.current": f"{5 * GIB}\n",
            f"{slice_}/session-3.scope/memory.max": f"{12 * GIB}\n",
            f"{slice_}/session-3.scope/memory.current": f"{GIB}\n",
            f"{slice_}/cpu.max": "400000 100000\n",
            f"{slice_}/session-3.scope/cpu.max": "800000 100000\n",
        }
    )
    machine = collect(Tree(tmp_path, files), None)
    assert machine.cgroup_memory_limit_bytes == 8 * GIB
    assert machine.cgroup_memory_used_bytes == 5 * GIB
    assert machine.cgroup_cpus == 4.0


@pytest.mark.parametrize("shows", ["host", "own"])
def test_cgroup_v1(tmp_path, shows):
    """Without a cgroup namespace the group's path stays the host's, and the mount shows only the part below it."""
    group = "/docker/0123456789abcdef0123456789abcdef"
    root, place = ("/", f"{group}/app") if shows == "host" else (group, "/app")
    mounts = ROOT_ON_NVME
    for number, controllers in enumerate(("cpu,cpuacct", "memory")):
        point = f"/sys/fs/cgroup/{controllers}"
        mounts += f"{40 + number} 29 0:{60 + number} {root} {point} rw - cgroup cgroup rw,{controllers}\n"
    memory, cpu = f"/sys/fs/cgroup/memory{place}", f"/sys/fs/cgroup/cpu,cpuacct{place}"
    files = changed(
        **{
            "/proc/self/cgroup": f"11:memory:{group}/app\n4:cpu,cpuacct:{group}/app\n1:name=systemd:{group}\n0::/x\n",
            "/proc/self/mountinfo": mounts,
            f"{memory}/memory.limit_in_bytes": f"{6 * GIB}\n",
            f"{memory}/memory.usage_in_bytes": f"{3 * GIB}\n",
            f"{memory}/memory.stat": f"cache 1\ninactive_file 1\ntotal_inactive_file {GIB}\n",
            f"{cpu}/cpu.cfs_quota_us": "150000\n",
            f"{cpu}/cpu.cfs_period_us": "100000\n",
        }
    )
    if shows == "host":
        files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n"
        files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "-1\n"
        files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000\n"
    machine = collect(Tree(tmp_path, files), None)
    assert machine.container == "docker"
    assert machine.cgroup_memory_limit_bytes == 6 * GIB
    assert machine.cgroup_memory_used_bytes == 2 * GIB
    assert machine.cgroup_cpus == 1.5


def test_cgroup_v1_without_limits(tmp_path):
    mounts = ROOT_ON_NVME + "40 29 0:60 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    files = changed(
        **{
            "/proc/self/cgroup": "11:memory:/\n",
            "/proc/self/mountinfo": mounts,
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{3 * GIB}\n",
        }
    )
    machine = collect(Tree(tmp_path, files), None)
    assert (machine.cgroup_memory_limit_bytes, machine.cgroup_memory_used_bytes, machine.cgroup_cpus) == (
        None,
        None,
        None,
    )


def test_group_outside_of_what_the_namespace_shows(tmp_path):
    files = changed(
        **{
            "/proc/self/cgroup": "0::/../neighbour\n",
            "/sys/fs/neighbour/memory.max": "1\n",
            "/sys/fs/cgroup/memory.max": f"{GIB}\n",
        }
    )
    assert collect(Tree(tmp_path, files), None).cgroup_memory_limit_bytes == GIB


def test_cgroup_that_cannot_be_read_is_unknown(tmp_path):
    files = changed()
    del files["/proc/self/cgroup"]
    machine = collect(Tree(tmp_path, files), None)
    assert machine.cgroup_memory_limit_bytes == Unknown(
        "/proc/self/cgroup: no such file".replace("/proc", f"{tmp_path}/proc")
    )
    assert machine.ram_total_bytes == 64 * GIB


WSL_MOUNTS = (
    "60 1 8:32 / / rw,relatime - ext4 /dev/sdc rw,discard\n"
    "96 60 0:62 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\;uid=1000,trans=fd\n"
    "97 60 0:63 / /mnt/d rw,noatime - virtiofs drvfsaD1 rw\n"
)


@pytest.mark.parametrize(
    ("path", "filesystem", "kind"),
    [
        ("/mnt/c/Users/ann/a.gguf", "9p", "windows-mount"),
        ("/mnt/d/a.gguf", "virtiofs", "windows-mount"),
        ("/home/ann/models/a.gguf", "ext4", Unknown("sdc is a virtual disk: what lies below it does not show")),
    ],
)
def test_wsl2(tmp_path, path, filesystem, kind):
    files = changed(
        **{
            "/proc/self/mountinfo": WSL_MOUNTS,
            "/mnt/c/Users/ann/a.gguf": "GGUF",
            "/mnt/d/a.gguf": "GGUF",
            **disk("8:32", "sdc", rotational=True),
        }
    )
    machine = collect(Tree(tmp_path, files, release="5.15.167.4-microsoft-standard-WSL2"), path)
    assert (machine.wsl, machine.container) == (2, None)
    assert (machine.model_volume.filesystem, machine.model_volume.kind) == (filesystem, kind)


@pytest.mark.parametrize(
    ("release", "extra", "wsl"),
    [
        ("4.4.0-19041-Microsoft", {}, 1),
        ("6.6.36.6-microsoft-standard-WSL2+", {}, 2),
        ("6.9.0-custom", {"/dev/dxg": ""}, 2),
        ("6.9.0-azure", {}, None),
    ],
)
def test_wsl_versions(tmp_path, release, extra, wsl):
    assert collect(Tree(tmp_path, changed(**extra), release=release), None).wsl == wsl


def test_hybrid_processor(tmp_path):
    """i5-12600K: 6 performance cores with two threads each, 4 efficiency cores with one."""
    threads = [core for core in range(6) for _ in range(2)] + [8, 9, 10, 11]
    files = changed(
        **{
            "/proc/cpuinfo": cpuinfo("12th Gen Intel(R) Core(TM) i5-12600K", threads, "avx avx2 fma f16c avx_vnni"),
            "/sys/devices/cpu_core/cpus": "0-11\n",
            "/sys/devices/cpu_atom/cpus": "12-15\n",
        }
    )
    machine = collect(Tree(tmp_path, files), None)
    assert (machine.cores_logical, machine.cores_physical) == (16, 10)
    assert (machine.cores_performance, machine.cores_efficiency) == (6, 4)
    assert machine.cpu_features == ("avx", "avx2", "fma", "f16c", "avx_vnni")


def test_two_sockets_with_the_same_core_numbers(tmp_path):
    text = cpuinfo("Xeon", [0, 1], "avx", package=0)
    text += (
        cpuinfo("Xeon", [0, 1], "avx", package=1)
        .replace("processor\t: 0", "processor\t: 2")
        .replace("processor\t: 1", "processor\t: 3")
    )
    assert collect(Tree(tmp_path, changed(**{"/proc/cpuinfo": text})), None).cores_physical == 4


def test_arm(tmp_path):
    """ARM's cpuinfo knows neither names nor cores; the topology in /sys knows the cores."""
    block = (
        "processor\t: {0}\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd asimdhp asimddp sve i8mm bf16\nCPU part\t: 0xd4f\n\n"
    )
    files = changed(
        **{
            "/proc/cpuinfo": "".join(block.format(number) for number in range(2)),
            "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0\n",
            "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "1\n",
        }
    )
    machine = collect(Tree(tmp_path, files, machine="aarch64"), None)
    assert (machine.cpu_name, machine.cores_physical, machine.architecture) == (None, 2, "aarch64")
    assert machine.cpu_features == ("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve")
    assert isinstance(machine.cores_performance, Unknown)


@pytest.mark.parametrize(
    ("files", "environ", "container"),
    [
        ({"/run/.containerenv": ""}, {}, "podman"),
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"/var/run/secrets/kubernetes.io/token": ""}, {}, "kubernetes"),
        ({"/run/systemd/container": "lxc\n"}, {}, "lxc"),
        ({}, {"container": "flatpak"}, "flatpak"),
        ({"/run/systemd/container": "wsl\n"}, {}, None),
        ({"/proc/self/cgroup": "0::/../docker-0123456789abcdef.scope\n"}, {}, "docker"),
        ({"/proc/self/cgroup": "0::/system.slice/docker.service\n"}, {}, None),  # the engine itself, not a container
        ({"/proc/self/cgroup": "0::/lxc.payload.200/x\n"}, {}, "lxc"),
        ({"/proc/self/mountinfo": ROOT_ON_NVME + "9 1 0:9 / /proc/meminfo rw - fuse.lxcfs lxcfs rw\n"}, {}, "lxc"),
    ],
)
def test_containers(tmp_path, files, environ, container):
    assert collect(Tree(tmp_path, changed(**files), environ=environ), None).container == container


BTRFS = "29 1 0:27 /@ / rw - btrfs /dev/mapper/luks rw,subvol=/@\n"


@pytest.mark.parametrize(
    ("mounts", "files", "kind"),
    [
        (ROOT_ON_NVME, {}, "ssd"),
        ("29 1 8:1 / / rw - ext4 /dev/sda1 rw\n", disk("8:1", "sda", rotational=True, partition="sda1"), "hdd"),
        (
            BTRFS,
            {"/dev/mapper/luks": Link("/dev/dm-0"), "/dev/dm-0": "", **disk("253:0", "dm-0", rotational=False)},
            "ssd",
        ),
        ("29 1 254:1 / / rw - ext4 /dev/vda1 rw\n", disk("254:1", "vda", rotational=True, partition="vda1"), "virtual"),
        (ROOT_ON_NVME + "50 29 0:40 / /home/ann/models rw - nfs4 nas:/models rw\n", {}, "network"),
        (ROOT_ON_NVME + "50 29 0:40 / /home/ann/models rw - cifs //nas/models rw\n", {}, "network"),
        (ROOT_ON_NVME + "50 29 0:40 / /home rw - tmpfs tmpfs rw\n", {}, "memory"),
        (ROOT_ON_NVME + "50 29 0:40 / /home/ann/mod rw - nfs4 nas:/models rw\n", {}, "ssd"),
        (ROOT_ON_NVME + "50 29 0:40 / /home/ann/models rw - virtiofs share rw\n", {}, "host-share"),
        (BTRFS.replace("btrfs /dev/mapper/luks", "zfs rpool/root"), {}, "zfs"),
    ],
)
def test_disks(tmp_path, mounts, files, kind):
    machine = collect(Tree(tmp_path, changed(**{"/proc/self/mountinfo": mounts}, **files)), "/home/ann/models/a.gguf")
    found = machine.model_volume.kind
    if kind in ("virtual", "zfs"):
        assert isinstance(found, Unknown)
        assert kind in found.reason
    else:
        assert found == kind


def test_mount_point_with_a_blank_and_a_link_to_it(tmp_path):
    mounts = ROOT_ON_NVME + "50 29 0:40 / /mnt/my\\040models rw - nfs nas:/m rw\n"
    files = {
        "/proc/self/mountinfo": mounts,
        "/mnt/my models/a.gguf": "GGUF",
        "/home/ann/a.gguf": Link("/mnt/my models/a.gguf"),
    }
    assert collect(Tree(tmp_path, changed(**files)), "/home/ann/a.gguf").model_volume.kind == "network"


def test_model_that_is_not_there_yet(tmp_path):
    volume = collect(Tree(tmp_path, PLAIN), "/home/ann/models/new/b.gguf").model_volume
    assert volume == Volume("/home/ann/models/new/b.gguf", "ext4", "ssd", 1000 * GIB, 400 * GIB)


def test_no_model_and_unusable_path(tmp_path):
    tree = Tree(tmp_path, PLAIN)
    assert collect(tree, None).model_volume == Unknown("no model path is known")
    volume = collect(tree, "/home/\0").model_volume
    assert isinstance(volume.filesystem, Unknown)
    assert isinstance(volume.free_bytes, Unknown)


def test_empty_machine_is_all_unknown_and_nothing_raises(tmp_path):
    machine = collect(Tree(tmp_path, {}), "/models/a.gguf")
    assert isinstance(machine.cores_logical, Unknown)
    assert isinstance(machine.ram_total_bytes, Unknown)
    assert isinstance(machine.cgroup_cpus, Unknown)
    assert isinstance(machine.os_version, Unknown)
    assert isinstance(machine.model_volume.filesystem, Unknown)


@pytest.mark.parametrize(
    "path", ["/proc/cpuinfo", "/proc/meminfo", "/proc/self/cgroup", "/proc/self/mountinfo", "/etc/os-release"]
)
def test_hostile_files(tmp_path, path):
    """Bytes of any kind in any of the files leave a record that can be saved and read again."""
    junk = (
        bytes(range(256)) * 40
        + b"\nprocessor : 7\ncpu MHz : \xff\nMemTotal: "
        + b"9" * 5000
        + b" kB\n - - - - - - - - -\n"
    )
    machine = collect(Tree(tmp_path, changed(**{path: junk})), "/home/ann/models/a.gguf")
    assert from_json(type(machine), json.loads(json.dumps(to_json(machine)))) == machine


def test_memlock(tmp_path):
    tree = Tree(tmp_path, PLAIN)
    tree.memlock = None
    assert collect(tree, None).memlock_limit_bytes is None


MAC = """hw.physicalcpu: 12
hw.logicalcpu: 12
hw.perflevel0.physicalcpu: 8
hw.perflevel1.physicalcpu: 4
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_I8MM: 1
hw.optional.arm.FEAT_SME: 0
machdep.cpu.brand_string: Apple M2 Max
"""
INTEL_MAC = """hw.physicalcpu: 8
hw.logicalcpu: 16
hw.optional.avx2_0: 1
machdep.cpu.brand_string: Intel(R) Core(TM) i9-9880H CPU @ 2.30GHz
machdep.cpu.features: FPU SSE3 SSSE3 FMA SSE4.1 AVX1.0 F16C
machdep.cpu.leaf7_features: BMI2 AVX2
"""


class Partition:
    def __init__(self, mountpoint, device, fstype, opts=""):
        self.mountpoint, self.device, self.fstype, self.opts = mountpoint, device, fstype, opts


def elsewhere(tmp_path, monkeypatch, platform, partitions, answers, **environ):
    """A machine of another system: its commands answer as recorded, psutil is the real one but for the partitions."""
    import psutil

    monkeypatch.setattr(psutil, "disk_partitions", lambda all=False: partitions)
    tree = Tree(tmp_path, {}, answers=answers, environ=environ)
    tree.platform = platform
    tree.exists = lambda path: True
    tree.real_path = lambda path: path
    return tree


def test_macos(tmp_path, monkeypatch):
    answers = {"sysctl hw machdep.cpu": MAC, "diskutil info /dev/disk3s5": "   Solid State:               Yes\n"}
    partitions = [Partition("/", "/dev/disk3s1", "apfs"), Partition("/Users", "/dev/disk3s5", "apfs")]
    machine = collect(elsewhere(tmp_path, monkeypatch, "darwin", partitions, answers), "/Users/ann/a.gguf")
    assert (machine.os, machine.cpu_name) == ("macos", "Apple M2 Max")
    assert (machine.cores_physical, machine.cores_performance, machine.cores_efficiency) == (12, 8, 4)
    assert machine.cpu_features == ("asimddp", "i8mm")
    assert machine.ram_total_bytes > 0
    assert (machine.cgroup_cpus, machine.container, machine.wsl) == (None, None, None)
    assert (machine.model_volume.filesystem, machine.model_volume.kind) == ("apfs", "ssd")


def test_intel_mac(tmp_path, monkeypatch):
    machine = collect(elsewhere(tmp_path, monkeypatch, "darwin", [], {"sysctl hw machdep.cpu": INTEL_MAC}), None)
    assert machine.cpu_features == ("pni", "ssse3", "sse4_1", "avx", "avx2", "fma", "f16c", "bmi2")
    assert machine.cores_performance is None


WINDOWS_CPU = r"reg query HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0 /v ProcessorNameString"


@pytest.mark.parametrize(
    ("numbers", "features"),
    [
        ({13, 36, 37, 38, 39, 40}, ("pni", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "fma", "f16c", "bmi2")),
        ({13, 36, 37, 38, 39}, ("pni", "ssse3", "sse4_1", "sse4_2", "avx")),
        ({13}, Unknown("this Windows does not list them")),
    ],
)
def test_windows(tmp_path, monkeypatch, numbers, features):
    shown = "\r\nHKEY_LOCAL_MACHINE\\HARDWARE\r\n    ProcessorNameString    REG_SZ    AMD Ryzen 5 5600X\r\n"
    partitions = [Partition("C:\\", "C:\\", "NTFS", "rw,fixed"), Partition("Z:\\", "Z:\\", "NTFS", "rw,remote")]
    tree = elsewhere(tmp_path, monkeypatch, "win32", partitions, {WINDOWS_CPU: shown})
    tree.processor_feature = lambda number: number in numbers
    machine = collect(tree, "z:\\models\\a.gguf")
    assert (machine.os, machine.cpu_name) == ("windows", "AMD Ryzen 5 5600X")
    assert machine.cpu_features == features
    assert (machine.model_volume.filesystem, machine.model_volume.kind) == ("NTFS", "network")
    assert collect(tree, r"\\nas\models\a.gguf").model_volume.kind == "network"
    assert isinstance(collect(tree, r"C:\a.gguf").model_volume.kind, Unknown)


def test_processor_feature_is_windows_own():
    with pytest.raises(OutsideError, match="only Windows"):
        Outside().processor_feature(40)


def test_this_machine(tmp_path):
    """The real one: numbers that agree with each other and with psutil."""
    import psutil

    model = tmp_path / "a.gguf"
    model.write_bytes(b"GGUF")
    machine = collect(Outside(), str(model))
    assert machine.os in ("linux", "macos", "windows")
    assert machine.cores_logical == psutil.cpu_count()
    assert 1 <= machine.cores_physical <= machine.cores_logical
    assert abs(machine.ram_total_bytes - psutil.virtual_memory().total) < 1 << 20
    assert 0 < machine.ram_available_bytes <= machine.ram_total_bytes
    assert 0 <= machine.swap_used_bytes <= machine.swap_total_bytes or machine.swap_total_bytes == 0
    assert 0 < machine.model_volume.free_bytes <= machine.model_volume.total_bytes
    assert machine.model_volume.filesystem
    assert from_json(type(machine), json.loads(json.dumps(to_json(machine)))) == machine
