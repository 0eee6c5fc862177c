"""What the expander of xacro may read, compute and produce. It imports the standard library alone, because it runs in
a process of its own (``worker``)."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_BYTES = 16 * 2**20
MAX_MACROS = 10_000
MAX_NESTED = 100
MAX_ELEMENTS = 300_000
MAX_TEXT = 32 * 2**20
_DECLARED = re.compile(r"<!(?:DOCTYPE|ENTITY)")
_PACKAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class RefusedError(Exception):
    """Why a document is not expanded; ``remedy`` says what to do about it."""

    def __init__(self, message: str, remedy: str, place: str = ""):
        super().__init__(message)
        self.remedy, self.place = remedy, place


@dataclass
class Sandbox:
    """What the expander may use. ``folders``: where files may be; ``roots``: folders that hold packages; ``alone``: the
    document is a text without a folder."""

    xacro: Any
    expression: Any
    home: Path
    roots: list[Path]
    folders: list[Path] = field(default_factory=list)
    alone: bool = False
    packages: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    macros: int = 0
    elements: int = 0
    written: int = 0

    # ------------------------------------------------------------------ files
    def read(self, name: str, where: str) -> str:
        """The text of a file inside the allowed folders; ``where``: the place that asks for it."""
        place = Path(os.path.realpath(name))
        if not any(place.is_relative_to(folder) for folder in self.folders):
            remedy = "keep included files beside the model, or name their folder in roots=[...]"
            raise RefusedError(f"the file '{name}' is outside the allowed folders", remedy, where)
        if place.exists() and not place.is_file():
            raise RefusedError(f"'{name}' is not a regular file", "give the path of a file", where)
        with open(place, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RefusedError(f"'{name}' is larger than {MAX_BYTES // 2**20} MiB", "is this the right file?")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RefusedError(f"'{name}' is not UTF-8 text", "save it with the encoding UTF-8") from None
        self.texts[name] = text
        return text

    def document(self, given: Any, name: str | None = None) -> Any:
        """In place of ``xacro.parse``: of a text, or of an included file."""
        text = given
        if given is None:
            self.xacro.filestack.pop()  # it is not entered before it is read
            where = self.place_of(Path(str(name)).name)
            try:
                text = self.read(str(name), where)
            except OSError as error:
                raise self.xacro.XacroException(f"{error.strerror}: {name}", exc=error) from None
            self.xacro.filestack.append(name)
        declared = _DECLARED.search(text)
        if declared is not None:
            place = f"{name or self.home.name}:{text.count(chr(10), 0, declared.start()) + 1}"
            raise RefusedError("has a document type or entity declaration", "take it out", place)
        return importlib.import_module("xml.dom.minidom").parseString(text)

    def here(self) -> str:
        """The file that is being expanded."""
        return str((self.xacro.filestack or [""])[-1] or "")

    def place_of(self, text: str) -> str:
        """file:line where a text stands, if it can be found."""
        for name in [self.here(), *self.texts]:
            at = self.texts.get(name, "").find(text)
            if at >= 0:
                return f"{name}:{self.texts[name].count(chr(10), 0, at) + 1}"
        return self.here()

    def find(self, package: str) -> str:
        """The folder of a package: in one of the roots, or around the model."""
        if not _PACKAGE.fullmatch(package):
            raise RefusedError(f"'{package[:60]}' is no name of a package", "use letters, digits, _ and -", self.here())
        outward = () if self.alone else (self.home.parent, *self.home.parent.parents)
        around = [p for p in outward if p.name == package][:1]
        for place in (*(root / package for root in self.roots), *around):
            folder = Path(os.path.realpath(place))
            if folder.is_dir() and (place in around or any(folder.is_relative_to(r) for r in self.folders)):
                self.packages[package] = folder
                self.folders.append(folder)
                return str(folder)
        remedy = "name the folder that holds it in roots=[...]"
        raise RefusedError(f"the package '{package}' is not known", remedy, self.place_of(f"(find {package}"))

    # ------------------------------------------------------------------ values
    def expression_value(self, text: str, symbols: Any, _: Any = None) -> Any:
        """In place of ``xacro.safe_eval``."""

        def look_up(path: str) -> Any:
            name, *inside = path.split(".")
            table = symbols
            while isinstance(table, self.xacro.Table) and not dict.__contains__(table, name):
                table = table.parent
            if not isinstance(table, self.xacro.Table):  # what xacro offers besides is not for files
                raise KeyError(path)
            value = table[name]
            for key in inside:
                if not isinstance(value, dict):
                    raise KeyError(path)
                value = dict.__getitem__(value, key) if not isinstance(value, self.xacro.Table) else value[key]
            return value

        functions = {"xacro.arg": self.argument, "xacro.load_yaml": self.yaml, "load_yaml": self.yaml}
        functions |= {f"xacro.{name}": lambda *_: "" for name in ("message", "warning", "error")}
        functions |= {"xacro.fatal": self.fatal, "xacro.dotify": lambda value: value}
        try:
            value = self.expression.Evaluator(look_up, functions)(text)
        except self.expression.RefusedExpressionError as error:
            what = f"the expression '{text.strip()[:80]}' has {error}"
            remedy = "use numbers, properties, arithmetic and functions of math; Python code is not run"
            raise RefusedError(what, remedy, self.place_of(text)) from None
        self.count_text(len(str(value)) if not isinstance(value, list | tuple | dict) else 0)
        return value

    def count_text(self, length: int) -> None:
        self.written += length
        if self.written > MAX_TEXT:
            raise RefusedError(f"grows beyond {MAX_TEXT // 2**20} MiB of text", "look for properties that double")

    def extension(self, text: str) -> str:
        """In place of ``xacro.eval_extension``: ``$(arg x)`` and ``$(find package)``."""
        command, *rest = text[2:-1].split() or [""]
        if command == "arg" and len(rest) == 1:
            return self.argument(rest[0])
        if command == "find" and len(rest) == 1:
            return self.find(rest[0])
        what = f"'{text[:80]}' is not followed; only $(arg name) and $(find package) are"
        remedy = "write the value itself, or make it an argument: <xacro:arg name=... default=.../>"
        raise RefusedError(what, remedy, self.place_of(text))

    def argument(self, name: str) -> str:
        known = self.xacro.substitution_args_context.get("arg", {})
        if name not in known:
            message = f"the argument '{name}' has no value"
            raise RefusedError(message, f"load it with arguments={{'{name}': ...}}", self.place_of(f"arg {name}"))
        return known[name]

    def fatal(self, *words: object) -> None:
        raise RefusedError(" ".join(map(str, words))[:400], "the file itself asks to stop here", self.here())

    def yaml(self, name: str) -> Any:
        """In place of ``xacro.load_yaml``: plain data without aliases; ``!degrees`` and its like are numbers."""
        yaml = importlib.import_module("yaml")
        try:
            text = self.read(self.xacro.abs_filename_spec(name), self.place_of(name))
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
                raise RefusedError(f"'{name}' has aliases (*name)", "write the values where they are used")
            return yaml.load(text, _yaml_loader(yaml, self.expression))
        except (OSError, yaml.YAMLError) as error:
            raise RefusedError(f"'{name}' cannot be read: {error}", "check the file", self.here()) from None

    # ------------------------------------------------------------------ bounds
    def counted(self, expand: Callable[..., Any]) -> Callable[..., Any]:
        """``eval_all`` that counts the elements it walks through."""

        def counting(node: Any, *rest: Any) -> Any:
            self.elements += 1 + len(node.childNodes)
            if self.elements > MAX_ELEMENTS:
                raise RefusedError(f"expands to more than {MAX_ELEMENTS} elements", "look for macros that double")
            return expand(node, *rest)

        return counting

    def called(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """``handle_macro_call`` that counts macros, and how deep they are in each other."""

        def counting(node: Any, *rest: Any) -> Any:
            if node.tagName.startswith("xacro:"):
                self.macros += 1
                depth = len(self.xacro.macrostack or ())
                if self.macros > MAX_MACROS or depth > MAX_NESTED:
                    what = (
                        f"nests macros more than {MAX_NESTED} deep" if depth > MAX_NESTED else "calls too many macros"
                    )
                    remedy = "a macro that calls itself needs a condition that ends it"
                    raise RefusedError(f"{what}, at <{node.tagName[:60]}>", remedy, self.here())
            return call(node, *rest)

        return counting


def _yaml_loader(yaml: Any, expression: Any) -> Any:
    loader = type("Loader", (yaml.SafeLoader,), {})
    radians, inch = 0.017453292519943295, 0.0254
    factors = {"radians": 1.0, "degrees": radians, "meters": 1.0, "millimeters": 1e-3, "foot": 0.3048, "inches": inch}

    def no_names(name: str) -> Any:
        raise KeyError(name)

    def constructor(factor: float) -> Callable[[Any, Any], float]:
        def construct(reader: Any, node: Any) -> float:
            try:
                return float(expression.Evaluator(no_names)(str(reader.construct_scalar(node)))) * factor
            except (expression.RefusedExpressionError, TypeError, ValueError) as error:
                raise yaml.YAMLError(f"no number: {error}") from None

        return construct

    for name, factor in factors.items():
        loader.add_constructor(f"!{name}", constructor(factor))
    return loader
