"""Controllers with a memory: noticed in every style, given back as they were, refused; and sampled, run as on a real
controller. What only looks like a memory is not refused."""

import array
import contextlib
import copy
import functools
import itertools
import queue
import random
import sys
import sysconfig
import types
from collections import UserList, deque
from dataclasses import dataclass, field

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.tracing.tape import TAPES
from gyrostat.simulate.plant.user_state import UserState

ARM = gs.robots.two_link()
RUN = {"q0": [0.4, -0.2], "t_end": 4e-3, "method": "rk4", "dt": 1e-3}
TOTAL = 0.0
KEPT: list = []


class Integral:
    def __init__(self):
        self.integral = np.zeros(2)

    def __call__(self, t, q, v):
        self.integral = self.integral + 1e-3 * (0.3 - q)
        return 20.0 * self.integral - v


class InPlace(Integral):
    def __call__(self, t, q, v):
        self.integral += 1e-3 * (0.3 - q)
        return 20.0 * self.integral - v


class Element(Integral):
    def __call__(self, t, q, v):
        self.integral[0] = 0.9 * self.integral[0] + q[0]
        return -self.integral


class Hold:
    """Sample and hold with an if."""

    def __init__(self):
        self.next, self.tau = 0.0, np.zeros(2)

    def __call__(self, t, q, v):
        if t >= self.next:
            self.next += 0.01
            self.tau = -5.0 * q - v
        return self.tau


class Count:
    n = 0

    def __call__(self, t, q, v):
        self.n += 1
        return -v


class CountOfAll:
    n = 0

    def __call__(self, t, q, v):
        type(self).n += 1
        return -v


class Last:
    def law(self, t, q, v):
        self.last = t
        return -v


class First:
    """The first configuration is where it goes back to."""

    q0 = None

    def __call__(self, t, q, v):
        if self.q0 is None:
            self.q0 = q.copy()
        return -3.0 * (q - self.q0) - v


class Slots:
    __slots__ = ("last",)

    def __call__(self, t, q, v):
        self.last = v[0]
        return -v


@dataclass
class Data:
    log: list = field(default_factory=list)

    def __call__(self, t, q, v):
        self.log.append(t)
        return -v


@dataclass
class Deep:
    parts: dict = field(default_factory=lambda: {"pid": [Integral(), Integral()]})

    def __call__(self, t, q, v):
        return self.parts["pid"][1](t, q, v)


class Latch:
    """Remembers only beyond a configuration that the trial calls do not reach."""

    tripped = False

    def __call__(self, t, q, v):
        if q[0] > 0.9:
            self.tripped = True
        return np.zeros(2) if self.tripped else np.array([8.0, 0.0])


def listed():
    seen = []

    def law(t, q, v):
        seen.append(q)
        return -v

    return law


def by_dict():
    known = {"q": np.zeros(2)}

    def law(t, q, v):
        known["q"] = q
        return -v

    return law


def by_deque():
    last = deque([0.0, 0.0], maxlen=2)

    def law(t, q, v):
        last.append(q[0])
        return -v * last[0]

    return law


def by_nonlocal():
    total = 0.0

    def law(t, q, v):
        nonlocal total
        total = total + q[0]
        return -v - total

    return law


def by_global():
    def law(t, q, v):
        global TOTAL
        TOTAL = TOTAL + q[0]
        return -v - TOTAL

    return law


def by_global_list():
    def law(t, q, v):
        KEPT.append(v)
        return -v

    return law


def by_default():
    def law(t, q, v, seen=[]):  # noqa: B006
        seen.append(t)
        return -v

    return law


def by_keyword_default():
    def law(t, q, v, *, seen={}):  # noqa: B006
        seen["t"] = t
        return -v

    return law


def by_attribute_of_itself():
    def law(t, q, v):
        law.calls = getattr(law, "calls", 0) + 1
        return -v

    return law


def by_generator():
    def run():
        total = 0.0
        while True:
            _, q, v = yield total
            total = total + q - v

    running = run()
    next(running)
    return lambda t, q, v: running.send((t, q, v))


def by_iterator():
    numbers = itertools.count()
    return lambda t, q, v: -v * next(numbers)


def by_partial():
    return functools.partial(lambda seen, t, q, v: seen.append(t) or -v, [])


def by_helper():
    inner = Integral()

    def helper(*state):
        return inner(*state)

    return lambda t, q, v: helper(t, q, v)


def by_dice():
    rng = np.random.default_rng(3)
    return lambda t, q, v: rng.normal(size=2) - v


def by_dice_of_all():
    return lambda t, q, v: -v * random.random()


def by_a_set():
    seen = {0.0}
    return lambda t, q, v: seen.add(len(seen)) or -v


def by_a_block():
    class Own(gs.blocks.Block):
        inputs, outputs, total = ("q",), ("tau",), 0.0

        def output(self, t, x, p, m):
            self.total = self.total + x["q"]
            return {"tau": -self.total}

    return Own()


def by_a_function_block():
    law = Integral()
    return gs.blocks.series(gs.blocks.function(law, "q", "v", target="u"), gs.blocks.Gain(1.0, target="tau"))


def by_namespace():
    own = types.SimpleNamespace(total=0.0)

    def law(t, q, v):
        own.total = own.total + q[0]
        return -v - own.total

    return law


def by_queue():
    waiting = queue.Queue()
    return lambda t, q, v: waiting.put(q) or -v


def by_a_user_list():
    seen = UserList([0.0])
    return lambda t, q, v: seen.append(q[0]) or -v * seen[0]


def by_an_array_of_python():
    total = array.array("d", [0.0])

    def law(t, q, v):
        total[0] += float(q[0])
        return -v

    return law


def installed(cls):
    """A class as if it came from an installed package."""
    module = types.ModuleType("some_installed_package")
    module.__file__ = f"{sysconfig.get_paths()['purelib']}/some_installed_package.py"
    sys.modules[module.__name__] = module
    own = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    return type(cls.__name__, (), own | {"__module__": module.__name__})


def by_an_installed_controller():
    return installed(Integral)()


STYLES = {
    "instance attribute": Integral, "in place": InPlace, "array element": Element, "sample and hold": Hold,
    "counter": Count, "class attribute": CountOfAll, "bound method": lambda: Last().law, "first state": First,
    "slots": Slots, "dataclass": Data, "deep": Deep, "list": listed, "dict": by_dict, "deque": by_deque,
    "nonlocal": by_nonlocal, "global": by_global, "global list": by_global_list, "default": by_default,
    "keyword default": by_keyword_default, "function attribute": by_attribute_of_itself, "generator": by_generator,
    "iterator": by_iterator, "partial": by_partial, "helper": by_helper, "dice": by_dice, "dice of all": by_dice_of_all,
    "namespace": by_namespace, "queue": by_queue, "user list": by_a_user_list, "array": by_an_array_of_python,
    "installed": by_an_installed_controller,
    "set": by_a_set, "block": by_a_block, "function block": by_a_function_block,
}  # fmt: skip


def reachable(law):
    return UserState([law])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("call", ["simulate", "rollout"])
def test_a_memory_is_refused_and_leaves_no_trace(style, call):
    law = STYLES[style]()
    before, tapes = reachable(law), len(TAPES.live)
    expected = (
        r"keeps what it was given: it (changes '.+'|reaches a generator or iterator).* Hint: .*gs\.blocks\.sampled"
    )
    with pytest.raises(gs.RecordError, match=expected):
        if call == "simulate":
            gs.simulate(ARM, law, **RUN)
        else:
            gs.rollout(ARM, law, RUN["q0"], [0.0, 0.0], 1e-3, 4)
    after = reachable(law)
    assert not before.changes(after) and not after.recorded
    assert len(TAPES.live) <= tapes


def test_what_exec_makes_is_looked_into():
    names = {}
    exec("class Law:\n    n = 0.0\n    def __call__(self, t, q, v):\n        self.n += 1.0\n        return -v", names)
    law = names["Law"]()
    with pytest.raises(gs.RecordError, match=r"it changes 'self\.n'"):
        gs.simulate(ARM, law, **RUN)
    assert not vars(law)


def test_objects_of_installed_packages_are_given_back():
    """Their state is their own, but a memory of theirs shows in the efforts."""
    pid = installed(Integral)()
    with pytest.raises(gs.RecordError, match=r"keeps what it was given: it changes 'pid\.integral'"):
        gs.simulate(ARM, lambda t, q, v: pid(t, q, v), **RUN)
    assert type(pid.integral) is np.ndarray and not pid.integral.any()


def test_the_message_names_what_is_kept():
    for law, name in ((Integral(), "self.integral"), (Last().law, "self.last"), (listed(), "seen"), (Deep(), "pid")):
        with pytest.raises(gs.RecordError, match=rf"simulate: the function .* it changes .*{name}"):
            gs.simulate(ARM, law, **RUN)


def test_a_memory_that_the_first_calls_do_not_show_ends_the_run():
    latch = Latch()
    with pytest.warns(gs.PerformanceWarning), pytest.raises(gs.SimulationError, match=r"'self.tripped'.*sampled"):
        gs.simulate(gs.robots.two_link(), latch, [0.0, 0.0], [3.0, 0.0], t_end=1.0)
    assert latch.tripped is False and "tripped" not in vars(latch)


def test_a_function_is_called_at_every_stage_where_that_is_asked_for():
    log = Data()
    run = gs.simulate(ARM, log, compiled=False, **RUN)
    assert len(log.log) >= run.counters.rhs_evaluations == 17
    np.testing.assert_allclose(run.q, gs.simulate(ARM, lambda t, q, v: -v, **RUN).q, atol=1e-13)


# ------------------------------------------------------------------------------------------------ what is none
class Gains:
    """Constants are found out at the first call, and kept."""

    K = None
    table: dict = {}  # noqa: RUF012

    def __init__(self):
        self.target = [0.1, 0.2]

    @functools.cached_property
    def damping(self):
        return np.array([1.0, 2.0])

    def __call__(self, t, q, v):
        if self.K is None:
            self.K = 3.0 * np.eye(2)
        self.table.setdefault("seen", 7.0)
        return -self.K @ (q - np.array(self.target)) - self.damping * v


class Buffer:
    """Efforts are written into an array that it keeps."""

    def __init__(self):
        self.tau = np.zeros(2)

    def __call__(self, t, q, v):
        self.tau[:] = -2.0 * q
        self.tau -= v
        return self.tau


@functools.lru_cache
def gain(k):
    return [3.0, 4.0][k]


def reading():
    table, seen = {"kp": 3.0}, []
    return lambda t, q, v: -table["kp"] * q - len(seen) * v + gain(0)


INNOCENT = {
    "constants": Gains,
    "reads": reading,
    "solver": lambda: lambda t, q, v: np.array([1.0, 2.0]) * np.cos(t) - v,
    "partial": lambda: functools.partial(lambda kp, t, q, v: -kp * q, 3.0),
    "generator inside": lambda: lambda t, q, v: -np.array([x for x in (2.0 * y for y in q)]),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_no_memory_is_compiled(name):
    law = INNOCENT[name]()
    run = gs.simulate(ARM, law, **RUN)
    assert run.counters.compiled and run.counters.in_python == ""
    np.testing.assert_allclose(run.q, gs.simulate(ARM, INNOCENT[name](), compiled=False, **RUN).q, atol=1e-13)
    gs.rollout(ARM, law, RUN["q0"], [0.0, 0.0], 1e-3, 4)


def test_solvers_in_a_torque_are_no_memory():
    model = gs.robots.two_link()
    tracker = gs.ForwardKinematics(model)

    def law(t, q, v):
        tip = tracker(q)["lower.tip"].p
        return gs.gravity(model, q) - 2.0 * gs.crba(model, q) @ v - tip[0]

    with pytest.warns(gs.PerformanceWarning):
        run = gs.simulate(model, law, **RUN)
    np.testing.assert_allclose(run.q, gs.simulate(model, law, compiled=False, **RUN).q, atol=1e-13)


def test_a_decorator_of_a_library_hides_nothing():
    for law in (contextlib.contextmanager(Integral().__call__), np.vectorize(Integral().__call__)):
        assert any(".integral" in path for path in UserState([law]).leaves)


def test_an_array_for_the_efforts_is_no_memory():
    with pytest.warns(gs.PerformanceWarning, match="writing into a float array"):
        run = gs.simulate(ARM, Buffer(), **RUN)
    want = gs.simulate(ARM, lambda t, q, v: -2.0 * q - v, **RUN)
    np.testing.assert_allclose(run.q, want.q, atol=1e-13)
    np.testing.assert_allclose(run.tau, want.tau, atol=1e-12)  # each row is its own


# ------------------------------------------------------------------------------------------------ events
def test_an_event_that_remembers_is_refused_and_its_reset_may():
    seen, bounces = [], []

    def counting(t, q, v):
        seen.append(t)
        return q[0]

    with pytest.raises(gs.RecordError, match=r"event 'counting' keeps what it was given.*Hint: reset is called once"):
        gs.simulate(ARM, events=gs.Event(counting), **RUN)
    assert not seen
    gs.simulate(ARM, events=gs.Event(counting), compiled=False, **RUN)
    assert seen
    event = gs.Event(lambda t, q, v: t - 0.0021, reset=lambda t, q, v: bounces.append(t))
    run = gs.simulate(ARM, events=event, **RUN)
    assert len(bounces) == 1 and run.counters.in_python == "event '<lambda>'"


@pytest.mark.parametrize(("method", "options"), [("rk4", {"dt": 1e-2}), ("dina", {"dt": 1e-2}), ("ida", {})])
def test_what_a_reset_changes_is_felt_by_a_compiled_torque(method, options):
    mode = {"push": 1.0}

    def reset(t, q, v):
        mode["push"] = -2.0

    slider = gs.assemble(
        "slider",
        gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("m", mass=1.0, inertia=(1, 1, 1))),
    )
    event = gs.Event(lambda t, q, v: t - 0.5, reset=reset)
    run = gs.simulate(
        slider, lambda t, q, v: [mode["push"] + 0.0 * t], t_end=1.0, events=event, method=method, **options
    )
    assert run.counters.compiled and run.v[-1, 0] == pytest.approx(0.5 - 1.0, abs=1e-6)


# ------------------------------------------------------------------------------------------------ sampled
METHODS = {
    "dopri5": {"rtol": 1e-9, "atol": 1e-11}, "ode23": {"rtol": 1e-8, "atol": 1e-10}, "bdf": {"rtol": 1e-8},
    "radau": {"rtol": 1e-9}, "cvode": {"rtol": 1e-8}, "ida": {"rtol": 1e-8}, "rk4": {"dt": 2e-3},
    "semi-implicit-euler": {"dt": 1e-5}, "newmark": {"dt": 2e-4}, "trapezoid": {"dt": 2e-4},
    "generalised-alpha": {"dt": 2e-4}, "dina": {"dt": 2e-4},
}  # fmt: skip
T = 0.01


class Pi:
    """A PI controller as they are written, with a log."""

    def __init__(self):
        self.integral, self.log = 0.0, []

    def __call__(self, t, q, v):
        assert type(t) is float and q.dtype == float
        self.integral += (0.3 - q[0]) * T
        self.log.append((t, q[0], v[0]))
        return {"hinge": 4.0 * (0.3 - q[0]) + 8.0 * self.integral - 0.3 * v[0]}


def held_exactly(n):
    """The same law, sampled by hand: one run for each sample, with a constant torque."""
    model, law = gs.robots.pendulum(), Pi()
    q, v = np.array([0.0]), np.array([0.5])
    for k in range(n):
        tau = law(k * T, q, v)
        run = gs.simulate(model, tau, q, v, t_start=k * T, t_end=(k + 1) * T, rtol=1e-11, atol=1e-13)
        q, v = run.q[-1], run.v[-1]
    return q, v, law


@pytest.mark.parametrize("method", METHODS)
def test_a_sampled_controller_runs_once_at_every_instant_with_every_method(method):
    q, v, by_hand = held_exactly(10)
    law, hits = Pi(), []
    event = gs.Event(lambda t, q, v: q[0] - 0.02, reset=lambda t, q, v: hits.append(t))
    run = gs.simulate(
        gs.robots.pendulum(), gs.blocks.sampled(law, T), [0.0], [0.5], t_end=0.1, method=method, events=event,
        **METHODS[method],
    )  # fmt: skip
    assert [t for t, *_ in law.log] == [k * T for k in range(10)] and len(hits) == 1
    assert run.counters.compiled
    tolerance = 2e-5 if method == "semi-implicit-euler" else 2e-6
    assert abs(run.q[-1, 0] - q[0]) < tolerance and abs(run.v[-1, 0] - v[0]) < 10 * tolerance
    np.testing.assert_allclose(law.log, by_hand.log, atol=10 * tolerance)
    assert law.integral == pytest.approx(by_hand.integral, abs=tolerance)


def test_a_sampled_controller_holds_between_its_instants():
    run = gs.simulate(ARM, gs.blocks.sampled(lambda t, q, v: [t, 0.0], 0.1), t_end=0.35, t_eval=[0.0, 0.05, 0.25, 0.35])
    np.testing.assert_allclose(run.tau[:, 0], [0.0, 0.0, 0.2, 0.3], atol=1e-15)


def test_steps_that_are_given_up_call_nothing():
    calls = []

    def law(t, q, v):
        calls.append(t)
        return [2e3 * (-1) ** len(calls), 0.0]

    run = gs.simulate(ARM, gs.blocks.sampled(law, 0.05), t_end=0.5, rtol=1e-3, atol=1e-5, events=gs.JointLimits())
    assert run.counters.rejected > 0 and calls == [k * 0.05 for k in range(10)]


def test_sampled_controllers_of_several_rates_go_into_one_diagram():
    fast, slow = [], []
    parts = {
        "shoulder": gs.blocks.sampled(lambda t, q, v: fast.append(t) or -2.0 * q, 0.01),
        "elbow": gs.blocks.sampled(lambda t, q, v: slow.append(t) or -3.0 * q, 0.03),
    }
    gs.simulate(ARM, gs.blocks.per_joint(parts, ARM), [0.1, 0.2], t_end=0.1)
    np.testing.assert_allclose(fast, np.arange(10) * 0.01, atol=1e-12)
    np.testing.assert_allclose(slow, np.arange(4) * 0.03, atol=1e-12)
    limited = gs.blocks.series(
        gs.blocks.sampled(lambda t, q, v: 100.0 * q, 0.02), gs.blocks.Saturation(1.0, target="tau")
    )
    assert np.abs(gs.simulate(ARM, limited, [0.1, -0.2], t_end=0.04).tau).max() == 1.0


def test_a_sampled_controller_is_copied_with_nothing_lost_and_told_in_words():
    block = gs.blocks.sampled(Pi(), T)
    assert str(block) == "sampled 'Pi': q, v -> tau, every 0.01 s" and copy.copy(block).sample_time == T


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gs.blocks.sampled(3.0, T), "expected a function"),
        (lambda: gs.blocks.sampled(Pi, T), "expected a function"),
        (lambda: gs.blocks.sampled(Pi(), 0.0), "sample_time must be one number above 0 s"),
        (lambda: gs.simulate(ARM, gs.blocks.sampled(lambda t, q, v: q[:1], T), **RUN), r"returned .*\(2,\)"),
        (lambda: gs.simulate(ARM, gs.blocks.sampled(lambda t, q, v: {"elbwo": 1.0}, T), **RUN), "did you mean 'elbow'"),
        (lambda: gs.simulate(ARM, gs.blocks.sampled(lambda t, q, v: [np.nan, 0], T), **RUN), "expected finite numbers"),
        (lambda: gs.rollout(ARM, gs.blocks.sampled(Integral(), T), [0.0, 0.0]), "Hint: gs.simulate takes it"),
        (lambda: gs.blocks.sampled(Pi(), T).memory, "how many numbers it returns is not known. Hint: .*size=7"),
    ],
)  # fmt: skip
def test_mistakes_with_sampled_controllers_are_told(make, message):
    with pytest.raises(gs.GyrostatError, match=message):
        make()


# ------------------------------------------------------------------------------------------------ samples and others
class Shared:
    """A sampled law that leaves behind what something else reads."""

    def __init__(self):
        self.push, self.kp = 0.0, 2.0

    def law(self, t, q, v):
        self.push = 10.0 * t
        return [0.0]

    def wrench(self, t, q, v):
        return np.array([0.0, self.push, 0.0, 0.0, 0.0, 0.0]) + 0.0 * t

    def quiet(self, t, q, v):
        return np.array([0.0, self.kp, 0.0, 0.0, 0.0, 0.0]) * np.cos(t)


def pushed_by_hand(n):
    q, v = np.array([0.3]), np.array([0.0])
    for k in range(n):
        run = gs.simulate(gs.robots.pendulum(), [10.0 * k * T], q, v, t_end=T, rtol=1e-10)
        q, v = run.q[-1], run.v[-1]
    return q[0]


class OwnDigital(gs.blocks.Block):
    """A block of a user's whose update leaves something in the block itself."""

    inputs, outputs, memory, sample_time = ("q",), ("tau",), (0.0,), T

    def __init__(self):
        self.push = 0.0

    def update(self, t, x, p, m):
        self.push = 10.0 * t
        return m

    def output(self, t, x, p, m):
        return {"tau": np.array([self.push + 0.0 * t])}


@pytest.mark.parametrize(
    ("method", "options"), [("dopri5", {"rtol": 1e-10}), ("newmark", {"dt": 5e-4}), ("ida", {}), ("dina", {"dt": 5e-4})]
)
@pytest.mark.parametrize("where", ["wrench", "block", "own block"])
def test_what_a_sampled_function_changes_is_felt_by_what_was_compiled(where, method, options):
    shared, given = Shared(), {}
    law = gs.blocks.sampled(shared.law, T)
    if where == "wrench":
        given = {"wrenches": {"rod.tip": shared.wrench}}
    elif where == "block":
        read = gs.blocks.function(lambda t, u: u + shared.push + 0.0 * t, "u", target="tau")
        law = gs.blocks.series(gs.blocks.sampled(shared.law, T, target="u", size=1), read)
    else:
        law = OwnDigital()
    with pytest.warns(gs.PerformanceWarning, match="a sampled function changes what another one reads"):
        run = gs.simulate(gs.robots.pendulum(), law, [0.3], t_end=0.1, method=method, **options, **given)
    assert run.q[-1, 0] == pytest.approx(pushed_by_hand(10), abs=1e-5 if method in ("dina", "ida") else 1e-6)


def test_what_others_do_not_read_of_a_sampled_function_stays_compiled():
    shared = Shared()
    run = gs.simulate(
        gs.robots.pendulum(), gs.blocks.sampled(shared.law, T), [0.3], t_end=0.1, wrenches={"rod.tip": shared.quiet}
    )
    assert run.counters.compiled and shared.push == pytest.approx(0.9)
    event = gs.Event(lambda t, q, v: t - 0.055, reset=lambda t, q, v: setattr(shared, "kp", 5.0))
    run = gs.simulate(
        gs.robots.pendulum(), gs.blocks.sampled(shared.law, T), [0.3], t_end=0.1, events=event,
        wrenches={"rod.tip": shared.quiet},
    )  # fmt: skip
    assert run.counters.compiled
    np.testing.assert_allclose(run.wrenches["rod.tip"].value[[0, -1], 1], [2.0, 5.0 * np.cos(0.1)], atol=1e-12)
    with pytest.raises(gs.GyrostatError, match="a sampled function changes what another one reads"):
        gs.simulate(
            gs.robots.pendulum(), gs.blocks.sampled(shared.law, T), [0.3], t_end=0.1, compiled=True,
            wrenches={"rod.tip": shared.wrench},
        )  # fmt: skip


def test_a_memory_beside_a_sampled_function_is_refused_too():
    def push(t, q, v):
        return np.array([0.0, 0.1 * np.random.random(), 0.0, 0.0, 0.0, 0.0])

    latch = Latch()
    wrenches = {"lower.tip": gs.blocks.sampled(push, T)}
    with pytest.warns(gs.PerformanceWarning), pytest.raises(gs.SimulationError, match=r"'self.tripped'.*sampled"):
        gs.simulate(gs.robots.two_link(), latch, [0.0, 0.0], [3.0, 0.0], t_end=1.0, wrenches=wrenches)
    assert latch.tripped is False
    with pytest.warns(gs.PerformanceWarning):  # dice of samples are no memory of the others
        gs.simulate(ARM, lambda t, q, v: -v if q[0] > 0 else v, [0.4, -0.2], t_end=0.05, wrenches=wrenches)


def test_a_sampled_function_is_called_with_what_it_reads():
    with pytest.raises(
        gs.SpecError, match=r"sampled '<lambda>': the function takes \(t, q\), .*called with \(t, q, v\)"
    ):
        gs.blocks.sampled(lambda t, q: q, T)
    gs.blocks.sampled(lambda t, q: q, T, reads="q")
