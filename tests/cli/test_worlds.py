"""orcalign tasks and demo make, with the real simulator."""

import json

import pytest

from orcalign.cli import main
from orcalign.envs import TASKS
from orcalign.video import Demo, load_demo


def run(*words):
    main([str(word) for word in words])


def test_tasks_lists_all(capsys):
    run("tasks")
    text = capsys.readouterr().out
    for name in TASKS:
        assert name in text


def test_experts_can_be_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr("orcalign.envs.TASKS", {"nav2d-grid": TASKS["nav2d-grid"]})
    run("tasks", "--measure-experts", tmp_path / "returns.json", "--seeds", 2)
    record = json.loads((tmp_path / "returns.json").read_text())
    assert record["tasks"]["nav2d-grid"]["returns"] == [9, 9]
    assert record["command"] == "orcalign tasks --measure-experts"


def test_the_gallery_has_a_picture_of_each(tmp_path, monkeypatch):
    few = {name: TASKS[name] for name in ("nav2d", "door-close")}
    monkeypatch.setattr("orcalign.envs.TASKS", few)
    run("tasks", "--gallery", tmp_path / "tasks.html")
    page = (tmp_path / "tasks.html").read_text()
    assert page.count("<img") == 6
    assert "http" not in page.replace("http-equiv", "")


def test_a_misaligned_demo_of_metaworld(tmp_path, capsys):
    out = tmp_path / "demo"
    run("demo", "make", "door-close", "--misaligned", "--out", out)
    demo = Demo.load(out)
    assert demo.indices == (*range(15), 31, 43, 44)
    assert (demo.task, demo.camera, demo.render) == ("door-close", "corner", "fast")
    assert len(load_demo(out / "demo.mp4")) == 18
    assert "0-14,31,43,44 of 63" in capsys.readouterr().out


def test_several_demos_with_random_warps(tmp_path):
    run(
        "demo",
        "make",
        "nav2d",
        "--out",
        tmp_path / "set",
        "--count",
        4,
        "--random-warp",
        "mixed",
        "--seed",
        3,
    )
    four = [Demo.load(tmp_path / "set" / str(k)) for k in range(4)]
    assert len({demo.sha256 for demo in four}) == 4
    assert {demo.extra["demo_number"] for demo in four} == {3}


def test_a_demo_tells_its_success(tmp_path, capsys):
    for end, said in (("hold", "4 of 19 frames, the last one too"), ("script", "0 of 19 frames, not the last one")):
        out = tmp_path / end
        run("demo", "make", "lever-pull", "--misaligned", "--size", 48, "--demo-end", end, "--out", out)
        manifest = json.loads((out / "manifest.json").read_text())
        assert len(manifest["success"]) == 19
        assert manifest["success"][-1] == (end == "hold")
        capsys.readouterr()
        run("demo", "info", out)
        assert f"success {said}" in capsys.readouterr().out
        run("demo", "lint", out, "--pixels-only")
        text = capsys.readouterr().out
        assert f"success: {said}" in text
        assert ("ends-without-success" in text) == (end == "script")


def test_a_demo_that_was_cut_says_so(tmp_path, capsys, monkeypatch):
    from orcalign.envs.metaworld import holding

    # Without another ending than the script's, the lever slips off the hand.
    monkeypatch.setattr(holding, "ENDINGS", (None,))
    run("demo", "make", "lever-pull", "--size", 48, "--out", tmp_path / "demo")
    demo = Demo.load(tmp_path / "demo")
    last = len(demo) - 1
    assert (demo.success[-1], demo.original_length) == (True, 88)
    assert f"success is lost after frame {last} of episode 0" in " ".join(capsys.readouterr().err.split())


def test_demos_as_drawn(tmp_path):
    from orcalign.envs import demo_seed

    run("demo", "make", "nav2d", "--demo-order", "drawn", "--seed", 5, "--out", tmp_path / "demo")
    assert Demo.load(tmp_path / "demo").extra["env_seed"] == demo_seed(5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("door-clos",), "did you mean 'door-close'"),
        (("door-close", "--camera", "moon"), "moon"),
        (("drawer-open", "--misaligned"), "no misalignment of its own"),
        (("Pendulum-v1",), "orcalign demo import"),
        (("door-close", "--count", "0"), "count is 0"),
    ],
)
def test_bad_demos_are_named(tmp_path, capsys, words, message):
    with pytest.raises(SystemExit) as exit_info:
        run("demo", "make", *words, "--out", tmp_path / "demo")
    assert exit_info.value.code == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert len(error.splitlines()) == 1, error
    assert not (tmp_path / "demo").exists()


def test_a_learner_drawn_in_another_mode_is_refused(tmp_path):
    from orcalign.rewards import VideoReward

    run("demo", "make", "door-close", "--misaligned", "--out", tmp_path / "demo", "--size", 64)
    with pytest.raises(ValueError, match=r"fast.*paper|paper.*fast"):
        VideoReward(tmp_path / "demo", encoder="pixels", learner_render="paper")
