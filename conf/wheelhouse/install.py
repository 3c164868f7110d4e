"""Installs the wheelhouse it lies in, on a worker node: python3.11 install.py [FOLDER]     (default: /opt/itersel)

Makes a virtual environment in FOLDER; tasks then run with FOLDER/bin/python. Nothing is fetched from anywhere. Where
the same build is installed already, nothing is done. Needs nothing but a Python's own library, and says so in plain
words if the Python, the processor or the C library are not those that the wheels were made for.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "itersel-build"


def fail(message):
    sys.exit("install.py: error: " + message)


def read_manifest():
    with open(os.path.join(HERE, "manifest.json")) as stream:
        return json.load(stream)


def check_platform(manifest):
    python = ".".join(map(str, sys.version_info[:2]))
    wanted = manifest["python"]
    if python != wanted:
        fail(
            f"the wheels are for Python {wanted}, this is {python} ({sys.executable}).\n"
            f"  Run it as python{wanted} install.py, or build the wheelhouse with Python {python}."
        )
    if platform.machine() != manifest["machine"]:
        fail(
            f"the wheels are for {manifest['machine']} processors, this one is {platform.machine()}.\n"
            "  Build the wheelhouse on such a machine."
        )
    library, version = platform.libc_ver()
    if manifest["glibc"] and library == "glibc" and numbers(version) < numbers(manifest["glibc"]):
        fail(
            f"the kernel needs glibc {manifest['glibc']}, this system has {version}.\n"
            "  Build the wheelhouse on the oldest system of the cluster."
        )


def numbers(version):
    return [int(part) for part in version.split(".")]


def check_files(manifest):
    for entry in manifest["files"]:
        made = hashlib.sha256()
        with open(os.path.join(HERE, entry["name"]), "rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):
                made.update(block)
        if made.hexdigest() != entry["sha256"]:
            fail(f"{entry['name']} is damaged: its SHA-256 is not the manifest's. Copy the wheelhouse again.")


def installed(folder):
    try:
        with open(os.path.join(folder, MARK)) as stream:
            return stream.read().strip()
    except OSError:
        return None


def install(folder, manifest):
    if os.path.exists(folder) and installed(folder) is None and os.listdir(folder):
        fail(f"{folder} is something else than an installed wheelhouse. Name another folder.")
    shutil.rmtree(folder, ignore_errors=True)
    python = os.path.join(folder, "bin", "python")
    run([sys.executable, "-m", "venv", folder])
    # -I: an itersel in the current folder or on PYTHONPATH must not pass for the installed one.
    pip = [python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    run([*pip, "--find-links", HERE, "--require-hashes", "-r", os.path.join(HERE, "requirements.txt")])
    found = run([python, "-I", "-c", "from itersel.base.version import build_id; print(build_id())"]).strip()
    if found != manifest["build"]:
        fail(f"installed build {found}, but the manifest says {manifest['build']}")
    with open(os.path.join(folder, MARK), "w") as stream:  # last: what was interrupted before is done again
        stream.write(found + "\n")


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        fail(f"{' '.join(command[:4])} failed:\n{said}")
    return said


def main():
    folder = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "/opt/itersel")
    manifest = read_manifest()
    check_platform(manifest)
    check_files(manifest)
    if installed(folder) != manifest["build"]:
        install(folder, manifest)
    print(f"itersel {manifest['version']} (build {manifest['build']}) is in {folder}")


if __name__ == "__main__":
    main()
