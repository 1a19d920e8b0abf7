"""Send a video to `orcalign serve`, frame by frame, as a robot would, with openpi's own client.

pip install --no-deps openpi-client && pip install msgpack websockets
python examples/live_client.py attempt.mp4 [ws://HOST:PORT [TOKEN]]
"""

import sys

from openpi_client.websocket_client_policy import WebsocketClientPolicy

from orcalign.video import iter_frames


def main() -> None:
    video, *rest = sys.argv[1:]
    robot = WebsocketClientPolicy(rest[0] if rest else "ws://localhost:8000", api_key=rest[1] if rest[1:] else None)
    print(robot.get_server_metadata()["cameras"])
    for t, frame in enumerate(iter_frames(video)):
        told = robot.infer({"observation/image": frame.image, "reset": t == 0})
        print(
            f"{t:4d}  reward {told['reward']:.3f}  progress {told['progress']:.3f}  demo frame {told['demo_frame']}"
            + ("  done" if told["done"] else "")
        )


if __name__ == "__main__":
    main()
