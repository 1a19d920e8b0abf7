"""Training that looks where the object is."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from training.small_runs import run_to_end, small_config

from orcalign.envs import TASKS, eval_seed, make, train_seed
from orcalign.envs.build import build
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import with_frames
from orcalign.envs.rendering import make_renderer
from orcalign.experiments.axes import AXES
from orcalign.rewards import ObjectView
from orcalign.training import preset, start_run
from orcalign.training.setup import make_reward


@pytest.mark.parametrize("task", ["button-press", "window-open", "lever-pull", "door-lock"])
def test_the_object_is_found_in_real_pictures(task, tmp_path):
    """Shifts are those of the object itself, to a pixel or so, though nothing but pictures is looked at."""
    config = AXES["method"].change(preset("laptop", task), "orca_progress")
    assert (config.encoder.look, config.collect.frame_size) == ("object", 192)
    run = start_run(config, tmp_path / "run")
    reward = make_reward(config, run.demo_folder)
    assert isinstance(reward.encoder, ObjectView)
    assert reward.encoder.side == 72
    assert reward.encoder.finder.shift(reward.demos[0].frames[0]) == (0, 0)
    env = make(task, "fast", size=192)
    rng = np.random.default_rng(0)
    places, shifts = [], []
    for k in range(12):
        observation, _ = env.reset(seed=train_seed(k, 5))
        places.append(observation[4:6])
        # An episode's first frame comes after its first action, in the demo and elsewhere: the arm has moved.
        env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        shifts.append(reward.encoder.finder.shift(np.asarray(env.render())))
    env.close()
    known = np.c_[places, np.ones(12)]
    fitted, *_ = np.linalg.lstsq(known, np.array(shifts, float), rcond=None)
    assert np.std(shifts, axis=0).max() > 4
    assert np.abs(known @ fitted - shifts).max() < 2


def test_where_no_object_stands_elsewhere_whole_pictures_are_compared(tmp_path):
    config = small_config(steps=60)
    looking = replace(config, encoder=replace(config.encoder, look="object"))
    run = run_to_end(tmp_path / "looking", looking)
    plain = run_to_end(tmp_path / "plain", config)
    notes = [record["text"] for record in run.records("note")]
    assert notes[0].startswith("whole pictures are compared: no object was found in the first frames")
    assert run.facts["object_view"] is False
    rewards = [[one["reward"] for one in each.records("episode")] for each in (run, plain)]
    assert rewards[0] == rewards[1]


def test_the_worst_of_finer_places_sees_a_lock_that_is_not_turned(tmp_path):
    """The expert's last picture, and the same with the lock put back: how many times as far from the demo."""
    config = preset("laptop", "door-lock")
    coarse, fine = (AXES["method"].change(config, name) for name in ("orca_progress", "progress_fine"))
    run = start_run(fine, tmp_path / "run")
    env, spec = build(TASKS["door-lock"], pictures=True)
    env = with_frames(env, spec, "fast", 192)
    env.reset(seed=eval_seed(1))
    physics = env.unwrapped
    begun = physics.data.qpos[9:].copy()
    frames = play(make_expert("door-lock", env), env, spec, eval_seed(1), pictures=True).frames
    physics.data.qpos[9:] = begun
    mujoco.mj_forward(physics.model, physics.data)
    renderer = make_renderer(physics.model, physics.data, spec.camera, "fast", 192, spec.flip)
    episode = np.stack([frames[0], frames[-1], renderer.render()])
    renderer.close()
    env.close()
    times = []
    for one in (coarse, fine):
        reward = make_reward(one, run.demo_folder)
        done, undone = reward.frame_costs[0](reward.encoder(episode))[1:, -1]
        times.append(undone / done)
    assert times[1] > times[0] > 1
    assert times[1] > 1.5
