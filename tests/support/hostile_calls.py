"""Random calls that nobody would make on purpose: ``python hostile_calls.py seed count``.

Every call is made from a small table of states whose results the interpreter has computed, so that it is known before
the call whether it must return (and what), or be refused. Arrays lie in memory between sentinels. The tests of kernels
run this in a process of its own.
"""

from __future__ import annotations

import array
import pickle
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

import gyrostat as gs
from gyrostat.engine.tracing.program import run

SENTINEL = 1.2345678e77
LEADS = [(), (), (), (), (1,), (2,), (3,), (5,), (4, 1), (9,), (1, 3), (2, 5), (0,), (2, 0), (17,), (1, 1, 2)]


class RefusedError(Exception):
    """What an object of ours raises when it is made an array."""


class Foreign:
    def __init__(self, value: Any):
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.value is None:
            raise RefusedError("no array")
        return np.asarray(self.value, dtype=dtype)


class Sly(np.ndarray):
    """A subclass that refuses arithmetic."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise RefusedError("no arithmetic")


class Silent:
    def __repr__(self) -> str:
        raise RefusedError("no repr")


@dataclass
class Subject:
    """Something to call: pools of states by argument, and the results of all combinations."""

    name: str
    make: Callable[[], Any]
    pools: tuple[np.ndarray, ...]
    results: np.ndarray  # pools x pools x ... x output
    names: tuple[str, ...] = ("q", "v", "a")
    whole: int = 2  # so many entries of each pool are whole numbers
    call: Any = None


@dataclass
class Call:
    """One call and what must come of it: results, ``"refuse"``, ``"signature"``, or None where either will do."""

    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    want: Any = None
    guards: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # memory, where it is ours
    told: list[str] = field(default_factory=list)

    def refuse(self, why: str) -> None:
        self.told.append(why)
        if not isinstance(self.want, str):
            self.want = "refuse"


# ---------------------------------------------------------------------------------------------- what is called


def _pool(rng: np.random.Generator, n: int) -> np.ndarray:
    """Six states; all are exact as float16, the first two are whole."""
    return np.concatenate([rng.integers(-3, 4, (2, n)), rng.integers(-24, 25, (4, n)) / 8.0])


def _coordinates(model: gs.Model, rng: np.random.Generator) -> np.ndarray:
    pool = _pool(rng, model.nq)
    units = np.array(
        [(0, 0, 0, 1), (0, -1, 0, 0), (0.5, 0.5, 0.5, 0.5), (0.5, -0.5, 0.5, -0.5), (1, 0, 0, 0), (0, 0, 1, 0)]
    )
    for block in model.layout.turning:
        pool[:, block.quaternion] = units
    return pool


def _combinations(function: Callable[..., np.ndarray], pools: tuple[np.ndarray, ...]) -> np.ndarray:
    shape = tuple(len(p) for p in pools)
    found = [function(*(p[i] for p, i in zip(pools, index, strict=True))) for index in np.ndindex(*shape)]
    return np.array(found).reshape((*shape, *found[0].shape))


def subjects() -> list[Subject]:
    rng = np.random.default_rng(99)
    found = []
    arm = gs.robots.chain(3)
    ball = gs.robots.tree(8, 2, kinds=("spherical",))
    for name, model, live in (
        ("arm", arm, ()),
        ("ball", ball, ()),
        ("live", arm, ("link2.mass", "joint2.axis", "link3.com")),
    ):
        pools = (_coordinates(model, rng), _pool(rng, model.nv), _pool(rng, model.nv))
        plain = gs.InverseDynamics(model, mode="interpret")
        found.append(
            Subject(
                name,
                lambda model=model, live=live: gs.InverseDynamics(model, live=live),
                pools,
                _combinations(plain, pools),
            )
        )
    pools = (_coordinates(ball, rng), _pool(rng, ball.nv), _pool(rng, ball.nv))

    def derivative() -> Any:
        return gs.InverseDynamics(ball).jacobian("tau", "q")

    program = derivative().kernel.program
    shape = program.outputs[0].shape
    rows = _combinations(lambda *x: np.array(run(program, *(e.tolist() for e in x))[0]).reshape(shape), pools)
    found.append(Subject("derivative", derivative, pools, rows))
    return found


# ---------------------------------------------------------------------------------------------- arrays in odd places


def fenced(call: Call, shape: tuple[int, ...], rng: np.random.Generator, kind: str) -> np.ndarray:
    """A float64 array of a shape in the middle of memory that is watched."""
    if kind == "misaligned":
        size = int(np.prod(shape)) * 8
        raw = np.full(size + 64 + 3, 171, np.uint8)
        start = 32 + int(rng.integers(1, 4))
        inner = raw[start : start + size]
        mine = np.zeros(len(raw), bool)
        mine[start : start + size] = True
        call.guards.append((raw, mine))
        return inner.view(np.float64).reshape(shape)
    steps = {"plain": 1, "backwards": -1, "strided": int(rng.choice([2, 3, -2]))}
    order = list(shape)
    axis = int(rng.integers(len(shape))) if shape else 0
    step = steps.get(kind, 1)
    if shape:
        order[axis] = max(1, order[axis]) * abs(step)
    layout = tuple(reversed(order)) if kind == "fortran" else tuple(order)
    size = int(np.prod(layout))
    memory = np.full(size + 16, SENTINEL)
    number = np.arange(size).reshape(layout)
    block = memory[8 : 8 + size].reshape(layout)
    if kind == "fortran":
        block, number = block.T, number.T
    cut = tuple(slice(None, None, step) if k == axis else slice(None) for k in range(len(shape)))
    cut = tuple(slice(0, 0) if n == 0 and k == axis else c for (k, c), n in zip(enumerate(cut), shape, strict=True))
    view, taken = block[cut], number[cut]
    mine = np.zeros(len(memory), bool)
    mine[8 + taken.ravel()] = True
    call.guards.append((memory, mine))
    assert view.shape == shape
    return view


LAYOUTS = ["plain", "plain", "plain", "backwards", "strided", "fortran", "misaligned"]
TYPES = ["f8"] * 8 + ["f4", "f2", "g", ">f8", "i8", "i2"]
BAD_TYPES = ["?", "c16", "O", "U4", "M8[s]"]


def argument(
    call: Call, subject: Subject, which: int, lead: tuple[int, ...], rng: np.random.Generator, calm: bool
) -> tuple[Any, Any]:
    """One argument with rows from its pool, and the numbers of these rows; the call is told what is wrong with it."""
    pool = subject.pools[which]
    dtype = "f8" if calm else str(rng.choice(TYPES))
    count = subject.whole if dtype[0] == "i" else len(pool)
    index = rng.integers(0, count, lead)
    numbers = pool[index]
    form = 0 if calm else int(rng.integers(40))
    if form < 25:
        x = fenced(call, numbers.shape, rng, "plain" if calm else str(rng.choice(LAYOUTS)))
        x[...] = numbers
        if dtype != "f8":
            x = x.astype(dtype)
        if rng.random() < 0.1:
            x.flags.writeable = False
        return x, index
    if form == 25 and numbers.size:
        return numbers.tolist(), index
    if form == 26:
        return Foreign(numbers.astype(dtype)), index
    if form == 27:
        return np.ma.masked_array(numbers, mask=False), index
    if form == 28:
        return numbers.view(Sly), index
    if form == 29:
        return numbers.view(np.recarray), index
    if form == 30 and not lead:
        return array.array("d", numbers.tolist()), index
    if form == 31:
        owners = [(b.entity, b.coordinates if which == 0 else b.rates) for b in _model(subject).layout]
        named, at = {}, 0
        for owner, parts in owners:
            piece = numbers[..., at : at + len(parts)]
            named[owner] = piece[..., 0] if len(parts) == 1 else piece
            at += len(parts)
        if rng.random() < 0.3:
            named["nobody"] = 1.0
            call.refuse("unknown joint")
        return named, index
    if form == 32:
        call.refuse("wrong width")
        return np.zeros((*lead, pool.shape[1] + int(rng.choice([-1, 1, 5])))), index
    if form == 33 and numbers.size:
        call.refuse("wrong type")
        wrong = str(rng.choice(BAD_TYPES))
        return (np.ones(numbers.shape).astype(wrong) if wrong != "M8[s]" else np.zeros(numbers.shape, wrong)), index
    if form == 34:
        call.refuse("no array at all")
        things = [
            None,
            "q",
            b"q",
            3.5,
            object(),
            Silent(),
            Foreign(None),
            {1.0},
            [],
            [[1.0], [1.0, 2.0]],
            np.array(1.0),
            10**400,
        ]
        things += [
            (x for x in numbers),
            np.float64(2.0),
            [None],
            {"x": Silent()},
            type,
            np.zeros((2, 3), [("a", "f8")]),
        ]
        return things[int(rng.integers(len(things)))], index
    if form == 35 and numbers.size:
        bad = numbers.copy()
        bad.reshape(-1)[int(rng.integers(bad.size))] = rng.choice([np.nan, np.inf, -np.inf])
        call.refuse("not finite")
        return bad, index
    if form == 36 and numbers.size:
        masked = np.ma.masked_array(numbers, mask=False)
        masked.mask.reshape(-1)[int(rng.integers(numbers.size))] = True
        call.refuse("masked")
        return masked, index
    if form == 37 and which == 0 and subject.name == "ball" and numbers.size:
        call.refuse("quaternion")
        return numbers * 1.5, index
    if form == 38 and lead:
        one = numbers[(0,) * len(lead)] if numbers.size else pool[0]
        return np.broadcast_to(one, numbers.shape), np.broadcast_to(index[(0,) * len(lead)] if index.size else 0, lead)
    return numbers, index


def _model(subject: Subject) -> gs.Model:
    return getattr(subject.call, "model", None) or subject.call.solver.model


def target(call: Call, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Something for out=."""
    form = int(rng.integers(24))
    if form < 10:
        return fenced(call, shape, rng, str(rng.choice(LAYOUTS)))
    if form < 16:  # over one of the inputs, more or less
        arrays = [x for x in call.args if type(x) is np.ndarray and x.dtype == float and x.flags.writeable and x.size]
        if not arrays:
            return None
        x = arrays[int(rng.integers(len(arrays)))]
        if x.shape == shape and rng.random() < 0.5:
            return x if rng.random() < 0.5 else x[::-1]
        size = int(np.prod(shape))
        memory = np.full(size + x.size + 8, SENTINEL)
        start = int(rng.integers(0, x.size + 4))
        out = memory[start : start + size].reshape(shape)
        again = memory[2 : 2 + x.size].reshape(x.shape)
        again[...] = x
        call.args[next(k for k, y in enumerate(call.args) if y is x)] = again
        mine = np.zeros(len(memory), bool)
        mine[start : start + size] = True
        mine[2 : 2 + x.size] = True
        call.guards.append((memory, mine))
        return out
    if form == 16:
        return np.zeros(shape).view(Sly)
    if form == 17:
        return None
    size = int(np.prod(shape))
    call.refuse("unsuitable out")
    if form == 18:
        return np.zeros((*shape, 1))
    if form == 19:
        return np.zeros(shape, str(rng.choice(["f4", "i8", ">f8", "O", "?"])))
    if form == 20:
        frozen = np.zeros(shape)
        frozen.flags.writeable = False
        return frozen
    if form == 21:
        things = ["out", 1.0, [0.0] * size, Foreign(np.zeros(shape)), Silent(), np.float64(1.0), {}]
        return things[int(rng.integers(len(things)))]
    if form == 22 and len(shape) > 1 and shape[0] > 1 and size > shape[0]:
        call.want = None  # all rows in one place: refused unless they are equal
        return as_strided(np.zeros(size), shape, (0, *np.zeros(shape).strides[1:]))
    return np.zeros((*shape[:-1], shape[-1] + 1))


def options(call: Call, subject: Subject, rng: np.random.Generator) -> None:
    """Keyword arguments besides out=."""
    if rng.random() < 0.25:
        good = [1, 2, 3, 7, np.int64(2), 256]
        bad = [0, -1, 257, 2.5, "2", None, True, np.array([1, 2]), Silent(), 10**40]
        if rng.random() < 0.7:
            call.kwargs["threads"] = good[int(rng.integers(len(good)))]
        else:
            call.kwargs["threads"] = bad[int(rng.integers(len(bad)))]
            call.refuse("threads")
    if rng.random() < 0.15:
        choices = [np.str_("raise"), "raise", "return", "return", "x", None, 1, np.array(["raise"] * 2), Silent()]
        choice = choices[int(rng.integers(len(choices)))]
        call.kwargs["nonfinite"] = choice
        if not (isinstance(choice, str) and choice in ("raise", "return")):
            call.refuse("nonfinite")
        elif choice == "return" and set(call.told) == {"not finite"}:
            call.want = None  # NaN and infinity come back, except where quaternions cannot be of unit length
    if rng.random() < 0.1:
        t = [0.0, [0.0, 1.0], None, 5, np.nan, "t", Silent()][int(rng.integers(7))]
        call.kwargs["t"] = t
        if isinstance(t, str | Silent) or (isinstance(t, float) and t != t):
            call.refuse("t")
    if rng.random() < 0.1 and subject.name != "derivative":
        body = "link2" if subject.name != "ball" else "body1"
        things = [
            None,
            {},
            {body: np.zeros(6)},
            {"nobody": np.zeros(6)},
            {body: np.zeros(5)},
            7,
            {body: "w"},
            {body: [np.nan] * 6},
        ]
        k = int(rng.integers(len(things)))
        call.kwargs["wrenches"] = things[k]
        if k > 2:
            call.refuse("wrenches")


def signature(call: Call, rng: np.random.Generator) -> None:
    """Break the signature itself."""
    form = int(rng.integers(4))
    if form == 0:
        call.args = call.args[: int(rng.integers(0, 3))]
    elif form == 1:
        call.kwargs["nonsense"] = 1
    elif form == 2:
        call.args += [None, 5]
    else:
        call.kwargs["q"] = call.args[0]
    call.want = "signature"
    call.told.append("signature")


def random_call(subject: Subject, rng: np.random.Generator) -> Call:
    call = Call()
    calm = rng.random() < 0.5  # most arguments are what they should be
    lead = () if calm and rng.random() < 0.6 else LEADS[int(rng.integers(len(LEADS)))]
    leads = [lead] * 3
    for k in range(3 * (not calm)):
        if rng.random() < 0.15:
            leads[k] = lead[int(rng.integers(len(lead) + 1)) :]
        elif rng.random() < 0.08:
            leads[k] = LEADS[int(rng.integers(len(LEADS)))]
    indices = []
    for k in range(3):
        x, index = argument(call, subject, k, leads[k], rng, calm and rng.random() < 0.85)
        call.args.append(x)
        indices.append(index)
    try:
        together = np.broadcast_shapes(*leads)
    except ValueError:
        together = lead
        call.refuse("leading shapes")
    else:
        if call.want is None:
            call.want = subject.results[tuple(indices)]
    if call.told in (["not finite"], ["quaternion"]) and 0 in together:
        call.want = None  # there may be no state left to find fault with
    options(call, subject, rng)
    if rng.random() < 0.3:
        out = target(call, (*together, *subject.results.shape[3:]), rng)
        call.kwargs["out"] = out
    if rng.random() < 0.03:
        signature(call, rng)
    elif rng.random() < 0.3 and subject.name != "derivative":
        n = int(rng.integers(0, 3))
        call.kwargs |= dict(zip(subject.names[n:], call.args[n:], strict=True))
        call.args = call.args[:n]
    return call


# ---------------------------------------------------------------------------------------------- judging


def inspect(call: Call, subject: Subject) -> str:
    """Make the call; the kind of its outcome, or AssertionError."""
    try:
        result = subject.call(*call.args, **call.kwargs)
    except gs.GyrostatError as error:
        assert isinstance(call.want, str) or call.want is None, f"refused: {type(error).__name__}: {error}"
        assert str(error), "an error without words"
        outcome = "refused"
    except TypeError as error:
        assert call.want == "signature", f"TypeError: {error}"
        outcome = "signature"
    else:
        assert not isinstance(call.want, str), f"accepted, should {call.want}"
        out = call.kwargs.get("out")
        assert result is out if out is not None else type(result) is np.ndarray
        if call.want is not None:
            got = np.asarray(result)
            assert got.shape == call.want.shape and got.dtype == float, f"shape {got.shape}, {call.want.shape}"
            off = np.abs(got - call.want) / np.maximum(1.0, np.abs(call.want).max(axis=-1, keepdims=True, initial=0.0))
            assert off.max(initial=0.0) <= 1e-13, f"off by {off.max()}"
        outcome = "right"
    for memory, mine in call.guards:
        untouched = memory[~mine]
        assert np.all(untouched == (SENTINEL if memory.dtype == float else 171)), "written outside an array"
    return outcome


def main(seed: int, count: int) -> None:
    warnings.simplefilter("error")
    rng = np.random.default_rng(seed)
    known = subjects()
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for k in range(count):
        subject = known[int(rng.integers(len(known)))]
        if subject.call is None or rng.random() < 0.002:  # begin anew, or with a copy
            subject.call = subject.make() if subject.call is None or rng.random() < 0.5 else _copied(subject.call)
        state = rng.bit_generator.state
        call = random_call(subject, rng)
        try:
            outcomes[inspect(call, subject)] += 1
            reasons.update(call.told)
        except BaseException:
            shown = [type(x).__name__ for x in call.args], {n: type(x).__name__ for n, x in call.kwargs.items()}
            print(f"call {k} of seed {seed} on {subject.name}: {shown}, {call.told}, state {state['state']}")
            raise
    told = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
    print(f"{count} calls: {told}")
    print("refused for: " + ", ".join(f"{name} {n}" for name, n in reasons.most_common()))


def _copied(solver: Any) -> Any:
    return pickle.loads(pickle.dumps(solver))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
