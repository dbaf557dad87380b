"""The machines of fixtures/machines as trees of files and answers of NVML; the collectors make the saved facts of them.

`python -m tests.facts.saved_machines` writes fixtures/machines/*.json again.
"""

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from doctor.facts.cuda import record as cuda
from doctor.facts.facts import nothing_known
from doctor.facts.gpu import record as gpu
from doctor.facts.machine import record as machine
from doctor.facts.record import to_json
from tests.facts.nvml import LIBRARY, REPOSITORY, build_stub, run_python
from tests.facts.tree import Link, Tree, cpuinfo, disk, gpu_on_bus, host_config, meminfo, os_release

FOLDER = REPOSITORY / "fixtures" / "machines"

ZEN3 = "sse4_1 sse4_2 ssse3 pni avx avx2 fma f16c bmi2"
ZEN5 = f"{ZEN3} avx_vnni avx512f avx512cd avx512bw avx512dq avx512vl avx512vbmi avx512_vnni avx512_bf16"
CGROUP2 = "35 29 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
NVME_ROOT = "29 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw\n"
NVME = disk("259:2", "nvme0n1", rotational=False, partition="nvme0n1p2")
SESSION = {
    "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
    "/proc/self/mountinfo": NVME_ROOT + CGROUP2,
    "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.max": "max\n",
    **NVME,
}
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class Saved(NamedTuple):
    """One machine: its files, the path of its model, what NVML answers (None: no such library), and the rest."""

    files: dict
    model: str | None
    nvml: dict | None
    environ: dict | None = None
    release: str = "6.8.0-45-generic"


def driver(version):
    """The driver's library and kernel module."""
    return {
        f"{LIBRARIES}/libcuda.so.{version}": "",
        f"{LIBRARIES}/libcuda.so.1": Link(f"{LIBRARIES}/libcuda.so.{version}"),
        "/sys/module/nvidia/version": f"{version}\n",
    }


HOST_LIMITS = {"12.6": (13, 19, 1950), "12.8": (14, 20, 1950), "13.0": (15, 21, 1950)}


def toolkit(version, runtime, cublas):
    """A CUDA toolkit of which the loader's cache knows the libraries."""
    folder = f"/usr/local/cuda-{version}"
    major = runtime.partition(".")[0]
    return {
        f"{folder}/version.json": json.dumps({"cuda": {"version": runtime}}),
        f"{folder}/bin/nvcc": "",
        f"{folder}/include/crt/host_config.h": host_config(*HOST_LIMITS[version]),
        f"{folder}/lib64/libcudart.so.{runtime}": "",
        f"{folder}/lib64/libcudart.so.{major}": Link(f"libcudart.so.{runtime}"),
        f"{folder}/lib64/libcublas.so.{cublas}": "",
        f"{folder}/lib64/libcublas.so.{major}": Link(f"libcublas.so.{cublas}"),
        "/usr/local/cuda": Link(folder),
        "/etc/ld.so.conf.d/cuda.conf": f"{folder}/lib64\n",
    }


def threads(cores):
    """Two threads a core, the second ones after all the first, as Linux numbers them."""
    return [*range(cores)] * 2


MACHINES = {
    "rtx-3090-24gb-linux": Saved(
        files={
            "/etc/os-release": os_release("Ubuntu 24.04.2 LTS"),
            "/proc/cpuinfo": cpuinfo("AMD Ryzen 9 5900X 12-Core Processor", threads(12), ZEN3),
            "/proc/meminfo": meminfo(62.7, 55.2, 8, 8),
            "/home/user/models/model.gguf": "",
            **SESSION,
            **gpu_on_bus("0a:00", device="0x2204"),
            **driver("580.95.05"),
            **toolkit("12.8", "12.8.90", "12.8.4.1"),
        },
        model="/home/user/models/model.gguf",
        nvml={
            "STUB_USED_MIB": "465",
            "STUB_PROCESSES": "2112:214:G:/usr/lib/xorg/Xorg;2390:61:G:/usr/bin/gnome-shell",
        },
    ),
    "two-rtx-5090-linux": Saved(
        files={
            "/etc/os-release": os_release("Debian GNU/Linux 13 (trixie)"),
            "/proc/cpuinfo": cpuinfo("AMD Ryzen 9 9950X 16-Core Processor", threads(16), ZEN5),
            "/proc/meminfo": meminfo(124.9, 118.1),
            "/srv/models/model.gguf": "",
            **SESSION,
            **gpu_on_bus("01:00", device="0x2b85"),
            **gpu_on_bus("02:00", device="0x2b85"),
            **driver("580.95.05"),
            **toolkit("13.0", "13.0.88", "13.0.2.14"),
        },
        model="/srv/models/model.gguf",
        release="6.12.48+deb13-amd64",
        environ={"CUDA_VISIBLE_DEVICES": "0,1"},
        nvml={
            "STUB_COUNT": "2",
            "STUB_NAME": "NVIDIA GeForce RTX 5090",
            "STUB_CC": "12.0",
            "STUB_TOTAL_MIB": "32607",
            "STUB_USED_MIB": "2",
            "STUB_PCIE_GEN": "1",
            "STUB_PCIE_GEN_MAX": "5",
            "STUB_PCIE_WIDTH": "8|8",
            "STUB_LIMIT_MW": "575000",
            "STUB_DEFAULT_MW": "575000",
            "STUB_MAX_SM": "3090",
            "STUB_MAX_MEMORY": "14001",
        },
    ),
    "rtx-4060-ti-16gb-wsl2": Saved(
        files={
            "/etc/os-release": os_release("Ubuntu 22.04.5 LTS"),
            "/proc/cpuinfo": cpuinfo("13th Gen Intel(R) Core(TM) i5-13600KF", threads(10), f"{ZEN3} avx_vnni"),
            "/proc/meminfo": meminfo(15.5, 13.8, 4, 4),
            "/proc/self/cgroup": "0::/init.scope\n",
            "/proc/self/mountinfo": "60 1 8:32 / / rw - ext4 /dev/sdc rw\n"
            "35 60 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
            "96 60 0:62 / /mnt/c rw - 9p C:\\134 rw,aname=drvfs;path=C:\\,trans=fd\n",
            "/mnt/c/Users/user/models/model.gguf": "",
            **disk("8:32", "sdc", rotational=True),
            "/dev/dxg": "",
            "/usr/lib/wsl/lib/libcuda.so.1.1": "",
            "/usr/lib/wsl/lib/libcuda.so.1": Link("libcuda.so.1.1"),
            "/usr/lib/wsl/lib/libnvidia-ml.so.1": "",
            **toolkit("12.6", "12.6.77", "12.6.4.1"),
        },
        model="/mnt/c/Users/user/models/model.gguf",
        release="6.6.87.2-microsoft-standard-WSL2",
        nvml={
            "STUB_NAME": "NVIDIA GeForce RTX 4060 Ti",
            "STUB_CC": "8.9",
            "STUB_TOTAL_MIB": "16380",
            "STUB_USED_MIB": "1432",
            "STUB_DRIVER": "566.36",
            "STUB_CUDA": "12070",
            "STUB_PCIE_WIDTH": "8",
            "STUB_PCIE_WIDTH_MAX": "8",
            "STUB_LIMIT_MW": "165000",
            "STUB_DEFAULT_MW": "165000",
            "STUB_MAX_SM": "3105",
            "STUB_MAX_MEMORY": "9001",
            # CUDA on WSL user guide, known limitations: NVML does not list the active compute processes
            "STUB_FAIL": "DeviceGetComputeRunningProcesses=3,DeviceGetGraphicsRunningProcesses=3",
        },
    ),
    "cpu-only-laptop": Saved(
        files={
            "/etc/os-release": os_release("Fedora Linux 42 (Workstation Edition)"),
            "/proc/cpuinfo": cpuinfo(
                "12th Gen Intel(R) Core(TM) i5-1240P", [0, 0, 4, 4, 8, 8, 12, 12, *range(16, 24)], ZEN3
            ),
            "/proc/meminfo": meminfo(15.3, 9.6, 8, 7.5),
            "/sys/devices/cpu_core/cpus": "0-7\n",
            "/sys/devices/cpu_atom/cpus": "8-15\n",
            **SESSION,
            **gpu_on_bus("00:02", driver="i915", device="0x46a6", vendor="0x8086"),
        },
        model=None,
        release="6.16.8-200.fc42.x86_64",
        nvml=None,
    ),
    "driver-mismatch": Saved(
        files={
            "/etc/os-release": os_release("Ubuntu 22.04.5 LTS"),
            "/proc/cpuinfo": cpuinfo("AMD Ryzen 7 5800X 8-Core Processor", threads(8), ZEN3),
            "/proc/meminfo": meminfo(31.2, 27.0, 2, 2),
            "/home/user/model.gguf": "",
            **SESSION,
            **gpu_on_bus("09:00", device="0x2204"),
            **driver("580.95.05"),
            "/sys/module/nvidia/version": "570.172.08\n",  # the module from before the upgrade is still loaded
        },
        model="/home/user/model.gguf",
        nvml={"STUB_INIT": "18"},
    ),
    "docker-without-gpus-option": Saved(
        files={
            "/.dockerenv": "",
            "/etc/os-release": os_release("Ubuntu 22.04.5 LTS"),
            "/proc/cpuinfo": cpuinfo("AMD Ryzen 7 5800X 8-Core Processor", threads(8), ZEN3),
            "/proc/meminfo": meminfo(31.2, 27.0, 2, 2),
            "/proc/self/cgroup": "0::/\n",
            "/proc/self/mountinfo": "29 1 0:50 / / rw - overlay overlay rw\n"
            "30 29 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
            "31 29 259:2 /srv/models /models ro - ext4 /dev/nvme0n1p2 rw\n",
            "/sys/fs/cgroup/memory.max": str(16 << 30),
            "/sys/fs/cgroup/memory.current": str(3 << 30),
            "/sys/fs/cgroup/cpu.max": "400000 100000\n",
            "/models/model.gguf": "",
            **NVME,
            **gpu_on_bus("09:00", device="0x2204"),
            "/sys/module/nvidia/version": "580.95.05\n",
        },
        model="/models/model.gguf",
        environ={"NVIDIA_VISIBLE_DEVICES": "all", "CUDA_VERSION": "12.8.1"},
        nvml=None,
    ),
}


def look(name, root):
    """The saved form of a machine. The loader of this process must find the stub of its NVML."""
    saved = MACHINES[name]
    tree = Tree(root, saved.files, environ=saved.environ, release=saved.release)
    facts = dataclasses.replace(
        nothing_known("not collected"),
        machine=machine.collect(tree, saved.model),
        gpu=gpu.collect(tree),
        cuda=cuda.collect(tree),
    )
    return to_json(facts)


def collect(name, folder, stub):
    """The saved form of a machine, from a process of its own. `stub` is the folder of the compiled stub."""
    nvml = MACHINES[name].nvml
    if nvml is None:
        stub = Path(folder) / "no-nvml"
        stub.mkdir()
        (stub / LIBRARY).write_text("not a library")
    root = Path(folder) / name
    root.mkdir()
    return run_python(["-m", "tests.facts.saved_machines", name, str(root)], str(stub), nvml or {})


def write_all():
    """Write fixtures/machines again."""
    with tempfile.TemporaryDirectory() as folder:
        for name in MACHINES:
            part = Path(folder) / f"{name}.d"
            part.mkdir()
            saved = collect(name, part, build_stub(part))
            (FOLDER / f"{name}.json").write_text(
                json.dumps(saved, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(look(sys.argv[1], sys.argv[2])))
    else:
        write_all()
