"""Files of a model hub: one commit, one hash, and nothing else in its place."""

from __future__ import annotations

import re

import pytest
from encoders.small_checkpoints import tiny_transformer

from orcalign.encoders import ENCODERS, WeightsUnavailable, make_encoder
from orcalign.encoders.hub import CLIP, DINOV2, RESNET50, HubFile

FILES = {name: entry.weights for name, entry in ENCODERS.items() if isinstance(entry.weights, HubFile)}


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A hub's cache, and no hub."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def fill_cache(cache, repo, revision, family="dinov2"):
    """A small network that `repo` has at that commit, which is its branch main, too."""
    pytest.importorskip("transformers")
    folder = cache / f"models--{repo.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    (folder / "refs" / "main").write_text(revision)
    tiny_transformer(family)[0].save_pretrained(folder / "snapshots" / revision)


@pytest.mark.parametrize("name", FILES)
def test_every_hub_file_names_a_commit(name):
    assert re.fullmatch(r"[0-9a-f]{40}", FILES[name].revision)
    assert re.fullmatch(r"([0-9a-f]{64})?", FILES[name].sha256)
    assert FILES[name].revision[:8] in str(FILES[name])


def test_the_papers_encoder_has_a_hash():
    assert FILES["resnet50"] is RESNET50
    assert RESNET50.sha256


def test_the_pinned_commit_is_taken(cache):
    file = CLIP
    assert not file.sha256
    fill_cache(cache, file.repo, file.revision, "clip")
    assert make_encoder("clip-vit-base", size=56, engine="torch", pooled=True).dim == 24


def test_another_commit_is_not(cache):
    fill_cache(cache, CLIP.repo, "0" * 40, "clip")
    with pytest.raises(WeightsUnavailable, match="cannot be downloaded"):
        make_encoder("clip-vit-base", size=56, engine="torch")


def test_another_file_under_the_pinned_commit_is_refused(cache):
    file = DINOV2["small"]
    fill_cache(cache, file.repo, file.revision)
    with pytest.raises(WeightsUnavailable, match=f"but {file.sha256} is expected"):
        make_encoder("dinov2-small", size=56, engine="torch")


def test_a_commit_without_the_file_is_one_sentence(cache):
    folder = cache / "models--timm--resnet50.tv_in1k" / "snapshots" / RESNET50.revision
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    with pytest.raises(WeightsUnavailable, match=r"has no model\.safetensors any more"):
        make_encoder("resnet50")
