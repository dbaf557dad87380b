"""Files of real control groups, as Linux 6.1 (version 2) and 6.18 (version 1) wrote them, for a process 4242.

Half a CPU of quota and a limit of 512 MiB on a server; `Group.later` is the same two seconds on.
"""

V2_MOUNTS = (
    "16 1 0:15 / / rw,relatime - ext4 /dev/root rw\n20 19 0:18 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
)
V1_MOUNTS = (
    "16 1 0:15 / / rw,relatime - ext4 /dev/root rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)
STAT = "4242 (llama (server)) R 1 1 1 0 -1 4194304 31000 0 {faults} 0 300 20 0 0 20 0 12 0 99 800000000 70000"
PRESSURE = (
    "some avg10=0.00 avg60=0.00 avg300=0.41 total={some}\nfull avg10=0.00 avg60=0.00 avg300=0.04 total=24978211\n"
)
STATUS = "Name:\tllama-server\nVmRSS:\t  700000 kB\nVmSwap:\t    2048 kB\nThreads:\t12\n"

V2 = {
    "/proc/self/mountinfo": V2_MOUNTS,
    "/proc/self/cgroup": "0::/user.slice\n",
    "/proc/4242/cgroup": "0::/system.slice/llama.service\n",
    "/proc/4242/status": STATUS,
    "/sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/system.slice/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/system.slice/llama.service/cpu.max": "50000 100000\n",
    "/sys/fs/cgroup/system.slice/llama.service/cpu.stat": (
        "usage_usec 520000\nuser_usec 520000\nsystem_usec 0\nnr_periods 10\nnr_throttled 9\nthrottled_usec 450000\n"
        "nr_bursts 0\nburst_usec 0\n"
    ),
    "/sys/fs/cgroup/system.slice/llama.service/memory.max": "536870912\n",
    "/sys/fs/cgroup/system.slice/llama.service/memory.current": "530000000\n",
    "/sys/fs/cgroup/system.slice/llama.service/memory.stat": (
        "anon 42024960\nfile 219840512\ninactive_file 110202880\nactive_file 109588480\nworkingset_refault_anon 0\n"
        "workingset_refault_file 1966652\npgmajfault 626\n"
    ),
    "/sys/fs/cgroup/system.slice/llama.service/memory.pressure": PRESSURE.format(some=47170465),
    "/sys/fs/cgroup/system.slice/llama.service/io.pressure": PRESSURE.format(some=1000000),
}
V2_LATER = {
    **V2,
    "/sys/fs/cgroup/system.slice/llama.service/cpu.stat": (
        "usage_usec 1670000\nuser_usec 1670000\nsystem_usec 0\nnr_periods 33\nnr_throttled 32\nthrottled_usec 1500000\n"
        "nr_bursts 0\nburst_usec 0\n"
    ),
    "/sys/fs/cgroup/system.slice/llama.service/memory.stat": "anon 42024960\nworkingset_refault_file 1986652\n",
    "/sys/fs/cgroup/system.slice/llama.service/memory.pressure": PRESSURE.format(some=47370465),
    "/sys/fs/cgroup/system.slice/llama.service/io.pressure": PRESSURE.format(some=1500000),
}
V1 = {
    "/proc/self/mountinfo": V1_MOUNTS,
    "/proc/self/cgroup": "4:memory:/jobs/7\n1:cpu:/\n0::/\n",
    "/proc/4242/cgroup": "4:memory:/jobs/7/doctor\n1:cpu:/doctor\n0::/\n",
    "/proc/4242/status": STATUS,
    "/proc/pressure/memory": PRESSURE.format(some=37100539),
    "/proc/pressure/io": PRESSURE.format(some=111580883),
    "/sys/fs/cgroup/cpu/doctor/cpu.cfs_quota_us": "50000\n",
    "/sys/fs/cgroup/cpu/doctor/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/doctor/cpu.stat": (
        "nr_periods 142\nnr_throttled 130\nthrottled_time 5126465042\nnr_bursts 0\nburst_time 0\n"
    ),
    "/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/jobs/7/doctor/memory.limit_in_bytes": "553619456\n",
    "/sys/fs/cgroup/memory/jobs/7/doctor/memory.usage_in_bytes": "552501248\n",
    "/sys/fs/cgroup/memory/jobs/7/doctor/memory.stat": (
        "cache 483037184\nrss 67391488\nworkingset_refault_file 7\nhierarchical_memory_limit 553619456\n"
        "total_cache 483037184\ntotal_workingset_refault_anon 0\ntotal_workingset_refault_file 2226167\n"
        "total_pgmajfault 174\ntotal_inactive_file 394350592\n"
    ),
}
