"""What is found before a run begins: an environment that draws or observes wrongly, a demo of something else."""

import numpy as np
import pytest
from training.small_runs import SMALL

from orcalign import config
from orcalign.cli import main
from orcalign.envs import make, make_demo
from orcalign.rewards.first_look import first_look
from orcalign.training import start_run
from orcalign.training.rehearsal import rehearse
from orcalign.video import Demo

TASK = "nav2d"


def textured(seed=0, size=(96, 128)):
    """[H,W,3] A scene of patches, the same for the same seed."""
    patches = np.random.default_rng(seed).integers(20, 235, (size[0] // 4, size[1] // 4, 3), np.uint8)
    return patches.repeat(4, axis=0).repeat(4, axis=1)


def film(scene, places):
    """[N,H,W,3] A white square at each of the places in it."""
    frames = np.stack([scene] * len(places))
    for frame, (y, x) in zip(frames, places, strict=True):
        frame[y : y + 8, x : x + 8] = 255
    return frames


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(3)
    starts = film(textured(), rng.integers(0, 80, (10, 2)))
    return starts, film(textured(), rng.integers(0, 80, (30, 2)))


def look(frames, world):
    return first_look(Demo(np.ascontiguousarray(frames)), *world)


def test_the_same_scene_fits_wherever_things_stand(world):
    found = look(film(textured(), [(70, 70), (60, 60), (50, 50)]), world)
    assert found.refused == ""
    assert [word.partition(" (")[0] for word in found.words] == ["something stands elsewhere in every episode"]
    assert found.picture.shape == (240, 4 * (320 + 6), 3)
    still = film(textured(), [(9, 9)] * 10)
    assert first_look(Demo(still), still, still).words == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda film: film[:, :, ::-1], "the demo is mirrored"),
        (lambda film: film[:, ::-1], "another camera or another scene"),
        (lambda film: np.stack([textured(9)] * len(film)), "another camera or another scene"),
    ],
)
def test_another_scene_is_refused(world, change, words):
    assert words in look(change(world[1][:6]), world).refused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda film: np.roll(film, 5, axis=2), "the demo has camera moved by 5 px"),
        (lambda film: (film * 0.7).astype(np.uint8), "the demo has light 31% darker"),
        (lambda film: film[:, ::2, ::2], "the demo has 64x48 pixels and the environment draws 128x96"),
        (lambda film: film[:, :, :96], "the demo has 96x96 pixels and the environment draws 128x96, another shape"),
    ],
)
def test_what_can_be_lived_with_is_said(world, change, words):
    assert words in look(change(world[1][:6]), world).words


def given(tmp_path, task, **settings):
    demo, _ = make_demo(TASK, misaligned=True)
    demo.save(tmp_path / "demo")
    settings = {**SMALL, "steps": 60, "demo.demo": [str(tmp_path / "demo")], **settings}
    return config(task, recipe="orca_np", settings=settings)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nothing", r"drew nothing: its render\(\) returned None"),
        ("black", "draws black: nothing in 40 pictures of 10 episodes is brighter than 0 of 255"),
        ("sizes", "drew 64x128 pixels, and 64x64 pixels before"),
        ("nans", r"observation\[0\] is nan at step 1"),
        ("grows", r"observation has shape \(4,\) at step 1, .* says \(3,\)"),
    ],
)
def test_an_environment_that_draws_or_observes_wrongly(tmp_path, fault, words):
    config = given(tmp_path, f"training.faulty_worlds:{fault}")
    with pytest.raises(ValueError, match=words):
        start_run(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_demo_of_another_scene_leaves_a_picture_alone(tmp_path, capsys):
    Demo(film(textured(), [(y, y) for y in range(0, 80, 8)])).save(tmp_path / "demo")
    words = ["train", "--task", TASK, "--demo", tmp_path / "demo", "--steps", 60, "--out", tmp_path / "run"]
    for _ in range(2):  # its picture is not in the way of another try
        with pytest.raises(SystemExit) as exit_info:
            main([str(word) for word in words])
        assert exit_info.value.code == 2
        error = capsys.readouterr().err.strip()
        assert error.startswith("orcalign: the demo shows another camera or another scene: even what stands still")
        assert "--no-demo-check" in error
        assert len(error.splitlines()) == 1
        assert [path.name for path in (tmp_path / "run").iterdir()] == ["compare.png"]


def test_a_demo_in_which_nothing_moves_is_refused(tmp_path):
    env = make(TASK)
    env.reset(seed=0)
    frame = env.render()
    Demo(np.stack([frame] * 9)).save(tmp_path / "still")
    with pytest.raises(ValueError, match=r"not fit to learn from: Nothing moves in the whole demo.*--no-demo-check"):
        start_run(given(tmp_path, TASK, **{"demo.demo": [str(tmp_path / "still")]}), tmp_path / "run")


def test_a_run_keeps_what_was_compared(tmp_path):
    told = []
    run = start_run(given(tmp_path, "training.faulty_worlds:well"), tmp_path / "run", tell=told.append)
    assert told[-1].startswith(f"the demo beside the environment ({tmp_path / 'run' / 'compare.png'}): ")
    assert run.facts["compared"] in told[-1]
    assert (run.path / "compare.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_is_compared_without_a_demo_that_was_given(tmp_path):
    run = start_run(config(TASK, recipe="orca_np", settings={**SMALL, "steps": 60}), tmp_path / "run")
    assert "compared" not in run.facts
    assert not (run.path / "compare.png").exists()


def test_a_rehearsal_is_the_same_every_time():
    one, other = (rehearse(config(TASK, settings={"seed": seed})) for seed in (0, 1))
    assert all((mine == theirs).all() for mine, theirs in zip(one, other, strict=True))
