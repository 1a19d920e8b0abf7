"""LIV's tower against a naive version written with torch's own functions."""

from __future__ import annotations

import numpy as np
import pytest
from encoders.small_checkpoints import DEPTHS, clip_tower

from orcalign.encoders import WeightsUnavailable, make_encoder
from orcalign.encoders.backbones import CLIP

torch = pytest.importorskip("torch")
save_file = pytest.importorskip("safetensors.torch").save_file
F = torch.nn.functional


@pytest.fixture(scope="module")
def state():
    return clip_tower()


def naive(state, x):
    s = {name.removeprefix("module.model.visual."): value.float() for name, value in state.items()}

    def unit(x, conv, norm, padding=0, stride=1):
        x = F.conv2d(x, s[f"{conv}.weight"], stride=stride, padding=padding)
        stats = [s[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *stats)

    for number in (1, 2, 3):
        x = unit(x, f"conv{number}", f"bn{number}", padding=1, stride=2 if number == 1 else 1).relu()
    x = F.avg_pool2d(x, 2)
    for stage, depth in enumerate(DEPTHS):
        for block in range(depth):
            place = f"layer{stage + 1}.{block}"
            stride = 2 if stage > 0 and block == 0 else 1
            y = unit(x, f"{place}.conv1", f"{place}.bn1").relu()
            y = F.avg_pool2d(unit(y, f"{place}.conv2", f"{place}.bn2", padding=1).relu(), stride)
            y = unit(y, f"{place}.conv3", f"{place}.bn3")
            if block == 0:
                x = unit(F.avg_pool2d(x, stride), f"{place}.downsample.0", f"{place}.downsample.1")
            x = (x + y).relu()
    tokens = x.flatten(2).permute(2, 0, 1)
    tokens = torch.cat([tokens.mean(0, keepdim=True), tokens]) + s["attnpool.positional_embedding"][:, None]
    width = tokens.shape[2]
    embedding, _ = F.multi_head_attention_forward(
        tokens[:1],
        tokens,
        tokens,
        width,
        width // 64,
        None,
        torch.cat([s[f"attnpool.{name}_proj.bias"] for name in "qkv"]),
        None,
        None,
        False,
        0.0,
        s["attnpool.c_proj.weight"],
        s["attnpool.c_proj.bias"],
        training=False,
        need_weights=False,
        use_separate_proj_weight=True,
        q_proj_weight=s["attnpool.q_proj.weight"],
        k_proj_weight=s["attnpool.k_proj.weight"],
        v_proj_weight=s["attnpool.v_proj.weight"],
    )
    return embedding[0].numpy(), x.flatten(1).numpy()


@pytest.mark.parametrize("pooled", [True, False])
def test_same_as_the_naive_tower(state, tmp_path, pooled):
    save_file(state, tmp_path / "liv.safetensors")
    images = np.random.default_rng(3).integers(0, 256, (3, 64, 64, 3), np.uint8)
    mean, std = (np.array(values, np.float32) for values in CLIP)
    batch = torch.tensor(((images - mean) / std).transpose(0, 3, 1, 2))
    with torch.inference_mode():
        expected = naive(state, batch)[0 if pooled else 1]

    encoder = make_encoder("liv", size=64, weights=tmp_path / "liv.safetensors", pooled=pooled)
    assert encoder.spatial is not pooled
    np.testing.assert_allclose(encoder(images), expected, rtol=1e-3, atol=1e-3)


def test_pooled_by_default_and_bound_to_its_size(state, tmp_path):
    path = tmp_path / "liv.safetensors"
    save_file(state, path)
    assert make_encoder("liv", size=64, weights=path, engine="torch").dim == 24
    with pytest.raises(ValueError, match="needs 64: leave the size out"):
        make_encoder("liv", size=96, weights=path, engine="torch")


def test_a_torch_file_with_the_wrapping_of_a_trainer(state, tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"liv": state, "global_step": 7}, path)
    with pytest.raises(WeightsUnavailable) as caught:
        make_encoder("liv", size=64, weights=path, engine="torch")
    advised = str(caught.value).split("--weights ")[1].split(",")[0]
    assert make_encoder("liv", size=64, weights=advised, engine="torch").dim == 24
