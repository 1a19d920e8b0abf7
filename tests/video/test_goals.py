"""Goals as demos."""

import numpy as np
import pytest

from orcalign.video import Demo, Warp, goals, write_mp4
from orcalign.video.goals import CARD, draw_sentence

PICTURE = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)


@pytest.fixture
def png(tmp_path):
    from matplotlib.image import imsave

    path = tmp_path / "open.PNG"
    imsave(path, PICTURE)
    return path


def test_sentences_and_pictures_in_order(png):
    demo = goals(["reach  the handle", png, str(png), PICTURE])
    assert demo.sentences == ("reach the handle", "", "", "")
    assert demo.source == "reach the handle → open.PNG → open.PNG → a picture"
    np.testing.assert_array_equal(demo.frames[1], PICTURE)
    assert demo.frames.shape == (4, 30, 40, 3)
    assert goals("one alone").frames.shape == (1, *CARD, 3)


def test_saved_and_warped_like_any_demo(tmp_path):
    demo = goals(["reach the handle", "pull it: 5 $ or x^2 $"])
    demo.save(tmp_path / "demo")
    again = Demo.load(tmp_path / "demo")
    assert again.sentences == demo.sentences
    assert again.sha256 == demo.sha256
    assert demo.warp(Warp((1, 1, 0), 2)).sentences == (*(demo.sentences[1],) * 2, demo.sentences[0])
    assert Demo(demo.frames).sha256 != demo.sha256
    with pytest.raises(ValueError, match="give one text for each"):
        Demo(demo.frames, sentences=("one",))


def test_a_card_shows_all_of_a_long_sentence():
    """Nothing of it touches the edge."""
    for text in ("push", "go to the red square and then to the green one " * 3, "x" * 150):
        card = draw_sentence(text, 120, 160).astype(int)
        edge = np.concatenate([card[0], card[-1], card[:, 0], card[:, -1]])
        assert np.ptp(edge, axis=0).max() == 0
        assert np.ptp(card) > 100


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([], "No goal was given"),
        (["a", "  "], "A goal is an empty sentence"),
        (["nowhere/a.png"], "There is no picture 'nowhere/a.png'"),
        ([PICTURE, PICTURE[:20]], "40x20 and 40x30 pixels; give all of one size"),
        ([PICTURE.astype(float)], "give uint8"),
    ],
)
def test_bad_goals_are_refused(entries, said):
    with pytest.raises((ValueError, OSError), match=said):
        goals(entries)


def test_a_video_is_no_goal(tmp_path):
    write_mp4(tmp_path / "demo.mp4", np.zeros((3, 16, 16, 3), np.uint8), 10)
    with pytest.raises(ValueError, match="is a file but no picture"):
        goals([str(tmp_path / "demo.mp4")])
