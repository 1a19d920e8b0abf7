"""What a robot sends → what it is told: observations, and the sessions whose streams they go into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import near_miss, require_number
from orcalign.rewards import VideoReward, push_each
from orcalign.serving.messages import MessageError

KEY = "observation/image"
"""Where openpi's clients put the picture."""
LONGEST_NAME = 64
Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Observation:
    """One message of a robot."""

    pictures: tuple[Picture, ...]
    """[H, W, 3] of each camera; none where an episode is only begun."""
    reset: bool = False
    session: str = ""


@final
class Session:
    """One episode after another of one robot: a stream for each camera."""

    def __init__(self, live: LiveReward) -> None:
        self.streams = [reward.stream() for reward in live.rewards]
        self._done_at = live.done_at

    def told(self, rewards: Sequence[float]) -> dict[str, Any]:
        """The reply to a frame whose rewards by camera are these: their mean, and of the rest the least."""
        coverage = [float(stream.coverage[-1]) for stream in self.streams]
        places = [stream.at for stream in self.streams]
        behind = int(np.argmin([stream.progress for stream in self.streams]))
        told = {
            "reward": float(np.mean(rewards)),
            "progress": self.streams[behind].progress,
            "coverage": min(coverage),
            "demo": self.streams[behind].demo,
            "demo_frame": places[behind],
            "done": min(coverage) >= self._done_at,
        }
        return told if len(places) == 1 else {**told, "demo_frames": places}


@final
class LiveReward:
    """Demos as a reward for live sessions.

    Args:
        rewards: one for each camera, that can be given at every step.
        keys: where the pictures of these cameras are in a message.
        done_at: the coverage from which an episode is done.
        crop: cut the largest centred square out of every picture, as it was done with the demo.

    >>> film = np.random.default_rng(0).integers(0, 255, (5, 8, 8, 3), np.uint8)
    >>> live = LiveReward([VideoReward(film, "pixels", context=1, matcher="bottleneck", calibrated=True)])
    >>> session = live.begin()
    >>> replies = [live.judge([(session, live.read({KEY: frame}))])[0] for frame in film]
    >>> [round(reply["progress"], 2) for reply in replies], replies[-1]["done"]
    ([0.25, 0.5, 0.75, 1.0, 1.0], True)
    """

    def __init__(
        self,
        rewards: Sequence[VideoReward],
        keys: Sequence[str] = (KEY,),
        done_at: float = 0.5,
        crop: bool = False,
    ) -> None:
        if len(rewards) != len(keys) or len(set(keys)) != len(keys):
            raise ValueError(
                f"there are {len(rewards)} cameras with a demo and {len(keys)} image keys ({', '.join(keys)}); "
                "each camera needs a key of its own."
            )
        self.rewards, self.keys = tuple(rewards), tuple(keys)
        self.done_at, self.crop = require_number(done_at, "done", above=0), crop
        # What cannot stream is refused now, and everything is compiled and in memory before the first robot comes.
        warm = self.begin()
        pictures = tuple(np.asarray(reward.demos[0].frames[0]) for reward in self.rewards)
        self.judge([(warm, Observation(pictures))])

    def begin(self) -> Session:
        """A new session."""
        return Session(self)

    @property
    def about(self) -> dict[str, Any]:
        """What a client is told first."""
        first = self.rewards[0]
        cameras = [
            {"image_key": key, "demos": [{"name": Path(one.source).name, "frames": len(one)} for one in reward.demos]}
            for key, reward in zip(self.keys, self.rewards, strict=True)
        ]
        return {
            "cameras": cameras,
            "encoder": first.encoder.name,
            "matcher": first.settings.matcher,
            "takes": [*self.keys, "reset", "session"],
            "gives": ["reward", "progress", "coverage", "demo", "demo_frame", "done"],
            "done_at": self.done_at,
        }

    def read(self, message: Mapping[Any, Any]) -> Observation:
        """The observation in a message; what is wrong with it is a `MessageError`."""
        reset, session = message.get("reset", False), message.get("session", "")
        if not isinstance(reset, (bool, np.bool_)):
            raise MessageError(f"reset is {reset!r:.40}; it must be true or false.")
        if isinstance(session, int) and not isinstance(session, bool):
            session = str(session)
        if not isinstance(session, str) or len(session) > LONGEST_NAME:
            raise MessageError(f"session is {session!r:.80}; it must be a name of at most {LONGEST_NAME} letters.")
        found = [_at(message, key) for key in self.keys]
        if reset and all(one is None for one in found):
            return Observation((), True, session)
        return Observation(
            tuple(self._picture(one, key, message) for one, key in zip(found, self.keys, strict=True)),
            bool(reset),
            session,
        )

    def judge(self, asked: Sequence[tuple[Session, Observation]]) -> list[dict[str, Any] | Exception]:
        """The replies to one observation of each of several sessions, whose frames are encoded in one go.

        One that is refused has an error in the place of its reply, and neither its session nor the others feel it.
        """
        replies: list[Any] = [None] * len(asked)
        good: list[int] = []
        for k, (session, seen) in enumerate(asked):
            try:
                for stream, picture in zip(session.streams, seen.pictures, strict=False):
                    stream.check(picture)
            except ValueError as error:
                replies[k] = error
                continue
            if seen.reset:
                for stream in session.streams:
                    stream.reset()
            if seen.pictures:
                good.append(k)
            else:
                replies[k] = session.told([0.0] * len(session.streams))
        streams = [stream for k in good for stream in asked[k][0].streams]
        pictures = [picture for k in good for picture in asked[k][1].pictures]
        paid, cameras = push_each(streams, pictures) if good else [], len(self.keys)
        for place, k in enumerate(good):
            replies[k] = asked[k][0].told(paid[place * cameras : (place + 1) * cameras])
        return replies

    def _picture(self, found: Any, key: str, message: Mapping[Any, Any]) -> Picture:
        if found is None:
            names = [name for name in message if isinstance(name, str)]
            there = ", ".join(sorted(names)[:8]) or "nothing"
            raise MessageError(f"there is no {key!r};{near_miss(key, names)} The message has: {there:.200}.")
        if not isinstance(found, np.ndarray) or found.dtype != np.uint8:
            kind = found.dtype if isinstance(found, np.ndarray) else type(found).__name__
            raise MessageError(
                f"{key!r} is {kind}; it must be a uint8 array [H,W,3] with values from 0 to 255. Where they run from "
                "0 to 1, send (255 * image).round().astype(np.uint8)."
            )
        picture = found
        if picture.ndim == 3 and picture.shape[0] == 3 and picture.shape[2] != 3:
            picture = np.moveaxis(picture, 0, 2)  # [3,H,W], as some robots have it
        if picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
            raise MessageError(f"{key!r} has shape {list(found.shape)}; it must be [H,W,3], one picture.")
        if self.crop:
            height, width = picture.shape[:2]
            side = min(height, width)
            top, left = (height - side) // 2, (width - side) // 2
            picture = picture[top : top + side, left : left + side]
        return picture


def _at(message: Mapping[Any, Any], key: str) -> Any:
    """What is under that key, or under its parts one inside the other."""
    if key in message:
        return message[key]
    found: Any = message
    for part in key.split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
