"""The kernel's stub says what the kernel has, and the kernel has no defaults of its own: Python's are the only ones."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from itersel import _kernel
from itersel.learn.learner import LearnConfig
from itersel.learn.pairs import PairConfig

PACKAGE = Path(_kernel.__file__).parent
STUB = ast.parse((PACKAGE / "_kernel.pyi").read_text())
TYPES_ONLY = {"BuildDetails"}  # a description of a dict
CLASSES = [node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name not in TYPES_ONLY]
FUNCTIONS = [(None, node) for node in STUB.body if isinstance(node, ast.FunctionDef)]
METHODS = [(kind.name, node) for kind in CLASSES for node in kind.body if isinstance(node, ast.FunctionDef)]


def is_property(node):
    return any(isinstance(name, ast.Name) and name.id == "property" for name in node.decorator_list)


def signature(function):
    """The parameters of a bound function as pybind11 prints them: [(name, has a default)]."""
    found = re.match(r"\w+\((.*)\) -> ", function.__doc__)
    assert found is not None, function.__doc__
    parameters, depth, part = [], 0, ""
    for letter in found[1] + ",":
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parameters.append(part.strip())
            part = ""
        else:
            part += letter
    named = [(text.split(":")[0].strip(), " = " in text) for text in parameters if text not in ("", "*")]
    return [(name, default) for name, default in named if name != "self"]


def owner(kind):
    return _kernel if kind is None else getattr(_kernel, kind)


CALLABLES = [
    pytest.param(kind, node, id=f"{kind}.{node.name}" if kind else node.name)
    for kind, node in FUNCTIONS + METHODS
    if not is_property(node)
]


@pytest.mark.parametrize(("kind", "node"), CALLABLES)
def test_parameters_are_those_of_the_stub(kind, node):
    names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs) if argument.arg != "self"]
    bound = signature(getattr(owner(kind), node.name))
    if node.name.startswith("__") and node.name != "__init__":
        assert len(bound) == len(names)
    else:
        assert [name for name, _ in bound] == names


@pytest.mark.parametrize(("kind", "node"), CALLABLES)
def test_no_binding_has_a_default(kind, node):
    assert [name for name, default in signature(getattr(owner(kind), node.name)) if default] == []
    assert not node.args.defaults and not any(node.args.kw_defaults)


def test_nothing_is_missing_in_the_stub():
    classes = {node.name for node in CLASSES}
    assert {name for name, value in vars(_kernel).items() if isinstance(value, type)} == classes
    functions = {name for name, value in vars(_kernel).items() if callable(value) and not isinstance(value, type)}
    assert functions == {node.name for _, node in FUNCTIONS}
    for kind in CLASSES:
        public = {name for name in vars(getattr(_kernel, kind.name)) if not name.startswith("_")}
        listed = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
        listed |= {node.target.id for node in kind.body if isinstance(node, ast.AnnAssign)}
        assert {name for name in listed if not name.startswith("_")} == public, kind.name


@pytest.mark.parametrize(("config", "options"), [(LearnConfig, "LearnOptions"), (PairConfig, "PairOptions")])
def test_configurations_have_the_fields_of_the_kernel(config, options):
    bound = signature(getattr(_kernel, options).__init__)
    assert [name for name, _ in bound] == [field.name for field in fields(config) if field.name != "account"], (
        "all but AdaGrad's account, which comes and goes with the weights"
    )


def test_options_in_cpp_have_no_defaults():
    structs = {}
    for path in (PACKAGE / "kernel").glob("*/*.hh"):
        for name, body in re.findall(r"^struct (\w*Options) \{\n(.*?)^\};", path.read_text(), re.DOTALL | re.MULTILINE):
            structs[name] = re.findall(r"^  [\w:<>]+ \w+ ?(?:=|\{).*$", body, re.MULTILINE)
    assert {"PairOptions", "LearnOptions", "EpochOptions", "SearchOptions", "ExtractOptions"} <= set(structs)
    assert {name: found for name, found in structs.items() if found} == {}
