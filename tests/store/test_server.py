"""A store on a real server of PostgreSQL, started for these tests: two writers, kills, restarts, strange data bases."""

import gc
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.cli import main
from tests.studies.sweeps.test_study import lhs, table

pytestmark = pytest.mark.slow
PASSWORD = "p@ss/word:x"


class Server:
    """One in a folder of its own; the server refuses to be root, so that root makes it the user ``postgres``."""

    def __init__(self, programs: Path, folder: Path):
        self.programs, self.folder = programs, folder
        self.user = {"user": "postgres"} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(folder, "postgres")
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        self("initdb", "-D", folder / "data", "-U", "owner", "-A", "scram-sha-256", f"--pwfile={folder / 'password'}")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def __call__(self, program, *words):
        command = [self.programs / program, *words]
        answer = subprocess.run(command, **self.user, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert answer.returncode == 0, answer.stdout + answer.stderr

    def start(self):
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off"
        with (self.folder / "out").open("w") as out:  # no pipe: the server would keep it open
            words = ["-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start"]
            subprocess.run([self.programs / "pg_ctl", *words], **self.user, cwd=self.folder, stdout=out, check=True)

    def stop(self):
        self("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")

    def address(self, name):
        secret = PASSWORD.replace("@", "%40").replace("/", "%2F").replace(":", "%3A")
        return f"postgresql://owner:{secret}@127.0.0.1:{self.port}/{name}"

    def new(self, name):
        import sqlalchemy

        url = self.address("postgres").replace("postgresql", "postgresql+pg8000")
        engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.address(name)


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy comes with the extra 'server'")
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb") or ""]
    if not found[-1]:
        pytest.skip("no server of PostgreSQL here: apt install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="gyrostat-postgres-", dir="/tmp"))  # its user must reach it
    made = Server(Path(found[-1]).parent, folder)
    yield made
    made.stop()
    shutil.rmtree(folder)


WRITER = """
import sys
import numpy as np, gyrostat as gs
address, arrays, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with gs.store(address, arrays) as kept:
    task = kept.add_task("count", {"n": 1})
    for p in range(first, last):
        kept.put(task, [gs.StoredRun(p, {"p": p}, {"x": p / 7.0}, {"q": np.full(3, p / 3.0)})])
        print(p, flush=True)
"""


def writer(address, arrays, first, last):
    command = [sys.executable, "-c", WRITER, address, str(arrays), str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_write_a_thousand_results_each_and_each_point_is_there_once(server, tmp_path):
    address = server.new("two_writers")
    both = [writer(address, tmp_path, 0, 1000), writer(address, tmp_path, 500, 1500)]  # they also make the tables
    for process in both:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    with gs.store(address, tmp_path) as kept:
        (task,) = kept.tasks()
        runs = kept.runs(task)
        assert [r.point for r in runs] == list(range(1500)) and all(r.metrics == {"x": r.point / 7.0} for r in runs)
        assert np.array_equal(kept.arrays(task, 777)["q"], np.full(3, 777 / 3.0)) and kept.faults() == []


@pytest.mark.filterwarnings("ignore")  # pg8000 leaves sockets open whose server has gone
def test_what_was_returned_from_outlives_kills_of_the_writer_and_of_the_server(server, tmp_path):
    address = server.new("killed")
    told, first = -1, 0
    for _ in range(3):
        process = writer(address, tmp_path, first, 100_000)
        while told < first + 40:
            told = int(process.stdout.readline())
        time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        told = max([told, *(int(x) for x in process.communicate()[0].split())])
        with gs.store(address, tmp_path) as kept:
            there = kept.points("count")
        assert set(range(told + 1)) <= there <= set(range(told + 2))
        first = max(there) + 1
    with gs.store(address, tmp_path) as kept:
        before = kept.runs("count")
        server.stop()
        with pytest.raises(gs.StoreError, match=r"cannot (read|write)") as caught:
            kept.put("count", [gs.StoredRun(10**6, {}, {"x": 1.0})])
        assert PASSWORD not in str(caught.value) and "p%40ss" not in str(caught.value)
        with pytest.raises(gs.StoreError, match=r"127\.0\.0\.1.* cannot open") as caught:
            gs.store(address, tmp_path)
        assert PASSWORD not in str(caught.value) and "p%40ss" not in str(caught.value)
        server.start()
        assert kept.runs("count") == before  # the same store goes on with the server that came back
        assert kept.put("count", [gs.StoredRun(10**6, {}, {"x": 1.0})]) == 1
    gc.collect()


STUDY = """
import sys
import gyrostat as gs
from tests.studies.sweeps.test_study import lhs
with gs.store(sys.argv[1]) as kept:
    lhs(200).run(kept, group=4, progress=lambda done, total, text: print(done, flush=True))
"""


def test_a_study_on_a_server_goes_on_after_a_kill_with_the_bits_of_one_on_no_server(server):
    address = server.new("study")
    process = subprocess.Popen([sys.executable, "-c", STUDY, address], stdout=subprocess.PIPE, text=True)
    while int(process.stdout.readline() or 10**9) < 80:
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with gs.store(address) as kept:
        assert 80 <= len(kept.points(1)) < 200
        result = lhs(200).run(kept)
        assert table(kept.runs(1)) == table(result.runs) == table(lhs(200).run().runs)


def test_a_password_that_is_wrong_and_data_bases_of_others_are_refused_with_the_reason(server, tmp_path):
    import sqlalchemy

    address = server.new("other")
    with pytest.raises(gs.StoreError, match=r"cannot open: .*password") as caught:
        gs.store(address.replace("p%40ss", "wrong"))
    assert "wrong" not in str(caught.value)
    with pytest.raises(gs.StoreError, match=r"cannot open: .*does not exist"):
        gs.store(server.address("nowhere"))
    gs.store(address).close()
    engine = sqlalchemy.create_engine(address.replace("postgresql", "postgresql+pg8000"))
    for statement, words in (
        ("UPDATE about SET value = '99' WHERE key = 'version'", "has version 99"),
        ("CREATE TABLE customers (name TEXT)", "is no store of gyrostat: it has table 'customers'"),
        ("ALTER TABLE runs DROP COLUMN seconds", "has no column 'seconds'"),
    ):
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text(statement))
        with pytest.raises(gs.StoreError) as caught:
            gs.store(address)
        assert words in str(caught.value), caught.value
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("UPDATE about SET value = '1' WHERE key = 'version'"))
            connection.execute(sqlalchemy.text("DROP TABLE IF EXISTS customers"))
    engine.dispose()


def test_the_command_line_reads_a_store_by_its_address(server, tmp_path, capsys):
    address = server.new("shown")
    with gs.store(address, tmp_path) as kept:
        kept.put(kept.add_task("count", {}, name="mine"), [gs.StoredRun(0, {}, {"x": 2.0}, {"q": np.ones(2)})])
    assert main(["db", "list", address]) == 0 and "mine" in capsys.readouterr().out
    assert main(["db", "show", address, "mine", "--arrays", str(tmp_path)]) == 0
    assert "mean 2" in capsys.readouterr().out
    assert main(["db", "export", address, "mine", "-o", str(tmp_path / "t.csv")]) == 0
    assert main(["db", "compare", address, "mine", "1"]) == 0
    assert main(["db", "gc", address, "--arrays", str(tmp_path)]) == 0
    assert (tmp_path / "t.csv").read_text().startswith("point,x,")
