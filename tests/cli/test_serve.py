"""orcalign serve, as it is typed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from serving.running import DEMO
from websockets.sync.client import connect

from orcalign.cli import main
from orcalign.serving.messages import pack, unpack

RUN = [sys.executable, "-c", "from orcalign.cli import main; main()", "serve"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.npz"
    np.savez(path, frames=DEMO)
    return str(path)


def test_it_serves_until_ctrl_c(demo):
    started = subprocess.Popen([*RUN, demo, "--port", "0", "--encoder", "pixels"], stdout=subprocess.PIPE, text=True)
    try:
        said = started.stdout.readline()
        port = re.search(r"robots: ws://127.0.0.1:(\d+)", said)[1]
        with connect(f"ws://127.0.0.1:{port}", compression=None) as robot:
            assert unpack(robot.recv())["matcher"] == "bottleneck"
            robot.send(pack({"observation/image": DEMO[0]}))
            assert unpack(robot.recv())["demo_frame"] == 0
            started.send_signal(signal.SIGINT)
            assert started.wait(30) == 130
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "no demo was given"),
        (["--host", "0.0.0.0"], "give a token of 16 letters or more"),
        (["--matcher", "dtw"], "known only at the end of an episode"),
        (["--matcher", "orka"], "did you mean 'orca'"),
        (["--image-key", "a", "b"], "2 image keys and 1 demos"),
        (["--done", "0"], "done is 0"),
        (["--port", "70000"], "port"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(demo, words, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", *([demo] if words else []), *words, "--encoder", "pixels"])
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said
    assert "\n" not in said
