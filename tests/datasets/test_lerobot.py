"""Reading LeRobot data sets: the frames that were recorded come back, and what is wrong is said in one line."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets.small import COURSES, FPS, draw, write_small

from examples.recorded import CAMERA
from orcalign.datasets.labeller import frames_of, read_demo
from orcalign.datasets.lerobot import inside, open_dataset
from orcalign.video import read_video

EPISODES = "meta/episodes/chunk-000/file-000.parquet"


def assert_in_place(frames, drawn):
    """Each is nearer to what was drawn for it than to any other frame, by the place of the disc."""
    assert frames.shape == drawn.shape
    errors = np.abs(frames[:, None].astype(int) - drawn).mean(axis=(2, 3, 4))
    assert (np.diag(errors) == errors.min(axis=1)).all()
    assert errors.min(axis=1).max() < 8


@pytest.mark.parametrize(("version", "codec"), [("v3.0", "av1"), ("v3.0", "h264"), ("v2.1", "av1"), ("v2.1", "h264")])
def test_every_episode_has_its_own_frames(tmp_path, version, codec):
    found = open_dataset(write_small(tmp_path / "d", version=version, codec=codec))
    assert [one.number for one in found.episodes] == list(range(len(COURSES)))
    assert [one.length for one in found.episodes] == list(map(len, COURSES))
    assert [one.start for one in found.episodes] == np.cumsum([0, *map(len, COURSES[:-1])]).tolist()
    for episode, places in zip(found.episodes, COURSES, strict=True):
        frames, drawn = read_video(episode.video, frames_of(found, episode)).frames, draw(places)
        assert_in_place(frames, drawn)


def test_frames_beyond_the_fifth_second_are_found_by_seeking(tmp_path):
    places = [np.linspace(0, 1, 40), np.linspace(1, 0, 40), np.linspace(0.2, 0.8, 30)]
    found = open_dataset(write_small(tmp_path / "d", places, codec="h264"))
    assert found.episodes[2].begins == 8.0
    frames = read_video(found.episodes[2].video, frames_of(found, found.episodes[2])).frames
    drawn = draw(places[2])
    assert_in_place(frames, drawn)


def test_a_clock_that_rounds_does_not_shift_frames(recorded):
    found = open_dataset(recorded)
    one = found.episodes[1]
    drawn = draw(COURSES[1])
    for off in (-2e-4, 2e-4, 0.2 / FPS, -0.2 / FPS):
        moved = type(one)(one.number, one.start, one.length, one.video, one.begins + off)
        frames = read_video(one.video, frames_of(found, moved)).frames
        assert_in_place(frames, drawn)


def test_a_demo_is_an_episode_or_a_video(recorded, tmp_path):
    found = open_dataset(recorded)
    demo = read_demo(found, "episode:4")
    assert (len(demo), demo.fps, demo.camera) == (31, FPS, CAMERA)
    assert len(read_demo(found, str(found.episodes[0].video))) == sum(map(len, COURSES[:4]))
    with pytest.raises(ValueError, match="there is no episode 9"):
        read_demo(found, "episode:9")
    with pytest.raises(ValueError, match="It must be episode:K or a video"):
        read_demo(found, str(tmp_path / "no.mp4"))


def change_info(root, **values):
    path = root / "meta" / "info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def drop(root, name, column):
    table = pq.read_table(root / name)
    pq.write_table(table.drop_columns([column]), root / name)


def shift(root):
    path = root / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    pq.write_table(
        table.set_column(table.schema.get_field_index("index"), "index", pa.array(np.arange(len(table)) + 1)), path
    )


IMAGES = {"observation.images.front": {"dtype": "image"}}
FAULTS = {
    "no folder": (shutil.rmtree, "does not exist"),
    "no info": (lambda root: (root / "meta/info.json").unlink(), "not a LeRobot data set"),
    "info is no JSON": (lambda root: (root / "meta/info.json").write_text("{"), "not what LeRobot writes"),
    "info is a list": (lambda root: (root / "meta/info.json").write_text("[]"), "not what LeRobot writes"),
    "fps": (lambda root: change_info(root, fps=0), "fps=0"),
    "version": (lambda root: change_info(root, codebase_version="v2.0"), "codebase version 'v2.0'.*v3.0 and v2.1"),
    "no videos": (lambda root: change_info(root, features={}), "no videos: it has no camera"),
    "images": (lambda root: change_info(root, features=IMAGES), "kept as single images"),
    "outside": (lambda root: change_info(root, video_path="../{video_key}.mp4"), "none inside the data set"),
    "absolute": (lambda root: change_info(root, data_path="/etc/passwd"), "none inside the data set"),
    "unknown place": (lambda root: change_info(root, data_path="{x.__class__}"), "none inside the data set"),
    "fewer tables": (lambda root: change_info(root, total_episodes=7), "6 episodes.*promises 7"),
    "no tables": (lambda root: shutil.rmtree(root / "meta/episodes"), "has no tables"),
    "corrupt table": (lambda root: (root / EPISODES).write_bytes(b"PAR1 no"), "corrupt or no parquet"),
    "missing column": (lambda root: drop(root, EPISODES, "dataset_from_index"), "no column 'dataset_from_index'"),
    "missing data": (lambda root: (root / "data/chunk-000/file-001.parquet").unlink(), "file-001.parquet.*is missing"),
    "cut data": (
        lambda root: (root / "data/chunk-000/file-001.parquet").write_bytes(
            (root / "data/chunk-000/file-001.parquet").read_bytes()[:-40]
        ),
        "corrupt or no parquet",
    ),
    "other rows": (shift, "does not hold episode 0"),
    "missing video": (
        lambda root: (root / f"videos/{CAMERA}/chunk-000/file-001.mp4").unlink(),
        "file-001.mp4.*is missing",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_said(own, fault):
    spoil, words = FAULTS[fault]
    spoil(own)
    with pytest.raises((ValueError, OSError), match=words):
        open_dataset(own)


def test_a_camera_that_is_not_there(tmp_path):
    root = write_small(
        tmp_path / "d", COURSES[:2], codec="h264", cameras=("observation.images.front", "observation.images.wrist")
    )
    with pytest.raises(ValueError, match=r"did you mean 'observation.images.wrist'"):
        open_dataset(root, "observation.images.wirst")
    with pytest.raises(ValueError, match="2 cameras; choose one with --camera"):
        open_dataset(root)
    assert "wrist" in str(open_dataset(root, "observation.images.wrist").episodes[0].video)


def test_a_chunk_of_many_digits_keeps_them(tmp_path):
    assert inside(tmp_path, "a-{chunk_index:03d}/{video_key}", {"chunk_index": 1234, "video_key": "k"}).parts[-2:] == (
        "a-1234",
        "k",
    )
