import pytest

from doctor.fix.launch.restart import restart


@pytest.mark.parametrize(
    ("kind", "path", "names", "text", "command"),
    [
        ("shell", "my start.sh", (), "#!/usr/bin/env bash\n", "bash 'my start.sh'"),
        ("shell", "start.sh", (), "#!/bin/sh\n", "sh start.sh"),
        ("shell", "start.sh", (), "llama-server\n", "bash start.sh"),
        ("batch", r"C:\my llama\start.bat", (), "", r'"C:\my llama\start.bat"'),
        ("powershell", r"C:\l\start.ps1", (), "", r'powershell -File "C:\l\start.ps1"'),
        ("compose", "compose.yml", ("a", "b"), "", "docker compose -f compose.yml up -d a b"),
        ("systemd", "/etc/systemd/system/llama.service", (), "",
         "sudo systemctl daemon-reload && sudo systemctl restart llama.service"),
        ("systemd", "/home/me/.config/systemd/user/llama.service", (), "",
         "systemctl --user daemon-reload && systemctl --user restart llama.service"),
        ("llama-swap", "config.yaml", ("a",), "", ""),
        ("presets", "models.ini", ("a",), "", ""),
    ],
)  # fmt: skip
def test_how_it_is_started_anew(kind, path, names, text, command):
    assert restart(kind, path, names, text) == command
