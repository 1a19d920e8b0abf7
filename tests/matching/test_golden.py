"""Against the authors' own functions: tests/golden/matching.json says what is in matching.npz."""

import json
from pathlib import Path

import numpy as np
import pytest

from orcalign.matching import band_mask, dtw, orca, ot, temporal_ot, threshold

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = [entry["case"] for entry in json.loads((GOLDEN / "matching.json").read_text())]


@pytest.fixture(scope="module")
def golden():
    with np.load(GOLDEN / "matching.npz") as file:
        return dict(file)


def settings_of(golden, case, method):
    """The names after `method` that this case has a reward for: 'orca_tau' gives '1', '0.5', '2'."""
    start = f"{case}/{method}"
    return sorted(
        {key.split("/")[1][len(method) :] for key in golden if key.startswith(start) and key.endswith("/reward")}
    )


@pytest.mark.parametrize("case", CASES)
def test_orca(golden, case):
    cost = golden[f"{case}/cost"]
    for tau in settings_of(golden, case, "orca_tau"):
        match = orca(cost, temperature=float(tau))
        np.testing.assert_allclose(match.reward, golden[f"{case}/orca_tau{tau}/reward"], rtol=1e-12, atol=1e-12)
        coverage = golden[f"{case}/orca_tau{tau}/coverage"]
        # The last column of theirs is the reward, not a running maximum.
        np.testing.assert_allclose(match.assignment[:, :-1], coverage[:, :-1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_threshold(golden, case):
    cost = golden[f"{case}/cost"]
    levels = settings_of(golden, case, "threshold")
    assert levels == ["0.7", "0.9"]
    for level in levels:
        reward = threshold(cost, threshold=float(level)).reward
        np.testing.assert_allclose(reward, golden[f"{case}/threshold{level}/reward"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_dtw_by_total_path_cost(golden, case):
    cost = golden[f"{case}/cost"]
    match = dtw(cost)
    theirs = float((cost * (golden[f"{case}/dtw/path"] > 0)).sum())
    assert match.total_cost == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    t, j = match.path.T
    assert cost[t, j].sum() == pytest.approx(theirs, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_ot(golden, case):
    cost = golden[f"{case}/cost"]
    epsilons = settings_of(golden, case, "ot_eps")
    for epsilon in epsilons:
        reward = ot(cost, epsilon=float(epsilon), tolerance=1e-12, max_sweeps=200_000).reward
        np.testing.assert_allclose(reward, golden[f"{case}/ot_eps{epsilon}/reward"], rtol=1e-8, atol=1e-8)
    assert -ot(cost, epsilon=0).reward.sum() == pytest.approx(
        float(golden[f"{case}/ot_eps0/cost_total"]), rel=1e-10, abs=1e-12
    )


@pytest.mark.parametrize("case", CASES)
def test_temporal_ot_blocks(golden, case):
    cost = golden[f"{case}/cost"]
    T, J = cost.shape
    seen = 0
    for window in (2, 10):
        mask = golden.get(f"{case}/tot_k{window}/mask")
        if mask is None:
            assert T < J
            continue
        np.testing.assert_array_equal(band_mask(T, J, window, "blocks"), mask.astype(bool))
        for epsilon in settings_of(golden, case, f"tot_k{window}_eps"):
            match = temporal_ot(cost, window, float(epsilon), "blocks", tolerance=1e-12, max_sweeps=200_000)
            expected = golden[f"{case}/tot_k{window}_eps{epsilon}/reward"]
            np.testing.assert_allclose(match.reward, expected, rtol=1e-8, atol=1e-8)
            seen += 1
    assert seen > 0 or T < J
