"""Runs that follow in state space: with an eye of posed scenes, and with one that learns from the run's own frames."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from training.small_runs import SMALL, assert_same, resume_to_end, run_to_end

import orcalign
from orcalign import config
from orcalign.envs import eval_seed, make
from orcalign.rewards import load_reward
from orcalign.training import Training, start_run
from orcalign.training.following import entities_in, prepare_to_follow
from orcalign.training.start import find_demos

POSED = {**SMALL, "steps": 240, "follow.posed_frames": 120, "follow.posed_updates": 30}
OWN = {
    **SMALL, "steps": 420, "collect.random_steps": 120, "collect.learning_starts": 120, "follow.eye_frames": 4,
    "follow.eye_begin": 120, "follow.eye_updates": 20, "follow.eye_every": 90, "follow.eye_refit": 8,
}  # fmt: skip


def own_config(**settings):
    return config("nav2d", recipe="follow", settings={**OWN, **settings})


@pytest.fixture(scope="module")
def posed(tmp_path_factory):
    settings = config("nav2d", recipe="follow_posed", settings=POSED)
    return run_to_end(tmp_path_factory.mktemp("runs") / "posed", settings)


def pictures_config(**settings):
    return config("nav2d", recipe="follow_pictures", settings={**POSED, **settings})


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "pictures", pictures_config())


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "own", own_config())


def test_nothing_is_drawn_for_an_eye_that_has_learned_already(posed):
    episodes = list(posed.records("episode"))
    assert all(one["timing"]["render"] == 0 for one in episodes)
    assert all(one["believed"] == 1 and one["eye_error"] > 0 for one in episodes)
    assert not (posed.path / "scenes.npz").exists()
    assert (posed.path / "eye.safetensors").is_file()


def test_its_policy_acts_from_states_alone(posed):
    policy = orcalign.load_policy(posed.path)
    env = make("nav2d", render=None)
    last = list(posed.records("evaluation"))[-1]
    for k in range(2):
        observation, _ = env.reset(seed=eval_seed(k))
        policy.reset()
        total, done = 0, False
        while not done:
            observation, _, terminated, truncated, info = env.step(policy(observation))
            total, done = total + info["success"], terminated or truncated
        assert total == last["returns"][k]


def test_of_a_learner_that_is_read_from_pictures_no_state_pays(pictures):
    with np.load(sorted((pictures.path / "episodes").iterdir())[-1]) as episode:
        evidence = [name for name in episode if name.startswith("evidence-")]
        read, true = episode["evidence-values"], 100 * episode["observations"][1:, :2]
        assert evidence == ["evidence-values"]
        assert 0 < np.abs(read - true).max() < 60
    assert all(one["timing"]["render"] > 0 for one in pictures.records("episode"))
    assert any(one["reward"] > 0 for one in pictures.records("episode"))


def test_its_policy_needs_the_camera(pictures):
    policy = orcalign.load_policy(pictures.path)
    env = make("nav2d", size=pictures.config.collect.frame_size)
    last = list(pictures.records("evaluation"))[-1]
    observation, _ = env.reset(seed=eval_seed(0))
    total, done, frame = 0, False, None
    while not done:
        observation, _, terminated, truncated, info = env.step(policy(observation, frame))
        frame, total, done = env.render(), total + info["success"], terminated or truncated
    assert total == last["returns"][0]
    with pytest.raises(ValueError, match="give the frame"):
        policy(observation)


@pytest.mark.parametrize("workers", [1, 2])
def test_collectors_that_read_pictures_change_nothing(pictures, tmp_path, workers):
    assert_same(pictures, run_to_end(tmp_path / "run", pictures_config(), workers=workers))


def test_a_run_that_reads_pictures_goes_on_with_the_same_bits(pictures, tmp_path):
    training = Training(start_run(pictures_config(), tmp_path / "run"), 0, "cpu", checkpoint_minutes=0)
    calls = iter(range(100))
    assert not training.go(lambda: next(calls) >= 8)
    training.close()
    assert_same(pictures, resume_to_end(tmp_path / "run"))


@pytest.mark.parametrize("run", ["posed", "pictures", "own"])
def test_a_run_says_what_following_is_paid_at_best(run, request):
    run = request.getfixturevalue(run)
    told = [one["text"] for one in run.records("note") if "an expert would be paid a progress of" in one["text"]]
    episodes = [one for one in run.records("episode") if "expert_progress" in one]
    assert told
    assert 0 <= episodes[-1]["expert_progress"] <= 1
    assert f"{episodes[-1]['expert_progress']:.2f}" in told[-1]
    assert episodes[-1]["best_progress"] >= episodes[-1]["progress"] > 0


def test_an_eye_that_learns_is_told_of_and_repays_what_is_kept(own):
    notes = [one["text"] for one in own.records("note")]
    assert notes[0].startswith("the eye has learned from")
    assert sum("learned again" in text or "not taken" in text for text in notes) >= 2
    episodes = list(own.records("episode"))
    assert all(one["reward"] == 0 for one in episodes if one["step"] <= 120)
    assert any(one["reward"] > 0 for one in episodes)
    assert {one["random"] for one in episodes if one["step"] <= 120} == {True}


@pytest.mark.parametrize("workers", [1, 2])
def test_collectors_change_nothing(own, tmp_path, workers):
    assert_same(own, run_to_end(tmp_path / "run", own_config(), workers=workers))


def test_stopped_and_resumed_it_ends_with_the_same_bits(own, tmp_path):
    training = Training(start_run(own_config(), tmp_path / "run"), 0, "cpu", checkpoint_minutes=0)
    calls = iter(range(100))
    # Between its second and third lesson.
    assert not training.go(lambda: next(calls) >= 16)
    training.close()
    assert_same(own, resume_to_end(tmp_path / "run"))


def test_a_state_is_taken_over_without_compiling_a_network_again(own):
    reward = load_reward(own.path)
    (part,) = reward.parts
    part.own.eye.look(part.demos[0].frames[:1])
    before = part.own.eye
    reward.load_state(reward.state())
    assert part.own.eye is not before
    assert part.own.eye._encoder is before._encoder is not None
    assert part.own.eye.threads == 1


KILLER = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from training.test_follow import own_config
from orcalign.training import Training, start_run
import orcalign.rewards.follow.own_frames as frames
from pathlib import Path
calls = 0
plain = frames.OwnFrames._fit
def deadly(self, own):
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, own)
frames.OwnFrames._fit = deadly
training = Training(start_run(own_config(), Path(sys.argv[1])), 0, "cpu", checkpoint_minutes=0)
training.go()
"""


def test_killed_while_the_eye_learns_it_goes_on(own, tmp_path):
    code = KILLER.format(tests=str(Path(__file__).parent.parent))
    died = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], timeout=200, check=False)
    assert died.returncode == -signal.SIGKILL
    assert_same(own, resume_to_end(tmp_path / "run"))


def test_what_cannot_be_followed_is_refused_in_a_sentence(tmp_path):
    settings = config("nav2d", recipe="follow", settings=OWN)
    demos, _ = find_demos(settings)
    with pytest.raises(ValueError, match="follows one; give one"):
        prepare_to_follow(settings, (*demos, *demos))
    pictures = config("nav2d", recipe="follow", settings={**OWN, "collect.policy_input": "pixels"})
    with pytest.raises(ValueError, match="needs states"):
        prepare_to_follow(pictures, demos)
    with pytest.raises(ValueError, match="give an eye that has learned"):
        config("nav2d", recipe="follow", settings={**OWN, "follow.learner": "pictures"})
    file = tmp_path / "entities.yaml"
    file.write_text("hand: [0, 17]\n")
    wrong = config("nav2d", recipe="follow", settings={**OWN, "follow.entities": str(file)})
    with pytest.raises(ValueError, match="name number 17 of the observation, which has 3"):
        prepare_to_follow(wrong, demos)


def test_where_nothing_is_known_all_numbers_are_one_place():
    unknown = config("Pendulum-v1", recipe="follow", settings={**OWN, "demo.demo": ("a.mp4",)})
    entities = entities_in(unknown)
    assert entities.hand == (0, 1, 2)
    assert len(entities.units) == 3
    unasked = entities_in(own_config(**{"follow.entities": "all"}))
    assert unasked.hand == (0, 1, 2)
    assert unasked.objects == ()


def test_a_run_that_names_no_recipe_follows_where_it_can():
    assert config("nav2d").recipe == "follow_posed"
    assert config("nav2d", settings={"reward.context": 1}).recipe == "orca_progress"
    assert config("nav2d", settings={"collect.policy_input": "pixels"}).recipe == "orca_progress"
    assert config("nav2d", settings={"demo.demo": ("a.mp4", "b.mp4")}).recipe == "orca_progress"
    assert config("nav2d", "paper").recipe == "orca"
    assert config("nav2d", settings={"follow.eye": "own"}).recipe == "follow"
    assert config("nav2d", settings={"follow.eye": "posed"}).recipe == "follow_posed"
    assert config("nav2d", settings={"follow.entities": "a.yaml"}).recipe == "follow"
    assert config("nav2d", settings={"follow.learner": "pictures"}).recipe == "follow_pictures"
    assert config("nav2d", settings={"follow.eye": "a.safetensors"}).recipe == "follow_posed"
    assert config("nav2d", recipe="orca", settings={"follow.eye": "own"}).recipe == "orca"
