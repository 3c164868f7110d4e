"""The package's version, in one place, and what an installation is made of."""

__version__ = "0.1.0"


def version_details() -> str:
    """For people and bug reports: versions of the package, the kernel's build and what it runs on."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from itersel import _kernel  # here, because the build reads the version before there is a kernel

    build = _kernel.build_details()
    packages = []
    for name in ("numpy", "scipy", "msgpack", "sacrebleu", "mrjob", "eflomal"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} absent")
    return "\n".join(
        (
            f"itersel {__version__}",
            f"kernel: {build['compiler']}, {build['flags']}, pybind11 {build['pybind11']}",
            f"language models: KenLM {build['kenlm']}, n-grams up to {build['max_order']}",
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            f"packages: {', '.join(packages)}",
        )
    )
