"""Names, comments and numbers as C understands them."""

from __future__ import annotations

import re
from collections.abc import Sequence

C99 = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
CPP = (  # for those who include the header there
    "asm bool catch class constexpr const_cast decltype delete dynamic_cast explicit export false friend mutable "
    "namespace new noexcept nullptr operator private protected public reinterpret_cast static_assert static_cast "
    "template this thread_local throw true try typeid typename using virtual wchar_t and and_eq bitand bitor compl not "
    "not_eq or or_eq xor xor_eq alignas alignof typeof unix linux main"
)
OWN = "k j worst scale off math stdio printf in want t"  # what the generated files use themselves
KEYWORDS = frozenset(f"{C99} {CPP} {OWN}".split())
LIBRARY = re.compile(  # what <math.h> declares or defines, with the endings f and l
    r"(a?(cos|sin|tan)h?|atan2|exp|exp2|expm1|frexp|ilogb|ldexp|log|log10|log1p|log2|logb|modf|scalbl?n|cbrt|fabs|hypot|pow"
    r"|sqrt|erfc?|[lt]gamma|ceil|floor|nearbyint|l?l?rint|l?l?round|trunc|fmod|remainder|remquo|copysign|nan|nextafter"
    r"|nexttoward|fdim|fmax|fmin|fma|j[01n]|y[01n]|gamma|drem|significand|scalb|sincos|exp10|pow10)[fl]?"
    r"|is(finite|inf|nan|normal|greater|less|greaterequal|lessequal|lessgreater|unordered)|fpclassify|signbit|signgam"
    r"|(float|double)_t|HUGE_VAL[FL]?|INFINITY|NAN|NULL|EOF|FP_.*|M_.*|MATH_.*|HUGE|[A-Z_]+_MAX|BUFSIZ|FILE|std(in|out|err)"
)


def identifier(text: str) -> str:
    """A C identifier that resembles the text."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    name = re.sub(r"_+", "_", name).strip("_") or "x"
    if name[0].isdigit():
        return f"n{name}"
    taken = name in KEYWORDS or LIBRARY.fullmatch(name) or re.fullmatch(r"t\d+|(in|want)_.*", name)  # t5 is node 5
    return f"{name}_" if taken else name


def comment(text: str) -> str:
    """Text that can stand in a comment: nothing that ends or begins one, no controls, no change of direction."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").replace("\\", "/")


def unique(names: Sequence[str]) -> list[str]:
    """Identifiers of names, made different where they would coincide, in capitals too: those name the sizes."""
    identifiers: list[str] = []
    for text in names:
        name, k = identifier(text), 2
        while name.upper() in (f.upper() for f in identifiers):
            name, k = f"{identifier(text)}_{k}", k + 1
        identifiers.append(name)
    return identifiers


def c_number(value: float) -> str:
    """A C literal that reads back as the same double."""
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value)
    return text if any(c in text for c in ".en") else f"{text}.0"
