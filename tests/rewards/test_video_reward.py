from __future__ import annotations

import numpy as np
import pytest
from rewards.clips import clip

from orcalign import matching
from orcalign.encoders import make_encoder
from orcalign.matching import MATCHERS
from orcalign.rewards import VideoReward
from orcalign.video import Clip, Demo, DemoSet, read_video, write_mp4

LINE = np.linspace(0, 1, 24)
DEMO = clip(LINE)


def pixels(demo=DEMO, **settings):
    return VideoReward(demo, encoder="pixels", **settings)


@pytest.mark.parametrize("name", MATCHERS)
def test_every_matcher_gets_the_cost_with_context(name):
    reward = pixels(matcher=name)
    learner = clip(np.linspace(0, 1, 30))
    result = reward(learner)
    encoder = make_encoder("pixels")
    raw = matching.cosine(encoder(learner).astype(float), encoder(DEMO).astype(float))
    expected = MATCHERS[name](matching.context(raw, 3, "future"))
    np.testing.assert_allclose(result.raw_costs[0], raw, atol=1e-7)
    np.testing.assert_allclose(result.reward, expected.reward, atol=1e-5)
    assert result.reward.dtype == np.float64
    assert result.match is result.matches[0]
    assert result.pooled is None
    assert result.total == pytest.approx(result.reward.sum())


def test_settings_reach_the_matcher():
    learner = clip(np.linspace(0, 1, 30))
    sharp, soft = pixels(temperature=0.01)(learner), pixels(temperature=10.0)(learner)
    assert soft.total > sharp.total + 1
    past = pixels(direction="past", context=2)(learner)
    assert (past.cost == matching.context(past.raw_costs[0], 2, "past")).all()


def test_demo_is_encoded_once():
    class Counting:
        def __init__(self):
            self.inner, self.frames = make_encoder("pixels"), 0

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def __call__(self, frames, progress=None):
            self.frames += len(frames)
            return self.inner(frames, progress)

    encoder = Counting()
    reward = VideoReward(DEMO, encoder=encoder)
    assert encoder.frames == 24
    reward(DEMO[:10])
    reward(DEMO[:10])
    assert encoder.frames == 44


@pytest.mark.parametrize("name", ["orca", "orca_log", "orca_progress", "threshold"])
def test_calibrated_takes_the_scale_from_the_demo(name):
    reward = pixels(matcher=name, calibrated=True)
    found = matching.calibrate(make_encoder("pixels")(DEMO))
    assert reward.matcher_settings[0] == {"temperature": found.temperature, "floor": found.floor}
    assert reward(DEMO).total > reward(DEMO[::-1]).total


@pytest.mark.parametrize("name", ["orca", "orca_progress"])
def test_a_temperature_beside_calibration_is_a_factor_on_floor_and_temperature(name):
    found = pixels(matcher=name, calibrated=True).matcher_settings[0]
    warm = pixels(matcher=name, calibrated=True, temperature=3.0)
    assert warm.matcher_settings[0] == {key: 3 * value for key, value in found.items()}
    assert (
        warm(DEMO[::-1]).reward.tolist() == pixels(matcher=name, **warm.matcher_settings[0])(DEMO[::-1]).reward.tolist()
    )


def test_calibration_refusals():
    with pytest.raises(ValueError, match="'dtw' does not have; leave it out, or use orca"):
        pixels(matcher="dtw", calibrated=True)
    with pytest.raises(ValueError, match=r"sets the floor, and floor=0.1 was given as well; leave out one"):
        pixels(calibrated=True, floor=0.1)
    noise = np.random.default_rng(0).integers(-1, 2, (9, *DEMO.shape[1:]))
    still = np.clip(DEMO[[0] * 9] + noise, 0, 255).astype(np.uint8)  # features differ, by noise alone
    for demo, why in (
        (DEMO[[0] * 5], r"error static \(frames 0-4\): Nothing moves"),
        (still, "Nothing moves in the whole demo. Choose a part of the video that shows the task"),
        (np.zeros_like(DEMO), "error static"),
        (DEMO[:1], r"error too-short: The demo has 1 frame\(s\)"),
    ):
        with pytest.raises(ValueError, match=f"needs two frames that can be told apart.*none: .*{why}"):
            pixels(demo, calibrated=True)
    # An encoder that sees no places: the block moves, and its mean colour stays.
    blind = make_encoder("pixels", pooled=True, size=1)
    with pytest.raises(ValueError, match=r"none: error indistinct-frames .* Use another encoder"):
        VideoReward(flat(), blind, calibrated=True)


def flat():
    frames = np.full((8, 48, 64, 3), 60, np.uint8)
    for t in range(8):
        frames[t, 10:20, 6 * t : 6 * t + 10] = 240
    return frames


def test_repeated_frames_calibrate_as_the_frames_themselves():
    once, slow = pixels(calibrated=True), pixels(np.repeat(DEMO, 5, axis=0), calibrated=True)
    # A matrix product of other shape rounds otherwise.
    assert slow.matcher_settings[0] == pytest.approx(once.matcher_settings[0], rel=1e-4)


def test_rollouts_calibrate_every_demo_by_its_own_costs():
    reward = pixels([DEMO, clip(np.linspace(0, 0.5, 9))])
    rollout = reward(clip(np.linspace(0, 1, 20), colour=(90, 200, 30)))
    alone, informed = reward.calibrations(), reward.calibrations([rollout.raw_costs])
    for k in range(2):
        features = reward.model.demo_features[k]
        expected = matching.calibrate(features, "cosine", [rollout.raw_costs[k]])
        assert informed[k] == expected._asdict()
        assert informed[k]["floor"] > alone[k]["floor"]


def test_any_kind_of_demo(tmp_path):
    expected = pixels()(DEMO).reward
    demo = Demo(DEMO, fps=10)
    demo.save(tmp_path / "saved")
    write_mp4(tmp_path / "film.mp4", DEMO, fps=10)
    times = np.arange(24) / 10
    for given in (demo, tmp_path / "saved", str(tmp_path / "saved"), Clip(DEMO, 10.0, times, "x"), [DEMO]):
        assert (pixels(given)(DEMO).reward == expected).all()
    film = pixels(tmp_path / "film.mp4")
    assert len(film.demos[0]) == 24
    np.testing.assert_allclose(film(DEMO).reward, expected, atol=0.05)
    DemoSet((demo, demo)).save(tmp_path / "set")
    assert len(pixels(tmp_path / "set").demos) == 2


class TestSeveralDemos:
    lengths = (24, 10, 40)
    demos = tuple(clip(np.linspace(0, 1, n)) for n in lengths)
    learner = clip(np.linspace(0, 1, 30))

    @pytest.mark.parametrize("how", ["max", "best"])
    def test_pooling(self, how):
        reward = pixels(list(self.demos), pool=how, temperature=0.05)
        result = reward(self.learner)
        singles = [pixels(demo, temperature=0.05)(self.learner) for demo in self.demos]
        table = np.stack([single.reward for single in singles])
        best = table.sum(axis=1).argmax()
        expected = table.max(axis=0) if how == "max" else table[best]
        assert (result.reward == expected).all()
        assert result.demo == best
        assert result.match is result.matches[best]
        assert [cost.shape for cost in result.costs] == [(30, n) for n in self.lengths]
        assert result.cost is result.costs[best]

    @pytest.mark.parametrize("how", ["max", "best"])
    def test_relabel(self, how):
        reward = pixels(list(self.demos), pool=how, temperature=0.05)
        results = [reward(self.learner), reward(self.learner[::-1])]
        stored = [np.stack([r.raw_costs[k] for r in results]) for k in range(3)]
        assert (reward.relabel(stored) == np.stack([r.reward for r in results])).all()

    def test_calibration_is_per_demo(self):
        half = clip(np.linspace(0, 0.3, 20))
        reward = pixels([DEMO, half], calibrated=True)
        assert reward.matcher_settings[0] != reward.matcher_settings[1]


@pytest.mark.parametrize("name", ["orca", "orca_log", "orca_progress", "dtw", "threshold", "nearest"])
def test_relabel_is_the_reward_of_every_episode_whatever_its_length(name):
    reward = pixels(matcher=name)
    episodes = [clip(np.linspace(0, 1, n)) for n in (30, 12, 21)]
    results = [reward(frames) for frames in episodes]
    stored = np.full((3, 30, 24), 7.0)
    for b, result in enumerate(results):
        stored[b, : len(result.reward)] = result.raw_costs[0]
    again = reward.relabel(stored, lengths=[30, 12, 21])
    for b, result in enumerate(results):
        n = len(result.reward)
        np.testing.assert_allclose(again[b, :n], result.reward, rtol=0 if "orca" in name else 1e-12)
        assert (again[b, n:] == 0).all()


def test_story_uses_orca_beside_any_matcher():
    stall = clip(np.concatenate([LINE[:12], np.full(20, LINE[12]), LINE[12:]]))
    for name in ("orca", "orca_progress", "dtw", "ot"):
        reward = pixels(matcher=name)
        story = reward.story(reward(stall))
        assert [span.kind for span in story.spans] == ["stall"]
        assert story.longest_stall == pytest.approx(21, abs=3)


def test_render_modes_must_agree_when_both_are_known():
    demo = Demo(DEMO, render="paper")
    for fine in ("paper", "unknown"):
        pixels(demo, learner_render=fine)
    pixels(Demo(DEMO), learner_render="fast")
    with pytest.raises(ValueError, match=r"rendered 'paper' and the learner 'fast'.*Render both one way"):
        pixels(demo, learner_render="fast")
    with pytest.raises(ValueError, match=r"learner_render is 'nice'; Known: fast, paper, unknown"):
        pixels(demo, learner_render="nice")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"matcher": "orka"}, "did you mean 'orca'"),
        ({"encoder": "pixel"}, "did you mean 'pixels'"),
        ({"distance": "manhattan"}, "cosine, euclidean"),
        ({"context": 0}, "context is 0; it must be a whole number of at least 1"),
        ({"direction": "back"}, "direction is 'back'; Known: future, past"),
        ({"pool": "mean"}, "pool is 'mean'; Known: auto, max, best"),
        ({"progress_in": "metres"}, "progress_in is 'metres'; Known: frames, path"),
        ({"progress_in": "path"}, "the matcher 'orca' does not pay for it"),
        ({"temprature": 1.0}, "did you mean 'temperature'"),
        ({"matcher": "nearest", "temperature": 1.0}, "'nearest' has no setting 'temperature'"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"demo": []}, "The list of demos is empty"),
        ({"demo": 3}, "The demo is a int"),
        ({"demo": DEMO.astype(float)}, "uint8"),
        ({"demo": "no/such/file.mp4"}, "no/such/file.mp4"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises((ValueError, OSError), match=sentence):
        VideoReward(**{"demo": DEMO, "encoder": "pixels", **settings})


def test_bad_learners_are_refused_in_a_sentence():
    reward = pixels()
    for frames, sentence in (
        (DEMO[:0], "T = 0"),
        (DEMO.astype(np.float32), "uint8"),
        (DEMO[0], "T,H,W,3"),
        (DEMO[:, :, :48], "48x48 pixels and the demo's 64x48"),
    ):
        with pytest.raises(ValueError, match=sentence):
            reward(frames)
    with pytest.raises(ValueError, match="same encoder"):
        reward.score_features(np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"shape \(4, 24\); they must be \[B, T, J\] with J = 24"):
        reward.relabel(np.ones((4, 24)))
    with pytest.raises(ValueError, match="1 cost arrays for 2 demos"):
        pixels([DEMO, DEMO]).score_costs([np.ones((4, 24))])
    with pytest.raises(ValueError, match="same episodes"):
        pixels([DEMO, DEMO]).score_costs([np.ones((4, 24)), np.ones((5, 24))])


@pytest.fixture(scope="module")
def encoder():
    return make_encoder("efficientnet-lite0", threads=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    tall = {"height": 96, "width": 128, "block": 24}
    moves = {
        "demo": LINE,
        "slow": np.linspace(0, 1, 40),
        "reversed": np.linspace(1, 0, 40),
        "frozen": np.zeros(40),
        "stalled": np.concatenate([np.linspace(0, 0.4, 10), np.full(20, 0.4), np.linspace(0.4, 1, 10)]),
        "skipping": np.concatenate([np.linspace(0, 0.3, 10), np.linspace(0.7, 1, 10), np.ones(20)]),
    }
    for name, where in moves.items():
        write_mp4(folder / f"{name}.mp4", clip(where, **tall), fps=10)
    return folder


def test_real_videos_and_weights_the_right_attempt_wins_and_the_story_says_why(encoder, files):
    reward = VideoReward(files / "demo.mp4", encoder, calibrated=True)
    results = {p.stem: reward(read_video(p).frames) for p in sorted(files.glob("*.mp4"))}
    totals = {name: result.total for name, result in results.items()}
    for name in ("reversed", "frozen", "skipping"):
        assert totals["slow"] > 10 * totals[name], totals
    # Both cover everything and arrive with their last frame: how they got there is not what orca pays for.
    assert totals["stalled"] == pytest.approx(totals["slow"], rel=0.25)
    kinds = {name: {s.kind for s in reward.story(result).spans} for name, result in results.items()}
    assert kinds["slow"] == set() == kinds["demo"]
    assert kinds["frozen"] == {"stall"} == kinds["stalled"]
    assert kinds["skipping"] == {"skip"}
    assert "backwards" in kinds["reversed"]
    assert None not in reward.story(results["slow"]).quarters


def test_real_videos_and_weights_stream_of_frames(encoder, files):
    reward = VideoReward(files / "demo.mp4", encoder, context=2, direction="past", calibrated=True)
    frames = read_video(files / "slow.mp4").frames
    live = reward.stream()
    pushed = [live.push(frame) for frame in frames]
    # The engine itself may round a batch of one otherwise; the matching adds nothing to that.
    np.testing.assert_allclose(pushed, reward(frames).reward, atol=1e-4)
    features = np.concatenate([encoder(frame[None]) for frame in frames])
    assert pushed == reward.score_features(features).reward.tolist()


def test_progress_in_path_gives_jumps_more_worth_and_streams():
    reward = pixels(DEMO, matcher="orca_progress", progress_in="path", context=1, temperature=0.1)
    frames = pixels(DEMO, matcher="orca_progress", context=1, temperature=0.1)
    steps = np.diag(reward.model.between(0), 1)
    (settings,) = reward.matcher_settings
    np.testing.assert_allclose(settings["worth"], [0, *(steps / steps.sum())], rtol=1e-12)
    there = reward(DEMO)
    assert there.reward.tolist() != frames(DEMO).reward.tolist()
    live = reward.stream()
    assert [live.push(frame) for frame in DEMO] == there.reward.tolist()
