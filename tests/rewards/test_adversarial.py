"""GAIfO: losses against the papers' and another library's, evidence, learning, and what is refused."""

import importlib.util

import numpy as np
import pytest
from reference import adversarial as reference
from rewards.clips import clip

from orcalign import config
from orcalign.envs import make_demo
from orcalign.rewards import Evidence, Moment, Rollout
from orcalign.rewards.adversarial.discriminator import Discriminator, forward, loss, penalty
from orcalign.rewards.adversarial.reward import AdversarialReward
from orcalign.rewards.adversarial.settings import AdversarialSettings
from orcalign.rewards.adversarial.view import View
from orcalign.training import start_run
from orcalign.video import Demo, keep

torch = pytest.importorskip("torch")
SMALL = AdversarialSettings(hidden=12, every=2, updates=30, batch=16, learning_rate=3e-3)


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    demo, learner = (rng.normal(shift, 1, (6, 8)).astype(np.float32) for shift in (1, -1))
    return demo, learner, rng.random((6, 1), np.float32)


@pytest.fixture
def taught(batch):
    network = Discriminator(8, SMALL)
    network.fit(*batch[:2], 20)
    return network


def in_torch(network):
    return {name: torch.tensor(one) for name, one in network.weights.items()}


class TestLosses:
    def test_they_are_the_papers(self, taught, batch):
        weights, (demo, learner, mix) = in_torch(taught), batch
        tensors = [torch.from_numpy(one) for one in batch]
        assert loss(weights, *tensors[:2]).item() == pytest.approx(reference.loss(taught.weights, demo, learner), 1e-5)
        wanted = reference.penalty(taught.weights, demo, learner, mix)
        assert penalty(weights, *tensors).item() == pytest.approx(wanted, 1e-4)

    def test_asked_in_numpy_it_says_what_it_was_taught_in_torch(self, taught, batch):
        told = forward(in_torch(taught), torch.from_numpy(batch[0])).numpy()
        np.testing.assert_allclose(taught.logits(batch[0]), told, rtol=1e-5, atol=1e-6)

    @pytest.mark.skipif(importlib.util.find_spec("imitation") is None, reason="imitation is not installed")
    @pytest.mark.filterwarnings("ignore")
    def test_they_are_those_of_the_imitation_package(self, taught, batch, tmp_path):
        """Its GAIL takes one step by plain gradients on a network with our weights: where it ends tells its loss."""
        import gymnasium
        from gymnasium import spaces
        from imitation.algorithms.adversarial.gail import GAIL, RewardNetFromDiscriminatorLogit
        from imitation.data.types import Transitions
        from imitation.rewards.reward_nets import RewardNet
        from imitation.util.logger import configure
        from stable_baselines3 import PPO
        from stable_baselines3.common.vec_env import DummyVecEnv

        k = 4

        class World(gymnasium.Env):
            observation_space = spaces.Box(-np.inf, np.inf, (k,), np.float32)
            action_space = spaces.Box(-1, 1, (1,), np.float32)

            def reset(self, *, seed=None, options=None):
                return np.zeros(k, np.float32), {}

            def step(self, action):
                return np.zeros(k, np.float32), 0.0, False, False, {}

        class Ours(RewardNet):
            def __init__(self):
                super().__init__(World.observation_space, World.action_space, normalize_images=False)
                self.known = torch.nn.ParameterDict(
                    {name.replace(".", "_"): torch.nn.Parameter(one) for name, one in in_torch(taught).items()}
                )

            def forward(self, state, action, next_state, done):
                weights = {name.replace("_", "."): one for name, one in self.known.items()}
                return forward(weights, torch.cat([state, next_state], dim=1))

        demo, learner, _ = batch
        venv = DummyVecEnv([World])
        net = Ours()
        none = {"acts": np.zeros((6, 1), np.float32), "dones": np.zeros(6, bool)}
        shown = Transitions(obs=demo[:, :k], next_obs=demo[:, k:], infos=np.array([{}] * 6), **none)
        theirs = GAIL(
            demonstrations=shown, demo_batch_size=6, venv=venv, reward_net=net,
            gen_algo=PPO("MlpPolicy", venv, n_steps=8, batch_size=8),
            disc_opt_cls=torch.optim.SGD, disc_opt_kwargs={"lr": 1.0},
            custom_logger=configure(tmp_path, []), allow_variable_horizon=True,
        )  # fmt: skip
        told = theirs.train_disc(
            expert_samples={"obs": demo[:, :k], "next_obs": demo[:, k:], **none},
            gen_samples={"obs": learner[:, :k], "next_obs": learner[:, k:], **none},
        )
        mine = {name: one.requires_grad_() for name, one in in_torch(taught).items()}
        value = loss(mine, torch.from_numpy(demo), torch.from_numpy(learner))
        value.backward()
        assert told["disc_loss"] == pytest.approx(value.item(), 1e-5)
        for name, one in mine.items():
            after = net.known[name.replace(".", "_")].detach()
            np.testing.assert_allclose(after, (one - one.grad).detach(), rtol=1e-4, atol=1e-6)

        paid = RewardNetFromDiscriminatorLogit(net).predict(
            demo[:, :k], np.zeros((6, 1), np.float32), demo[:, k:], np.zeros(6, bool)
        )
        taught.weights = {name: net.known[name.replace(".", "_")].detach().numpy() for name in taught.weights}
        np.testing.assert_allclose(paid, np.logaddexp(0, taught.logits(demo)), rtol=1e-4)


def line(length, D=3, size=8):
    """A demo in which one number goes from 0 to 1, another stays and a third does the reverse at half speed."""
    way = np.linspace(0, 1, length)
    states = np.stack([way, np.full(length, 0.7), 1 - way / 2], axis=1)[:, :D]
    return Demo(np.zeros((length, size, size, 3), np.uint8), task="nav2d", states=states)


def evidence(reward, states):
    states = np.asarray(states, np.float32)
    return Evidence(len(states) - 1, reward.observe(Rollout(len(states) - 1, states=states)))


class TestReward:
    def test_it_pays_for_transitions_like_the_demos(self):
        reward = AdversarialReward([line(12)], SMALL)
        there = evidence(reward, line(12).states)
        still = evidence(reward, np.repeat(line(12).states[:1], 12, axis=0))
        back = evidence(reward, line(12).states[::-1])
        assert reward.learn([still], Moment(12, 1)) is None, "every second episode"
        before = reward.pay([there])[0]
        for k in range(8):
            assert reward.learn([still, back], Moment(24, 2 + 2 * k))
        said = {name: reward.pay([one])[0] for name, one in (("there", there), ("still", still), ("back", back))}
        assert said["there"].shape == (11,)
        assert said["there"].mean() > 1.2 * max(said["still"].mean(), said["back"].mean())
        assert (said["there"] != before).all()
        assert reward.numbers()["accuracy"] > 0.9
        assert reward.follow(there)["nearness"] > 0.9 > 0.5 > reward.follow(still)["nearness"]

    def test_alone_and_among_others_it_pays_the_same_bits(self):
        reward = AdversarialReward([line(12)], SMALL)
        rng = np.random.default_rng(0)
        some = [evidence(reward, rng.random((T + 1, 3))) for T in (5, 9, 5)]
        together = reward.pay(some)
        assert all((one == reward.pay([e])[0]).all() for one, e in zip(together, some, strict=True))

    def test_time_behind_the_state_is_not_looked_at(self):
        reward = AdversarialReward([line(12)], SMALL)
        states = line(12).states
        timed = np.concatenate([states, np.linspace(0, 1, 12)[:, None]], axis=1)
        assert (evidence(reward, states)["seen"] == evidence(reward, timed)["seen"]).all()

    def test_what_stays_in_the_demo_is_not_looked_at(self):
        assert View.of_states(line(12).states)(line(12).states).shape == (12, 2)

    def test_going_on_it_learns_the_same_bits(self):
        whole, cut = (AdversarialReward([line(12)], SMALL) for _ in range(2))
        own = [evidence(whole, np.random.default_rng(k).random((8, 3))) for k in range(4)]
        for reward in (whole, cut):
            reward.learn(own[:2], Moment(14, 2))
        gone_on = AdversarialReward([line(12)], SMALL)
        gone_on.load_state(cut.state())
        for reward in (whole, gone_on):
            reward.learn(own, Moment(28, 4))
        (plain, arrays), (other, others) = whole.state(), gone_on.state()
        assert plain == other
        assert plain["fits"] == 2
        assert all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)

    def test_frames_instead_of_states(self):
        demo = Demo(clip(np.linspace(0, 1, 12)))
        costs = {"encoder": "pixels", "size": 16}
        reward = AdversarialReward(
            [demo], AdversarialSettings(sees="frames", hidden=12, every=1, learning_rate=3e-3), costs
        )
        there, still = (
            Evidence(12, reward.observe(Rollout(12, frames=frames))) for frames in (demo.frames, demo.frames[[0] * 12])
        )
        assert reward.need.frames == 1
        assert not reward.need.states
        assert len(there["seen"]) == 13
        for k in range(5):
            reward.learn([still], Moment(12, k + 1))
        assert reward.pay([there])[0].mean() > reward.pay([still])[0].mean()
        assert reward.follow(there)["nearness"] > 0.99 > reward.follow(still)["nearness"]


class TestStatesOfDemos:
    def test_they_are_kept_and_warped_with_the_frames(self, tmp_path):
        demo = line(12).warp(keep("0-3,7,11", 12))
        demo.save(tmp_path / "demo")
        back = Demo.load(tmp_path / "demo")
        assert back.states.tobytes() == demo.states.tobytes()
        assert back.states[4, 0] == np.float32(7 / 11)
        assert back.sha256 != Demo(demo.frames, indices=demo.indices, original_length=12).sha256

    def test_changed_on_disk_they_are_refused(self, tmp_path):
        line(12).save(tmp_path / "demo")
        np.save(tmp_path / "demo" / "states.npy", np.zeros((12, 3), np.float32))
        with pytest.raises(ValueError, match="was changed after it was saved"):
            Demo.load(tmp_path / "demo")

    def test_objects_in_their_file_are_refused(self, tmp_path):
        line(12).save(tmp_path / "demo")
        np.save(tmp_path / "demo" / "states.npy", np.array([{}] * 12), allow_pickle=True)
        with pytest.raises(ValueError, match=r"states.npy"):
            Demo.load(tmp_path / "demo")

    def test_the_expert_keeps_them_only_if_asked(self):
        demo, _ = make_demo("nav2d", misaligned=True, states=True)
        assert demo.states.shape == (len(demo), 3)
        assert demo.states[-1, 2] == 1, "all visited"
        assert make_demo("nav2d", misaligned=True)[0].states is None


class TestRefused:
    def test_another_number_of_states(self):
        with pytest.raises(ValueError, match=r"states have shape \[3, 2\]"):
            Demo(np.zeros((4, 8, 8, 3), np.uint8), states=np.zeros((3, 2)))

    @pytest.mark.parametrize(
        ("demo", "said"),
        [
            (Demo(np.zeros((4, 8, 8, 3), np.uint8)), "has no states; make one with `orcalign demo make --states`"),
            (Demo(np.zeros((1, 8, 8, 3), np.uint8), states=np.zeros((1, 3))), "has one frame"),
            (line(5, D=2), r"\(2 numbers in a state, not 3\)"),
        ],
    )
    def test_a_demo_that_does_not_fit(self, demo, said, tmp_path):
        demo.save(tmp_path / "demo")
        wanted = config("nav2d", recipe="gaifo", settings={"demo.demo": [str(tmp_path / "demo")]})
        with pytest.raises(ValueError, match=said):
            start_run(wanted, tmp_path / "run")
        assert not (tmp_path / "run").exists()

    def test_a_demo_of_another_task(self, tmp_path):
        line(5).save(tmp_path / "demo")
        wanted = config("nav2d-order", recipe="gaifo", settings={"demo.demo": [str(tmp_path / "demo")]})
        with pytest.raises(ValueError, match="has states of nav2d, and the run is of nav2d-order"):
            start_run(wanted, tmp_path / "run")

    def test_a_demo_in_which_nothing_happens(self):
        with pytest.raises(ValueError, match="no number of the demo's states changes"):
            View.of_states(np.ones((4, 3)))

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("evry=3", "did you mean 'every'"),
            ("every=0", "every is 0"),
            ("every=often", "every is 'often'; it must be of type int"),
            ("sees=sounds", "sees is 'sounds'"),
            ("penalty=-1", "penalty is -1"),
        ],
    )
    def test_a_setting(self, given, said):
        with pytest.raises(ValueError, match=said):
            config("nav2d", recipe="gaifo", settings={"reward.set": [given]})

    def test_a_reward_that_is_not_there(self):
        with pytest.raises(ValueError, match="did you mean 'gaifo'"):
            config("nav2d", settings={"reward.reward": "gaifa"})
