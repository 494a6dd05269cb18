"""Put compiled code into a wheel, for one version of Python and one kind of computer.

    python tools/ship.py WHEEL PYTHON FOLDER

PYTHON belongs to an environment in which WHEEL is installed. The code that `rankbook warm-up`
compiles there, for a processor that most computers of this kind surpass, goes to rankbook/compiled
in a second wheel, which is written to FOLDER. The package reads this code only where it would
compile the same; see `shipped_processor` in rankbook/base/jit.py. Needs the package wheel.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

X86_64_V3 = """+avx +avx2 +bmi +bmi2 +cx16 +f16c +fma +lzcnt +movbe +popcnt +sahf +sse3 +sse4.1
+sse4.2 +ssse3 +xsave"""
# System and machine: processor in LLVM's words, its features beyond the oldest, tag of the wheel.
TARGETS = {
    ("linux", "x86_64"): ("x86-64-v3", X86_64_V3, "manylinux_2_17_x86_64"),
    ("linux", "aarch64"): ("generic", "", "manylinux_2_17_aarch64"),
    ("darwin", "arm64"): ("generic", "", "macosx_11_0_arm64"),
    ("win32", "amd64"): ("x86-64-v3", X86_64_V3, "win_amd64"),
}
WARM_UP = "from rankbook.app.warm_up import warm_up; warm_up()"
LABEL = """
import sys
from numba.core.registry import cpu_target
from rankbook.base import jit
processor, folder = cpu_target.target_context.codegen().magic_tuple(), jit.cache_folder()
jit.write_code(folder / "label.nbc", jit.build_facts(), {*sys.argv[1:]}, processor)
print(folder)
"""
PYTHON_TAG = "import sys; print('cp%d%d' % sys.version_info[:2])"


def run(*command, **options):
    """What a command prints; a failure ends the script with it."""
    result = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    if result.returncode:
        raise SystemExit(f"{result.stdout}\n{' '.join(map(str, command))}: {result.returncode}")
    return result.stdout


def target():
    """The entry of TARGETS for this computer, or None."""
    return TARGETS.get((sys.platform, platform.machine().lower()))


def compile_code(python, cache, processor, features, code=WARM_UP, **environ):
    """Run code that compiles for a processor; return the folder of the compiled code."""
    usual = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    own = dict(NUMBA_CACHE_DIR=str(cache), NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES="")
    options = dict(env=usual | environ | own, cwd=cache)
    run(python, "-c", code, **options)
    return Path(run(python, "-c", LABEL, *features.split(), **options).splitlines()[-1])


def ship(wheel, python, folder, tools=sys.executable):
    """Write the wheel with compiled code to a folder; return its path.

    `tools` is a Python with the package wheel.
    """
    processor, features, platform_tag = target()
    with tempfile.TemporaryDirectory() as temp:
        temp = Path(os.path.realpath(temp))
        code = compile_code(python, temp, processor, features, PYTHONPATH="")
        tool = [tools, "-m", "wheel"]
        run(*tool, "unpack", "--dest", temp, wheel)
        (unpacked,) = temp.glob("rankbook-*")
        shutil.copytree(code, unpacked / "rankbook" / "compiled")
        (facts,) = unpacked.glob("*.dist-info/WHEEL")
        facts.write_text(facts.read_text().replace("Purelib: true", "Purelib: false"))
        (temp / "packed").mkdir()
        run(*tool, "pack", "--dest-dir", temp / "packed", unpacked)
        tag = run(python, "-c", PYTHON_TAG).strip()
        tags = ["--python-tag", tag, "--abi-tag", tag, "--platform-tag", platform_tag]
        run(*tool, "tags", "--remove", *tags, *(temp / "packed").iterdir())
        (made,) = (temp / "packed").iterdir()
        return Path(shutil.copy(made, folder))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.strip())
    print(ship(*sys.argv[1:]))
