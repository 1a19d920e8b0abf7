"""Labelling on a two-node cluster: the same bytes, also when a node dies on the way."""

import importlib.util

import pytest
from datasets.test_labelling import order_of

from orcalign.datasets.labelling import label_dataset

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("ray"),
]


@pytest.fixture(scope="module")
def cluster():
    """A head with one CPU, to which tests add nodes; both ask for a token."""
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
def alone(recorded, tmp_path_factory):
    return label_dataset(order_of(recorded), tmp_path_factory.mktemp("alone"))


def test_two_nodes_give_the_same_bytes(recorded, alone, cluster, tmp_path):
    from orcalign.datasets.on_ray import on_ray

    node = cluster.add_node(num_cpus=1)
    done = label_dataset(order_of(recorded), tmp_path, on_ray)
    cluster.remove_node(node)
    assert done.fresh == len(alone.labels)
    assert done.progress.read_bytes() == alone.progress.read_bytes()


def test_a_node_that_dies_loses_nothing(recorded, alone, cluster, tmp_path):
    from orcalign.datasets.on_ray import on_ray

    node = cluster.add_node(num_cpus=1)

    def killing(*given):
        for k, labels in enumerate(on_ray(*given)):
            if k == 1:
                cluster.remove_node(node, allow_graceful=False)
            yield labels

    done = label_dataset(order_of(recorded), tmp_path, killing)
    assert done.progress.read_bytes() == alone.progress.read_bytes()


def test_what_is_wrong_there_is_said_here(own, cluster, tmp_path):
    from orcalign.datasets.on_ray import on_ray

    order = order_of(own)

    def spoil(*given):
        last = order.dataset.episodes[-1].video
        last.write_bytes(bytes(last.stat().st_size))
        return on_ray(*given)

    with pytest.raises(ValueError, match="not a video"):
        label_dataset(order, tmp_path, spoil)
    assert not (tmp_path / "orcalign_progress.parquet").exists()
