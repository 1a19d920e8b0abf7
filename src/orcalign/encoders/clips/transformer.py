"""Video models of `transformers`: X-CLIP, VideoMAE, V-JEPA 2, from a folder or from a hub."""

from __future__ import annotations

import hashlib
import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orcalign.checks import near_miss
from orcalign.encoders.clips.network import RGB, NetworkClips
from orcalign.encoders.clips.protocol import ClipEncoder
from orcalign.encoders.hub import hub_errors, hub_folder
from orcalign.encoders.weights import WeightsUnavailable, sha256_of

if TYPE_CHECKING:
    from torch import Tensor

    from orcalign.encoders.clips.registry import ClipRequest

IMAGENET: tuple[RGB, RGB] = ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375))
"""What these three were trained with."""
MODELS = {"xclip": "XCLIPModel", "videomae": "VideoMAEModel", "vjepa2": "VJEPA2Model"}
"""By the model type in config.json."""


def transformer(request: ClipRequest) -> ClipEncoder:
    """The model in a folder, or in a repository of a hub."""
    chosen = os.fspath(request.name if request.weights is None else request.weights)
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        if chosen.count("/") != 1 or chosen.startswith((".", "~", "/")):
            raise WeightsUnavailable(f"There is no folder {chosen}: give one or a hub name, or use i3d.")
        folder = hub_folder(chosen, ["config.json", "model*.safetensors"])
    files = [folder / "config.json", *sorted(folder.glob("model*.safetensors"))]
    if len(files) < 2 or not files[0].is_file():
        raise WeightsUnavailable(
            f"{folder} has no config.json with model.safetensors: give the folder that save_pretrained wrote."
        )
    try:
        config = json.loads(files[0].read_text("utf-8"))
        kind = str(config["model_type"])
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsUnavailable(f"{files[0]} is damaged ({error!r}): get it again.") from None
    if kind not in MODELS:
        raise ValueError(
            f"{chosen} is a model of type {kind!r};{near_miss(kind, MODELS)} Known for clips: {', '.join(MODELS)}."
        )
    with hub_errors(chosen):
        from transformers import AutoConfig
    full: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    vision = getattr(full, "vision_config", full)
    fixed = {"xclip": "num_frames", "videomae": "num_frames"}.get(kind)
    side = int(getattr(vision, "image_size", None) or vision.crop_size)
    if request.size not in (None, side):
        raise ValueError(f"The size is {request.size} pixels, but {chosen} was made for {side}: leave the size out.")
    digest = hashlib.sha256("".join(sha256_of(one) for one in files).encode()).hexdigest()
    return NetworkClips(
        request.name,
        partial(_build, kind, folder, chosen),
        int(full.projection_dim if kind == "xclip" else vision.hidden_size),
        digest,
        side,
        int(getattr(vision, fixed)) if fixed else request.frames,
        exactly=fixed is not None,
        multiple=int(getattr(vision, "tubelet_size", 1)),
        mean=IMAGENET[0],
        std=IMAGENET[1],
        threads=request.threads,
    )


def _build(kind: str, folder: Path, chosen: str) -> Any:
    import torch
    import transformers

    class Embedder(torch.nn.Module):
        """Normalised clips [B,3,T,S,S] → [B,D]"""

        def __init__(self) -> None:
            super().__init__()
            made: Any = getattr(transformers, MODELS[kind])
            self.model, told = made.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=torch.float32, attn_implementation="eager",
                output_loading_info=True,
            )  # fmt: skip
            # Left alone, what is missing would be drawn at random.
            if told["missing_keys"]:
                raise ValueError(f"it lacks {min(told['missing_keys'])}")

        def forward(self, clips: Tensor) -> Tensor:
            frames = clips.transpose(1, 2)
            if kind == "xclip":
                told = self.model.get_video_features(pixel_values=frames)
                return told if isinstance(told, torch.Tensor) else told.pooler_output
            if kind == "vjepa2":
                seen = self.model(pixel_values_videos=frames, skip_predictor=True)
            else:
                seen = self.model(pixel_values=frames)
            mean: Tensor = seen.last_hidden_state.mean(dim=1)
            return mean

    try:
        return Embedder()
    except Exception as error:  # transformers and safetensors share no base class
        said = " ".join(str(error).split())[:200]
        raise WeightsUnavailable(f"{chosen} cannot be loaded ({said}): its weights are of another layout.") from None
