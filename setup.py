"""Builds the native kernel (our C++17 sources, KenLM and zstd, linked into one extension module) and collects the files
that engines and the demo need besides modules: a wheel gets the folders of RESOURCES as `itersel/_installed/`.

The sources of KenLM and zstd come from source distributions on the package index (zstd's from that of the package
zstandard), pinned by version and hash, or from the directories named by the environment variables KENLM_SOURCE and
ZSTD_SOURCE. Nothing of them is kept in this repository.

ITERSEL_SANITIZE=1 builds with AddressSanitizer and UBSan.
"""

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, LinkError


@dataclass(frozen=True)
class Library:
    """A library whose sources are fetched and compiled into the kernel."""

    title: str
    package: str
    version: str
    sha256: str
    variable: str  # of the environment: a directory with the sources, instead of the package
    folder: str  # of the sources, within the package
    marker: str  # a file of the sources
    licences: tuple[str, ...]  # from the sources' folder

    def sources(self, cache: Path) -> Path:
        """The directory with the sources, fetched once into `cache`."""
        given = os.environ.get(self.variable)
        if given:
            if not (Path(given) / self.marker).is_file():
                sys.exit(f"{self.variable}={given} holds no {self.marker}: point it at {self.title}'s sources.")
            return Path(given).resolve()
        name = f"{self.package}-{self.version}"
        unpacked = cache / name
        if not (unpacked / self.folder / self.marker).is_file():
            self.fetch(cache, name)
        return unpacked / self.folder

    def fetch(self, cache: Path, name: str) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            requirement = Path(folder) / "requirement.txt"
            requirement.write_text(f"{self.package}=={self.version} --hash=sha256:{self.sha256}\n")
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", self.package]
            command += ["--no-build-isolation", "--require-hashes", "-r", str(requirement), "-d", folder]
            if subprocess.run(command, check=False).returncode != 0:
                sys.exit(
                    f"Could not fetch the sources of {self.package} {self.version} from the package index.\n"
                    f"Check the network or pip's index settings, or unpack {self.title}'s sources yourself and set\n"
                    f"{self.variable} to the directory that contains {self.marker}."
                )
            with tarfile.open(next(Path(folder).glob(f"{self.package}-*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
            shutil.move(str(Path(folder) / name), cache / name)

    @property
    def described(self) -> str:
        return f"from {self.variable}" if os.environ.get(self.variable) else self.version


KENLM = Library(
    title="KenLM",
    package="kenlm",
    version="0.3.0",
    sha256="c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8",
    variable="KENLM_SOURCE",
    folder=".",
    marker="lm/left.hh",
    licences=("LICENSE", "COPYING", "COPYING.3", "COPYING.LESSER.3", "util/double-conversion/LICENSE"),
)
ZSTD = Library(
    title="zstd",
    package="zstandard",
    version="0.25.0",
    sha256="7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b",
    variable="ZSTD_SOURCE",
    folder="zstd",
    marker="zstd.c",
    licences=("LICENSE",),
)

ROOT = Path(__file__).resolve().parent
KERNEL = Path("itersel") / "kernel"
BINDINGS = "bindings"  # the only folder there that includes headers of Python and pybind11
JOINED = "all.cc"
# Each room's files are compiled as one source: headers and templates, most of the work, are compiled once and not for
# every file. `decode` has one file that takes longer than all others together, so it stays as it is.
JOINED_ROOMS = (BINDINGS, "base", "grammar", "learn", "metrics", "shards", "tune")
BUILD_ID = KERNEL / "base" / "build_id.cc"  # changes with every other file
RESOURCES = ("jobs", "conf", "data/demo", "data/sample")
INSTALLED = Path("itersel") / "_installed"  # itersel.base.resources looks there
MACROS = [("KENLM_MAX_ORDER", "6"), ("NDEBUG", None), ("HAVE_CLOCKGETTIME", None)]
# The kernel compresses at levels up to 1, which use the search called "fast": without the others, and without functions
# that nobody calls, zstd compiles in a quarter of the time. Another copy of zstd in the process, such as Python's own,
# must not be mistaken for ours.
ZSTD_SEARCHES = ("BTLAZY2", "BTOPT", "BTULTRA", "LAZY2", "LAZY", "GREEDY", "DFAST")
ZSTD_MACROS = [f"-DZSTD_EXCLUDE_{name}_BLOCK_COMPRESSOR" for name in ZSTD_SEARCHES]
ZSTD_MACROS += ["-DZSTDLIB_VISIBLE=", "-DZSTDERRORLIB_VISIBLE=", "-DZDICTLIB_VISIBLE="]
ZSTD_FUNCTIONS = (  # that itersel/kernel/base/compression.cc calls; the compiler drops what these do not need
    *("CCtx_setParameter", "compress2", "compressBound", "createCCtx", "createDCtx", "decompress", "decompressDCtx"),
    *("freeCCtx", "freeDCtx", "getErrorName", "getFrameContentSize", "isError"),
)
COMPILER_HELP = (
    "A C++17 compiler is needed to build itersel's kernel.\n"
    "  Debian/Ubuntu: apt-get install g++ python3-dev\n"
    "  Fedora/EMR:    dnf install gcc-c++ python3-devel\n"
    "  macOS:         xcode-select --install"
)


def build_id(flags: list[str]) -> str:
    """Stands for what the kernel is made from: sources, versions of libraries, flags. Not for where or when."""
    made = hashlib.sha256(" ".join([KENLM.version, ZSTD.version, *flags]).encode())
    for path in sorted((ROOT / KERNEL).glob("*/*.??")):
        made.update(f"\n{path.parent.name}/{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return made.hexdigest()[:16]


def newer(target: Path, sources: list[Path]) -> bool:
    try:
        return all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)
    except FileNotFoundError:  # nothing was made yet, or a header is gone
        return False


def read_dependencies(path: Path, source: Path) -> list[Path] | None:
    """Our files that an object was made of, by the compiler's own account; None: there is none for this source.

    That of a checkout that was copied or moved names files of the old place, which say nothing about those here.
    """
    if not path.exists():
        return None
    names = path.read_text().replace("\\\n", " ").partition(":")[2].split()
    found = [ROOT / name for name in names]  # ccache may write relative names
    return [file for file in found if file.is_relative_to(ROOT) or file == source] if source in found else None


def written(path: Path, content: str) -> Path:
    """The file with that content; one that has it already stays as old as it is."""
    if not path.exists() or path.read_text() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return path


def foreign_headers(folder: Path) -> Path:
    """A file that is as old as the versions of Python's and pybind11's headers in use.

    The headers themselves say nothing: pip puts pybind11 into a new temporary folder for every build.
    """
    import pybind11

    return written(folder / "headers.txt", f"{sys.implementation.cache_tag}, pybind11 {pybind11.__version__}\n")


@dataclass(frozen=True)
class Unit:
    """A source file to compile."""

    source: Path
    folder: Path  # of the object
    includes: tuple[str, ...]
    flags: tuple[str, ...]
    members: tuple[Path, ...] = ()  # of a library's joined sources

    @property
    def target(self) -> Path:
        return self.folder / f"{self.source.parent.name}_{self.source.stem}.o"

    @property
    def used(self) -> Path:
        """Where the compiler writes which headers it read."""
        return self.target.with_suffix(".d")

    def is_new(self) -> bool:
        made_of = read_dependencies(self.used, self.source)
        headers = [foreign_headers(self.folder)] if self.source.parent.name == BINDINGS else []
        return made_of is not None and newer(self.target, [*made_of, *headers, *self.members])

    def cost(self) -> int:
        """Grows with the time to compile: joined sources are more work than any single one."""
        return self.source.stat().st_size + 100_000 * (self.source.name == JOINED)


def joined(sources: list[Path], folder: Path, root: Path = ROOT / KERNEL) -> Path:
    """A source file that includes others, to be compiled in their place. `root` is where includes are looked up."""
    names = [source.relative_to(root).as_posix() for source in sources]
    return written(folder / JOINED, "".join(f'#include "{name}"\n' for name in names))


def build_details(flags: list[str]) -> list[str]:
    """Macros that let the kernel say how it was built."""
    facts = {"FLAGS": " ".join(flags), "KENLM": KENLM.described, "BUILD_ID": build_id(flags)}
    return [f'-DITERSEL_{name}="{value}"' for name, value in facts.items()]


class BuildPackage(build_py):
    """Modules, and the resources beside them. An editable install finds the resources in the checkout."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "itersel", ignore_errors=True)  # modules that are no more
            for source, target in self.resources().items():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        super().run()

    def resources(self) -> dict[Path, Path]:
        files = [path for name in RESOURCES for path in sorted((ROOT / name).rglob("*")) if path.is_file()]
        folder = Path(self.build_lib) / INSTALLED
        return {path: folder / path.relative_to(ROOT) for path in files if "__pycache__" not in path.parts}

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        found = super().get_outputs(include_bytecode)
        return found if self.editable_mode else [*found, *map(str, self.resources().values())]


class BuildKernel(build_ext):
    """Compiles in parallel and only what changed; KenLM and zstd are compiled once into static archives."""

    def build_extension(self, ext: Extension) -> None:
        if shutil.which(os.environ.get("CXX", "c++").split()[0]) is None and shutil.which("g++") is None:
            sys.exit(COMPILER_HELP)
        sanitize = os.environ.get("ITERSEL_SANITIZE") == "1"
        normal = ROOT / "build" / "kernel"
        build = normal.with_name("kernel-sanitized") if sanitize else normal
        kenlm, zstd = (library.sources(ROOT / "build" / "sources") for library in (KENLM, ZSTD))
        common = ["-std=c++17", "-fvisibility=hidden", "-fPIC", "-ffp-contract=off"]
        optimized = ["-O3", "-g0", *common]
        sanitized = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", *common]
        flags = sanitized if sanitize else optimized
        includes = [str(path) for path in ext.include_dirs] + self.include_dirs
        own = ["-isystem", str(kenlm), "-isystem", str(zstd), *flags, "-Wall", "-Wextra", *build_details(flags)]
        (build / "itersel" / "base_build_id.o").unlink(missing_ok=True)
        # With sanitizers pybind11's templates take three times as long; most of that is optimizing what hardly runs,
        # and checking its arithmetic. Linked last, the bindings' copies of the kernel's inline functions do not count.
        glue = ["-O0", "-fno-sanitize=undefined"] if sanitize else []
        sources = [ROOT / name for name in ext.sources]
        for room in JOINED_ROOMS:
            members = [source for source in sources if source.parent.name == room and source != ROOT / BUILD_ID]
            sources = [source for source in sources if source not in members] + [joined(members, build / room)]
        units = [
            Unit(source, build / "itersel", (*includes,), (*own, *(glue if source.parent.name == BINDINGS else ())))
            for source in sources
        ]
        # KenLM itself is not sanitized: its tries read unaligned integers on purpose. Nor is zstd.
        libraries = {
            normal / "libkenlm.a": kenlm_units(kenlm, normal, optimized),
            normal / "libzstd.a": zstd_units(zstd, normal, optimized),
        }
        outdated = {
            archive: made_of
            for archive, made_of in libraries.items()
            if not newer(archive, [path for unit in made_of for path in (unit.source, *unit.members)])
        }
        try:
            self.compile_all([*units, *(unit for made_of in outdated.values() for unit in made_of)])
            for archive, made_of in outdated.items():
                archive.unlink(missing_ok=True)
                name = archive.stem.removeprefix("lib")
                objects = [str(unit.target) for unit in made_of]
                self.compiler.create_static_lib(objects, name, output_dir=str(archive.parent))
            units.sort(key=lambda unit: BINDINGS in unit.source.parts)
            objects = [str(unit.target) for unit in units]
            target = Path(self.get_ext_fullpath(ext.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            # Without debugging data (KenLM's, too) the module is a tenth of the size, which counts when it is shipped
            # to many nodes, and compiling takes a quarter less time.
            link = ["-fsanitize=address,undefined"] if sanitize else ["-Wl,--strip-debug"]
            self.compiler.link_shared_object(
                [*objects, *map(str, libraries)], str(target), extra_postargs=[*link, "-lrt"], target_lang="c++"
            )
            if not self.inplace:
                self.copy_licences({KENLM: kenlm, ZSTD: zstd})
        except (CompileError, LinkError) as error:
            sys.exit(f"Building the kernel failed: {error}\n{COMPILER_HELP}")

    def copy_licences(self, libraries: dict[Library, Path]) -> None:
        """The terms of the libraries and of pybind11 travel with the module that contains them (NOTICE)."""
        folder = Path(self.build_lib) / INSTALLED / "licenses"
        texts = {
            folder / library.title.lower() / name: sources / name
            for library, sources in libraries.items()
            for name in library.licences
        }
        for path in importlib.metadata.files("pybind11") or ():
            if path.name == "LICENSE":
                texts[folder / "pybind11" / path.name] = Path(str(path.locate()))
        for target, source in texts.items():
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def compile_all(self, units: list[Unit]) -> None:
        def compile_one(unit: Unit) -> None:
            if unit.is_new():
                return
            scratch = unit.folder / f"of-{os.getpid()}"  # two builds at a time do not share half-made files
            made = self.compiler.compile(
                [str(unit.source)],
                output_dir=str(scratch),
                macros=MACROS,
                include_dirs=[*unit.includes],
                extra_postargs=[*unit.flags, "-MMD", "-MF", str(unit.used)],
            )
            shutil.move(made[0], unit.target)

        folders = {unit.folder for unit in units}
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(compile_one, sorted(units, key=Unit.cost, reverse=True)):  # no long one comes last
                pass
        for folder in folders:
            shutil.rmtree(folder / f"of-{os.getpid()}", ignore_errors=True)


def kenlm_units(kenlm: Path, build: Path, flags: list[str]) -> list[Unit]:
    """As one source, which takes half the time; one file has a name in common with another and stays apart."""
    folders = [kenlm / "lm", kenlm / "util", kenlm / "util" / "double-conversion"]
    sources = sorted(source for folder in folders for source in folder.glob("*.cc"))
    sources = [s for s in sources if not s.name.endswith(("main.cc", "test.cc"))]
    apart = kenlm / "util" / "float_to_string.cc"
    members = [source for source in sources if source != apart]
    whole = joined(members, build / "kenlm-sources", kenlm)
    settings = (build / "kenlm", (str(kenlm),), (*flags, "-w"))
    return [Unit(whole, *settings, members=(*members,)), Unit(apart, *settings)]


def zstd_units(zstd: Path, build: Path, flags: list[str]) -> list[Unit]:
    called = "".join(f"extern __typeof__({name}) {name} SEEN;\n" for name in (f"ZSTD_{one}" for one in ZSTD_FUNCTIONS))
    head = "#define SEEN __attribute__((externally_visible))\n#define ZSTD_STATIC_LINKING_ONLY\n"
    source = written(build / "zstd-sources" / "all.c", f'{head}#include "zstd.h"\n{called}#include "zstd.c"\n')
    in_c = [flag for flag in flags if flag != "-std=c++17"]
    return [
        Unit(source, build / "zstd", (str(zstd),), (*in_c, "-w", "-fwhole-program", *ZSTD_MACROS), (zstd / "zstd.c",))
    ]


def pybind11_include() -> str:
    import pybind11

    return pybind11.get_include()


setup(
    ext_modules=[
        Extension(
            "itersel._kernel",
            sources=sorted(str(path.relative_to(ROOT)) for path in (ROOT / KERNEL).glob("*/*.cc")),
            include_dirs=[pybind11_include(), str(ROOT / KERNEL)],
        )
    ],
    cmdclass={"build_py": BuildPackage, "build_ext": BuildKernel},
)
