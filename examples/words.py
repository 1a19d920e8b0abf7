"""Teach a small model what "go to the red square" means, by captions that a little world makes itself.

    python examples/words.py MODEL [STEPS]
    orcalign train --task nav2d-squares --steps 4000 --encoder clip-resnet --weights MODEL/model.safetensors \\
        --goal "go to the red square" "go to the blue square" "go to the green square"

The model has two towers of CLIP's layout, for pictures and for sentences; nothing of it is pretrained. Each picture is
a map with coloured squares in random places and an agent; its caption says in which square the agent is, if in any. The
towers learn that a picture and a sentence that mean the same are alike. Where the squares of the task stand, and in
which order they are to be visited, the model is never told.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.nn import functional

from orcalign.encoders.backbones import CLIP
from orcalign.encoders.networks.resnet import ClipResNet
from orcalign.encoders.networks.text_transformer import TextTransformer
from orcalign.envs.nav2d.env import AGENT_WIDTH, BACKGROUND
from orcalign.envs.nav2d.layouts import COLOURS, DARK, HALF, along, paint_squares

SIZE, CELLS = 64, 5
TEMPLATES = (
    "go to the {} square", "the agent is in the {} square", "in the {} square", "visit {}", "it stands on {}",
)  # fmt: skip
NOWHERE = ("the agent is between the squares", "it is in no square", "go away", "nowhere")
BATCH = 64


def scene(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """A picture uint8 [64,64,3], and the number of the colour that the agent stands on; -1 for none."""
    places: list[np.ndarray] = []
    while len(places) < len(COLOURS):
        place = rng.uniform(0.3, CELLS - 1.3, 2)
        if all(np.abs(place - other).max() > 2 * HALF for other in places):
            places.append(place)
        elif rng.random() < 0.02:
            places.clear()
    regions = [
        (colour, (float(x), float(y))) for colour, (x, y) in zip(rng.permutation(list(COLOURS)), places, strict=True)
    ]
    agent = rng.uniform(0, CELLS - 1, 2)
    if rng.random() < 0.7:
        agent = places[rng.integers(len(places))] + rng.uniform(-HALF, HALF, 2)
    off = [np.abs(agent - place).max() for place in places]
    k = int(np.argmin(off))
    on = list(COLOURS).index(regions[k][0]) if off[k] <= HALF else -1
    x, y = along(SIZE, CELLS)
    blob = np.exp(-0.5 * (np.hypot(x - agent[0], y - agent[1]) / AGENT_WIDTH) ** 4)[..., None]
    picture = paint_squares(SIZE, CELLS, regions, BACKGROUND) * (1 - blob) + DARK * blob
    return picture.round().astype(np.uint8), on


def caption(on: int, rng: np.random.Generator) -> str:
    """One way to say where the agent is."""
    if on < 0:
        return str(rng.choice(NOWHERE))
    return str(rng.choice(TEMPLATES)).format(list(COLOURS)[on])


def make_tokenizer() -> Tokenizer:
    """A token a word; the ends are marked."""
    said = [one.format(colour) for one in TEMPLATES for colour in COLOURS]
    words = sorted({word for text in (*said, *NOWHERE) for word in text.split()})
    names = {token: k for k, token in enumerate(("<start>", "<end>", "<unknown>", *words))}
    made = Tokenizer(models.WordLevel(names, unk_token="<unknown>"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    ends = [(token, names[token]) for token in ("<start>", "<end>")]
    made.post_processor = processors.TemplateProcessing(single="<start> $A <end>", special_tokens=ends)
    return made


def train(folder: Path, steps: int = 300, seed: int = 0) -> list[float]:
    """Write model.safetensors and tokenizer.json; returns the loss of every step."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    tokenizer = make_tokenizer()
    sees = ClipResNet(width=8, depths=(1, 1, 1, 1), places=(SIZE // 32) ** 2, outputs=32, pooled=True)
    reads = TextTransformer(words=tokenizer.get_vocab_size(), longest=12, width=64, depth=1, outputs=32)
    weights = [*sees.parameters(), *reads.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in CLIP)
    losses = []
    for _ in range(steps):
        pictures, on = zip(*(scene(rng) for _ in range(BATCH)), strict=True)
        batch = (torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float() - mean) / std
        seen = functional.normalize(sees(batch), dim=1)
        # Sentences of one length are read together; none is filled up.
        told = [tokenizer.encode(caption(one, rng)).ids for one in on]
        said = torch.empty(BATCH, 32)
        for length in {len(one) for one in told}:
            rows = [k for k, one in enumerate(told) if len(one) == length]
            said[rows] = reads(torch.tensor([told[k] for k in rows]))
        logits = 10 * seen @ functional.normalize(said, dim=1).T
        # Two captions that mean the same are both right.
        means = torch.tensor(on)
        right = (means[:, None] == means[None]).float()
        right = right / right.sum(dim=1, keepdim=True)
        loss = (functional.cross_entropy(logits, right) + functional.cross_entropy(logits.T, right)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    folder.mkdir(parents=True, exist_ok=True)
    pictures_part = {f"visual.{name}": value for name, value in sees.state_dict().items()}
    state = {**pictures_part, **reads.state_dict()}
    save_file({name: value.contiguous() for name, value in state.items()}, folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))
    return losses


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = train(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    print(f"loss {found[0]:.2f} → {np.mean(found[-20:]):.2f}; the model is in {sys.argv[1]}")
