"""An eye of a drawn table: it learns, says how well, is the same each time, and refuses what it cannot see."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from costs.drawn_table import TABLE, background, draw, play, push

from orcalign.costs.predicted import Entities, Eye

torch = pytest.importorskip("torch")

RESTS = np.tile([0.5, 0.8, 0.4, 0.6, 0.5, 0.2], (3, 1))
PARTS = ["hand", "object 1", "goal"]


@pytest.fixture(scope="module")
def learned():
    """An eye after 250 updates, and the features and values that it learned from."""
    states, frames = play(300)
    eye = Eye.begin(TABLE, frames, states, RESTS, about={"task": "table"}, threads=1)
    features, values = eye.look(frames), TABLE.read(states)
    eye.fit(features, values, updates=250)
    return eye, features, values


def again(eye):
    """A copy that can be fitted without changing the original."""
    return Eye.from_state(*eye.state())


def weights_of(eye):
    return {name: value.tobytes() for name, value in eye.state()[1].items()}


def test_it_learns_to_a_few_percent_of_the_range(learned):
    eye, _, _ = learned
    states, frames = play(60, seed=1)
    seen = eye.predict(eye.look(frames))
    off = np.linalg.norm((seen.values - TABLE.read(states)).reshape(60, 3, 2), axis=2)
    hand, thing, goal = np.median(off, axis=0)
    assert max(hand, thing) < 4  # of the 70 cm over which they move
    assert goal == pytest.approx(0, abs=1e-6)
    # What it expects of itself and what it says of the frames held out are right within a factor, though it was
    # fitted to so few frames that it knows them by heart.
    for k, name in enumerate(PARTS[:2]):
        assert 0.5 < seen.scales[:, k].mean() / off[:, k].mean() < 2.5
        assert 0.3 < eye.errors[name][0] / np.median(off[:, k]) < 3
    assert list(eye.errors) == [*PARTS, "hand - object 1"]
    assert eye.error == eye.errors["hand - object 1"][0]
    assert eye.about["still"] == ["goal"]
    assert (seen.scales[:, 2] == 0.1).all()
    assert eye.about["task"] == "table"
    assert eye.about["updates"] == 250


def test_a_film_is_described(learned):
    eye, _, _ = learned
    states = push()
    demo = eye.describe(eye.look(draw(states)))
    truth = TABLE.read(states)
    assert (len(demo), demo.error, demo.believed.all()) == (20, eye.error, True)
    np.testing.assert_allclose(demo.start[:4], [50, 80, 40, 60], atol=6)  # the hand's is where episodes begin
    np.testing.assert_array_equal(demo.values[:3, 2:4], np.tile(demo.start[2:4], (3, 1)))
    assert np.median(np.linalg.norm(demo.values[:, 2:4] - truth[:, 2:4], axis=1)) < 5
    assert np.median(np.linalg.norm(demo.values[:, :2] - truth[:, :2], axis=1)) < 5


def test_the_same_data_and_seed_give_the_same_bits_whatever_torch_was_doing(learned):
    _, features, values = learned
    states, frames = play(300)
    made = []
    threads = torch.get_num_threads()
    for other in (1, 2):
        torch.manual_seed(other)
        torch.set_num_threads(other)
        before = torch.get_rng_state()
        eye = Eye.begin(TABLE, frames[:40], states[:40], RESTS, threads=other)
        eye.fit(features, values, updates=5, seed=3)
        assert torch.equal(before, torch.get_rng_state())
        assert torch.get_num_threads() == other
        made.append(eye)
    torch.set_num_threads(threads)
    assert weights_of(made[0]) == weights_of(made[1])
    assert made[0].digest == made[1].digest
    made[1].fit(features, values, updates=5, seed=4, fresh=True)
    assert made[0].digest != made[1].digest


def test_state_file_and_pickle_keep_every_bit(learned, tmp_path):
    eye, features, _ = learned
    eye.save(tmp_path / "eye.safetensors")
    copies = [again(eye), Eye.load(tmp_path / "eye.safetensors"), pickle.loads(pickle.dumps(eye))]  # noqa: S301
    expected = eye.predict(features[:30])
    for copy in copies:
        assert copy.digest == eye.digest
        assert (copy.errors, copy.error, copy.about, copy.entities) == (eye.errors, eye.error, eye.about, TABLE)
        for found, known in zip(copy.predict(features[:30]), expected, strict=True):
            np.testing.assert_array_equal(found, known)
    assert len(pickle.dumps(eye)) < 2_000_000
    np.testing.assert_array_equal(copies[2].look(play(3)[1]), eye.look(play(3)[1]))


def test_a_frame_has_the_same_features_alone_and_in_company(learned):
    eye, features, _ = learned
    np.testing.assert_array_equal(eye.look(play(300)[1][7:9]), features[7:9])
    assert eye.look(play(300)[1][:0]).shape == (0, 256, 64)


def test_it_goes_on_from_what_it_knows_and_follows_what_moves_from_then_on(learned):
    eye, features, values = again(learned[0]), *learned[1:]
    known = eye.predict(features[:50]).values
    eye.fit(features, values, updates=1, learning_rate=1e-9)
    np.testing.assert_allclose(eye.predict(features[:50]).values, known, atol=1e-3)
    assert eye.about["updates"] == 251
    # The goal begins to move, with the hand, and is learned; the rest is not forgotten.
    values = values.copy()
    values[:, 4:] = values[:, :2] + 10
    done = []
    eye.fit(
        features,
        values,
        updates=120,
        learning_rate=2e-3,
        recent=0.5,
        progress=lambda now, total: done.append((now, total)),
    )
    assert done[-1] == (120, 120)
    assert eye.about["still"] == []
    assert eye.errors["goal"][0] < 8
    assert eye.errors["object 1"][0] < 8


def test_it_does_not_forget_a_part_that_stands_still_for_a_while(learned):
    eye, features, values = again(learned[0]), *learned[1:]
    before = eye.predict(features[:30]).values
    values = values.copy()
    values[:, 2:4] = 33.0
    eye.fit(features, values, updates=1, learning_rate=1e-9)
    np.testing.assert_allclose(eye.predict(features[:30]).values, before, atol=1e-3)


def test_frames_that_weigh_nothing_are_not_learned_from(learned):
    _, features, values = learned
    states, frames = play(300)
    made = []
    wrong = values.copy()
    wrong[100:200] += 50
    for shown in (values, wrong):
        eye = Eye.begin(TABLE, frames[:40], states[:40], RESTS, threads=1)
        eye.fit(features, values, updates=1, learning_rate=1e-9)  # both standardise alike
        weights = np.where((np.arange(300) >= 100) & (np.arange(300) < 200), 0.0, 1.0)
        eye.fit(features, np.where(weights[:, None] > 0, values, shown), updates=1, weights=weights)
        made.append(eye.predict(features[:5]).values)
    np.testing.assert_allclose(made[0], made[1], atol=0.1)
    for weights in (np.zeros(300), np.ones(299), np.full(300, np.nan)):
        with pytest.raises(ValueError, match=r"^weights .* must be .* numbers"):
            again(learned[0]).fit(features, values, updates=1, weights=weights)


def test_whole_groups_are_held_out():
    from orcalign.costs.predicted.fitting import held_out

    groups = np.repeat(np.arange(400), 5)
    chosen = held_out(2000, groups)
    assert 60 <= chosen.sum() <= 140
    assert all(len(set(chosen[groups == group])) == 1 for group in range(400))
    np.testing.assert_array_equal(held_out(1000, groups[:1000]), chosen[:1000])  # others come, these stay
    assert held_out(100).sum() == 5
    assert held_out(100, np.zeros(100, int)).nonzero()[0].tolist() == [95, 96, 97, 98, 99]
    with pytest.raises(ValueError, match="whole numbers, one for each frame"):
        held_out(3, [0.5, 1, 2])


@pytest.mark.parametrize(
    "entities",
    [
        Entities((0, 1)),
        Entities((0, 1), gripper=5),
        Entities((0, 1, 2), goal=(3, 4, 5)),
        Entities((0, 1), objects=((2, 3), (4, 5))),
        Entities.everything([0.2] * 6),
    ],
    ids=["hand", "gripper", "reach", "two objects", "everything"],
)
def test_any_entities_go_all_the_way(learned, entities):
    _, features, _ = learned
    states, frames = play(300)
    states[:, 4:] = np.random.default_rng(2).uniform(size=(300, 2))
    eye = Eye.begin(entities, frames[:40], states[:40], RESTS, threads=1)
    eye.fit(features, entities.read(states), updates=3)
    demo = eye.describe(features[:12])
    assert demo.values.shape == (12, entities.dim)
    assert (demo.scales > 0).all()
    assert set(eye.errors) >= {part.name for part in entities.parts}
    assert np.isfinite(eye.error)


def test_what_it_cannot_see_is_refused_in_a_sentence(learned, tmp_path):
    eye, features, values = learned
    states, frames = play(40)
    with pytest.raises(ValueError, match=r"48x64 pixels .* made for 64x64; give it frames of that size"):
        eye.look(frames[:, :48])
    with pytest.raises(ValueError, match=r"48x64 pixels"):
        eye.same_view(frames[:, :48])
    with pytest.raises(ValueError, match=r"32x32 pixels"):
        eye.look(frames[:, :32, :32])
    broken = states.copy()
    broken[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7 of the states is not finite"):
        Eye.begin(TABLE, frames, broken, RESTS)
    with pytest.raises(ValueError, match="row 2 of the states is not finite"):
        again(eye).fit(features[:30], np.where(np.arange(30)[:, None] == 2, np.inf, values[:30]), updates=1)
    with pytest.raises(ValueError, match="one row for each of 40 frames"):
        Eye.begin(TABLE, frames, states[:39], RESTS)
    with pytest.raises(ValueError, match="at least 20"):
        Eye.begin(TABLE, frames[:5], states[:5], RESTS)
    with pytest.raises(ValueError, match="none of hand, object 1, goal moves in these 30 frames"):
        again(eye).fit(features[:30], np.ones((30, 6)), updates=1, fresh=True)
    with pytest.raises(ValueError, match="values have 4 columns, and the eye's entities 6"):
        again(eye).fit(features, values[:, :4], updates=1)
    with pytest.raises(ValueError, match="learned nothing yet; call fit first"):
        Eye.begin(TABLE, frames, states, RESTS).predict(features)
    with pytest.raises(ValueError, match="made for task 'table', not for 'push'"):
        eye.require(task="push")
    with pytest.raises(ValueError, match=r"made for the entities .* make an eye for these"):
        eye.require(Entities((0, 1)))
    assert eye.require(TABLE, task="table") is eye
    (tmp_path / "no.safetensors").write_bytes(b"no eye")
    with pytest.raises(ValueError, match="is not a file that orcalign wrote"):
        Eye.load(tmp_path / "no.safetensors")
    from orcalign.files import save_arrays

    save_arrays(tmp_path / "policy.safetensors", {"weight": np.zeros(3)}, {"task": "push"})
    with pytest.raises(ValueError, match="holds no eye"):
        Eye.load(tmp_path / "policy.safetensors")


def test_it_says_when_a_film_is_of_another_camera(learned):
    eye, _, _ = learned
    same = draw(push())
    assert eye.view_problem(same) == ""
    darker = (same * 0.7).astype(np.uint8)
    assert eye.view_problem(darker) == ""
    moved = draw(push(), background(shift=3))
    problem = eye.view_problem(moved)
    assert "record the demo with the learner's camera" in problem
    assert "\n" not in problem
    assert eye.same_view(same) < eye.same_view(darker) + 0.5
    assert eye.same_view(moved) > 1.5


def test_a_larger_film_is_shrunk(learned):
    eye, *_ = learned
    _, frames = play(3)
    large = frames.repeat(3, 1).repeat(3, 2)
    shrunk = eye.predict(eye.look(large)).values
    assert np.linalg.norm(shrunk - eye.predict(eye.look(frames)).values, axis=1).max() < 4.0
    assert eye.same_view(large) < 0.5
