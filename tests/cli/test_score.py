"""orcalign score and check, on real files with the real encoder."""

import json

import numpy as np
import pytest

from orcalign.cli import main
from orcalign.encoders.packages import PACKAGES
from orcalign.matching import MATCHERS
from orcalign.video import read_video, write_mp4


def run(*words):
    main([str(word) for word in words])


def test_a_ranking_for_people_and_every_number_in_json(videos, tmp_path, capsys):
    out = tmp_path / "deep" / "scores.json"
    attempts = [videos / f"{name}.mp4" for name in ("stalls", "good", "back")]
    run("score", videos / "demo.mp4", *attempts, "--matcher", "bottleneck,temporal_ot", "--json", out)
    text = capsys.readouterr().out
    for said in ("score", "verdict", "1 │ good.mp4", "✓ followed", "✗ ", "temporal_ot"):
        assert said in text
    assert "coverage" not in text
    data = json.loads(out.read_text())
    assert data["rollouts"][0]["path"].endswith("good.mp4")
    rows = {(row["path"].split("/")[-1], row["matcher"]): row for row in data["rollouts"]}
    assert len(rows) == 6
    good, stalls, back = (rows[f"{name}.mp4", "bottleneck"] for name in ("good", "stalls", "back"))
    assert good["done"] is True
    assert good["verdict"] == "followed"
    assert "followed" not in (stalls["verdict"], back["verdict"])
    # Sixteen frames for the whole way: the disc jumps by a place of the map from one to the next.
    assert "more frames a second" in " ".join(text.split())
    assert good["score"] > 0.9 > 0.6 > max(stalls["score"], back["score"])
    assert not stalls["done"]
    assert not back["done"]
    assert None not in good["quarters"]
    assert stalls["quarters"][3] is None
    assert stalls["longest_stall"] >= 10
    assert rows["good.mp4", "temporal_ot"]["score"] == good["score"]
    for row in rows.values():
        for name in ("reward", "progress", "position", "nearest_demo_frame", "nearest_cost"):
            assert len(row[name]) == row["frames"] == 32
        assert row["total"] == pytest.approx(sum(row["reward"]))
    assert data["settings"]["encoder"] == "efficientnet-lite0-fine"
    assert data["settings"]["paper"] is False


def test_the_papers_settings_are_one_word(videos, tmp_path, capsys):
    out = tmp_path / "scores.json"
    attempts = [videos / f"{name}.mp4" for name in ("good", "stalls", "back")]
    run("score", videos / "demo.mp4", *attempts, "--paper", "--calibrated", "--json", out)
    text = capsys.readouterr().out
    for heading in ("total", "coverage", "quarters", "stall", "good.mp4", "orca"):
        assert heading in text
    data = json.loads(out.read_text())
    good, stalls, back = data["rollouts"]
    assert good["total"] > 5 * max(stalls["total"], back["total"])
    assert good["final_coverage"] > 0.5
    assert good["score"] is None is good["done"]
    assert good["matcher"] == "orca"
    assert data["settings"]["encoder"] == "efficientnet-lite0"
    assert data["settings"]["calibrated"] is True


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ((), {}),
        (("--calibrated",), {"calibrated": True}),
        (("--temperature", 0.1, "--floor", 0.02), {"temperature": 0.1, "floor": 0.02}),
        (("--context", 1, "--distance", "euclidean"), {"context": 1, "distance": "euclidean"}),
    ],
)
@pytest.mark.parametrize("matcher", ["orca", "threshold", "dtw"])
def test_numbers_are_those_of_the_library(videos, tmp_path, words, settings, matcher):
    from orcalign.rewards import VideoReward
    from orcalign.video import VideoOptions

    out = tmp_path / "s.json"
    files = videos / "demo.mp4", videos / "good.mp4"
    run("score", *files, "--json", out, "--paper", "--encoder", "pixels", "--matcher", matcher, *words)
    row = json.loads(out.read_text())["rollouts"][0]
    if matcher == "dtw":  # it knows no occupancy
        settings = {key: value for key, value in settings.items() if key in ("context", "distance")}
    demo, good = (read_video(path, VideoOptions(longest=320)).frames for path in files)
    match = VideoReward(demo, encoder="pixels", matcher=matcher, **settings)(good)
    np.testing.assert_allclose(row["reward"], match.reward, rtol=1e-9)


def test_every_matcher_has_its_row(videos, tmp_path):
    out = tmp_path / "s.json"
    names = ",".join(MATCHERS)
    run(
        "score",
        videos / "demo.mp4",
        videos / "good.mp4",
        "--matcher",
        names,
        "--json",
        out,
        "--encoder",
        "pixels",
    )
    assert [row["matcher"] for row in json.loads(out.read_text())["rollouts"]] == list(MATCHERS)


def test_the_report_is_one_page_that_needs_nothing_else(videos, tmp_path, capsys):
    page = tmp_path / "page.html"
    run(
        "score",
        videos / "demo.mp4",
        videos / "good.mp4",
        videos / "back.mp4",
        "--report",
        page,
        "--encoder",
        "pixels",
    )
    html = page.read_text()
    assert "good.mp4" in html
    assert "http://" not in html
    assert "https://" not in html
    assert len(html) < 2_000_000
    assert f"open {page}" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_folder_of_images_and_an_npz_are_videos_too(videos, tmp_path):
    frames = read_video(videos / "good.mp4").frames
    np.savez(tmp_path / "good.npz", frames=frames, fps=10.0)
    out = tmp_path / "s.json"
    run(
        "score",
        videos / "demo.mp4",
        tmp_path / "good.npz",
        videos / "good.mp4",
        "--json",
        out,
        "--encoder",
        "pixels",
    )
    first, second = json.loads(out.read_text())["rollouts"]
    assert first["total"] == pytest.approx(second["total"], rel=1e-6)


def test_frame_rate_is_asked_of_all(videos, tmp_path):
    out = tmp_path / "s.json"
    run("score", videos / "demo.mp4", videos / "good.mp4", "--fps", 5, "--json", out, "--encoder", "pixels")
    data = json.loads(out.read_text())
    assert data["demo"]["frames"] == 8
    assert data["rollouts"][0]["frames"] == 16


def bad(capsys, *words):
    """Run a command that must fail with one clear line; returns the line."""
    with pytest.raises(SystemExit) as exit_info:
        run(*words)
    assert exit_info.value.code == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "runs on" not in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith("orcalign: ")
    return lines[0]


def test_bad_input_gives_one_line(videos, tmp_path, capsys):
    demo, good = videos / "demo.mp4", videos / "good.mp4"
    text = tmp_path / "notes.mp4"
    text.write_text("not a video")
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(good.read_bytes()[:2000])
    empty = tmp_path / "empty.mp4"
    empty.touch()
    one = tmp_path / "one.mp4"
    write_mp4(one, np.zeros((1, 96, 96, 3), np.uint8), 10)
    wide = tmp_path / "wide.mp4"
    write_mp4(wide, np.zeros((8, 48, 96, 3), np.uint8), 10)
    out = tmp_path / "out.html"
    pixels = ("--encoder", "pixels", "--report", out)
    assert "not a video" in bad(capsys, "score", demo, text, *pixels)
    assert "cut off" in bad(capsys, "score", demo, cut, *pixels)
    assert "empty" in bad(capsys, "score", demo, empty, *pixels)
    assert "does not exist" in bad(capsys, "score", demo, tmp_path / "nowhere.mp4", *pixels)
    assert "one frame only" in bad(capsys, "score", demo, one, *pixels)
    assert "one frame only" in bad(capsys, "score", one, good, *pixels)
    assert "--crop" in bad(capsys, "score", demo, wide, *pixels)
    assert "at least one video" in bad(capsys, "score", demo, *pixels)
    assert "no matcher is called 'magic'" in bad(capsys, "score", demo, good, "--matcher", "magic", *pixels)
    assert "temperature is -1.0" in bad(capsys, "score", demo, good, "--paper", "--temperature", "-1", *pixels)
    assert "add paper" in bad(capsys, "score", demo, good, "--calibrated", *pixels)
    assert "did you mean 'pixels'" in bad(capsys, "score", demo, good, "--encoder", "pixel")
    assert "max_frames=4" in bad(capsys, "score", demo, good, "--max-frames", "4", *pixels)
    assert "context is 0" in bad(capsys, "score", demo, good, "--paper", "--context", "0", *pixels)
    assert not out.exists()


def test_an_unwritable_output_is_noticed_before_the_work(videos, tmp_path, capsys):
    (tmp_path / "file").touch()
    line = bad(capsys, "score", videos / "demo.mp4", videos / "good.mp4", "--json", tmp_path / "file" / "x.json")
    assert "Cannot write" in line
    assert "folder" in bad(capsys, "score", videos / "demo.mp4", videos / "good.mp4", "--report", tmp_path)


def test_weights_that_cannot_be_had_name_the_offline_way(videos, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    line = bad(capsys, "score", videos / "demo.mp4", videos / "good.mp4", "--encoder", "resnet50")
    assert "efficientnet-lite0" in line


def test_shapes_that_differ_can_be_cropped(videos, tmp_path, capsys):
    frames = read_video(videos / "good.mp4").frames
    wide = np.pad(frames, ((0, 0), (0, 0), (24, 24), (0, 0)), mode="edge")
    write_mp4(tmp_path / "wide.mp4", wide, 10)
    run("score", videos / "demo.mp4", tmp_path / "wide.mp4", "--crop", "--encoder", "pixels")
    assert "wide.mp4" in capsys.readouterr().out


def test_a_tiny_coverage_is_explained(videos, tmp_path, capsys):
    frames = np.random.default_rng(0).integers(0, 256, (60, 32, 32, 3), np.uint8)
    np.savez(tmp_path / "noise.npz", frames=frames)
    np.savez(tmp_path / "other.npz", frames=frames[::-1])
    run("score", tmp_path / "noise.npz", tmp_path / "other.npz", "--paper", "--encoder", "pixels")
    assert "--calibrated" in capsys.readouterr().out


def test_check_says_who_is_fooled(videos, tmp_path, capsys):
    plot = tmp_path / "fooled.png"
    run("check", videos / "demo.mp4", videos / "good.mp4", "--calibrated", "--context", 1, "--plot", plot)
    text = capsys.readouterr().out
    assert plot.read_bytes().startswith(b"\x89PNG")
    row = {line.split("│")[1].strip(): line for line in text.splitlines() if line.startswith("│")}
    assert set(row) == set(MATCHERS)
    assert "✘" not in row["orca"]
    assert row["nearest"].count("✘") >= 3
    assert "fooled by none of these: orca" in text


def test_check_refuses_what_it_cannot_do(videos, tmp_path, capsys):
    demo, good = videos / "demo.mp4", videos / "good.mp4"
    assert ".png" in bad(capsys, "check", demo, good, "--plot", tmp_path / "x.docx")
    assert "no matcher" in bad(capsys, "check", demo, good, "--matcher", "magic", "--encoder", "pixels")


@pytest.mark.parametrize("command", ["score", "check"])
@pytest.mark.parametrize("grey", [0, 120])
def test_a_demo_in_which_nothing_moves_is_refused_with_the_linters_words(videos, tmp_path, capsys, command, grey):
    still = tmp_path / "still.mp4"
    write_mp4(still, np.full((12, 64, 64, 3), grey, np.uint8), 10)
    paper = ("--calibrated",) if command == "check" else ()
    with pytest.raises(SystemExit):
        run(command, still, videos / "good.mp4", *paper, "--encoder", "pixels", "--crop")
    told = capsys.readouterr().err
    assert "still.mp4) has none: error static (frames 0-11): Nothing moves in the whole demo." in told
    assert "Traceback" not in told


class TestWholeClips:
    """--recipe roboclip: one number a clip, by the real network at a small size."""

    pytestmark = pytest.mark.skipif(PACKAGES["i3d"].place() is None, reason="run `orcalign weights get i3d`")

    def test_one_number_and_one_bar_for_each_attempt(self, videos, tmp_path, capsys):
        out, page = tmp_path / "scores.json", tmp_path / "page.html"
        attempts = [videos / f"{name}.mp4" for name in ("good", "stalls", "demo")]
        given = ("--recipe", "roboclip", "--size", 64, "--json", out, "--report", page)
        run("score", videos / "demo.mp4", *attempts, *given)
        shown = capsys.readouterr().out
        assert "I3D (Kinetics-400) in the place of S3D (HowTo100M)" in shown
        data = json.loads(out.read_text())
        good, stalls, same = (row["similarity"] for row in data["rollouts"])
        assert same == pytest.approx(1.0)
        assert good > stalls
        assert f"{good:.3f}" in shown
        assert data["settings"]["substitute"]
        text = page.read_text()
        assert text.count('class="one-bar"') == 3
        assert "in the place of S3D" in text

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--recipe", "robocop"), "recipe is 'robocop'; did you mean 'roboclip'"),
            (("--recipe", "roboclip", "--encoder", "i4d"), "did you mean 'i3d'"),
            (("--recipe", "roboclip", "--encoder", "s3d"), "give the public HowTo100M file"),
        ],
    )
    def test_bad_words_end_in_one_line(self, videos, words, said, capsys, tmp_path):
        with pytest.raises(SystemExit) as ended:
            run("score", videos / "demo.mp4", videos / "good.mp4", *words, "--json", tmp_path / "a.json")
        assert ended.value.code == 2
        error = capsys.readouterr().err
        assert said in error
        assert len(error.strip().splitlines()) == 1
        assert not (tmp_path / "a.json").exists()
