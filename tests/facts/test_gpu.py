import pytest

from doctor.facts.gpu import record as gpu
from doctor.facts.gpu.record import Gpu, program_name
from doctor.facts.record import Unknown, from_json
from doctor.outside import OutsideError
from tests.facts.nvml import LIBRARY, build_stub, run_python
from tests.facts.tree import Tree, gpu_on_bus

MIB = 1 << 20
LOOK = """
import json
from doctor.facts.gpu import record as gpu
from doctor.facts.record import to_json
from doctor.outside import Outside
print(json.dumps(to_json(gpu.collect(Outside()))))
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture(scope="module")
def old_stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("old"), "-DOLD_DRIVER")


def look(stub, **variables):
    return from_json(Gpu, run_python(["-c", LOOK], stub, variables))


def test_3090_that_a_program_fills_and_the_power_cap_slows(stub, tmp_path):
    log = tmp_path / "log"
    found = look(
        stub,
        STUB_USED_MIB="20000",
        STUB_REASONS="0x4",
        STUB_POWER_MW="349500",
        STUB_LIMIT_MW="280000",
        STUB_UTILIZATION="98",
        STUB_PROCESSES="1200:300:G:/usr/lib/xorg/Xorg;4242:19000:B:/home/ann/bin/llama-server -m /home/ann/a.gguf",
        STUB_LOG=str(log),
    )
    assert (found.state, found.detail, found.hardware) == ("ok", None, True)
    assert (found.driver_version, found.cuda_version) == ("580.95.05", "13.0")
    assert (found.memory_total_bytes, found.memory_free_bytes) == (24576 * MIB, 4576 * MIB)
    (card,) = found.devices
    assert (card.index, card.name) == (0, "NVIDIA GeForce RTX 3090")
    assert (card.compute_capability, card.sm) == ("8.6", 86)
    assert (card.memory_total_bytes, card.memory_used_bytes) == (24576 * MIB, 20000 * MIB)
    assert [(item.pid, item.name, item.memory_bytes, item.kind) for item in card.processes] == [
        (4242, "llama-server", 19000 * MIB, "compute"),
        (1200, "Xorg", 300 * MIB, "graphics"),
    ]
    assert card.clock_event_reasons == ("sw-power-cap",)
    assert (card.power_watts, card.power_limit_watts, card.power_limit_default_watts) == (349.5, 280.0, 350.0)
    assert (card.temperature_c, card.utilization_percent) == (45, 98)
    assert (card.clock_sm_mhz, card.clock_sm_max_mhz) == (210, 2100)
    assert (card.clock_memory_mhz, card.clock_memory_max_mhz) == (405, 9751)
    assert (card.pcie_generation, card.pcie_generation_max, card.pcie_width, card.pcie_width_max) == (4, 4, 16, 16)
    assert (card.ecc_enabled, card.ecc_uncorrected) == (None, None)
    assert log.read_text().split() == ["init", "shutdown"]


def test_two_5090(stub):
    found = look(
        stub,
        STUB_COUNT="2",
        STUB_NAME="NVIDIA GeForce RTX 5090",
        STUB_CC="12.0",
        STUB_TOTAL_MIB="32607",
        STUB_USED_MIB="607|1607",
        STUB_REASONS="0x28|0x1",
        STUB_PCIE_WIDTH="16|4",
        STUB_CUDA="12080",
    )
    assert [(card.index, card.compute_capability, card.sm) for card in found.devices] == [
        (0, "12.0", 120),
        (1, "12.0", 120),
    ]
    assert found.memory_free_bytes == 32000 * MIB + 31000 * MIB
    assert [card.clock_event_reasons for card in found.devices] == [
        ("hw-slowdown", "sw-thermal-slowdown"),
        ("gpu-idle",),
    ]
    assert [card.pcie_width for card in found.devices] == [16, 4]
    assert found.cuda_version == "12.8"


@pytest.mark.parametrize(
    ("code", "state", "detail"),
    [
        ("18", "version-mismatch", "RM has detected an NVML/RM version mismatch."),
        ("9", "driver-not-loaded", "Driver Not Loaded"),
        ("4", "no-permission", "Insufficient Permissions"),
        ("17", "no-permission", "The operating system has blocked the request."),
        ("3", "not-supported", "Not Supported"),
        ("15", "lost", "GPU is lost"),
        ("999", "error", "Unknown Error"),
        ("4711", "error", "words of the driver"),
    ],
)
def test_nvml_that_does_not_start(stub, tmp_path, code, state, detail):
    log = tmp_path / "log"
    found = look(stub, STUB_INIT=code, STUB_LOG=str(log))
    assert (found.state, found.detail) == (state, detail)
    if found.hardware is False:
        assert (found.devices, found.memory_total_bytes) == ((), None)
    else:
        assert found.devices == Unknown(f"NVML: {detail}")
    assert not log.exists()  # what was not started is not shut down


def test_no_library(tmp_path):
    """A file the loader finds first and cannot use; where there is none it says the same, as the binding hides why."""
    (tmp_path / LIBRARY).write_text("not a library")
    found = look(str(tmp_path))
    assert (found.state, found.detail) == ("no-library", "NVML Shared Library Not Found")


def test_no_cards(stub, tmp_path):
    log = tmp_path / "log"
    found = look(stub, STUB_COUNT="0", STUB_LOG=str(log))
    assert (found.state, found.devices) == ("no-device", ())
    assert (found.memory_total_bytes, found.memory_free_bytes) == (None, None)
    assert log.read_text().split() == ["init", "shutdown"]


def test_board_that_shares_the_memory_of_the_system(stub):
    found = look(stub, STUB_NAME="NVIDIA GB10", STUB_CC="12.1", STUB_FAIL="DeviceGetMemoryInfo=3")
    assert found.state == "ok"
    (card,) = found.devices
    assert (card.name, card.sm) == ("NVIDIA GB10", 121)
    assert card.memory_total_bytes == Unknown("NVML: Not Supported")
    assert found.memory_total_bytes == Unknown("NVML: Not Supported")
    assert card.temperature_c == 45


def test_old_driver_without_newer_functions(old_stub):
    found = look(old_stub, STUB_PROCESSES="7:100:C:a", STUB_REASONS="0x40", STUB_CUDA="11040")
    (card,) = found.devices
    assert found.state == "ok"
    assert card.utilization_percent == Unknown("NVML: Function Not Found")
    # asked for in their older form
    assert (card.temperature_c, card.clock_event_reasons) == (45, ("hw-thermal-slowdown",))
    assert [item.pid for item in card.processes] == [7]
    assert found.cuda_version == "11.4"


@pytest.mark.parametrize("where", ["DeviceGetHandleByIndex#1", "DeviceGetMemoryInfo#1"])
def test_one_of_two_cards_has_fallen_off_the_bus(stub, where):
    found = look(stub, STUB_COUNT="2", STUB_FAIL=f"{where}=15")
    assert (found.state, found.detail) == ("lost", "GPU is lost")
    assert found.devices[0].memory_total_bytes == 24576 * MIB
    assert found.devices[1].index == 1
    assert found.devices[1].memory_total_bytes == Unknown("NVML: GPU is lost")
    assert found.memory_free_bytes == Unknown("NVML: GPU is lost")


def test_card_that_is_barred_does_not_spoil_the_other(stub):
    found = look(stub, STUB_COUNT="2", STUB_FAIL="DeviceGetHandleByIndex#0=4")
    assert (found.state, found.detail) == ("ok", "Insufficient Permissions")
    assert found.devices[0].name == Unknown("NVML: Insufficient Permissions")
    assert found.devices[1].name == "NVIDIA GeForce RTX 3090"
    assert look(stub, STUB_FAIL="DeviceGetHandleByIndex=4").state == "no-permission"


def test_ecc(stub):
    on = look(stub, STUB_ECC="1", STUB_ECC_ERRORS="3").devices[0]
    assert (on.ecc_enabled, on.ecc_uncorrected) == (True, 3)
    off = look(stub, STUB_ECC="0").devices[0]
    assert (off.ecc_enabled, off.ecc_uncorrected) == (False, 0)


def test_each_query_fails_alone(stub):
    """Every question about the card is refused: it is still listed, and every fact says why."""
    names = [
        "DeviceGetName", "DeviceGetMemoryInfo", "DeviceGetCudaComputeCapability", "DeviceGetPowerUsage",
        "DeviceGetPowerManagementLimit", "DeviceGetPowerManagementDefaultLimit", "DeviceGetClockInfo",
        "DeviceGetMaxClockInfo", "DeviceGetTemperature", "DeviceGetUtilizationRates", "DeviceGetCurrentClocksReasons",
        "DeviceGetCurrPcieLinkGeneration", "DeviceGetMaxPcieLinkGeneration", "DeviceGetCurrPcieLinkWidth",
        "DeviceGetMaxPcieLinkWidth", "DeviceGetComputeRunningProcesses", "DeviceGetEccMode",
        "SystemGetDriverVersion", "SystemGetCudaDriverVersion",
    ]  # fmt: skip
    found = look(stub, STUB_FAIL=",".join(f"{name}=999" for name in names))
    assert (found.state, found.driver_version) == ("ok", Unknown("NVML: Unknown Error"))
    (card,) = found.devices
    values = {name: getattr(card, name) for name in card.__dataclass_fields__}
    assert values.pop("index") == 0
    assert values.pop("ecc_uncorrected") is None  # not refused: the stub's card has no ECC
    assert set(values.values()) == {Unknown("NVML: Unknown Error")}


def test_program_whose_memory_or_name_is_not_told(stub):
    """Windows' driver does not count memory for each program; a container does not see the host's names."""
    found = look(stub, STUB_PROCESSES="5:-1:C:C:\\Users\\ann\\LM Studio\\LM Studio.exe;6:10:C")
    by_pid = {item.pid: item for item in found.devices[0].processes}
    assert by_pid[5].name == "LM Studio.exe"
    assert isinstance(by_pid[5].memory_bytes, Unknown)
    assert by_pid[6].name == Unknown("NVML: Not Found")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/usr/bin/llama-server", "llama-server"),
        ("/home/ann/bin/llama-server --api-key sk-local-test", "llama-server"),
        ("/opt/google/chrome/chrome --type=gpu-process --log=/home/ann/x", "chrome"),
        ("C:\\Program Files\\LM Studio\\LM Studio.exe", "LM Studio.exe"),
        ("python3 /home/ann/serve.py", "python3"),
        ("llama-server", "llama-server"),
        ("/home/ann/", "ann"),
        ("", ""),
    ],
)
def test_program_names_carry_no_folder(command, program):
    assert program_name(command) == program


# --- what is in the machine, whatever NVML says ---


class NoBinding(Tree):
    def nvml(self):
        raise OutsideError("missing", "the package nvidia-ml-py is not usable (x)")


@pytest.mark.parametrize(
    ("files", "hardware", "driver", "version"),
    [
        ({**gpu_on_bus("01:00"), "/sys/module/nvidia/version": "550.54.14\n"}, True, "nvidia", "550.54.14"),
        (gpu_on_bus("01:00", driver="nouveau"), True, "nouveau", None),
        (gpu_on_bus("01:00", driver="vfio-pci", kind="0x030200"), True, "vfio-pci", None),
        (gpu_on_bus("01:00", driver=None), True, None, None),
        (gpu_on_bus("00:02", driver="i915", vendor="0x8086"), False, None, None),
        (gpu_on_bus("00:05", driver="nvme", kind="0x010802"), False, None, None),  # another device of that maker
        ({**gpu_on_bus("00:02", driver="amdgpu", vendor="0x1002"), **gpu_on_bus("01:00")}, True, "nvidia", None),
        ({"/dev/dxg": "", "/usr/lib/wsl/lib/libcuda.so.1": ""}, True, None, None),
    ],
)
def test_hardware(tmp_path, files, hardware, driver, version):
    found = gpu.collect(NoBinding(tmp_path, files))
    assert (found.hardware, found.kernel_driver, found.driver_version) == (hardware, driver, version)
    assert isinstance(found.state, Unknown)


def test_hardware_that_cannot_be_looked_at(tmp_path):
    assert isinstance(gpu.collect(NoBinding(tmp_path, {})).hardware, Unknown)  # a container without /sys
    assert isinstance(gpu.collect(NoBinding(tmp_path / "wsl", {"/dev/dxg": ""})).hardware, Unknown)


@pytest.mark.parametrize(
    ("platform", "shown", "hardware"), [("win32", "VEN_10DE&DEV_2805", True), ("win32", "VEN_8086", False)]
)
def test_hardware_of_windows(tmp_path, platform, shown, hardware):
    tree = NoBinding(
        tmp_path, {}, answers={r"reg query HKLM\SYSTEM\CurrentControlSet\Enum\PCI": f"\r\nHKEY\\{shown}\r\n"}
    )
    tree.platform = platform
    assert gpu.collect(tree).hardware is hardware
    tree.platform = "darwin"
    assert gpu.collect(tree).hardware is False


# --- bindings that behave in other ways than the one that is installed ---


class OtherBinding:
    """A binding as old ones were: text as bytes, functions missing, exceptions of any kind."""

    class NVMLError(Exception):
        def __str__(self):
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "x")

    def nvmlInit(self):
        pass

    def nvmlShutdown(self):
        raise self.NVMLError

    def nvmlDeviceGetCount(self):
        return 1

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetName(self, handle):
        return b"Tesla P40\xff"

    def nvmlDeviceGetMemoryInfo(self, handle):
        raise ValueError("what")

    def nvmlDeviceGetCudaComputeCapability(self, handle):
        return ()


def test_binding_of_another_version(tmp_path):
    tree = Tree(tmp_path, {})
    tree.nvml = OtherBinding
    found = gpu.collect(tree)
    (card,) = found.devices
    assert card.name == "Tesla P40\ufffd"
    assert card.memory_total_bytes == Unknown("NVML: what")
    assert isinstance(card.sm, Unknown)
    assert card.power_watts == Unknown("NVML: nvmlDeviceGetPowerUsage: not in this version of nvidia-ml-py")
    assert found.state == "ok"
