"""Sentences [J] → embeddings [J,D] that compare with the pooled features of an image encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orcalign.encoders.backbones import Request, clip_resnet_file, transformer_folder
from orcalign.encoders.hub import CLIP_WORDS, LIV, HubFile, hub_errors
from orcalign.encoders.protocol import Features
from orcalign.encoders.weights import WeightsUnavailable, check_sha256, fill, read_state, sha256_of

if TYPE_CHECKING:
    from torch import nn

FAMILIES = ("clip", "siglip")
"""Of transformers, those with a text tower here."""
TOKENIZER = "tokenizer.json"
FEW = 80
"""Words that a message may list."""


class TextEncoder:
    """A text tower and what cuts sentences into its tokens."""

    def __init__(self, name: str, network: nn.Module, tokenizer: Path, weights: str) -> None:
        self.name = name
        self.longest = int(network.longest)  # type: ignore[arg-type]
        """Tokens that it reads at most, the two that mark beginning and end among them."""
        self.fingerprint = hashlib.sha256(f"{weights} {sha256_of(tokenizer)}".encode()).hexdigest()
        self._network, self._tokenizer = network.eval().requires_grad_(False), _read_tokenizer(tokenizer)

    def __call__(self, sentences: Sequence[str]) -> Features:
        """Embeddings float32 [J,D]; each sentence is read alone, so that others change nothing."""
        from orcalign.encoders.networks.text_tower import embed

        return np.stack([embed(self._network, self.tokens(one)) for one in sentences])

    def tokens(self, sentence: str) -> list[int]:
        """The tokens of a sentence; refused if it is empty, too long, or has words that the model does not know."""
        if not sentence.strip():
            raise ValueError("A sentence is empty; say what is to be seen, or leave it out.")
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        plain = self._tokenizer.encode(sentence, add_special_tokens=False)
        for token, (start, stop) in zip(plain.tokens, plain.offsets, strict=True):
            if token == unknown:
                words = sorted(word for word in self._tokenizer.get_vocab() if word.isalpha())
                known = f" It knows: {', '.join(words)}." if len(words) <= FEW else ""
                raise ValueError(
                    f"{self.name} does not know the word {sentence[start:stop]!r} in {sentence!r}; say it in others."
                    + known
                )
        tokens: list[int] = self._tokenizer.encode(sentence).ids
        if len(tokens) > self.longest:
            raise ValueError(
                f"The sentence {_shortened(sentence)!r} has {len(tokens)} tokens and {self.name} reads at most "
                f"{self.longest}; say it shorter, or in several sentences."
            )
        return tokens


def transformer(request: Request, family: str, file: HubFile) -> TextEncoder:
    """From the folder of a model of transformers, which is local or from the hub."""
    chosen, folder, pin = transformer_folder(request, file, "config.json", TOKENIZER)
    digest = check_sha256(folder / file.name, pin) if (folder / file.name).is_file() else ""
    with hub_errors(chosen):
        import transformers  # noqa: F401  (its absence gets the hub's sentence)
    from orcalign.encoders.networks.text_tower import load_text_tower

    network = load_text_tower(folder, family)
    return TextEncoder(request.name, network, _tokenizer_in(folder, chosen), digest)


def clip_resnet(request: Request, file: HubFile | None = None) -> TextEncoder:
    """From a file with CLIP's names, LIV's or a user's; the tokenizer lies beside it, or is CLIP's."""
    path, pin = clip_resnet_file(request, file)
    digest = check_sha256(path, pin)
    from orcalign.encoders.networks.text_transformer import text_network_for, text_part

    try:
        state = text_part(read_state(path, pin, known=(LIV.sha256,)))
        network = text_network_for(state)
    except KeyError as error:
        raise WeightsUnavailable(
            f"{path} lacks {error.args[0]}: {request.name} needs a state dict with CLIP's text tower."
        ) from error
    fill(network, state, path)
    if (path.parent / TOKENIZER).is_file() or file is None:
        tokenizer = _tokenizer_in(path.parent, str(path))
    else:
        tokenizer = CLIP_WORDS.path()
    return TextEncoder(request.name, network, tokenizer, digest)


def _tokenizer_in(folder: Path, chosen: str) -> Path:
    if not (folder / TOKENIZER).is_file():
        raise WeightsUnavailable(
            f"There is no {TOKENIZER} beside {chosen}, and without it no sentence can be read: "
            "fetch it from where the weights come from."
        )
    return folder / TOKENIZER


def _read_tokenizer(path: Path) -> Any:
    """It must neither cut off what is too long nor fill up what is short: that is said, or done, by us."""
    with hub_errors(str(path)):
        import tokenizers
    try:
        made: Any = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises Exception itself
        raise WeightsUnavailable(f"{path} is not a tokenizer ({str(error).splitlines()[0]}): get it again.") from error
    made.no_truncation()
    made.no_padding()
    return made


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
