"""torch's files read without torch: the same numbers as torch reads, and nothing in a hostile one is run."""

from __future__ import annotations

import collections
import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from orcalign.encoders.packages import PACKAGES
from orcalign.encoders.torch_files import Refused, read_pickle, read_tensors

torch = pytest.importorskip("torch")


def some_state():
    """What a state dict may have in it: every type, strides, parts of a storage, shared ones, none."""
    whole = torch.arange(24, dtype=torch.float32)
    state = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).state_dict()
    for kind in ("float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "bfloat16"):
        state[kind] = (torch.randn(5) * 9).to(getattr(torch, kind))
    state["turned"] = torch.randn(3, 4).T
    state["part"], state["other part"] = whole[3:9:2], whole.view(4, 6)[1:3, 2:]
    state["scalar"], state["empty"] = torch.tensor(3.5), torch.zeros(0, 3)
    state["parameter"] = torch.nn.Parameter(torch.ones(2))
    return state


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"epoch": 3, "state_dict": state}])
def test_same_numbers_as_torch(tmp_path, zipped, wrap):
    torch.save(wrap(some_state()), tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    loaded = torch.load(tmp_path / "a.pth", weights_only=True)
    expected, found = loaded.get("state_dict", loaded), read_tensors(tmp_path / "a.pth")
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        values = tensor.detach().float() if name == "bfloat16" else tensor.detach()
        assert found[name].dtype == values.numpy().dtype
        np.testing.assert_array_equal(found[name], values.numpy())


def test_the_default_weights():
    [path] = PACKAGES["efficientnet-lite0"].files().values()
    expected, found = torch.load(path, weights_only=True), read_tensors(path)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


class Setting:
    """Sets a state on an object, which could be of a class that does something then."""

    def __reduce__(self):
        return list, (), {"a": 1}


class Lengthening:
    """Sets an item of an object that is no dict."""

    def __reduce__(self):
        return tuple, (), None, None, iter([(1, 2)])


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("place", ["value", "name", "beside"])
@pytest.mark.parametrize("hostile", [Trap, lambda _: Setting(), lambda _: Lengthening()])
def test_nothing_is_run(tmp_path, zipped, place, hostile):
    trap = hostile(tmp_path / "sprung")
    content = {
        "value": {"a": trap},
        "name": {"state_dict": {(trap,): torch.ones(1)}},
        "beside": {"a": torch.ones(2), "optimizer": [trap]},
    }[place]
    torch.save(content, tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(Refused, match=r"wants to call|sets"):
        read_tensors(tmp_path / "a.pth")
    assert not (tmp_path / "sprung").exists()


def test_a_name_alone_stays_a_name(tmp_path):
    torch.save({"a": torch.ones(2), "b": print}, tmp_path / "a.pth")
    assert list(read_tensors(tmp_path / "a.pth")) == ["a"]


def test_nothing_is_too_deep(tmp_path):
    """A tuple in a tuple in a tuple ...: what looks into it would end the process."""
    deep = b")" + b"\x85" * 50_000
    for code in (b"}" + deep + b"Ns", deep + b"Q", deep + b")R", b"ca\nb\n" + deep + b"R", deep):
        with pytest.raises(Refused):
            read_tensors(archive(tmp_path / "a", b"\x80\x02" + code + b"."))


def archive(path, pickled, content=b"\0" * 16, how=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", how) as file:
        file.writestr("a/data.pkl", pickled)
        file.writestr("a/data/0", content)
    return path


def pickled_tensor(offset=0, size=(2, 2), stride=(2, 1), count=4, kind="FloatStorage", module="torch"):
    """A state dict of one tensor, as a pickle that says of its storage whatever is wanted."""

    class Storage:
        pass

    class Tensor:
        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, (Storage(), offset, size, stride, False, collections.OrderedDict())

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            named = getattr(torch, kind) if module == "torch" else kind
            return ("storage", named, "0", "cpu", count) if isinstance(obj, Storage) else None

    file = io.BytesIO()
    Pickler(file, protocol=2).dump({"a": Tensor()})
    return file.getvalue()


def test_tensors_stay_within_their_storage(tmp_path):
    assert read_tensors(archive(tmp_path / "good", pickled_tensor()))["a"].tolist() == [[0, 0], [0, 0]]
    for number, wrong in enumerate(
        (
            {"offset": 1},
            {"offset": -1},
            {"stride": (3, 1)},
            {"stride": (-2, 1)},
            {"size": (2**40, 1)},
            {"size": (1000, 1000), "stride": (0, 0)},  # a little file that would fill the memory
            {"size": (2, 2, 2)},
            {"size": (2.0, 2)},
            {"size": (2**70,), "stride": (2**70,)},
            {"count": 5},
            {"count": -1},
            {"kind": "DoubleStorage"},
            {"kind": "FloatStorage", "module": "builtins"},
            {"size": 3, "stride": 1},
        )
    ):
        with pytest.raises(Refused):
            read_tensors(archive(tmp_path / str(number), pickled_tensor(**wrong)))


def test_compressed_members_are_refused(tmp_path):
    with pytest.raises(Refused, match="compressed"):
        read_tensors(archive(tmp_path / "a", pickled_tensor(), bytes(2**24), zipfile.ZIP_DEFLATED))


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")
@pytest.mark.parametrize("zipped", [True, False])
def test_damage_is_refused(tmp_path, zipped):
    """Cut off anywhere, or with bytes changed, it is read, or it is refused: nothing else."""
    torch.save(some_state(), tmp_path / "whole.pth", _use_new_zipfile_serialization=zipped)
    content = (tmp_path / "whole.pth").read_bytes()
    rng, path, refused = np.random.default_rng(0), tmp_path / "a.pth", 0
    for number in range(300):
        changed = bytearray(content)
        for place in rng.integers(0, len(content) if number % 2 else 2000, 1 + number % 5):
            changed[place] = rng.integers(256)
        path.write_bytes(changed[: rng.integers(len(content))] if number % 3 == 0 else changed)
        try:
            read_tensors(path)
        except Refused:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "code", [b"", b"\x80\x02", b"\x80\x02.", b"\x80\x02t.", b"\x80\x02\x86.", b"\x80\x02ccopyreg\n__newobj__\n."]
)
def test_broken_pickles(code):
    if code.endswith(b"\n."):
        assert read_pickle(io.BytesIO(code)) == ("copyreg", "__newobj__")
        return
    with pytest.raises((ValueError, IndexError)):
        read_pickle(io.BytesIO(code))


def test_other_files(tmp_path):
    for content in (b"", b"no torch file at all", pickle.dumps({"a": 1}), pickle.dumps([1, 2])):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(Refused):
            read_tensors(tmp_path / "a")
