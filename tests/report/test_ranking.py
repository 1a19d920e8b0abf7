"""What `orcalign score` makes of a ranking: several cameras, overlay, ranks, pages, and videos that do not fit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import orcalign
from orcalign.encoders import make_encoder
from orcalign.report.clips import read_clip
from orcalign.report.overlay import overlay, write_overlay
from orcalign.report.score_sheet import score_page
from orcalign.report.truth import read_truth
from orcalign.video import VideoOptions, read_video

SIDE = 96


def film(places, lamp=True, seed=0):
    """A disc crosses a textured ground; where it has passed the middle, a lamp goes on."""
    rng = np.random.default_rng(seed)
    ground = rng.integers(60, 200, (SIDE // 6, SIDE // 6, 3)).repeat(6, 0).repeat(6, 1)
    ground[12:24, 66:78] = 0
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    frames = []
    for place in places:
        frame = np.where(((x - 12 - 72 * place) ** 2 + (y - 60) ** 2 < 90)[..., None], [230, 60, 40], ground)
        if lamp and place > 0.5:
            frame[14:23, 68:77] = 255
        frames.append(frame.astype(np.uint8))
    return np.stack(frames)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    even = np.linspace(0, 1, 24)
    films = {
        "demo": film(np.linspace(0, 1, 20)),
        "good": film(even),
        "dark": film(even, lamp=False),
        "half": film(np.minimum(even, 0.4)),
        "blind": film(np.linspace(0, 1, 20), lamp=False),
        "mirrored": film(even)[:, :, ::-1],
        "elsewhere": film(even, seed=5),
    }
    for name, frames in films.items():
        np.savez(folder / f"{name}.npz", frames=frames, fps=10.0)
    return folder


@pytest.fixture(scope="module")
def encoder():
    return make_encoder("pixels", size=32)


@pytest.fixture(scope="module")
def sheet(folder, encoder):
    attempts = [folder / f"{name}.npz" for name in ("dark", "good", "half")]
    return orcalign.score(folder / "demo.npz", attempts, encoder=encoder)


def test_the_best_comes_first_with_words(sheet):
    first, *others = sheet.ranking
    assert Path(first.clip.path).name == "good.npz"
    assert first.verdict.done
    assert not any(one.verdict.done for one in others)
    (half,) = (one for one in sheet.attempts if one.clip.path.endswith("half.npz"))
    assert half.verdict.text.startswith("stopped at 5")
    assert any(span.kind == "stall" for span in half.story.spans)


def test_what_one_camera_misses_the_other_sees(folder, encoder):
    def both(left, right):
        return f"{folder / left}.npz,{folder / right}.npz"

    demo, attempts = both("blind", "demo"), [both("dark", "good"), both("dark", "dark")]
    good, dark = orcalign.score(demo, attempts, encoder=encoder).attempts
    assert good.verdict.done
    assert not dark.verdict.done
    with pytest.raises(ValueError, match=r"is of 2 camera\(s\) and .* of 1"):
        orcalign.score(demo, folder / "good.npz", encoder=encoder)


def test_a_variable_frame_rate_is_read_by_its_time_stamps(tmp_path):
    """Every second frame is shown three times as long."""
    import av

    path, frames = tmp_path / "vfr.mp4", film(np.linspace(0, 1, 12))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width = stream.height = SIDE
        stream.pix_fmt, at = "yuv420p", 0
        for k, picture in enumerate(frames):
            shown = av.VideoFrame.from_ndarray(picture, "rgb24")
            shown.pts = at
            shown.time_base = Fraction(1, 30)
            at += 3 if k % 2 else 1
            container.mux(stream.encode(shown))
        container.mux(stream.encode())
    plain = read_video(path)
    assert len(plain) == 12
    clip = read_clip(path, VideoOptions())
    assert clip.fps == pytest.approx(30, rel=0.02)
    assert len(clip.frames) == 22
    np.testing.assert_array_equal(clip.frames[2], clip.frames[3])


def test_an_overlay_has_both_pictures_and_a_bar_that_grows(sheet, tmp_path):
    best = sheet.ranking[0]
    pictures = list(overlay(sheet.demo, best))
    height, width = pictures[0].shape[:2]
    bars = [int((picture[245, :, 0] < 100).sum()) for picture in pictures]
    assert bars == sorted(bars)
    assert bars[-1] > 0.9 * width
    assert (pictures[0][252:] < 200).any()
    write_overlay(sheet.demo, best, tmp_path / "o.mp4")
    assert read_video(tmp_path / "o.mp4").frames.shape[1:3] == (height, width)


def test_the_fields_metrics(sheet, tmp_path):
    ranks = tmp_path / "ranks.csv"
    paths = [Path(one.clip.path) for one in sheet.attempts]
    ranks.write_text("path,rank,success\ngood.npz,1,1\nhalf.npz,3,0\ndark.npz,2,0\n")
    found = read_truth(ranks, paths).metrics(sheet)
    assert found["failure_auroc"] == 1.0
    assert found["value_order"] > 0.9
    assert found["kendall"] > 0.8
    for text, said in (
        ("name,rank\na,1\n", "it needs path, and rank"),
        ("path,rank\nnobody.mp4,1\n", "none of the attempts"),
        ("path,rank\ngood.npz,best\n", "rank is 'best'"),
        ("path,success\ngood.npz,2\n", "give 0 or 1"),
    ):
        ranks.write_text(text)
        with pytest.raises(ValueError, match=said):
            read_truth(ranks, paths)


def test_the_page_leads_with_score_and_verdict(sheet, encoder):
    page = score_page(sheet, encoder)
    assert '"text":"followed"' in page
    assert page.index("Verdict") < page.index("Total reward")


@pytest.mark.parametrize(("name", "said"), [("elsewhere", "another scene"), ("mirrored", "is mirrored")])
def test_what_does_not_fit_the_demo_is_refused_in_a_sentence(folder, encoder, name, said):
    with pytest.raises(ValueError, match=said):
        orcalign.score(folder / "demo.npz", folder / f"{name}.npz", encoder=encoder)
    both = orcalign.score(folder / "demo.npz", [folder / f"{name}.npz", folder / "good.npz"], encoder=encoder)
    assert said in both.ranking[-1].verdict.text
    assert both.ranking[-1].verdict.score == 0


def test_a_cut_in_the_demo_is_said(folder, encoder, tmp_path):
    cut = np.concatenate([film(np.linspace(0, 0.4, 10)), film(np.linspace(0, 0.4, 10), seed=5)])
    np.savez(tmp_path / "cut.npz", frames=cut, fps=10.0)
    sheet = orcalign.score(tmp_path / "cut.npz", [tmp_path / "cut.npz"], encoder=encoder)
    assert sheet.notes
    assert "jump" in sheet.notes[0]
