"""A small, independent reader of SDF that makes a Pinocchio model of the tree: the oracle of the reader.

Poses are followed by matrices of Pinocchio; the first joint that has a link as its child carries it, the others close
loops and are listed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin


def text(element: Any, tag: str, default: str) -> str:
    found = element.find(tag)
    return default if found is None or not (found.text or "").strip() else found.text.strip()


def numbers(words: str) -> np.ndarray:
    return np.array([float(word) for word in words.split()])


def pose(element: Any) -> tuple[pin.SE3, str]:
    """The pose of an element, and what it is relative to."""
    found = element.find("pose")
    if found is None or not (found.text or "").strip():
        return pin.SE3.Identity(), "" if found is None else found.get("relative_to", "")
    x = numbers(found.text)
    if found.get("rotation_format") == "quat_xyzw":
        R = pin.Quaternion(*[x[k] for k in (6, 3, 4, 5)]).matrix()
    else:
        R = pin.rpy.rpyToMatrix(*(np.radians(x[3:]) if found.get("degrees") == "true" else x[3:]))
    return pin.SE3(R, x[:3]), found.get("relative_to", "")


@dataclass
class Oracle:
    """``model`` of the tree; ``closing``: joints that are not in it; ``frames``: links -> frames."""

    model: Any
    closing: list[str] = field(default_factory=list)
    multi: dict[str, int] = field(default_factory=dict)


def read(source: str) -> Oracle:
    """The tree of the one model in a text without nested models, fixed to the world."""
    root = ET.fromstring(source)
    sdf = root.find("model") if root.find("model") is not None else root.find("world/model")
    version = tuple(int(x) for x in root.get("version").split("."))
    frames = {e.get("name"): e for tag in ("frame", "joint", "link") for e in sdf.findall(tag)}
    memo: dict[str, pin.SE3] = {"__model__": pose(sdf)[0], "world": pin.SE3.Identity()}

    def place(name: str) -> pin.SE3:
        if name not in memo:
            element = frames[name]
            X, relative = pose(element)
            usual = {"link": "__model__", "frame": element.get("attached_to") or "__model__"}
            memo[name] = place(relative or usual.get(element.tag) or text(element, "child", "")) * X
        return memo[name]

    def body(name: str) -> str:
        while name != "world" and frames[name].tag == "frame":
            name = frames[name].get("attached_to") or sdf.find("link").get("name")
        return name

    model, closing = pin.Model(), []
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    above: dict[str, Any] = {}
    for joint in sdf.findall("joint"):
        if joint.get("type") != "gearbox":
            child = body(text(joint, "child", ""))
            closing += [joint.get("name")] if child in above else []
            above.setdefault(child, joint)
    at: dict[str, tuple[int, pin.SE3]] = {"world": (0, pin.SE3.Identity())}  # link -> joint of Pinocchio, place there

    def attach(name: str) -> None:
        if name in at:
            return
        joint = above.get(name)
        if joint is None:
            at[name] = 0, place(name)
        else:
            parent = body(text(joint, "parent", ""))
            attach(parent)
            k, X = at[parent]
            J = (
                place(joint.get("name"))
                if frames[joint.get("name")] is joint
                else place(text(joint, "child", "")) * pose(joint)[0]
            )
            here = X * place(parent).inverse() * J
            kinds = _kinds(joint, J, version, place)
            if kinds is None:
                at[name] = k, here * J.inverse() * place(name)
            else:
                number = model.addJoint(k, kinds, here, joint.get("name"))
                at[name] = number, J.inverse() * place(name)
        k, X = at[name]
        link = frames[name]
        inertial = link.find("inertial")
        if inertial is not None:
            C, _ = pose(inertial)
            I = {
                key: float(text(inertial.find("inertia"), key, "0"))
                for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            }
            matrix = np.array(
                [[I["ixx"], I["ixy"], I["ixz"]], [I["ixy"], I["iyy"], I["iyz"]], [I["ixz"], I["iyz"], I["izz"]]]
            )
            own = pin.Inertia(float(text(inertial, "mass", "1")), C.translation, C.rotation @ matrix @ C.rotation.T)
        else:
            own = pin.Inertia(1.0, np.zeros(3), np.eye(3))
        model.appendBodyToJoint(k, own, X)
        model.addBodyFrame(name, k, X, 0)

    for link in sdf.findall("link"):
        attach(link.get("name"))
    return Oracle(model, closing)


def _kinds(joint: Any, J: pin.SE3, version: tuple[int, ...], place: Any) -> Any:
    kind = joint.get("type")
    if kind == "fixed":
        return None
    if kind == "ball":
        return pin.JointModelSpherical()
    axes = []
    for tag in ("axis", "axis2"):
        found = joint.find(tag)
        if found is None:
            continue
        u = numbers(text(found, "xyz", "0 0 1"))
        u = u / np.linalg.norm(u)
        model_frame = text(found, "use_parent_model_frame", "1" if version < (1, 5) else "0") in ("1", "true")
        frame = found.find("xyz").get("expressed_in") or ("__model__" if model_frame else "")
        axes.append(J.rotation.T @ place(frame).rotation @ u if frame else u)
    if kind in ("revolute", "continuous"):
        return pin.JointModelRevoluteUnaligned(axes[0])
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axes[0])
    if kind == "screw":
        pitch = float(text(joint, "screw_thread_pitch", "0")) / (2.0 * np.pi)
        return pin.JointModelHelicalUnaligned(axes[0], pitch)
    both = pin.JointModelComposite()
    for axis in axes:
        both.addJoint(pin.JointModelRevoluteUnaligned(axis))
    return both


def ends(source: str, name: str) -> tuple[list[str], pin.SE3]:
    """The two links of a joint whose pose counts from its child, and where the joint is in the world at q = 0."""
    sdf = ET.fromstring(source).find("model")
    joint = next(j for j in sdf.findall("joint") if j.get("name") == name)
    child = next(e for e in sdf.findall("link") if e.get("name") == text(joint, "child", ""))
    return [text(joint, "parent", ""), child.get("name")], pose(sdf)[0] * pose(child)[0] * pose(joint)[0]
