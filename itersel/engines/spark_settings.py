"""Spark's properties for a run, and what can be said of them before anything is started."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from itersel.base.errors import ConfigError, ResourceError
from itersel.engines.config import RunConfig
from itersel.engines.wheelhouse import SITE, check_wheelhouse

DEFAULTS = {
    "spark.app.name": "itersel",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    "spark.task.maxFailures": "3",
}
SITE_NAME = "itersel-site"
SECRETS = re.compile(r"secret|password|token|credential|access\.?key", re.IGNORECASE)


def spark_properties(config: RunConfig) -> dict[str, str]:
    """Spark's properties for the run: ours, below those of `run.options`."""
    given, wheelhouse = {}, None
    for option in config.options:
        key, equals, value = option.partition("=")
        if key == "wheelhouse" and value:
            wheelhouse = Path(value)
        elif not equals or not key.startswith("spark."):
            raise ConfigError(
                f"run.options has {option!r}, which is not a property of Spark",
                hint="Write, for example, spark.master=spark://host:7077, spark.executor.memory=2g or wheelhouse=DIR.",
            )
        elif SECRETS.search(key):
            raise ConfigError(
                f"run.options has {key}, and options are written into the run's directory",
                hint="Put secrets into spark-defaults.conf in the folder that SPARK_CONF_DIR names.",
            )
        else:
            given[key] = value
    master = os.environ.get("SPARK_MASTER") or f"local[{config.jobs}]"
    properties = DEFAULTS | {"spark.master": master} | given
    if urlsplit(properties["spark.master"]).hostname in ("127.0.0.1", "localhost"):
        properties.setdefault("spark.driver.host", "127.0.0.1")
        properties.setdefault("spark.driver.bindAddress", "127.0.0.1")
    if wheelhouse is not None:
        check_wheelhouse(wheelhouse)
        archive = f"{(wheelhouse / SITE).absolute()}#{SITE_NAME}"
        properties["spark.archives"] = ",".join(filter(None, [properties.get("spark.archives"), archive]))
        properties.setdefault("spark.executorEnv.PYTHONPATH", SITE_NAME)
    return properties


def workers_python(properties: Mapping[str, str]) -> str:
    """The interpreter that tasks run in: as Spark is told, or this one."""
    return properties.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable


def check_master(address: str) -> None:
    """Says at once that no master answers, which Spark itself would find out within a minute."""
    place = urlsplit(address.split(",")[0])
    if place.scheme != "spark" or not place.hostname:
        return
    try:
        socket.create_connection((place.hostname, place.port or 7077), timeout=10).close()
    except OSError as error:
        raise ResourceError(
            f"no Spark master answers at {address}: {error.strerror or error}",
            hint="tools/spark/start.sh starts one on this machine; run.options names it as spark.master=spark://host:port.",
        ) from None
