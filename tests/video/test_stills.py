"""Folders of images, and npz files."""

import struct

import numpy as np
import pytest

from orcalign.video import VideoOptions, read_video


@pytest.mark.parametrize("ending", ["png", "jpg", "bmp", "webp", "tiff"])
def test_folder_in_natural_order(tmp_path, still, bar, which, ending):
    frames = bar(12)
    for k, frame in enumerate(frames):
        still(tmp_path / f"frame{k}.{ending}", frame)
    (tmp_path / "notes.txt").write_text("not an image")
    (tmp_path / "._frame0.png").write_text("what a Mac leaves behind")
    clip = read_video(tmp_path)
    assert [which(f) for f in clip.frames] == list(range(12))
    assert np.abs(clip.frames.astype(int) - frames).mean() < (0.01 if ending in "png bmp tiff" else 8)
    assert clip.fps == 10
    np.testing.assert_allclose(clip.times, np.arange(12) / 10)


def test_folder_trim_and_rate(tmp_path, still, bar, which):
    for k, frame in enumerate(bar(20)):
        still(tmp_path / f"{k}.png", frame)
    options = VideoOptions(still_fps=4, start=1.0, end=3.0)
    assert [which(f) for f in read_video(tmp_path, options).frames] == [4, 5, 6, 7, 8, 9, 10, 11]
    options = VideoOptions(still_fps=4, start=1.0, end=3.0, fps=2)
    assert [which(f) for f in read_video(tmp_path, options).frames] == [4, 6, 8, 10]


@pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, -1), (8, 1)])
def test_photos_are_turned_upright(tmp_path, still, bar, orientation, turns):
    photo = still(tmp_path / "a.jpg", bar(1)[0])
    plain = read_video(tmp_path).frames[0]
    data = photo.read_bytes()
    # EXIF with one entry: tag 0x0112 (orientation), type short, one value.
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + entry + b"\0\0\0\0"
    photo.write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + data[2:])
    np.testing.assert_array_equal(read_video(tmp_path).frames[0], np.rot90(plain, turns))


def test_transparent_png_lies_over_black(tmp_path, still):
    rgba = np.full((8, 8, 4), 200, np.uint8)
    rgba[:, :4, 3], rgba[:, 4:, 3] = 0, 255
    still(tmp_path / "a.png", rgba)
    frame = read_video(tmp_path).frames[0]
    assert frame[0, 0].tolist() == [0, 0, 0]
    assert frame[0, 7].tolist() == [200, 200, 200]


@pytest.mark.parametrize("ending", ["png", "jpg", "bmp", "webp", "tiff"])
@pytest.mark.parametrize("damage", ["text", "empty", "cut"])
def test_one_bad_image_is_named(tmp_path, still, bar, ending, damage):
    for k, frame in enumerate(bar(4)):
        file = still(tmp_path / f"{k}.{ending}", frame)
        if k == 2:
            data = file.read_bytes()
            file.write_bytes({"text": b"hello " * 50, "empty": b"", "cut": data[: len(data) * 2 // 3]}[damage])
    with pytest.raises(ValueError, match=rf"2\.{ending}.*replace it\.") as caught:
        read_video(tmp_path)
    assert caught.type is ValueError


def test_sizes_must_agree_unless_resized(tmp_path, still, bar):
    still(tmp_path / "a.png", bar(1)[0])
    still(tmp_path / "b.png", bar(1, 30, 40)[0])
    with pytest.raises(ValueError, match=r"b\.png.*40x30.*64x48.*size"):
        read_video(tmp_path)
    assert read_video(tmp_path, VideoOptions(size=32)).frames.shape == (2, 32, 32, 3)


def test_too_many_images_is_known_from_the_names(tmp_path):
    for k in range(50):
        (tmp_path / f"{k}.png").touch()
    with pytest.raises(ValueError, match="about 50 frames"):
        read_video(tmp_path, VideoOptions(max_frames=10))


def test_npz_round_trip(tmp_path):
    frames = np.random.default_rng(0).integers(0, 256, (9, 5, 7, 3), dtype=np.uint8)
    np.savez_compressed(tmp_path / "a.npz", frames=frames, fps=4.0)
    clip = read_video(tmp_path / "a.npz")
    np.testing.assert_array_equal(clip.frames, frames)
    assert clip.fps == 4
    late = read_video(tmp_path / "a.npz", VideoOptions(start=1.0))
    np.testing.assert_array_equal(late.frames, frames[4:])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"images": np.zeros((2, 4, 4, 3), np.uint8)}, "no array `frames` .it holds: 'images'"),
        ({"frames": np.zeros((2, 4, 4, 3))}, "float64"),
        ({"frames": np.zeros((2, 4, 4), np.uint8)}, r"\[2, 4, 4\]"),
        ({"frames": np.zeros((2, 4, 4, 4), np.uint8)}, r"\[2, 4, 4, 4\]"),
        ({"frames": np.zeros((0, 4, 4, 3), np.uint8)}, "no frames"),
        ({"frames": np.asfortranarray(np.zeros((2, 4, 4, 3), np.uint8))}, "C order"),
        ({"frames": np.zeros((2, 4, 4, 3), np.uint8), "fps": 0}, "bad `fps`"),
        ({"frames": np.zeros((2, 4, 4, 3), np.uint8), "fps": "x"}, "bad `fps`"),
    ],
)
def test_wrong_npz(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        read_video(tmp_path / "a.npz")


def test_npz_with_objects_is_never_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    np.savez(tmp_path / "a.npz", frames=np.array([Bomb()], dtype=object), fps=np.array(Bomb(), dtype=object))
    with pytest.raises(ValueError, match=r"a\.npz.*(object|damaged)"):
        read_video(tmp_path / "a.npz")
    frames = np.zeros((2, 4, 4, 3), np.uint8)
    np.savez(tmp_path / "b.npz", frames=frames, fps=np.array(Bomb(), dtype=object))
    with pytest.raises(ValueError, match=r"b\.npz.*bad `fps`"):
        read_video(tmp_path / "b.npz")
