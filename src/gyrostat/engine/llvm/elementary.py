"""sin and cos for all lanes at once, as LLVM text; other elementary functions lane by lane.

|x| <= 1e5: reduction by pi/2 in three parts [Cody, Waite], then the minimax polynomials of fdlibm's kernel functions on
|r| <= pi/4. Beyond, the lanes concerned are taken from libm. So each lane's result depends on its own x alone.
Largest error measured for |x| <= 1e5, over 2e8 arguments against 64-bit and 300-bit significands: 1.51 ulp (1.53 ulp
on machines without fused multiply-add). sin(-0) is +0."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

LIMIT = 1e5
PI_2 = (1.5707963267341256, 6.077100506506192e-11, 3.5215598651832e-27)  # pi/2 in parts of 33, 53 and 53 bits
PI_2_SHORT = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33, 33 and 53 bits
MAGIC = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the integer in the low bits
SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COS = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


class Writer:
    """Lines of one LLVM function, for W lanes of double."""

    def __init__(self, lanes: int, fma: bool):
        self.lanes, self.fma_hardware = lanes, fma
        self.vt = "double" if lanes == 1 else f"<{lanes} x double>"
        self.it = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.bt = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.lines: list[str] = []
        self.numbers = count(1)
        self.labels = ["entry"]

    def name(self) -> str:
        return f"%t{next(self.numbers)}"

    @property
    def block(self) -> str:
        """Label of the basic block that is being written."""
        return self.labels[-1]

    def beside(self, lanes: int) -> Writer:
        """A writer of the same function for another number of lanes."""
        other = Writer(lanes, self.fma_hardware)
        other.lines, other.numbers, other.labels = self.lines, self.numbers, self.labels
        return other

    def put(self, text: str) -> str:
        """``%tN = text``"""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """A constant in all lanes."""
        one = "0x" + _bits(value)
        return one if self.lanes == 1 else "<" + ", ".join([f"double {one}"] * self.lanes) + ">"

    def integer(self, value: int) -> str:
        return str(value) if self.lanes == 1 else "<" + ", ".join([f"i64 {value}"] * self.lanes) + ">"

    def op(self, what: str, x: str, y: str) -> str:
        return self.put(f"{what} {self.vt} {x}, {y}")

    def call(self, intrinsic: str, *x: str) -> str:
        return self.put(f"call {self.vt} @llvm.{intrinsic}.{self.suffix}({', '.join(f'{self.vt} {a}' for a in x)})")

    def fma(self, x: str, y: str, z: str) -> str:
        """x y + z, in one rounding where the hardware can."""
        return self.call("fma", x, y, z) if self.fma_hardware else self.op("fadd", self.op("fmul", x, y), z)

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.labels.append(name)

    def spread(self, number: str) -> str:
        """A single number in all lanes."""
        if self.lanes == 1:
            return number
        one = self.put(f"insertelement {self.vt} undef, double {number}, i64 0")
        return self.put(f"shufflevector {self.vt} {one}, {self.vt} undef, <{self.lanes} x i32> zeroinitializer")

    def by_lane(self, function: str, *x: str) -> str:
        """Call a C function of doubles for each lane."""
        if self.lanes == 1:
            return self.put(f"call double @{function}({', '.join(f'double {a}' for a in x)})")
        result = "undef"
        for lane in range(self.lanes):
            parts = [self.put(f"extractelement {self.vt} {a}, i64 {lane}") for a in x]
            value = self.put(f"call double @{function}({', '.join(f'double {p}' for p in parts)})")
            result = self.put(f"insertelement {self.vt} {result}, double {value}, i64 {lane}")
        return result


def _bits(value: float) -> str:
    import struct

    return struct.pack(">d", value).hex().upper()


def horner(w: Writer, coefficients: tuple[float, ...], z: str) -> str:
    y = w.number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        y = w.fma(y, z, w.number(c))
    return y


def sine_cosine(w: Writer, x: str, want: tuple[bool, bool]) -> tuple[str, str]:
    """sin x and cos x (only the wanted ones are finished); ends in a new basic block."""
    k = w.call("rint", w.op("fmul", x, w.number(0.6366197723675814)))
    r = _reduced(w, x, k)
    z = w.op("fmul", r, r)
    s = w.fma(w.op("fmul", r, z), horner(w, SIN, z), r)
    # cos: 1 - z/2 + z^2 C(z), the rounding of 1 - z/2 given back
    half = w.op("fmul", z, w.number(0.5))
    one = w.op("fsub", w.number(1.0), half)
    lost = w.op("fsub", w.op("fsub", w.number(1.0), one), half)
    c = w.op("fadd", one, w.fma(w.op("fmul", z, z), horner(w, COS, z), lost))
    quadrant = w.put(f"bitcast {w.vt} {w.op('fadd', k, w.number(MAGIC))} to {w.it}")
    results = [
        _turn(w, quadrant, s, c, shift) if wanted else "undef" for shift, wanted in zip((0, 1), want, strict=True)
    ]
    return _beyond(w, x, results, want)


def _reduced(w: Writer, x: str, k: str) -> str:
    """x - k pi/2. Only one rounding counts: unless the difference is tiny, the last part changes nothing."""
    if w.fma_hardware:
        minus_k, r = w.put(f"fneg {w.vt} {k}"), x
        for part in PI_2:
            r = w.fma(minus_k, w.number(part), r)
        return r
    one, two, three = (w.op("fmul", k, w.number(part)) for part in PI_2_SHORT)  # the first two are exact
    near = w.op("fsub", x, one)  # exact
    r = w.op("fsub", near, two)
    lost = w.op("fsub", w.op("fsub", near, r), two)
    return w.op("fadd", r, w.op("fsub", lost, three))


def _turn(w: Writer, quadrant: str, s: str, c: str, shift: int) -> str:
    """sin(r + (quadrant + shift) pi/2) from sin r and cos r."""
    n = w.put(f"add {w.it} {quadrant}, {w.integer(shift)}") if shift else quadrant
    odd = w.put(f"trunc {w.it} {n} to {w.bt}")
    chosen = w.put(f"select {w.bt} {odd}, {w.vt} {c}, {w.vt} {s}")
    flip = w.put(f"shl {w.it} {w.put(f'and {w.it} {n}, {w.integer(2)}')}, {w.integer(62)}")
    bits = w.put(f"xor {w.it} {w.put(f'bitcast {w.vt} {chosen} to {w.it}')}, {flip}")
    return w.put(f"bitcast {w.it} {bits} to {w.vt}")


def _beyond(w: Writer, x: str, results: list[str], want: tuple[bool, bool]) -> tuple[str, str]:
    """Lanes with |x| > LIMIT are served by libm, in a block that is hardly ever entered."""
    big = w.put(f"fcmp ogt {w.vt} {w.call('fabs', x)}, {w.number(LIMIT)}")
    any_big = big if w.lanes == 1 else w.put(f"call i1 @llvm.vector.reduce.or.v{w.lanes}i1({w.bt} {big})")
    tag = w.name()[1:]
    here, far, on = w.block, f"far_{tag}", f"on_{tag}"
    w.lines.append(f"  br i1 {any_big}, label %{far}, label %{on}, !prof !0")
    w.label(far)
    exact = [
        w.put(f"call {w.vt} @{f}_far{w.lanes}({w.vt} {x})") if ok else ""
        for f, ok in zip(("sin", "cos"), want, strict=True)
    ]
    mixed = [
        w.put(f"select {w.bt} {big}, {w.vt} {e}, {w.vt} {r}") if ok else ""
        for e, r, ok in zip(exact, results, want, strict=True)
    ]
    w.lines.append(f"  br label %{on}")
    w.label(on)
    final = [
        w.put(f"phi {w.vt} [ {r}, %{here} ], [ {m}, %{far} ]") if ok else "undef"
        for r, m, ok in zip(results, mixed, want, strict=True)
    ]
    return final[0], final[1]


def far_functions(lanes: int, fma: bool) -> str:
    """sin and cos by libm, all lanes."""
    texts: list[str] = []
    for name in ("sin", "cos"):
        w = Writer(lanes, fma)
        w.lines.append(f"  ret {w.vt} {w.by_lane(name, '%x')}")
        texts.append(
            f"define internal {w.vt} @{name}_far{w.lanes}({w.vt} %x) noinline cold {{\nentry:\n"
            + "\n".join(w.lines)
            + "\n}"
        )
    return "\n".join(texts)


Emitter = Callable[[Writer, tuple[str, ...]], str]
