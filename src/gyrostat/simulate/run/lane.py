"""Memory in which runs of machine code alone follow each other: what a run needs is made once for many of them."""

from __future__ import annotations

from gyrostat.simulate.methods.method_memory import MethodMemory
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.task import Task
from gyrostat.spec.model import Model


class Lane:
    """Runs of a task by a compiled method, without events and constraints, on twins of a plant; one at a time."""

    def __init__(self, task: Task, plant: Plant):
        self.task, self.plant = task, plant
        self._run: Run | None = None

    def run(self, parameters: Parameters, told: Model) -> Run:
        """The next run; ``told``: the model with the properties among the parameters."""
        if self._run is None:
            self._run = self.task.run(self.plant.twin(parameters), told, parameters)
            self._memory = MethodMemory(self._run.method)
        else:
            self._memory.rewind()
            self._run.again(parameters, told)
        return self._run
