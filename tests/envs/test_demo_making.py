"""Demos out of expert episodes."""

from dataclasses import replace

import numpy as np
import pytest

from orcalign.envs import PAPER_TASKS, TASKS, demo_seed, make, make_demo, make_demos, rollout_expert
from orcalign.envs.demo_making import demo_order
from orcalign.envs.demo_warps import CATEGORIES, demo_warps, random_pool
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


@pytest.mark.parametrize("name", ["lever-pull", "door-open"])
@pytest.mark.parametrize("kind", [{}, {"misaligned": True}, {"random_warp": "fast-high"}])
def test_a_demo_ends_in_success(name, kind):
    demo, notes = make_demo(name, size=32, **kind)
    assert demo.success[-1]
    assert notes == ()
    assert demo.extra["demo_number"] == 0
    assert len(demo.success) == len(demo)
    if not kind:
        first = demo.extra["first_success"]
        assert not any(demo.success[:first])
        assert sum(demo.success) >= 0.9 * (len(demo) - first), "held, not by chance"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_TASKS)
def test_every_demo_ends_in_success(name):
    spec = TASKS[name]
    kinds = [(None, 0), ("misaligned", 0), *((one, k) for one in (*CATEGORIES, "mixed") for k in range(3))]
    for number in range(7):
        episode = rollout_expert(spec, demo_order(spec)[number], end="hold")
        for kind, variant in kinds:
            warps, notes = demo_warps(name, spec.misaligned, number, episode, kind, variant, "hold")
            assert notes == []
            assert len(warps) == (4 if kind == "mixed" else 1)
            assert all(warp.apply(episode.success)[-1] for warp, _ in warps), (number, kind, variant)


def test_the_scripts_own_ending_is_an_option():
    demo, _ = make_demo("lever-pull", size=32, end="script")
    episode = rollout_expert("lever-pull", demo.extra["env_seed"])
    assert list(demo.success) == episode.success.tolist()
    assert not demo.success[-1], "the lever slips off"
    held, _ = make_demo("lever-pull", size=32)
    first = held.extra["first_success"]
    assert np.array_equal(held.frames[:first], demo.frames[:first])


def test_where_the_script_keeps_its_success_it_is_shown():
    seed = demo_order(TASKS["door-close"])[0]
    held, script = (rollout_expert("door-close", seed, end=end) for end in ("hold", "script"))
    assert np.array_equal(held.actions, script.actions)


def test_demos_can_be_numbered_as_drawn():
    demo, _ = make_demo("nav2d", 3, order="drawn")
    assert demo.extra["env_seed"] == demo_seed(3) != make_demo("nav2d", 3)[0].extra["env_seed"]


def test_the_random_warps_of_a_task_are_twelve_of_one_demo():
    made = [make_demo("nav2d", random_warp=kind, variant=k)[0] for kind in CATEGORIES for k in range(3)]
    assert {demo.extra["demo_number"] for demo in made} == {0}
    for speed, six in (("fast", made[:6]), ("slow", made[6:])):
        assert sorted(demo.extra["warp_number"] for demo in six) == list(range(6)), speed
        by_number = sorted(six, key=lambda demo: demo.extra["warp_number"])
        assert [len(demo.extra["changes"]) for demo in by_number] == [1, 1, 1, 3, 3, 3]
        assert max(d.extra["deviation"] for d in six[:3]) <= min(d.extra["deviation"] for d in six[3:])


def test_every_task_and_number_has_its_own_random_warps():
    def changes(name, number):
        return [one.changes for one in random_pool(name, number, 63, 40)]

    drawn = [changes(name, number) for name in PAPER_TASKS for number in range(3)]
    assert all(drawn.count(one) == 1 for one in drawn)
    assert changes("push", 1) == changes("push", 1)


def test_mixed_demos_are_of_one_episode_and_drawn_from_the_pools():
    pool = {kind: [make_demo("nav2d", random_warp=kind, variant=k)[0].indices for k in range(3)] for kind in CATEGORIES}
    draws = []
    for draw in range(6):
        four, _ = make_demos("nav2d", 4, random_warp="mixed", variant=draw)
        assert {demo.extra["env_seed"] for demo in four} == {four[0].extra["env_seed"]}
        assert [demo.extra["warp"] for demo in four] == list(CATEGORIES)
        assert all(demo.indices in pool[demo.extra["warp"]] for demo in four)
        draws.append(tuple(demo.indices for demo in four))
    assert len(set(draws)) > 3


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
        ({"task": "door-close", "end": "stop"}, "end is 'stop'; .*Known: hold, script"),
        ({"task": "door-close", "order": "best"}, "order is 'best'; .*Known: central, drawn"),
        ({"task": "nav2d", "random_warp": "fast-low", "variant": 3}, "variant is 3, and fast-low has 3 warps"),
        ({"task": "nav2d", "random_warp": "fast-low", "variant": -1}, "variant is -1"),
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
    with pytest.raises(ValueError, match=r"count is 2, and mixed is one demo of each of .*; give 4"):
        make_demos("nav2d", 2, random_warp="mixed")
