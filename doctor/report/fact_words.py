"""Facts as evidence: "launch.ctx_size = 131072" in the words of those who typed `-c 131072`, with units, in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.report.rungs import NAMES
from doctor.report.spoken import spoken
from doctor.report.subjects import name_of

if TYPE_CHECKING:
    from doctor.engine.finding import Evidence

_FACT = re.compile(r"([a-z]+)(?:\[[^\]]*\])?\.([a-z_0-9.]+)((?:\[[^\]]*\])?) = (.*)", re.DOTALL)
_STEP = re.compile(rf"(?:^|; )({'|'.join(NAMES['en'])}): ")
GIB = 1 << 30
OPTIONS = {
    "api_key": "--api-key", "batch_size": "-b", "cache_ram_mib": "--cache-ram", "cache_type_k": "-ctk",
    "cache_type_v": "-ctv", "chat_template_file": "--chat-template-file", "cpu_moe": "--cpu-moe", "ctx_size": "-c",
    "draft_model": "-md", "embeddings": "--embeddings", "flash_attn": "-fa", "host": "--host", "jinja": "--jinja",
    "kv_unified": "-kvu", "mlock": "--mlock", "mmproj": "--mmproj", "model": "-m", "n_gpu_layers": "-ngl",
    "no_kv_offload": "-nkvo", "parallel": "-np", "port": "--port", "reasoning": "--reasoning", "spec_type": "--spec-type",
    "threads": "-t", "ubatch_size": "-ub",
}  # fmt: skip
"""Field of the launch command -> the option that sets it."""
FIELDS = {
    "state": ("state", "状态"),
    "kind": ("program", "程序"),
    "hardware": ("hardware", "硬件"),
    "devices": ("devices", "设备"),
    "os": ("system", "系统"),
    "architecture": ("architecture", "架构"),
    "container": ("container", "容器"),
    "wsl": ("WSL", "WSL"),
    "number": ("number", "版本号"),
    "path": ("file", "文件"),
    "backends": ("backends", "后端"),
    "gpu_backend": ("GPU backend", "GPU 后端"),
    "age_days": ("age", "距今"),
    "version_text": ("version", "版本"),
    "cmake": ("cmake option", "cmake 选项"),
    "cmake_unused": ("cmake options without effect", "不起作用的 cmake 选项"),
    "cuda_architectures": ("CUDA architectures", "CUDA 架构"),
    "cuda_version": ("newest CUDA of the driver", "驱动支持的最高 CUDA"),
    "nvcc_version": ("nvcc", "nvcc"),
    "kernel_driver": ("kernel driver", "内核驱动"),
    "memory_free_bytes": ("free memory", "空闲显存"),
    "memory_total_bytes": ("memory", "总显存"),
    "url": ("address", "地址"),
    "detail": ("answer", "回应"),
    "key_required": ("wants a key", "要求密钥"),
    "key_accepted": ("takes the key", "接受密钥"),
    "model_ids": ("models", "模型"),
    "n_ctx": ("context of a slot", "每个槽位的上下文"),
    "port_open": ("port open", "端口已打开"),
    "build_number": ("build", "版本号"),
    "strict_system_message": ("template wants the system message first", "模板要求 system 消息在最前"),
    "context_length": ("trained context", "训练上下文"),
    "block_count": ("layers", "层数"),
    "weights_bytes": ("weights", "权重"),
    "size_bytes": ("size", "大小"),
    "missing_bytes": ("missing", "缺少"),
    "quantization": ("quantisation", "量化"),
    "gguf_version": ("GGUF version", "GGUF 版本"),
    "split_missing": ("missing parts", "缺少的分卷"),
    "split_problem": ("parts", "分卷"),
    "part": ("part", "分卷"),
    "mtp_layers": ("MTP layers", "MTP 层数"),
    "recurrent_layers": ("recurrent layers", "循环层数"),
    "needs_build": ("needs build", "需要的版本"),
    "last_build": ("last build that reads it", "能读它的最后版本"),
    "unknown_types": ("unknown types", "未知类型"),
    "sha256": ("SHA-256", "SHA-256"),
    "sha256_expected": ("published SHA-256", "公布的 SHA-256"),
    "name": ("name", "名称"),
    "parameters": ("parameters", "参数量"),
    "problem": ("problem", "问题"),
    "problems": ("problems", "问题"),
    "command": ("command", "命令"),
    "source": ("known from", "来源"),
    "pid": ("process", "进程号"),
    "environment": ("variable", "环境变量"),
    "options": ("options", "选项"),
    "api_key_token": ("key", "密钥"),
    "file_kind": ("kind of file", "文件类型"),
    "gpu_request": ("GPU given to the container", "分给容器的 GPU"),
    "published_port": ("published port", "对外端口"),
    "over_bytes": ("too much by", "超出"),
    "ram_over_bytes": ("RAM too much by", "内存超出"),
    "weights_over_bytes": ("weights too much by", "权重超出"),
    "fit_shrinks": ("llama.cpp shrinks it by itself", "llama.cpp 会自动缩减"),
    "cores_physical": ("cores", "物理核心"),
    "cores_logical": ("hardware threads", "硬件线程"),
    "cores_performance": ("performance cores", "性能核"),
    "cores_efficiency": ("efficiency cores", "能效核"),
    "cpu_features": ("instruction sets", "指令集"),
    "ram_available_bytes": ("free RAM", "空闲内存"),
    "ram_total_bytes": ("RAM", "内存"),
    "swap_used_bytes": ("swap in use", "已用交换空间"),
    "memlock_limit_bytes": ("limit on locked memory", "锁定内存上限"),
    "cgroup_cpus": ("CPUs of the container", "容器可用 CPU"),
    "cgroup_memory_limit_bytes": ("memory of the container", "容器内存上限"),
    "cgroup_memory_used_bytes": ("memory in use in the container", "容器已用内存"),
    "model_volume.kind": ("disk of the model", "模型所在磁盘"),
    "libcuda": ("libcuda", "libcuda"),
    "libcudart": ("libcudart", "libcudart"),
    "layers_offloaded": ("layers on the card", "显卡上的层数"),
    "layers_total": ("layers", "总层数"),
    "draft_acceptance": ("drafts taken", "草稿接受率"),
    "decode_speeds": ("generation speeds", "生成速度"),
    "threads": ("threads", "线程"),
    "threads_total": ("threads of the machine", "机器线程数"),
    "graph_splits": ("splits of the graph", "计算图分段"),
    "lines": ("lines", "行数"),
    "busy_seconds": ("seconds at work", "工作时间"),
    "pattern": ("how the speed goes", "速度变化"),
    "requests": ("requests", "请求数"),
    "reread_turns": ("turns read anew", "重读的轮次"),
    "prompt_share": ("time spent reading prompts", "读提示词的时间占比"),
    "throttled_share": ("time throttled", "被限速的时间占比"),
    "of_expected": ("of the speed to expect", "相对预期速度"),
    "cache_hit": ("share from the cache", "缓存命中比例"),
    "prompt_over_decode": ("reading over writing", "读入与生成之比"),
    "prefill_per_second": ("reading speed", "读入速度"),
}
"""Field -> what it is called in English and in Chinese; of any other its own name is shown."""
VALUES = {
    "absent": ("not there", "没有"),
    "none": ("none", "没有"),
    "True": ("yes", "是"),
    "False": ("no", "否"),
    "no-library": ("no NVIDIA driver library", "没有 NVIDIA 驱动库"),
    "driver-not-loaded": ("driver not loaded", "驱动没有加载"),
    "version-mismatch": ("driver and library of different versions", "驱动与库的版本不一致"),
    "no-permission": ("no permission", "没有权限"),
    "not-supported": ("not supported", "不支持"),
    "no-device": ("no device", "没有设备"),
    "lost": ("lost", "已掉线"),
    "refused": ("connection refused", "连接被拒绝"),
    "timeout": ("no answer in time", "没有及时响应"),
    "unreachable": ("cannot be reached", "无法到达"),
    "tls": ("TLS fails", "TLS 失败"),
    "not-http": ("does not speak HTTP", "不是 HTTP"),
    "html": ("answers with a web page", "返回网页"),
    "not-llama.cpp": ("another program answers", "响应的是别的程序"),
    "wrong-path": ("llama-server, under another path", "是 llama-server，但路径不同"),
    "unauthorised": ("the key is refused", "密钥被拒绝"),
    "loading": ("loading the model", "正在加载模型"),
    "ok": ("in order", "正常"),
    "error": ("answers with an error", "返回错误"),
    "unknown": ("unknown", "未知"),
}
"""Values that are a word of the facts."""


def evidence_words(item: Evidence, lang: str) -> str:
    """A line of a text as it stands there, anything else in words."""
    return item.text if item.line is not None else fact_words(item.text, lang)


def fact_words(text: str, lang: str) -> str:
    """A piece of evidence in the language of the answer: a fact in words, any other text as collectors say it."""
    found = _FACT.fullmatch(text)
    if not found:
        return _way(text, lang)
    subject, field, index, value = found.groups()
    name = name_of({"client": "clients", "ladder": "ladders"}.get(subject, subject), lang)
    shown = _value(field, value, lang)
    label = _label(subject, field, lang) + index.replace("[", " ").replace("]", "").replace("'", "")
    if lang == "zh":
        return f"{name}，{label}：{shown}"
    return f"{name}, {label}: {shown}"


def _way(text: str, lang: str) -> str:
    """The words of a way: who asks where, and what its steps said."""
    who, dash, steps = text.partition(" — ")
    parts = _STEP.split(steps)
    if not dash or parts[0]:
        return spoken(text, lang)
    said = [f"{NAMES[lang][name]}: {spoken(words, lang)}" for name, words in zip(parts[1::2], parts[2::2], strict=True)]
    return f"{who} — {'; '.join(said)}"


def _label(subject: str, field: str, lang: str) -> str:
    if subject == "launch" and field in OPTIONS:
        return OPTIONS[field]
    known = FIELDS.get(field)
    return known[lang == "zh"] if known else field.replace("_", " ").replace(".", " ")


def _value(field: str, value: str, lang: str) -> str:
    word = VALUES.get(value)
    if word:
        return word[lang == "zh"]
    if re.fullmatch(r"-?\d+", value) and field.endswith("_bytes"):
        number = int(value)
        return f"{number / GIB:.1f} GiB" if abs(number) >= GIB else f"{number / (GIB >> 10):.1f} MiB"
    if re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", value):
        return _with_unit(field, value, lang)
    return spoken(value, lang)


def _with_unit(field: str, value: str, lang: str) -> str:
    if field.endswith("_share") or field in ("of_expected", "cache_hit", "draft_acceptance"):
        return f"{float(value):.0%}"
    units = {"_mib": "MiB", "_mhz": "MHz", "_watts": "W", "_percent": "%", "_seconds": "s", "_per_second": "token/s"}
    unit = next((unit for ending, unit in units.items() if field.endswith(ending)), "")
    if field.endswith("_days"):
        unit = "天" if lang == "zh" else "days"
    shown = value if re.fullmatch(r"-?\d+", value) else f"{float(value):.4g}"
    return f"{shown} {unit}".strip()
