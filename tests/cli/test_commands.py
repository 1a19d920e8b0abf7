"""The command line: what it says, where it writes, how it fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import orcalign
from orcalign.cli import main
from orcalign.matching import MATCHERS
from orcalign.matching.counterexamples import COUNTEREXAMPLES


def test_help_explains_every_command(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(["--help"])
    assert exit_info.value.code == 0
    text = capsys.readouterr().out
    for command in ("toy", "matchers", "recipes", "warmup"):
        assert command in text


def test_the_installed_command():
    command = Path(sys.executable).with_name("orcalign")
    result = subprocess.run([command, "matchers"], capture_output=True, text=True, check=True)
    for name in MATCHERS:
        assert name in result.stdout


def test_the_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"orcalign {orcalign.__version__}\n"


def test_toy_draws_three_pictures_twice_and_a_page(tmp_path, capsys):
    out = tmp_path / "new" / "folder"
    main(["toy", "--out", str(out)])
    files = sorted(path.name for path in out.iterdir())
    assert files == sorted(["index.html", *(f"{name}.{kind}" for name in COUNTEREXAMPLES for kind in ("png", "svg"))])
    for name in COUNTEREXAMPLES:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{name}.svg").stat().st_size < 1_000_000
        assert f'src="{name}.svg"' in (out / "index.html").read_text()
    text = capsys.readouterr().out
    assert [text.count("✔ right"), text.count("✘ tie"), text.count("✘ wrong")] == [7, 2, 3]


def test_toy_is_the_same_every_time(tmp_path):
    for folder in ("a", "b"):
        main(["toy", "--out", str(tmp_path / folder)])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_an_unwritable_folder_gives_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SystemExit) as exit_info:
        main(["toy", "--out", str(tmp_path / "file")])
    assert exit_info.value.code == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("orcalign: ")
    assert str(tmp_path / "file") in error
    assert len(error.splitlines()) == 1


def test_an_unknown_command_lists_the_known_ones(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(["paint"])
    assert exit_info.value.code == 2
    assert "toy" in capsys.readouterr().err


@pytest.mark.slow
def test_warmup_leaves_nothing_to_compile(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    warm = subprocess.run(
        [sys.executable, "-c", "from orcalign.cli import main; main(['warmup'])"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "ready after" in warm.stdout
    score = """
import numpy as np
from orcalign.rewards import VideoReward
from orcalign.agents import DrQv2Settings, make_agent, make_policy
from orcalign.envs.rendering.layers import compose, shrink
frames = np.random.default_rng(0).integers(0, 255, (5, 40, 48, 3), np.uint8)
for matcher in ("orca", "temporal_ot", "dtw"):
    VideoReward(frames, encoder="pixels", matcher=matcher)(frames)
small, depth = shrink(frames[0, :, :40].copy(), 2, flip=True), np.zeros((40, 40), np.float32)
compose(frames[0], depth, frames[1], depth, small, 2, flip=True)
settings = DrQv2Settings(hidden=8, layer_norm=True)
policy = make_policy(settings, (5,), action_dim=2)
policy.load(make_agent(settings, (5,), action_dim=2, seed=0).policy_weights())
policy.act(np.zeros(5), np.zeros(2))
"""
    after = subprocess.run([sys.executable, "-c", score], env=environment, capture_output=True, text=True)
    assert (after.returncode, after.stderr) == (0, "")


def test_warmup_compiles_everything_and_says_how_long_it_took(capsys):
    main(["warmup"])
    assert "ready after" in capsys.readouterr().out


def test_matchers_says_which_can_be_served_live(capsys):
    from orcalign.matching import TRACKERS

    main(["matchers"])
    said = capsys.readouterr().out
    for name, matcher in MATCHERS.items():
        known = "at every step" if matcher.causal else "at the end"
        live = "yes" if name in TRACKERS else "no"
        assert re.search(rf"^{name} +{known} +{live} ", said, re.MULTILINE), name
