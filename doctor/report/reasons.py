"""Chinese for the reasons why something was not checked, or is not known."""

from __future__ import annotations

REASONS: tuple[tuple[str, str], ...] = (
    (r"left out by --only or --skip", "已用 --only 或 --skip 排除"),
    (r"no model file is known: name it with --model FILE", "不知道模型文件：请用 --model FILE 指定"),
    (r"no model path is known", "不知道模型文件的路径"),
    (
        r"no llama-server is running, and none answers at (\S+): name its address with --server URL",
        r"没有正在运行的 llama-server，\1 也没有响应：请用 --server URL 指定地址",
    ),
    (
        r"nothing answers at (\S+): the launch command given is not running",
        r"\1 没有响应：给出的启动命令还没有运行",
    ),
    (
        r"the launch command given does not start llama-server: give it as one would type it",
        "给出的命令不是启动 llama-server 的：请按平时输入的样子给出",
    ),
    (r"(.+): it starts no llama-server as far as reading tells", r"\1：只看文本，看不出它启动 llama-server"),
    (r"(\S+) stands in a part that only runs under a condition", r"\1 写在按条件才执行的部分里"),
    (r"the Modelfile does not say: Ollama decides", "Modelfile 没有写：由 Ollama 决定"),
    (r"only the first server of the launch file is looked at", "只查看启动文件里的第一个服务"),
    (
        r"(\S+) stands in a file, and is run only when you name it: --binary (\S+)",
        r"\1 写在文件里，只有你指定时才会运行：--binary \2",
    ),
    (r"process (\d+) is no llama-server that runs here", r"进程 \1 不是本机正在运行的 llama-server"),
    (r"no result within ([\d.]+) s", r"\1 秒内没有结果"),
    (r"the check crashed: (.*)", r"这项检查自身出错：\1"),
    (r"no launch command is known", "不知道启动命令"),
    (r"no model file is known", "不知道模型文件"),
    (r"the command fits, or it is not known what is free", "命令放得下，或者不知道有多少空闲"),
    (r"not in the saved facts", "保存的数据里没有"),
    (r"the text holds no launch command", "这段文字里没有启动命令"),
    (
        r"newer builds print this only from -lv 4 on, and this log was written at -lv (\d+)",
        r"较新的版本要 -lv 4 才会打印这一项，而这份日志是 -lv \1 的",
    ),
    (r"the text names no build", "这段文字里没有版本号"),
    (r"hashing reads the whole file and was not asked for", "计算哈希要读完整个文件，没有要求（--hash）"),
    (r"NVML: (.*)", r"NVML 返回：\1"),
    (r"this build has no --list-devices", "这个版本没有 --list-devices"),
    (r"only asked of llama\.cpp servers", "只询问 llama.cpp 服务器"),
    (r"GET /slots is off \(--no-slots\)", "/slots 已关闭（--no-slots）"),
    (r"not on the command line, and (.*)", r"命令行里没有，而且\1"),
    (r"the value of (\S+) is filled in by the shell", r"\1 的值由 shell 填入"),
    (r"no llama-server found", "没有找到 llama-server"),
    (r"no toolkit and no CUDA library found", "没有找到 CUDA 工具包和库"),
    (r"NVML Shared Library Not Found", "没有找到 NVIDIA 驱动的库（NVML）"),
)
