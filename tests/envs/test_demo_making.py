"""Demos out of expert episodes."""

from dataclasses import replace

import numpy as np
import pytest

from orcalign.envs import PAPER_TASKS, TASKS, demo_seed, make, make_demo, make_demos, rollout_expert
from orcalign.envs.demo_making import demo_order
from orcalign.video import Demo, keep


def test_a_demo_is_an_expert_episode():
    demo, notes = make_demo("door-close", seed=2)
    assert notes == ()
    assert (len(demo), demo.frames.shape[1:]) == (63, (128, 128, 3))
    assert (demo.task, demo.camera, demo.render) == ("door-close", "corner", "fast")
    assert demo.extra["size"] == 128
    seed = demo_order(TASKS["door-close"])[2]
    assert demo.extra["env_seed"] == seed
    episode = rollout_expert("door-close", seed, render="fast")
    assert np.array_equal(demo.frames, episode.frames)
    assert demo.extra["return"] == episode.total
    assert demo.extra["first_success"] == episode.success.argmax()


def test_a_misaligned_demo_keeps_the_papers_frames():
    aligned, _ = make_demo("door-close")
    misaligned, _ = make_demo("door-close", misaligned=True)
    kept = keep(TASKS["door-close"].misaligned, 63)
    assert misaligned.indices == kept.indices
    assert misaligned.original_length == 63
    assert np.array_equal(misaligned.frames, aligned.frames[list(kept)])


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_TASKS)
def test_every_task_has_its_misaligned_demo(name):
    demo, _ = make_demo(name, misaligned=True)
    assert demo.index_map == keep(TASKS[name].misaligned, TASKS[name].agent_steps)


def test_paper_pictures_say_so():
    short = replace(TASKS["door-close"], name="short", episode_steps=75, misaligned=None)
    demo, _ = make_demo(short, render="paper", size=96, tries=30)
    assert (demo.render, demo.frames.shape) == ("paper", (38, 96, 96, 3))


@pytest.mark.parametrize("warp", ["fast-low", "fast-high", "slow-low", "slow-high"])
def test_random_warps_follow_the_protocol(warp):
    demo, _ = make_demo("nav2d", random_warp=warp)
    again, _ = make_demo("nav2d", random_warp=warp)
    assert demo.indices == again.indices
    assert demo.original_length == 30
    # Cut after the success (step 11) has held for a tenth of the episode.
    assert demo.indices[-1] == demo.extra["first_success"] + 2
    assert demo.extra["warp"] == warp
    whole = demo.indices[-1] + 1
    assert len(demo) < whole if warp.startswith("fast") else len(demo) > whole


@pytest.mark.parametrize("name", ["button-press", "push", "nav2d"])
def test_the_first_demos_begin_in_the_middle(name):
    env = make(name, None)
    seeds = demo_order(TASKS[name])
    assert sorted(seeds) == [demo_seed(k) for k in range(64)]
    starts = np.stack([env.reset(seed=seed)[0] for seed in seeds])
    low, high = starts.min(axis=0), starts.max(axis=0)
    varies = high - low > 0.02
    place = (starts[:, varies] - low[varies]) / (high - low)[varies]
    first, last = np.abs(place[:8] - 0.5).mean(), np.abs(place[-8:] - 0.5).mean()
    assert first < 0.2 < 0.3 < last


def test_a_failed_episode_is_replaced_and_said():
    # So short that some episodes are over before the door is closed.
    hasty = replace(TASKS["door-close"], name="hasty", episode_steps=62, misaligned=None)
    seeds = demo_order(hasty)
    succeeded = [rollout_expert(hasty, seed).succeeded for seed in seeds[:12]]
    assert True in succeeded
    assert False in succeeded, "no failure to test with"
    failed = succeeded.index(False)
    found = succeeded.index(True, failed) if True in succeeded[failed:] else None
    assert found is not None
    demo, notes = make_demo(hasty, seed=failed)
    assert demo.extra["demo_number"] == found
    assert demo.extra["env_seed"] == seeds[found]
    assert notes[0] == f"the expert failed 'hasty' in episode {failed}, so episode {failed + 1} was drawn."
    assert len(notes) == found - failed


def test_no_success_at_all_is_an_error():
    hopeless = replace(TASKS["door-close"], episode_steps=10, misaligned=None)
    with pytest.raises(ValueError, match="succeeded in none of the episodes 3 to 4 of 'door-close' within 10 steps"):
        make_demo(hopeless, seed=3, tries=2)


def test_several_demos_are_of_different_episodes():
    demos, notes = make_demos("nav2d", 3, seed=4, misaligned=True)
    assert notes == ()
    assert [demo.extra["demo_number"] for demo in demos] == [4, 5, 6]
    assert all(demo.indices == demos[0].indices for demo in demos)
    mixed, _ = make_demos("nav2d", 4, random_warp="mixed")
    assert [demo.extra["warp"] for demo in mixed] == ["fast-low", "fast-high", "slow-low", "slow-high"]


def test_a_demo_survives_the_disk(tmp_path):
    demo, _ = make_demo("nav2d-grid", misaligned=True)
    demo.save(tmp_path / "demo")
    loaded = Demo.load(tmp_path / "demo")
    assert loaded.sha256 == demo.sha256
    assert loaded.extra == demo.extra
    assert (tmp_path / "demo" / "demo.mp4").stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"task": "drawer-open", "misaligned": True}, "has no misalignment of its own; use random_warp"),
        ({"task": "door-close", "misaligned": True, "random_warp": "fast-low"}, "both given"),
        (
            {"task": "door-close", "random_warp": "fast"},
            "random_warp is 'fast'; .*Known: fast-low, fast-high",
        ),
        ({"task": "door-close", "render": None}, "made of pictures"),
        ({"task": "door-close", "render": "quick"}, "must be one of fast, paper"),
        ({"task": "door-close", "tries": 0}, "tries is 0"),
        ({"task": "door-close", "seed": -1}, "whole number from 0"),
        ({"task": "door-close", "camera": "cornr"}, "did you mean 'corner'"),
        ({"task": "Pendulum-v1"}, "no scripted expert"),
        ({"task": "door-clos"}, "did you mean 'door-close'"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(ValueError, match=said):
        make_demo(**arguments)


def test_no_demos_are_refused():
    with pytest.raises(ValueError, match="count is 0"):
        make_demos("nav2d", 0)
