"""Calls in processes that have little memory left."""

import json
import os
import subprocess
import sys

RUNNER = """
import json, os, resource, signal, sys
prelude, calls = json.load(sys.stdin)
names = {}
exec(prelude, names)
for call, room in calls:
    read, write = os.pipe()
    if not (child := os.fork()):
        signal.alarm(180)
        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + room,) * 2)
        try:
            exec(call, dict(names))
            said = "done"
        except BaseException as error:
            said = f"{type(error).__module__}.{type(error).__name__}: {error}"
        os.write(write, said.encode()[:60000])
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps(said if status == 0 else f"ended with status {status}: {said}"), flush=True)
"""


def run_limited(prelude, calls):
    """What becomes of calls, each in a fork of a process that ran `prelude`.

    `calls` has pairs (code, bytes of address space beyond what the process has). What is returned
    for each is "done", an error with its full class name, or "ended with status ...".
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    ended = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps([prelude, calls]),
        env={**os.environ, **threads, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith('"')]
