"""orcalign demo look, and what is refused of eyes, demos and entities."""

import numpy as np
import pytest
from cli.small_commands import TINY, refused, train

from orcalign.cli import main
from orcalign.costs.predicted.eye import Eye
from orcalign.video import Demo, read_video

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With an eye of the 2D navigation that has hardly learned, and a demo."""
    made = tmp_path_factory.mktemp("look")
    main(["predictor", "data", "nav2d", "--out", str(made / "data"), "--frames", "60"])
    main(["predictor", "train", str(made / "data"), "--updates", "20", "--out", str(made / "eye.safetensors")])
    main(["demo", "make", "nav2d", "--out", str(made / "demo"), "--misaligned"])
    return made


def look(*words):
    main(["demo", "look", *(str(word) for word in words)])


def test_an_eye_draws_what_it_sees(folder, tmp_path, capsys):
    look(folder / "demo", "--eye", folder / "eye.safetensors", "--out", tmp_path / "look.mp4")
    said = capsys.readouterr().out
    demo = Demo.load(folder / "demo")
    assert len(read_video(tmp_path / "look.mp4").frames) == len(demo)
    assert "Coarser than the reward can be tolerant" in said
    assert f"look: {tmp_path / 'look.mp4'}, {len(demo)} frames" in said
    words = ("demo", "look", folder / "demo", "--eye", folder / "eye.safetensors", "--out")
    assert "give --overwrite" in refused(capsys, *words, tmp_path / "look.mp4")
    assert "must be a file that ends in .mp4" in refused(capsys, *words, tmp_path / "look.gif")


def test_the_eye_of_a_run_draws_too(folder, tmp_path, capsys):
    run = train(
        tmp_path / "run", "--task", "nav2d", "--recipe", "follow", "--eye-begin", 60, "--eye-every", 60,
        "--eye-updates", 4, "--eye-refit", 2, "--demo", folder / "demo", steps=90,
    )  # fmt: skip
    look(folder / "demo", "--eye", run.path, "--out", tmp_path / "own.mp4")
    assert len(read_video(tmp_path / "own.mp4").frames) == len(Demo.load(folder / "demo"))
    (run.path / "reward-state.safetensors").unlink()
    words = ("demo", "look", folder / "demo", "--eye", run.path, "--out", tmp_path / "none.mp4")
    assert "has learned nothing yet" in refused(capsys, *words)
    assert not (tmp_path / "none.mp4").exists()


def test_what_cannot_be_looked_at(folder, tmp_path, capsys):
    small = Demo.load(folder / "demo")
    Demo(np.ascontiguousarray(small.frames[:, :32, :32])).save(tmp_path / "small")
    out = tmp_path / "look.mp4"
    eye = folder / "eye.safetensors"
    for video, by, words in (
        (tmp_path / "small", eye, "the frames have 32x32 pixels (height x width), and this eye was made for 64x64"),
        (folder / "demo", folder / "none.safetensors", "No such file"),
        (folder / "demo", folder / "demo", "holds no run; give the folder of a run with an eye"),
    ):
        assert words in refused(capsys, "demo", "look", video, "--eye", by, "--out", out)
        assert not out.exists()


def test_a_run_refuses_an_eye_that_is_not_its_own(folder, tmp_path, capsys):
    eye = folder / "eye.safetensors"
    demo = Demo.load(folder / "demo")
    ground = np.random.default_rng(0).integers(0, 60, (8, 8, 1)).repeat(8, 0).repeat(8, 1)
    Demo((demo.frames + ground).clip(0, 255).astype(np.uint8), render=demo.render).save(tmp_path / "elsewhere")
    stuck = Eye.load(eye)
    stuck.about["still"] = ["hand"]
    stuck.save(tmp_path / "stuck.safetensors")
    (tmp_path / "plane.yaml").write_text("hand: [0, 1]\n")
    for words, said in (
        (("nav2d-order", "--eye", eye), "this eye was made for task 'nav2d', not for 'nav2d-order'"),
        (("nav2d", "--eye", eye, "--render", "paper"), "this eye was made for render 'fast', not for 'paper'"),
        (("nav2d", "--eye", eye, "--frame-size", 48), "48x48 pixels (height x width), and this eye was made for 64x64"),
        (
            ("nav2d", "--eye", eye, "--demo", tmp_path / "elsewhere", "--no-demo-check"),
            "as if the camera had turned by",
        ),
        (("nav2d", "--eye", tmp_path / "stuck.safetensors"), "the hand never moves in the 68 frames"),
        (
            ("training.faulty_worlds:nan", "--entities", tmp_path / "plane.yaml", "--demo", folder / "demo"),
            "the environment must give finite numbers",
        ),
    ):
        out = tmp_path / "run"
        given = ("train", *TINY, "--recipe", "follow", "--steps", 60, "--out", out, "--task", *words)
        assert said in refused(capsys, *given)
        assert not out.exists()
