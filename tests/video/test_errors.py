"""Bad input: one clear error each, and nothing of the codec library leaks out or is printed."""

import os
import struct
import subprocess
import sys
import wave
from pathlib import Path

import av
import numpy as np
import pytest

from orcalign.video import VideoOptions, iter_frames, read_video


def message(path: Path, options: VideoOptions | None = None, kind: type[Exception] = ValueError) -> str:
    with pytest.raises(kind) as caught:
        read_video(path, options)
    assert not isinstance(caught.value, av.FFmpegError)
    text = str(caught.value)
    assert str(path) in text
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_missing_path(tmp_path):
    assert "does not exist" in message(tmp_path / "no.mp4", kind=FileNotFoundError)


def test_path_errors_come_before_the_first_frame(tmp_path):
    with pytest.raises(FileNotFoundError):
        iter_frames(tmp_path / "no.mp4")


def test_empty_file(tmp_path):
    file = tmp_path / "a.mp4"
    file.touch()
    assert "empty" in message(file)


@pytest.mark.parametrize("ending", ["mp4", "txt", "gif", "avi", "mkv", ""])
def test_not_a_video(tmp_path, ending):
    file = tmp_path / f"notes.{ending}"
    file.write_text("These are notes, not frames.\n" * 200)
    text = message(file)
    assert "not a video" in text
    assert "mp4, mov, webm" in text


def test_playlists_cannot_open_other_files(videos, tmp_path):
    for text in (f"#EXTM3U\n#EXTINF:3,\n{videos['mp4']}\n", f"ffconcat version 1.0\nfile {videos['mp4']}\n"):
        file = tmp_path / "list.mp4"
        file.write_text(text)
        assert "not a video" in message(file)


def test_protocol_names_are_just_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_video("http://127.0.0.1/a.mp4")


def test_a_colon_or_percent_in_the_name_is_harmless(videos, tmp_path):
    for name in ("a:b.mp4", "frame%03d.mp4", "ünï cödé.mp4"):
        file = tmp_path / name
        file.write_bytes(videos["mp4"].read_bytes())
        assert len(read_video(file)) == 30


def test_index_lost_at_the_end(videos, tmp_path):
    data = videos["mov"].read_bytes()
    file = tmp_path / "cut.mov"
    file.write_bytes(data[: len(data) // 2])
    assert "cut off" in message(file)
    assert "cut off" in message(file, VideoOptions(allow_truncated=True))


def test_audio_only(tmp_path):
    sound = tmp_path / "sound.wav"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\0" * 8000)
    assert "no video stream (it holds: audio)" in message(sound)


def test_cover_art_is_not_a_video(tmp_path, still, bar):
    # An ID3 tag with a picture, then silent MPEG frames.
    picture = still(tmp_path / "cover.png", bar(1)[0]).read_bytes()
    body = b"\0image/png\0\x03\0" + picture
    tag = b"APIC" + struct.pack(">I", len(body)) + b"\0\0" + body
    size = len(tag)
    head = b"ID3\x03\0\0" + bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    song = tmp_path / "song.mp3"
    song.write_bytes(head + tag + (b"\xff\xfb\x90\xc4" + b"\0" * 413) * 20)
    assert "no video stream" in message(song)


def test_container_without_frames(tmp_path):
    file = tmp_path / "none.avi"
    with av.open(str(file), "w") as output:
        stream = output.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        output.start_encoding()
    assert "no frames" in message(file) or "not a video" in message(file)


def test_folder_without_images(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".hidden.png").write_text("x")
    assert "folder without images" in message(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(videos, tmp_path):
    file = tmp_path / "a.mp4"
    file.write_bytes(videos["mp4"].read_bytes())
    file.chmod(0)
    assert "permissions" in message(file, kind=PermissionError)


def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.mp4")
    assert "neither a file nor a folder" in message(tmp_path / "pipe.mp4")


def test_single_image_is_refused_with_a_hint(tmp_path, still, bar):
    assert "single image" in message(still(tmp_path / "a.png", bar(1)[0]))


def test_trim_beyond_the_end(videos):
    assert "lasts 3.00 s" in message(videos["mp4"], VideoOptions(start=50))
    assert "widen the trim" in message(videos["mp4"], VideoOptions(start=3.0))
    assert "widen the trim" in message(videos["mp4"], VideoOptions(start=3.0, fps=10))


def test_damage_in_the_middle(videos, tmp_path):
    for ending in ("mp4", "webm", "mkv"):
        data = bytearray(videos[ending].read_bytes())
        middle = len(data) * 3 // 4
        data[middle : middle + 100] = bytes(100)
        file = tmp_path / f"hurt.{ending}"
        file.write_bytes(data)
        assert "corrupt" in message(file)
        assert 0 < len(read_video(file, VideoOptions(allow_truncated=True))) < 30


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"start": -1}, "start is -1"),
        ({"start": 2, "end": 2}, "end is 2; it must be after start, 2"),
        ({"start": 2, "end": 1}, "end is 1; it must be after start, 2"),
        ({"fps": 0}, "fps is 0"),
        ({"fps": -3}, "fps is -3"),
        ({"fps": float("nan")}, "fps is nan"),
        ({"end": float("inf")}, "end is inf"),
        ({"start": "1"}, "start is '1'"),
        ({"size": 0}, "size is 0"),
        ({"size": (1, 2, 3)}, "size is (1, 2, 3)"),
        ({"size": 2.5}, "size is 2.5"),
        ({"size": 100_000}, "size is 100000"),
        ({"max_frames": 0}, "max_frames is 0"),
        ({"max_bytes": 1.5}, "max_bytes is 1.5"),
        ({"still_fps": 0}, "still_fps is 0"),
    ],
)
def test_bad_options_name_the_value(settings, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is checked below
        VideoOptions(**settings)
    assert words in str(caught.value)


def test_nothing_is_printed(videos, tmp_path):
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(videos["mp4"].read_bytes()[:-300])
    code = (
        "import sys, numpy as np\n"
        "from orcalign.video import *\n"
        "for options in (VideoOptions(), VideoOptions(allow_truncated=True)):\n"
        "    try: read_video(sys.argv[1], options)\n"
        "    except ValueError: pass\n"
        "write_mp4(sys.argv[2], np.zeros((3, 31, 31, 3), np.uint8), 10)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cut), str(tmp_path / "out.mp4")], capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_oversized_header_is_refused_before_memory(tmp_path):
    head = {"descr": "|u1", "fortran_order": False, "shape": (2, 100_000, 100_000, 3)}
    import io
    import zipfile

    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, head)
    with zipfile.ZipFile(tmp_path / "big.npz", "w") as archive:
        archive.writestr("frames.npy", buffer.getvalue())
    assert "100000x100000" in message(tmp_path / "big.npz")
