"""From a configuration to a response that can be asked, on the driver or on a worker."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from itersel.base.errors import ConfigError
from itersel.base.files import file_checksum
from itersel.base.objects import find, let_modules_here_be_found
from itersel.response.config import ResponseConfig, checksum_of
from itersel.response.program import ProgramResponse
from itersel.response.protocol import Response

GROUP = "itersel.responses"
BUILT_IN = {"geoquery": "itersel.response.geoquery.response:GeoQueryResponse"}


@functools.cache
def registered() -> dict[str, str]:
    """Names with the `module:name` of what makes the response. An entry point cannot take the name of one of ours."""
    found = {point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda one: one.name)}
    return found | BUILT_IN


def object_name(config: ResponseConfig) -> str | None:
    """The `module:name` of the Python object; None for a program."""
    if config.object is None:
        return None
    names = registered()
    if config.object not in names and ":" not in config.object:
        raise ConfigError(
            f"unknown response '{config.object}'",
            hint=f"Choose one of {', '.join(names)}, or name your own as module:name.",
        )
    return names.get(config.object, config.object)


def open_response(config: ResponseConfig, files: Mapping[str, str] | None = None) -> Response:
    """The response; `files` has the local paths of config.files (none: they are where the configuration says)."""
    paths = dict(config.files if files is None else files)
    name = object_name(config)
    if name is None:
        contents = {key: file_checksum(path) for key, path in sorted(paths.items())}
        made_of = {"program": list(config.program), "files": contents, "version": config.version}
        return ProgramResponse(
            config.command(paths),
            checksum_of(made_of),
            processes=config.processes,
            timeout=config.timeout,
            restarts=config.restarts,
        )
    let_modules_here_be_found()
    maker: Any = find(name)
    try:
        response: Any = maker(**config.arguments, **paths)
    except TypeError as error:
        raise ConfigError(
            f"{name} cannot be made of these arguments and files: {error}",
            hint="Keys of response.arguments and response.files are its keyword arguments.",
        ) from None
    if not callable(response) or not isinstance(getattr(response, "checksum", None), str):
        raise ConfigError(
            f"{name} does not make a response",
            hint="It must be callable with (sentence_id, hypotheses), and have a `checksum`: docs/response.md.",
        )
    if config.version:
        return _Versioned(response, config.version)
    made: Response = response
    return made


class _Versioned:
    """A response whose checksum also depends on a word of the user's."""

    def __init__(self, response: Response, version: str):
        self.response, self.checksum = response, checksum_of({"response": response.checksum, "version": version})

    def __call__(self, sentence_id: str, hypotheses: Any) -> Any:
        return self.response(sentence_id, hypotheses)
