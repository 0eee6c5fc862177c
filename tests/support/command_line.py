"""The command line in this process: exit code, stdout and stderr of `gyrostat WORDS`."""

from typing import NamedTuple

import pytest

from gyrostat.cli import main

ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.25"/><mass value="2"/>
    <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.002"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.5"/>
    <axis xyz="0 1 0"/></joint></robot>
"""
BAD_ARM = ARM.replace('<mass value="1"/>', '<mass value="-1"/>')


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Terminal:
    """`run("info", "lwr")`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]):
        self.capsys = capsys

    def __call__(self, *words: object) -> Answer:
        code = main([str(word) for word in words])
        return Answer(code, *self.capsys.readouterr())
