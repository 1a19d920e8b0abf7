"""Training that looks where the object is."""

from dataclasses import replace

import numpy as np
import pytest
from training.small_runs import run_to_end, small_config

from orcalign import config as config_of
from orcalign.costs.objects import ObjectModel
from orcalign.costs.objects.journey import COLUMNS
from orcalign.envs import TASKS, eval_seed, find_suite, make, train_seed
from orcalign.envs.experts import play
from orcalign.envs.making import with_frames
from orcalign.training import start_run


def video_reward(config, folder):
    """The reward of the run's last stage."""
    return start_run(config, folder).reward().parts[-1]


@pytest.mark.parametrize(
    ("task", "places"),
    [
        ("button-press", [slice(4, 6)]),
        ("window-open", [slice(4, 6)]),
        ("lever-pull", [slice(4, 6)]),
        ("door-lock", [slice(4, 6)]),
        ("stick-push", [slice(4, 6)]),
        # The puck, then its goal; the ball is taken before the arm has come to the hoop.
        ("push", [slice(4, 6), slice(36, 38)]),
    ],
)
def test_the_object_is_found_in_real_pictures(task, places, tmp_path):
    """Shifts are those of the things themselves, to a pixel or so, though nothing but pictures is looked at."""
    config = config_of(task)
    assert (config.encoder.look, config.collect.frame_size) == ("object", 192)
    reward = video_reward(config, tmp_path / "run")
    assert isinstance(reward.model, ObjectModel)
    assert reward.encoder.side == 72
    finder = reward.encoder.finder
    assert finder.find(reward.demos[0].frames[0]) == (((0, 0), True),) * len(places)
    assert len(finder.journeys) == (task == "stick-push"), "of a puck too few pixels have a colour of their own"
    env = make(task, "fast", size=192)
    rng = np.random.default_rng(0)
    seen, found = [], []
    for k in range(12):
        observation, _ = env.reset(seed=train_seed(k, 5))
        seen.append(observation)
        # An episode's first frame comes after its first action, in the demo and elsewhere: the arm has moved.
        env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        found.append(finder.find(np.asarray(env.render())))
    env.close()
    for number, place in enumerate(places):
        clear = np.array([one[number].clear for one in found])
        shifts = np.array([one[number].shift for one in found], float)[clear]
        known = np.c_[np.array(seen)[clear, place], np.ones(clear.sum())]
        assert clear.sum() >= 9
        assert np.std(shifts, axis=0).max() > 1.5
        off = off_line(known, shifts)
        if len(places) > 1:
            # A few pixels of something may be taken for something else, once.
            kept = off < off.max()
            off = off_line(known[kept], shifts[kept])
        assert off.max() < 2, (number, off)


@pytest.mark.parametrize("task", ["stick-push", "basketball"])
def test_what_is_taken_away_is_followed_in_real_pictures(task, tmp_path):
    """In an expert's episode it is seen where it is, and ends where the demo brings it; left alone it does not."""
    model = video_reward(config_of(task), tmp_path / "run").model
    view, costs = model.encoder, model.costs
    (journey,) = view.finder.journeys
    assert (journey.goal is not None) == (task == "basketball"), "the flask always stands in the same place"
    suite = find_suite("metaworld")
    env, spec = suite.build(TASKS[task], pictures=True, size=192)
    env = with_frames(env, spec, "fast", 192)
    played = play(suite.expert(spec, env), env, spec, eval_seed(1), pictures=True)
    env.close()
    places = journey.places(played.frames)
    assert places[:, 2].min() >= 12
    known = np.c_[played.observations[:, 4:7], np.ones(len(places))]
    assert off_line(known, places[:, :2]).max() < 4, "as good as a plane can be in a perspective"
    left_alone = played.frames[:1].repeat(2, 0)
    ends = [costs._journeys[0](view(frames)[:, -COLUMNS:])[-1, -1] for frames in (played.frames, left_alone)]
    assert ends[0] < 0.1
    assert ends[1] > 0.8


def test_where_things_go_and_what_changed_can_be_left_out(tmp_path):
    asked = {}
    for look in ("object", "change", "square"):
        model = video_reward(config_of("basketball", settings={"encoder.look": look}), tmp_path / look).model
        asked[look] = len(model.encoder.finder.things), len(model.costs._changes), len(model.costs._journeys)
    # Of two things one is the goal, if it is known that the other is brought there.
    assert asked == {"object": (2, 1, 1), "change": (2, 2, 0), "square": (2, 0, 0)}


def off_line(known, shifts):
    """By how many pixels each is off the best linear function of the known places."""
    fitted, *_ = np.linalg.lstsq(known, shifts, rcond=None)
    return np.abs(known @ fitted - shifts).max(axis=1)


def test_where_no_object_stands_elsewhere_whole_pictures_are_compared(tmp_path):
    config = small_config(steps=60)
    looking = replace(config, encoder=replace(config.encoder, look="object"))
    run = run_to_end(tmp_path / "looking", looking)
    plain = run_to_end(tmp_path / "plain", config)
    notes = [record["text"] for record in run.records("note")]
    assert notes[0].startswith("whole pictures are compared: no object was found in the first frames")
    rewards = [[one["reward"] for one in each.records("episode")] for each in (run, plain)]
    assert rewards[0] == rewards[1]
