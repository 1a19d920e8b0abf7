"""Ray: a two-node cluster on this machine, and everything that can die on it."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.small_numbers import numbers_of
from experiments.tiny_studies import plan_tiny, sweep_here

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.results import read_results
from orcalign.experiments.sweep import SweepSettings, sweep_study
from orcalign.experiments.table_formats import FORMATS
from orcalign.experiments.tables import make_table
from orcalign.training import RunFolder, Training, start_run

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("ray"),
]
STUDY = {"recipes": ("orca", "orca_np", "temporal_ot"), "steps": 600}


@pytest.fixture(scope="module")
def cluster():
    """A head with one CPU, to which tests add a node that they may kill; both ask for a token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        # Ray reads how to authenticate when it is imported.
        import ray
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        patch.setenv("RAY_ADDRESS", made.address)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The same study without Ray and without faults."""
    out = tmp_path_factory.mktemp("expected")
    plan = plan_tiny(**STUDY)
    assert sweep_here(plan, out).complete
    return out


def assert_same(out, expected):
    plan = plan_tiny(**STUDY)
    for cell in plan.cells:
        found, clean = (RunFolder(CellFolder(place, cell.key).run) for place in (out, expected))
        assert numbers_of(found) == numbers_of(clean), cell.values
    texts = [FORMATS["csv"](make_table(read_results(plan, place), "coverage")) for place in (out, expected)]
    assert texts[0] == texts[1]


def sweep_on_ray(out, tell=lambda progress: None, shared=None, **settings):
    from orcalign.experiments.ray_backend import RayBackend

    return sweep_study(
        plan_tiny(**STUDY),
        out,
        lambda: RayBackend(out, 2, shared=shared),
        SweepSettings(checkpoint_minutes=0, **settings),
        tell,
    )


def running_on(node):
    """Processes of tasks on a node, by the raylet that started them."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(raylet)], capture_output=True, text=True)
    lines = (line.split(None, 1) for line in found.stdout.splitlines())
    return [int(pid) for pid, name in lines if name.startswith("ray::ray_job")]


def test_a_node_and_a_worker_are_killed(cluster, expected, tmp_path):
    node = cluster.add_node(num_cpus=1)
    killed = []

    def fault(progress):
        steps = [CellFolder(tmp_path, key).steps() for key in progress.running]
        if not killed and any(step > 60 for step in steps):
            pids = running_on(cluster.head_node)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            killed.extend(pids)
        elif killed and "node" not in killed and running_on(node):
            cluster.remove_node(node, allow_graceful=False)
            killed.append("node")

    progress = sweep_on_ray(tmp_path, fault, retries=5)
    assert progress.complete, progress.failed
    assert len(killed) >= 2, killed
    assert progress.retried >= 2
    assert_same(tmp_path, expected)


def test_what_jobs_ask_whether_to_stop_does_not_die_with_another_machine(cluster, tmp_path):
    from orcalign.experiments.ray_backend import RayBackend
    from orcalign.training.ray_players import connect

    ray = connect()
    node = cluster.add_node(num_cpus=1)
    # Left to itself, Ray puts each of them on any machine.
    backends = [RayBackend(tmp_path, 1, shared=True) for _ in range(6)]
    assert not any(ray.get([backend._flag.raised.remote() for backend in backends]))
    cluster.remove_node(node, allow_graceful=False)
    until = time.monotonic() + 120
    while sum(one["Alive"] for one in ray.nodes()) > 1:
        assert time.monotonic() < until
        time.sleep(0.2)
    for backend in backends:
        backend.stop()
        assert ray.get(backend._flag.raised.remote())
        backend.close()


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from experiments.test_ray import sweep_on_ray
progress = sweep_on_ray(Path({out!r}), retries=5)
print("complete" if progress.complete else progress.failed)
"""


def test_the_driver_is_killed_and_started_again(cluster, expected, tmp_path):
    code = DRIVER.format(tests=str(Path(__file__).parent.parent), out=str(tmp_path))
    plan = plan_tiny(**STUDY)
    node = cluster.add_node(num_cpus=1)
    first = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 120
    while not any(60 < CellFolder(tmp_path, cell.key).steps() < 500 for cell in plan.cells):
        assert time.monotonic() < until
        assert first.poll() is None
        time.sleep(0.05)
    first.kill()
    first.wait()
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert second.stdout.strip().endswith("complete"), second.stderr
    for cell in plan.cells:
        episodes = [r["episode"] for r in RunFolder(CellFolder(tmp_path, cell.key).run).records("episode")]
        assert episodes == list(range(len(episodes))), "nothing lost, nothing twice"
    assert_same(tmp_path, expected)
    cluster.remove_node(node)


def test_cells_travel_where_no_folder_is_shared(cluster, expected, tmp_path):
    progress = sweep_on_ray(tmp_path, shared=False)
    assert progress.complete, progress.failed
    assert_same(tmp_path, expected)


def test_a_failure_comes_back_as_its_sentence(cluster, tmp_path):
    from orcalign.experiments.ray_backend import RayBackend

    plan = plan_tiny(recipes=("ot",), tasks=("nav2d-grid",))
    progress = sweep_study(plan, tmp_path, lambda: RayBackend(tmp_path, 1), SweepSettings(retries=0))
    assert "the actions are Discrete" in next(iter(progress.failed.values()))


def test_actors_play_as_this_process_does(cluster, tmp_path):
    from orcalign.training.ray_players import RayPlayers

    config = plan_tiny(recipes=("orca_np",), steps=300).cells[0].config
    runs = []
    for name in ("here", "ray"):
        run = start_run(config, tmp_path / name)
        training = Training(run, 0, "cpu")
        if name == "ray":
            training.players.close()
            training.players = players = RayPlayers(config, run.path, 2, cpus=0.5)
            assert players.world == training.players.world
        assert training.go()
        training.close()
        runs.append(run)
    assert numbers_of(runs[0]) == numbers_of(runs[1])


def test_an_actor_that_is_killed_plays_again(cluster, tmp_path):
    import ray

    from orcalign.agents import make_agent
    from orcalign.training.collector import Order
    from orcalign.training.players import make_collector
    from orcalign.training.ray_players import RayPlayers

    config = plan_tiny(recipes=("orca_np",)).cells[0].config
    run = start_run(config, tmp_path / "run")
    collector = make_collector(config, run.path)
    agent = make_agent(config.agent, collector.world.observation_shape, 2, 0, "cpu")
    order = Order(0, 5, agent.policy_weights(), noise=0.1)
    players = RayPlayers(config, run.path, 1, cpus=0.5)
    assert players.world == collector.world
    ray.kill(players._lines[0].actor, no_restart=False)
    players.submit(order)
    assert players.result().to_bytes() == collector.play(order).to_bytes()
    players.close()
    collector.close()


def test_a_cluster_that_is_not_there(monkeypatch):
    from orcalign.training import ray_players

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(ValueError, match=r"Ray at 127\.0\.0\.1:1 cannot be reached \(.*refused\); check RAY_ADDRESS"):
        ray_players._require_listening("127.0.0.1:1")
    ray_players._require_listening("auto")


def test_a_cluster_of_our_own_is_for_this_machine_alone():
    code = (
        "import os, socket\n"
        "from orcalign.training.ray_players import connect\n"
        "ray = connect()\n"
        "host, port = ray.get_runtime_context().gcs_address.rsplit(':', 1)\n"
        "knock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "knock.connect(('192.0.2.1', 9))\n"  # sends nothing; tells which address leads outside
        "outside = socket.socket().connect_ex((knock.getsockname()[0], int(port)))\n"
        "inside = socket.socket().connect_ex(('127.0.0.1', int(port)))\n"
        "print(host, os.environ['RAY_AUTH_MODE'], len(os.environ['RAY_AUTH_TOKEN']), inside, outside != 0)\n"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean, timeout=120)
    assert found.stdout.strip() == "127.0.0.1 token 64 0 True", found
