"""Demos: stored whole, checked when read, never half-written."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from orcalign.video import Demo, DemoSet, VideoOptions, Warp, keep, load_demo, read_video


@pytest.fixture
def demo(bar):
    return Demo(
        bar(12),
        fps=12.5,
        source="expert, seed 3",
        task="door-close",
        camera="corner",
        render="fast",
        extra={"seed": 3, "success": [False, True], "note": "ü"},
    )


class TestRoundTrip:
    def test_everything_comes_back(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        back = Demo.load(tmp_path / "demo")
        np.testing.assert_array_equal(back.frames, demo.frames)
        for name in (
            "fps",
            "source",
            "task",
            "camera",
            "render",
            "indices",
            "original_length",
            "created_by",
            "extra",
        ):
            assert getattr(back, name) == getattr(demo, name), name
        assert back.sha256 == demo.sha256
        assert back.created_by.startswith("orcalign ")

    def test_the_folder(self, demo, tmp_path, which):
        demo.save(tmp_path / "demo")
        assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == [
            "demo.mp4",
            "frames.npz",
            "manifest.json",
        ]
        text = (tmp_path / "demo" / "manifest.json").read_text(encoding="utf-8")
        manifest = json.loads(text)
        assert list(manifest) == sorted(manifest)
        assert manifest["version"] == 1
        assert manifest["shape"] == [12, 48, 64, 3]
        assert [which(f) for f in read_video(tmp_path / "demo" / "demo.mp4").frames] == list(range(12))
        assert sorted(p.name for p in tmp_path.iterdir()) == ["demo"]

    def test_saving_twice_gives_the_same_bytes(self, demo, tmp_path):
        for name in ("a", "b"):
            demo.save(tmp_path / name)
        for file in ("demo.mp4", "frames.npz", "manifest.json"):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

    def test_success_goes_with_the_frames(self, demo, tmp_path):
        assert demo.success is None
        known = replace(demo, success=np.arange(12) > 7)
        warped = known.warp(keep("0-4,8,11", 12))
        assert warped.success == (False,) * 5 + (True, True)
        assert warped.sha256 == demo.warp(keep("0-4,8,11", 12)).sha256, "what a reward depends on is as it was"
        warped.save(tmp_path / "demo")
        manifest = json.loads((tmp_path / "demo" / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["success"] == [False] * 5 + [True] * 2
        assert Demo.load(tmp_path / "demo").success == warped.success
        del manifest["success"]
        (tmp_path / "demo" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        assert Demo.load(tmp_path / "demo").success is None, "an older one does not say"

    def test_warp_keeps_the_map_to_the_original(self, demo, tmp_path, which):
        twice = demo.warp(keep("0-4,8,11", 12)).warp(Warp((0, 0, 5, 6), 7))
        assert twice.indices == (0, 0, 8, 11)
        assert twice.original_length == 12
        assert [which(f) for f in twice.frames] == [0, 0, 8, 11]
        assert (twice.task, twice.render) == ("door-close", "fast")
        assert twice.sha256 != demo.sha256
        twice.save(tmp_path / "warped")
        assert Demo.load(tmp_path / "warped").indices == (0, 0, 8, 11)

    def test_hash_depends_on_pixels_shape_and_map_only(self, demo):
        frames = demo.frames.copy()
        frames[3, 4, 5, 0] ^= 1
        assert Demo(frames).sha256 != Demo(demo.frames).sha256
        assert Demo(demo.frames.reshape(12, 64, 48, 3)).sha256 != Demo(demo.frames).sha256
        assert Demo(demo.frames, fps=3, task="x").sha256 == demo.sha256

    def test_more_frames_than_a_video_may_have(self, tmp_path):
        Demo(np.zeros((3500, 4, 4, 3), np.uint8)).save(tmp_path / "long")
        assert len(load_demo(tmp_path / "long")) == 3500


class TestFromVideo:
    def test_any_video_is_a_demo(self, videos, which):
        demo = load_demo(videos["webm"], VideoOptions(fps=5, size=32))
        assert demo.frames.shape == (15, 32, 32, 3)
        assert (demo.render, demo.fps, demo.source) == ("unknown", 5.0, str(videos["webm"]))
        assert demo.indices == tuple(range(15))

    def test_folder_of_images_is_a_demo(self, tmp_path, still, bar):
        for k, frame in enumerate(bar(3)):
            still(tmp_path / f"{k}.png", frame)
        np.testing.assert_array_equal(load_demo(tmp_path).frames, bar(3))

    def test_options_are_refused_for_saved_demos(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        assert len(load_demo(tmp_path / "demo", VideoOptions())) == 12
        with pytest.raises(ValueError, match="used as it is"):
            load_demo(tmp_path / "demo", VideoOptions(size=32))

    def test_read_video_points_to_load_demo(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        with pytest.raises(ValueError, match="load_demo"):
            read_video(tmp_path / "demo")


class TestDamage:
    def load(self, folder, words, kind=ValueError):
        with pytest.raises(kind, match=words) as caught:
            Demo.load(folder)
        assert str(folder) in str(caught.value)

    def edit(self, folder, **changes):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for key, value in changes.items():
            if value is None:
                del manifest[key]
            else:
                manifest[key] = value
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    @pytest.fixture
    def folder(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        return tmp_path / "demo"

    def test_changed_pixel(self, folder, demo):
        frames = demo.frames.copy()
        frames[0, 0, 0, 0] ^= 1
        np.savez_compressed(folder / "frames.npz", frames=frames)
        self.load(folder, "changed after it was saved.*sha256")

    def test_changed_map(self, folder):
        self.edit(folder, indices=[0, 0, *range(2, 12)])
        self.load(folder, "changed after it was saved")

    def test_wrong_entries(self, folder):
        self.edit(folder, indices=[0, 99])
        self.load(folder, "index 99")
        self.edit(folder, indices=[0, 1])
        self.load(folder, "12 frames but 2 indices")
        self.edit(folder, indices="x")
        self.load(folder, "manifest.json is wrong")
        self.edit(folder, indices=list(range(12)), fps="fast")
        self.load(folder, "manifest.json is wrong")

    def test_wrong_successes(self, folder):
        for wrong in ([True], [1] * 12, 3, "yes"):
            self.edit(folder, success=wrong)
            self.load(folder, "manifest.json is wrong")

    def test_missing_entry(self, folder):
        self.edit(folder, task=None)
        self.load(folder, "lacks the entry 'task'")

    def test_other_version_or_format(self, folder):
        self.edit(folder, version=2)
        self.load(folder, "version 2, this program reads 1")
        self.edit(folder, format="other")
        self.load(folder, "not of format 'orcalign-demo'")

    def test_broken_files(self, folder, tmp_path):
        data = (folder / "frames.npz").read_bytes()
        (folder / "frames.npz").write_bytes(data[: len(data) // 2])
        self.load(folder, "damaged npz")
        (folder / "frames.npz").unlink()
        self.load(folder, "lacks its frames.npz", FileNotFoundError)
        for text in ("{", "[]", "[" * 100_000):
            (folder / "manifest.json").write_text(text)
            self.load(folder, "manifest.json")
        (folder / "manifest.json").write_bytes(b"\xff\xfe\x00")
        self.load(folder, "not JSON")
        (folder / "manifest.json").unlink()
        self.load(folder, "not a demo folder")
        self.load(tmp_path / "nowhere", "does not exist", FileNotFoundError)


class TestSaving:
    def test_no_overwriting_unasked(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        with pytest.raises(FileExistsError, match="exists already"):
            demo.save(tmp_path / "demo")
        other = demo.warp(keep("0-3", 12))
        other.save(tmp_path / "demo", overwrite=True)
        assert len(Demo.load(tmp_path / "demo")) == 4
        assert [p.name for p in tmp_path.iterdir()] == ["demo"]

    def test_overwriting_without_exchange(self, demo, tmp_path, monkeypatch):
        monkeypatch.setattr("orcalign.files._exchange", lambda a, b: False)
        demo.save(tmp_path / "demo")
        demo.warp(keep("0-3", 12)).save(tmp_path / "demo", overwrite=True)
        assert len(Demo.load(tmp_path / "demo")) == 4
        assert [p.name for p in tmp_path.iterdir()] == ["demo"]

    def test_other_folders_are_never_replaced(self, demo, tmp_path):
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
        with pytest.raises(FileExistsError, match="not a demo folder"):
            demo.save(tmp_path / "thesis", overwrite=True)
        (tmp_path / "file").write_text("x")
        with pytest.raises(FileExistsError, match="not a demo folder"):
            demo.save(tmp_path / "file", overwrite=True)
        assert (tmp_path / "thesis" / "chapter.txt").exists()

    def test_failure_leaves_nothing(self, demo, tmp_path, monkeypatch):
        def fail(*_args, **_kwargs):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("orcalign.video.demo.write_mp4", fail)
        with pytest.raises(OSError, match=r"Cannot write .*demo.*no space left"):
            demo.save(tmp_path / "demo")
        assert list(tmp_path.iterdir()) == []

    def test_no_folder_to_write_to(self, demo, tmp_path):
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(OSError, match="folder that exists"):
            demo.save(tmp_path / "file" / "deep" / "demo")

    def test_parents_are_made(self, demo, tmp_path):
        demo.save(tmp_path / "a" / "b" / "demo")
        assert len(Demo.load(tmp_path / "a" / "b" / "demo")) == len(demo)

    def test_kill_while_overwriting_leaves_a_whole_demo(self, demo, tmp_path):
        demo.save(tmp_path / "demo")
        code = (
            "import sys, itertools\n"
            "from orcalign.video import Demo, keep\n"
            "demo = Demo.load(sys.argv[1])\n"
            "print('going', flush=True)\n"
            "for n in itertools.count():\n"
            "    demo.warp(keep(f'0-{n % 11}', 12)).save(sys.argv[1], overwrite=True)\n"
        )
        for k in range(4):
            shutil.rmtree(tmp_path / "demo")
            demo.save(tmp_path / "demo")
            process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "demo")], stdout=subprocess.PIPE)
            assert process.stdout is not None
            process.stdout.readline()
            try:
                process.wait(timeout=0.05 + 0.031 * k)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
            assert 1 <= len(Demo.load(tmp_path / "demo")) <= 12
        # What a kill leaves beside it is hidden and not taken for a demo.
        assert len(DemoSet.load(tmp_path)) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frames": np.zeros((2, 4, 4, 3))}, "float64"),
        ({"frames": np.zeros((0, 4, 4, 3), np.uint8)}, r"\[0, 4, 4, 3\]"),
        ({"fps": 0}, "fps=0"),
        ({"fps": float("nan")}, "fps=nan"),
        ({"render": "slow"}, "render is 'slow'; Known: fast, paper, unknown"),
        ({"indices": (0,), "original_length": 4}, "2 frames but 1 indices"),
        ({"indices": (0, 4), "original_length": 4}, "index 4"),
        ({"extra": {"a": object()}}, "JSON"),
        ({"extra": {"a": float("nan")}}, "JSON"),
    ],
)
def test_bad_demos(change, words):
    with pytest.raises(ValueError, match=words):
        Demo(**{"frames": np.zeros((2, 4, 4, 3), np.uint8), **change})


class TestDemoSet:
    def test_folder_of_demos_in_natural_order(self, demo, tmp_path):
        for k in (10, 2, 1):
            demo.warp(keep(f"0-{k}", 12)).save(tmp_path / f"demo-{k}")
        (tmp_path / "notes").mkdir()
        demos = DemoSet.load(tmp_path)
        assert [len(d) for d in demos] == [2, 3, 11]
        assert len(demos) == 3
        assert len(demos[1]) == 3

    def test_save_and_load(self, demo, tmp_path):
        DemoSet((demo, demo.warp(keep("0-2", 12)))).save(tmp_path / "set")
        assert [len(d) for d in DemoSet.load(tmp_path / "set")] == [12, 3]
        assert len(DemoSet.load(tmp_path / "set" / "demo-0")) == 1

    def test_what_does_not_fit_together(self, bar, tmp_path):
        fast, paper = Demo(bar(2), render="fast"), Demo(bar(2), render="paper")
        with pytest.raises(ValueError, match="mixes"):
            DemoSet((fast, paper))
        assert len(DemoSet((fast, Demo(bar(2))))) == 2
        with pytest.raises(ValueError, match="40x30 pixels, demo 0 of 64x48"):
            DemoSet((fast, Demo(bar(2, 30, 40))))
        with pytest.raises(ValueError, match="task 'b', demo 0 'a'"):
            DemoSet((Demo(bar(2), task="a"), Demo(bar(2), task="b")))
        with pytest.raises(ValueError, match="at least one"):
            DemoSet(())
        with pytest.raises(ValueError, match="no demo folders"):
            DemoSet.load(tmp_path)
        with pytest.raises(FileNotFoundError, match="not a folder"):
            DemoSet.load(tmp_path / "no")
