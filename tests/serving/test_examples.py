"""The clients of examples/, as they are."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from serving.running import DEMO, running, video_reward

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_python_in_thirty_lines(tmp_path, capsys, monkeypatch):
    path = EXAMPLES / "live_client.py"
    assert len(path.read_text().splitlines()) <= 30
    np.savez(tmp_path / "attempt.npz", frames=DEMO)
    with running() as server, warnings.catch_warnings():
        # openpi's client opens its connection in a way that websockets no longer likes.
        warnings.simplefilter("ignore")
        monkeypatch.setattr(sys, "argv", [str(path), str(tmp_path / "attempt.npz"), f"ws://127.0.0.1:{server.port}"])
        left = runpy.run_path(str(path), run_name="example")
        made, kept = left["WebsocketClientPolicy"], []
        monkeypatch.setitem(
            left["main"].__globals__, "WebsocketClientPolicy", lambda *a, **b: kept.append(made(*a, **b)) or kept[0]
        )
        left["main"]()
        kept[0]._ws.close()
    said = capsys.readouterr().out.splitlines()
    assert [float(re.search(r"reward ([\d.]+)", line)[1]) for line in said[1:]] == pytest.approx(
        video_reward()(DEMO).reward, abs=1e-3
    )
    assert said[-1].endswith("done")


def test_javascript_in_a_browser(chromium):
    source = (EXAMPLES / "live_client.mjs").read_text().replace("export class", "class")
    frames = [frame.ravel().tolist() for frame in DEMO[:4]]
    script = """
        const [frames, height, width, done] = arguments;
        (async () => {
          const client = await LiveReward.connect(`ws://${location.host}`);
          const told = [];
          for (const frame of frames) {
            told.push(await client.infer(new Uint8Array(frame), height, width, { session: "ü" }));
          }
          const wrong = await client.infer(new Uint8Array(12), 2, 3).catch((error) => error.message);
          return { about: client.about, told, wrong };
        })().then(done, (error) => done(String(error)));
    """
    with running() as server:
        chromium.get(f"http://127.0.0.1:{server.port}/healthz")
        found = chromium.execute_async_script(source + script, frames, *DEMO.shape[1:3])
        chromium.get("about:blank")
    assert found["about"]["cameras"][0]["image_key"] == "observation/image"
    assert [one["reward"] for one in found["told"]] == video_reward()(DEMO).reward[:4].tolist()
    assert "cannot have 12 bytes" in found["wrong"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed; the browser runs the same file")
def test_javascript_in_node():
    with running() as server:
        command = ["node", "--experimental-websocket", EXAMPLES / "live_client.mjs", "64", "48"]
        said = subprocess.run(
            [*command, f"ws://127.0.0.1:{server.port}"], input=DEMO.tobytes(), capture_output=True, timeout=60
        )
    assert said.returncode == 0, said.stderr
    got = [float(line.split()[2]) for line in said.stdout.decode().splitlines()]
    assert got == pytest.approx(video_reward()(DEMO).reward)
