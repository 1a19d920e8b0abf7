"""Runs whose demo is said in words: small ones by a model that has learned nothing, slow ones that follow the order."""

import sys
from pathlib import Path

import numpy as np
import pytest
from encoders.small_checkpoints import liv_pair
from training.small_runs import SMALL, assert_same, run_to_end

from orcalign import config
from orcalign.report.training_run import run_page
from orcalign.rewards import load_reward
from orcalign.training import start_run

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")
SAID = ("reach the handle", "open the door")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    file, *_ = liv_pair(tmp_path_factory.mktemp("model"))
    return str(file)


def words_config(weights, *said, steps=180, **settings):
    given = {"steps": steps, **SMALL, "demo.goal": list(said), "encoder.encoder": "clip-resnet"}
    return config("nav2d", settings={**given, "encoder.weights": weights, "encoder.engine": "torch", **settings})


@pytest.fixture(scope="module")
def run(weights, tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "run", words_config(weights, *SAID))


def test_several_sentences_are_followed_and_one_is_compared(run, weights):
    assert (run.config.recipe, words_config(weights, "open the door").recipe) == ("words", "liv")
    assert run.demos()[0].sentences == SAID
    *_, last = run.records("evaluation")
    assert last["chosen_by"] == "coverage"
    assert 0 <= last["progress"] <= 1
    scales = load_reward(run.path).describe()["parts"][0]["costs"]["scales"]
    assert np.all(np.array(scales[0]["nearest"]) < scales[0]["farthest"]), "random play has been looked at"


def test_with_a_collector_beside_the_learner_it_is_the_same_run(run, weights, tmp_path):
    assert_same(run, run_to_end(tmp_path / "run", words_config(weights, *SAID), workers=1))


def test_its_page_has_the_sentences_along_the_demo_axis(run):
    page = run_page(run.path)
    assert "cannot be shown" not in page
    assert '"sentences":["reach the handle","open the door"]' in page
    assert "words: reach the handle, then open the door" in page


@pytest.mark.parametrize("start", ["", "reach the handle"])
def test_a_run_for_one_sentence(start, weights, tmp_path):
    run = run_to_end(
        tmp_path / "run",
        words_config(weights, "open the door", steps=90, **({"reward.set": [f"start={start}"]} if start else {})),
    )
    *_, last = run.records("evaluation")
    assert last["chosen_by"] == "similarity"
    page = run_page(run.path)
    assert "How much frames are like the sentence" in page
    assert "for how much every frame is like what was said" in page


@pytest.mark.parametrize(
    ("said", "settings", "error"),
    [
        ((), {}, "--goal names nothing"),
        (("a", "b"), {"demo.demo": ["x.mp4"]}, "a demo and goals were both given"),
        (("a", "b"), {"reward.reward": "gaifo"}, "knows nothing of sentences"),
        (("a", "b"), {"reward.reward": "text"}, "2 goals were given, and the recipe liv looks at one"),
        (("a", "b"), {"reward.context": 3, "reward.guide": False}, "context is 3, and goals are not frames in step"),
        (("a", "b"), {"reward.progress_in": "path"}, "goals are compared with whole pictures"),
        (("a", "b"), {"encoder.encoder": "resnet18"}, "reads no sentences. Those that do: siglip-base"),
        (("a", "b"), {"encoder.encoder": "clip-resnett"}, "did you mean 'clip-resnet'"),
    ],
)
def test_what_cannot_be_is_refused(said, settings, error, weights):
    with pytest.raises(ValueError, match=error):
        words_config(weights, *said, **settings)


def test_without_a_goal_the_tasks_own_sentence_is_taken():
    assert config("door-close", recipe="liv").demo.goal == ()
    with pytest.raises(ValueError, match="'nav2d' has no sentence of its own"):
        config("nav2d", recipe="liv")


def test_what_the_model_cannot_read_leaves_nothing_behind(weights, tmp_path):
    for said in (("open the door " * 30,), ("open the door " * 30, "b")):
        with pytest.raises(ValueError, match="say it shorter"):
            start_run(words_config(weights, *said), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A model that the world's own captions have taught, in half a minute."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        import words
    finally:
        sys.path.remove(str(EXAMPLES))
    folder = tmp_path_factory.mktemp("taught")
    words.train(folder, steps=300)
    return str(folder / "model.safetensors")


def visits(run):
    """In which order each policy of the last evaluation visits the squares, as far as its places tell."""
    from orcalign.envs import make
    from orcalign.envs.nav2d.layouts import HALF, find_layout
    from orcalign.training import load_policy

    layout, found = find_layout("squares"), []
    policy, env = load_policy(run.path), make("nav2d-squares", seed=9)
    for seed in range(5):
        observation, _ = env.reset(seed=900 + seed)
        policy.reset()
        order: list[str] = []
        frame, ended = None, False
        while not ended:
            observation, _, terminated, truncated, _ = env.step(policy(observation, frame))
            frame, ended = env.render(), terminated or truncated
            place = observation[:2] * (layout.cells - 1)
            at = [name for name, middle in layout.regions if np.abs(place - middle).max() <= HALF]
            order += [name for name in at if name not in order]
        found.append(order)
    env.close()
    return found


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("colours", [("red", "blue", "green"), ("green", "blue", "red")])
def test_a_policy_follows_the_order_of_the_sentences(colours, taught, tmp_path):
    said = [f"go to the {colour} square" for colour in colours]
    wanted = config(
        "nav2d-squares",
        settings={"steps": 4000, "demo.goal": said, "encoder.encoder": "clip-resnet", "encoder.weights": taught},
    )
    run = run_to_end(tmp_path / "run", wanted)
    *_, last = run.records("evaluation")
    assert last["progress"] > 0.9
    if colours[0] == "red":
        assert last["success_rate"] > 0.8, "the world knows this order, and counts it"
    else:
        assert last["any_success_rate"] == 0
    assert sum(order == list(colours) for order in visits(run)) >= 4
