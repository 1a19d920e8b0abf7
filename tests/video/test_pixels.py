"""Pixel formats, colours, transparency, rotation, cropping and resizing."""

from pathlib import Path

import numpy as np
import pytest

from orcalign.video import VideoOptions, read_video


class TestPixels:
    @pytest.mark.parametrize(
        ("name", "codec", "pix_fmt"),
        [
            ("ten.mp4", "libx264", "yuv420p10le"),
            ("ten.mkv", "libx265", "yuv420p10le"),
            ("ffv1.mkv", "ffv1", "yuv444p16le"),
            ("rgb.mov", "qtrle", "rgb24"),
        ],
    )
    def test_deep_and_rgb_colours(self, encode, tmp_path, name, codec, pix_fmt):
        frames = np.empty((4, 48, 64, 3), np.uint8)
        frames[:] = (200, 40, 90)
        options = {"x265-params": "log-level=none:pools=1"} if codec == "libx265" else {}
        clip = read_video(encode(tmp_path / name, frames, codec, pix_fmt, options=options))
        assert np.abs(clip.frames.astype(int) - frames).max() <= 3

    def test_grey(self, encode, tmp_path):
        ramp = np.tile(np.arange(64, dtype=np.uint8) * 4, (3, 48, 1))
        file = encode(tmp_path / "grey.mkv", ramp, "ffv1", "gray", source_format="gray")
        np.testing.assert_array_equal(read_video(file).frames, np.repeat(ramp[..., None], 3, axis=3))

    def test_alpha_lies_over_black(self, encode, tmp_path):
        argb = np.empty((3, 48, 64, 4), np.uint8)
        argb[:] = (255, 200, 100, 50)
        argb[:, :, 32:, 0] = 128
        argb[:, 24:, :, 0] = 0
        file = encode(tmp_path / "alpha.mov", argb, "qtrle", "argb", source_format="argb")
        frame = read_video(file).frames[0]
        assert frame[5, 5].tolist() == [200, 100, 50]
        assert frame[5, 60].tolist() == [100, 50, 25]
        assert frame[40, 5].tolist() == [0, 0, 0]

    def test_alpha_of_webm_is_not_lost(self, encode, tmp_path):
        rgba = np.empty((5, 48, 64, 4), np.uint8)
        rgba[:] = (200, 100, 50, 255)
        rgba[:, :, 32:, 3] = 0
        options = {"deadline": "realtime", "auto-alt-ref": "0"}
        file = encode(tmp_path / "a.webm", rgba, "libvpx-vp9", "yuva420p", source_format="rgba", options=options)
        frame = read_video(file).frames[2].astype(int)
        assert np.abs(frame[20, 10] - (200, 100, 50)).max() < 8
        assert frame[20, 55].max() < 8

    @pytest.mark.parametrize("space", ["bt709", "smpte170m"])
    def test_named_colour_space_is_used(self, encode, tmp_path, space):
        # The YUV of pure red in each standard, by hand: 16 + 219 Kr and 128 + 112 * (-Kr / (1 - Kb)).
        luma, blue = {"bt709": (63, 102), "smpte170m": (81, 90)}[space]
        yuv = np.full((3, 72, 64), luma, np.uint8)
        yuv[:, 48:60], yuv[:, 60:] = blue, 240
        params = f"colormatrix={space}:colorprim={space}:transfer={space}:range=tv"
        file = tmp_path / "red.mp4"
        _encode_yuv(file, yuv, params)
        assert np.abs(read_video(file).frames[0, 20, 20].astype(int) - (255, 0, 0)).max() <= 3

    @pytest.mark.parametrize(
        ("matrix", "turn"),
        [
            # Columns of the matrix are where the x and y axes go on the display, as 16.16 numbers.
            ([0, 65536, 0, -65536, 0, 0, 0, 0, 2**30], lambda f: np.rot90(f, -1)),
            ([0, -65536, 0, 65536, 0, 0, 0, 0, 2**30], lambda f: np.rot90(f, 1)),
            ([-65536, 0, 0, 0, -65536, 0, 0, 0, 2**30], lambda f: np.rot90(f, 2)),
            ([-65536, 0, 0, 0, 65536, 0, 0, 0, 2**30], lambda f: f[:, ::-1]),
        ],
    )
    def test_rotation_metadata(self, encode, bar, tmp_path, matrix, turn):
        plain = encode(tmp_path / "plain.mp4", bar(5), "libx264", "yuv420p")
        turned = encode(tmp_path / "turned.mp4", bar(5), "libx264", "yuv420p", matrix=matrix)
        for a, b in zip(read_video(plain).frames, read_video(turned).frames, strict=True):
            np.testing.assert_array_equal(turn(a), b)

    def test_odd_sizes(self, encode, bar, tmp_path):
        frames = bar(3, 47, 63)
        file = encode(tmp_path / "odd.mkv", frames, "ffv1", "bgr0")
        np.testing.assert_array_equal(read_video(file).frames, frames)


def _encode_yuv(path: Path, planes: np.ndarray, params: str) -> None:
    import av

    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = planes.shape[2], planes.shape[1] * 2 // 3, "yuv420p"
        stream.codec_context.options = {"x264-params": params, "qp": "0"}
        for k, image in enumerate(planes):
            frame = av.VideoFrame.from_ndarray(image, format="yuv420p")
            frame.pts = k
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


class TestShape:
    def test_crop_and_resize(self, videos):
        assert read_video(videos["mp4"], VideoOptions(size=20)).frames.shape == (30, 20, 20, 3)
        assert read_video(videos["mp4"], VideoOptions(size=(10, 30))).frames.shape == (30, 10, 30, 3)
        assert read_video(videos["mp4"], VideoOptions(size=96)).frames.shape == (30, 96, 96, 3)

    def test_crop_takes_the_middle(self, tmp_path):
        frames = np.zeros((2, 10, 20, 3), np.uint8)
        frames[:, :, 5:15] = 255
        np.savez(tmp_path / "a.npz", frames=frames)
        cropped = read_video(tmp_path / "a.npz", VideoOptions(centre_crop=True)).frames
        assert cropped.shape == (2, 10, 10, 3)
        assert cropped.min() == 255

    def test_shrinking_averages(self, tmp_path):
        checker = np.indices((64, 64)).sum(0) % 2 * 255
        np.savez(tmp_path / "a.npz", frames=np.repeat(checker[None, :, :, None], 3, 3).astype(np.uint8))
        small = read_video(tmp_path / "a.npz", VideoOptions(size=16)).frames.astype(int)
        assert np.abs(small - 127.5).max() < 3

    def test_shrinking_is_the_mean_of_each_area(self, tmp_path):
        def shares(source, target):
            step = source / target
            edges = np.arange(target)[:, None] * step
            pixels = np.arange(source)[None]
            return np.clip(np.minimum(edges + step, pixels + 1) - np.maximum(edges, pixels), 0, 1) / step

        frames = np.random.default_rng(0).integers(0, 256, (1, 90, 160, 3), dtype=np.uint8)
        np.savez(tmp_path / "a.npz", frames=frames)
        small = read_video(tmp_path / "a.npz", VideoOptions(size=(40, 64))).frames[0]
        areas = np.einsum("oh,hwc,pw->opc", shares(90, 40), frames[0].astype(float), shares(160, 64))
        assert np.abs(small - areas).max() < 1.5
