"""``model.connect`` and ``model.disconnect``: single connections."""

from __future__ import annotations

from gyrostat.spec.edits.scope import PlacedPort, checked, find_port, refused, scope_of, with_scope
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import Scope, first_of_each, resolve


def connect(model: Model, ports: tuple[str, ...], check: bool) -> Model:
    """See :meth:`Model.connect`."""
    if len(ports) < 2:
        raise refused(
            "connect", f"joins two or more ports, got {len(ports)}", "write connect('rod.tip', 'disc')", ports
        )
    scope, texts = _together("connect", [find_port(model, port, "connect") for port in ports])
    entities, connections = scope_of(model, scope)
    return checked(with_scope(model, scope, entities, (*connections, texts)), check)


def disconnect(model: Model, ports: tuple[str, ...], check: bool) -> Model:
    """See :meth:`Model.disconnect`."""
    if len(ports) not in (1, 2):
        raise refused("disconnect", f"takes one port or two, got {len(ports)}", "write disconnect('rod.tip', 'disc')")
    who = f"disconnect {' from '.join(repr(str(p)[:60]) for p in ports)}"
    scope, texts = _together(who, [find_port(model, port, "disconnect") for port in ports])
    entities, connections = scope_of(model, scope)
    inside = Scope(first_of_each(entities))
    wanted = {_meaning(text, inside) for text in texts}
    held = [k for k, c in enumerate(connections) if wanted <= {_meaning(port, inside) for port in c}]
    if len(held) != 1:
        raise _unclear(who, [connections[k] for k in held], ports)
    (k,) = held
    left = tuple(port for port in connections[k] if _meaning(port, inside) not in wanted)
    if len(ports) == 2 and left:
        message = f"the connection [{', '.join(connections[k])}] joins more than these two"
        raise refused(who, message, f"name the one to take out of it: disconnect('{ports[1]}')", ports)
    above, kept = "".join(f"{name}." for name in scope), [left] if len(left) > 1 else []
    changed = (*connections[:k], *kept, *connections[k + 1 :])
    sources = dict(model.sources)
    if not kept:  # those behind it move up
        moved = {f"{above}connections[{i}]": f"{above}connections[{i - 1}]" for i in range(k + 1, len(connections))}
        del_key = f"{above}connections[{k}]"
        sources = {moved.get(path, path): place for path, place in sources.items() if path != del_key}
    return checked(with_scope(model, scope, entities, changed, sources), check)


def _meaning(text: str, scope: Scope) -> object:
    """The port behind a name, so that 'disc' and 'disc.origin' are one."""
    end = resolve(text, scope, guess=False)
    return end[0] if isinstance(end, tuple) else text


def _unclear(who: str, held: list[tuple[str, ...]], ports: tuple[str, ...]) -> Exception:
    if not held:
        message = "no connection joins them" if len(ports) == 2 else "it is connected with nothing"
        return refused(who, message, "name both ports of a connection as it is written in model.connections", ports)
    others = ", ".join(f"[{', '.join(c)}]" for c in held[:4])
    return refused(who, f"it is part of {len(held)} connections: {others}", "name the other port, too", ports)


def _together(who: str, places: list[PlacedPort]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The one list of connections that all ports can be named in, and their names there."""
    scopes = {place.scope for place in places}
    if len(scopes) > 1:
        deepest = max(scopes, key=len)
        message = f"'{'.'.join(deepest)}' holds one of the ports, and does not expose it"
        remedy = "only ports of the same list, or exposed ones, can be connected: add it to 'exposes' of the assembly"
        raise refused(who, message, remedy, tuple(place.text for place in places))
    return scopes.pop(), tuple(place.text for place in places)
